/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mixed.c - S and Q_B are rounded to single precision for the product,
 * and M is summed in double. With |S| = 1 and dM the error of M,
 *
 *     the subspace part s, s^2 = 1 - |M|^2, is off by  <M, dM> / s,
 *     the core part |M - C|                 is off by  at most |dM|,
 *     the error                             by no more, relatively, than both its parts.
 *
 * dM is measured: of each NB_CHECKED rows of P one is computed in double too, that of the largest rounded row of S,
 * since a few rows may hold most of |S| and of dM. Rounding is in proportion to a row's length, so with l the length of
 * all NB_CHECKED rows over its own, E is the sum of what these rows give of dM, times l / NB_CHECKED. Errors that are
 * alike in all rows (sums over repeated keys) make dM = NB_CHECKED E, errors that are random sqrt(NB_CHECKED) |E| in
 * norm, of which a direction has the m-th part. So |dM| is taken as NB_CHECKED |E| and <M, dM> as NB_CHECKED (|<M,
 * E>| + 3 |E| / m), both twice, since other rows may be worse. A part that is off by more than 1e-6 of itself by
 * that, or below `small`, is measured again in double.
 *
 * That is rare: rounding of S and Q_B gives a |dM| of 1e-9 to 6e-8. Beside a key that all
 * queries attend to sums over the keys lose more, since small terms are rounded to the large one's
 * digits: so the HEAVY keys of the largest columns go into the product in double. */
#include "nystrom/mixed.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

const double nb_mixed_promise = 1e-6;
static const double small = 0.05; /* of |S| */

enum {
    HEAVY = 16,     /* keys that stay in double, */
    LOOKED_AT = 64, /* and rows of S that say which */
};

double nb_mixed_bytes(double n, double width)
{
    return 4 * (n * width + (n + width) * NB_STRIPE) + 8 * n * (LOOKED_AT + (double)NB_STRIPE / NB_CHECKED);
}

/* The keys of the largest columns of S, as some of its rows have them: what stands beside a row must not matter. */
static nb_status find_heavy(nb_mixed *p, nb_ctx *ctx)
{
    int n = p->of->blocks.n, looked_at = n < LOOKED_AT ? n : LOOKED_AT, tokens[LOOKED_AT];
    double *rows, *squares;
    NB_NEED(p->keys, nb_alloc(ctx, (size_t)p->heavy, sizeof *p->keys));
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(rows, nb_alloc_raw(ctx, (size_t)n * (size_t)looked_at));
    NB_NEED(squares, nb_alloc_reals(ctx, (size_t)n, 1));
    for (int i = 0; i < looked_at; i++) tokens[i] = (int)((i + 1) * (long)n / looked_at) - 1;
    NB_TRY(ctx, nb_scene_some_rows(p->of->scene, looked_at, tokens, rows, ctx));
    for (int i = 0; i < looked_at; i++) {
        const double *row = rows + (size_t)i * (size_t)n;
        for (int j = 0; j < n; j++) squares[j] += row[j] * row[j];
    }
    gsl_sort_largest_index(p->keys, (size_t)p->heavy, squares, 1, (size_t)n);
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

static nb_status heavy_init(nb_mixed *p, nb_ctx *ctx)
{
    const nb_blocks *b = &p->of->blocks;
    NB_TRY(ctx, find_heavy(p, ctx));
    NB_NEED(p->q_heavy, nb_alloc_reals(ctx, (size_t)p->heavy, (size_t)p->reach));
    NB_NEED(p->s_heavy, nb_alloc_raw(ctx, (size_t)p->heavy * NB_STRIPE));
    for (int k = 0; k < b->count; k++)
        for (int j = b->blocks[k].column, end = j + b->blocks[k].width; b->blocks[k].good && j < end; j++)
            for (int h = 0; h < p->heavy; h++)
                p->q_heavy[h + j * p->heavy] = b->q[p->keys[h] + (size_t)j * (size_t)b->n];
    return NB_OK;
}

static nb_status check_init(nb_mixed *p, nb_ctx *ctx)
{
    size_t rows = NB_STRIPE / NB_CHECKED;
    int most = 1;
    NB_NEED(p->checked, nb_alloc_raw(ctx, (size_t)p->reach * rows));
    NB_NEED(p->checks, nb_alloc(ctx, rows, sizeof *p->checks));
    NB_NEED(p->likes, nb_alloc_raw(ctx, rows));
    NB_NEED(p->s_checked, nb_alloc_raw(ctx, (size_t)p->of->blocks.n * rows));
    for (int i = 0; i < p->of->count; i++) {
        nb_view *v = &p->of->views[i];
        if (!v->todo) continue;
        NB_NEED(v->check, nb_alloc_reals(ctx, (size_t)v->p.m, (size_t)v->p.m));
        most = v->p.m > most ? v->p.m : most;
    }
    NB_NEED(p->q_checked, nb_alloc_raw(ctx, (size_t)most * rows));
    return NB_OK;
}

nb_status nb_mixed_init(nb_mixed *p, nb_batch *b, nb_ctx *ctx)
{
    const nb_blocks *all = &b->blocks;
    size_t n = (size_t)all->n, width = 0;
    *p = (nb_mixed){.of = b, .reach = all->reach, .heavy = all->n < HEAVY ? all->n : HEAVY};
    int with_heavy = nb_width_together(all->width, NB_LEFT_GROUP, all->least * p->heavy / all->n);
    if (with_heavy > p->reach) p->reach = with_heavy;
    NB_NEED(p->column, nb_alloc(ctx, (size_t)all->count + 1, sizeof *p->column));
    for (int k = 0; k < all->count; k++) p->column[k + 1] = p->column[k] + nb_block_width_single(all->blocks[k].m);
    width = (size_t)(p->column[all->count] + nb_width_together(1, NB_RIGHT_GROUP, all->least));
    NB_NEED(p->product,
            nb_alloc_reals(ctx, (size_t)p->reach, NB_STRIPE)); /* zeros between and behind the blocks there too */
    NB_NEED(p->q32, nb_alloc(ctx, n * width, sizeof *p->q32)); /* zeros between and behind the blocks */
    NB_NEED(p->s32, nb_alloc(ctx, n * NB_STRIPE, sizeof *p->s32));
    NB_NEED(p->product32, nb_alloc(ctx, NB_STRIPE * width, sizeof *p->product32));
    for (int k = 0; k < all->count; k++) {
        const nb_block *block = &all->blocks[k];
        if (block->good)
            nb_to_single(n * (size_t)block->m, all->q + n * (size_t)block->column, p->q32 + n * (size_t)p->column[k]);
    }
    NB_TRY(ctx, heavy_init(p, ctx));
    return check_init(p, ctx);
}

/* Chooses from each NB_CHECKED rows the one with the largest rounded entries, and counts the rows that it stands
 * for. */
static void choose_checks(const nb_mixed *p, const nb_stripe *s)
{
    size_t n = (size_t)p->of->blocks.n;
    double largest = 0, all = 0;
    for (int i = 0; i < s->count; i++) {
        const float *row = p->s32 + (size_t)i * n;
        double sum = 0;
        for (int j = 0; j < s->keys; j++) sum += (double)row[j] * (double)row[j];
        double length = sqrt(sum);
        if (i % NB_CHECKED == 0) largest = all = 0;
        if (i % NB_CHECKED == 0 || length > largest) p->checks[i / NB_CHECKED] = i;
        largest = fmax(largest, length);
        all += length;
        p->likes[i / NB_CHECKED] = largest > 0 ? all / largest : 1;
    }
}

void nb_mixed_begin(const nb_mixed *p, const nb_stripe *s)
{
    for (size_t i = 0, keys = (size_t)s->keys; i < (size_t)s->count; i++) {
        const double *row = s->values + i * (size_t)s->ld;
        float *rounded = p->s32 + i * (size_t)p->of->blocks.n;
        nb_to_single(keys, row, rounded);
        for (size_t h = 0, j; h < (size_t)p->heavy; h++) {
            j = p->keys[h];
            p->s_heavy[h + i * (size_t)p->heavy] = j < keys ? row[j] : 0;
            if (j < keys) rounded[j] = 0;
        }
    }
    choose_checks(p, s);
}

void nb_mixed_multiply(const nb_mixed *p, const nb_stripe *s, int first, int end)
{
    const nb_blocks *b = &p->of->blocks;
    int from = p->column[first];
    nb_gemm_single_together(s->count, p->column[end] - from, s->keys, p->s32, b->n,
                            p->q32 + (size_t)from * (size_t)b->n, b->n, p->product32 + (size_t)from * NB_STRIPE,
                            NB_STRIPE, b->least);
    for (int k = first; k < end; k++)
        for (size_t j = 0; j < (size_t)b->blocks[k].m; j++) {
            const float *rounded = p->product32 + ((size_t)p->column[k] + j) * NB_STRIPE;
            double *out = p->product + (size_t)b->blocks[k].column + j;
            for (size_t i = 0; i < (size_t)s->count; i++) out[i * (size_t)p->reach] = rounded[i];
        }
}

/* out <- the first `length` numbers of some rows of x. */
static void gather(int count, const int *rows, int length, const double *x, int ld, double *out, int ld_out)
{
    for (size_t i = 0; i < (size_t)count; i++)
        memcpy(out + i * (size_t)ld_out, x + (size_t)rows[i] * (size_t)ld, (size_t)length * sizeof *out);
}

/* Adds the stripe's part of E. */
static void check_stripe(const nb_mixed *p, const nb_stripe *s)
{
    const nb_blocks *b = &p->of->blocks;
    int rows = (s->count + NB_CHECKED - 1) / NB_CHECKED, ld = p->reach;
    gather(rows, p->checks, ld, p->product, ld, p->checked, ld);
    gather(rows, p->checks, s->keys, s->values, s->ld, p->s_checked, b->n);
    nb_gemm_left_together(b->width, rows, s->keys, -1, b->q, b->n, p->s_checked, b->n, 1, p->checked, ld,
                          (double)rows * s->keys);
    for (int i = 0; i < p->of->count; i++) {
        const nb_view *v = &p->of->views[i];
        int m = v->p.m;
        if (!v->todo) continue;
        gather(rows, p->checks, m, v->p.q_f + (size_t)s->first * (size_t)m, m, p->q_checked, m);
        for (size_t k = 0; k < (size_t)rows; k++)
            nb_scale((size_t)m, p->likes[k] / NB_CHECKED, p->q_checked + k * (size_t)m);
        nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, m, rows, 1, p->q_checked, m, p->checked + b->blocks[v->block].column, ld, 1,
                v->check, m);
    }
}

void nb_mixed_end(const nb_mixed *p, const nb_stripe *s)
{
    /* The heavy keys are added to P */
    nb_gemm_left_together(p->of->blocks.width, s->count, p->heavy, 1, p->q_heavy, p->heavy, p->s_heavy, p->heavy, 1,
                          p->product, p->reach, (double)p->heavy * s->count);
    check_stripe(p, s);
}

void nb_mixed_judge(nb_view *v, double norm)
{
    size_t square = (size_t)v->p.m * (size_t)v->p.m;
    double all = nb_frobenius(square, v->check) / norm;
    v->off = 2 * NB_CHECKED * all;
    v->off_inside = 2 * NB_CHECKED * (fabs(nb_dot(square, v->p.mid, v->check)) / (norm * norm) + 3 * all / v->p.m);
}

bool nb_mixed_misses_subspace(const nb_view *v)
{
    return v->p.subspace < small || v->off_inside > nb_mixed_promise * v->p.subspace * v->p.subspace;
}

bool nb_mixed_misses_core(const nb_view *v, double core)
{
    return core < small || v->off > nb_mixed_promise * core;
}
