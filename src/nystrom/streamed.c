/* SPDX-License-Identifier: GPL-3.0-or-later */
/* streamed.c - P = Q_B' S' for all pairs by one product a stripe, M += Q_F' P'.
 *
 * |S|^2 - |M|^2 has an absolute error of 1e-15 to 1e-14 of |S|^2. Where the
 * subspace part is below `small` times |S| the residual S - Q_F M Q_B' is
 * therefore summed directly, in a second pass for those pairs: above it, the part
 * is right to 1e-14 / 2 small^2 = 5e-9 relative; below, to about 1e-10.
 *
 * Where the kernel gives factors of S there is no pass, and no such subtraction:
 * see low_rank.c.
 *
 * With precision mixed, S and Q_B are rounded to single precision for the product,
 * and M is summed in double. With |S| = 1 and dM the error of M,
 *
 *     the subspace part s, s^2 = 1 - |M|^2, is off by  <M, dM> / s,
 *     the core part |M - C|                 is off by  at most |dM|,
 *     the error                             by no more, relatively, than both its parts.
 *
 * dM is measured: every CHECKED-th row of P is computed in double too, and E is what these rows
 * give of dM. Errors that are alike in all rows (sums over repeated keys) make dM = CHECKED E, errors
 * that are random sqrt(CHECKED) |E| in norm, of which a direction has the m-th part. So |dM| is taken as
 * CHECKED |E| and <M, dM> as CHECKED (|<M, E>| + 3 |E| / m), both twice, since other rows may be worse. A
 * part that is off by more than 1e-6 of itself by that, or below `small_mixed`, is measured again in double.
 *
 * That is seldom: rounding of S and Q_B gives a |dM| of 1e-9 to 6e-8. Beside a key that all
 * queries attend to sums over the keys lose more, since small terms are rounded to the large one's
 * digits: so the HEAVY keys of the largest columns go into the product in double. */
#include "nystrom/streamed.h"

#include "base/clock.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "nystrom/blocks.h"
#include "nystrom/exact_rows.h"
#include "nystrom/factors_private.h"
#include "nystrom/low_rank.h"
#include "nystrom/scene_private.h"
#include "nystrom/spectral.h"
#include "nystrom/unseen.h"

#include <float.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

static const double small = 1e-3, small_mixed = 0.05; /* of |S| */
static const double rounding = 16 * DBL_EPSILON; /* of |S|^2 in a difference of squares, and of sums over all entries */
static const double promised_mixed = 1e-6;       /* of each measure that comes from single precision */

enum {
    HEAVY = 16,     /* keys that stay in double, */
    LOOKED_AT = 64, /* and rows of S that say which */
    CHECKED = 16,   /* each so-manieth row is computed in double too */
};

typedef struct batch batch;

typedef struct { /* nb_pair.own */
    nb_projection p;
    nb_offer offer;
    batch *of;
    int block;
    bool single;            /* M comes from single precision, and its error is, relative to |S|, at most about */
    double off_inside, off; /* |<M, dM>|, |dM| */
    double *check;          /* E, m x m */
    bool differenced;       /* the subspace part comes from |S|^2 - |M|^2 */
    bool todo;              /* in the pass that runs */
    double residual;        /* sum of squares, of a second pass */
} view;

struct batch {
    nb_scene *scene;
    int count;
    nb_pair *pairs;
    view *views; /* of pairs */
    nb_blocks blocks;
    const int *order; /* nb_how's */
    nb_ctx *failures; /* owns the texts of pairs that fail while something is to be released */
    nb_engine_times times;
};

/* F of the pairs whose views are `todo`: kernels one by one, columns of S in one pass. */
static nb_status form_f(batch *b, double **f, nb_ctx *ctx)
{
    nb_f_columns *columns;
    int wanted = 0;
    double start_s = nb_clock_s();
    NB_NEED(columns, nb_alloc(ctx, (size_t)b->count + 1, sizeof *columns));
    for (int i = 0; i < b->count; i++) {
        nb_pair *pair = &b->pairs[i];
        if (!b->views[i].todo) continue;
        NB_NEED(f[i], nb_alloc_raw(ctx, (size_t)b->blocks.n * (size_t)pair->landmarks->keys.m));
        if (pair->kind == NB_CUR)
            columns[wanted++] = (nb_f_columns){&pair->landmarks->keys, f[i]};
        else if (nb_factor_f(b->scene, pair->landmarks, b->blocks.n, NULL, f[i], ctx) != NB_OK)
            NB_TRY(ctx, nb_keep_failure(&pair->failure, ctx));
    }
    if (wanted) NB_TRY(ctx, nb_factor_columns(b->scene, columns, ctx));
    b->times.form_s += nb_clock_s() - start_s;
    return NB_OK;
}

/* The projection of one pair but for M; `f` becomes Q_F. */
static nb_status view_init(batch *b, int i, double *f, nb_ctx *ctx)
{
    view *v = &b->views[i];
    const nb_block *block = &b->blocks.blocks[b->blocks.block_of[i]];
    int rank, m = b->pairs[i].landmarks->keys.m;
    size_t square = (size_t)m * (size_t)m, n = (size_t)b->blocks.n;
    nb_projection *p = &v->p;
    *v = (view){.of = b, .block = b->blocks.block_of[i], .todo = true};
    *p = (nb_projection){.scene = b->scene, .factors = b->pairs[i].factors, .n = b->blocks.n, .m = m, .q_f = f};
    p->q_b = b->blocks.q + n * (size_t)block->column;
    NB_NEED(p->r_f, nb_alloc_reals(ctx, square, 3));
    p->r_b = p->r_f + square;
    p->mid = p->r_b + square;
    for (int j = 0; j < m; j++)
        memcpy(p->r_b + (size_t)j * (size_t)m, block->r + (size_t)j * (size_t)block->m, (size_t)m * sizeof *p->r_b);
    NB_NEED(p->ones, nb_alloc_reals(ctx, (size_t)m, 1));
    for (int j = 0; j < m; j++) p->ones[j] = nb_sum(n, p->q_b + n * (size_t)j);
    b->pairs[i].own = v;
    v->offer =
        (nb_offer){b->scene, b->pairs[i].landmarks, b->pairs[i].kind, {m, m, p->r_f, p->r_b, p->mid}, p->q_b, b->order};
    nb_factors_offer(p->factors, &v->offer);
    double start_s = nb_clock_s();
    NB_TRY(ctx, nb_orthonormalise(NB_ROWS, p->n, m, f, p->r_f, &rank, ctx));
    p->f = nb_frobenius(square, p->r_f);
    p->b = nb_frobenius(square, p->r_b);
    p->upper = nb_is_upper(m, p->r_f) && nb_is_upper(m, p->r_b);
    double done_s = nb_clock_s();
    NB_TRY(ctx, nb_landmarks_of_a(p->factors, &p->landmark_rank, &p->landmark_condition, ctx));
    b->times.orthonormal_s += done_s - start_s;
    b->times.svd_s += nb_clock_s() - done_s;
    return NB_OK;
}

typedef struct { /* one pass for the views that are `todo` */
    batch *b;
    bool single;
    int reach;       /* columns of Q_B and zeros behind them that the products may have rows of P for */
    double *product; /* reach x NB_STRIPE: P */
    int *column;     /* by block: where it begins in q32 and product32; at last their width but for the zeros behind */
    float *q32, *s32, *product32; /* n x width, n x NB_STRIPE, NB_STRIPE x width */
    int heavy;                    /* keys that are 0 in s32, */
    size_t *keys;                 /* which, */
    double *q_heavy, *s_heavy;    /* their rows of Q_B and columns of the stripe: heavy x reach, heavy x NB_STRIPE */
    double *checked;              /* reach x NB_STRIPE / CHECKED: rows of P less what they are in double */
} pass;

static bool needed(const batch *b, int block)
{
    for (int i = 0; i < b->count; i++)
        if (b->views[i].todo && b->views[i].block == block) return true;
    return false;
}

/* The rows of P that belong to blocks first ... end - 1, from single precision. */
static void multiply_single(const pass *p, const nb_stripe *s, int first, int end)
{
    const nb_blocks *b = &p->b->blocks;
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

/* The stripe in single precision, but for its heavy keys. */
static void round_stripe(const pass *p, const nb_stripe *s)
{
    for (size_t i = 0, keys = (size_t)s->keys; i < (size_t)s->count; i++) {
        const double *row = s->values + i * (size_t)s->ld;
        float *rounded = p->s32 + i * (size_t)p->b->blocks.n;
        nb_to_single(keys, row, rounded);
        for (size_t h = 0, j; h < (size_t)p->heavy; h++) {
            j = p->keys[h];
            p->s_heavy[h + i * (size_t)p->heavy] = j < keys ? row[j] : 0;
            if (j < keys) rounded[j] = 0;
        }
    }
}

/* The heavy keys are added to P. */
static void add_heavy(const pass *p, int count)
{
    nb_gemm_left_together(p->b->blocks.width, count, p->heavy, 1, p->q_heavy, p->heavy, p->s_heavy, p->heavy, 1,
                          p->product, p->reach, (double)p->heavy * count);
}

/* What the stripe gives of E. */
static void check_stripe(const pass *p, const nb_stripe *s)
{
    const nb_blocks *b = &p->b->blocks;
    int rows = (s->count + CHECKED - 1) / CHECKED, ld = p->reach;
    for (size_t i = 0, w = (size_t)ld; i < (size_t)rows; i++)
        memcpy(p->checked + i * w, p->product + i * CHECKED * w, w * sizeof *p->checked);
    nb_gemm_left_together(b->width, rows, s->keys, -1, b->q, b->n, s->values, CHECKED * s->ld, 1, p->checked, ld,
                          (double)rows * s->keys);
    for (int i = 0; i < p->b->count; i++) {
        const view *v = &p->b->views[i];
        if (!v->todo) continue;
        nb_gemm(NB_PLAIN, NB_TRANSPOSED, v->p.m, v->p.m, rows, 1, v->p.q_f + (size_t)s->first * (size_t)v->p.m,
                CHECKED * v->p.m, p->checked + b->blocks[v->block].column, ld, 1, v->check, v->p.m);
    }
}

static nb_status project_stripe(void *self, const nb_stripe *s, nb_ctx *ctx)
{
    pass *p = self;
    batch *b = p->b;
    (void)ctx;
    if (p->single) round_stripe(p, s);
    for (int k = 0, end; k < b->blocks.count; k = end) { /* blocks that stand together in one product */
        for (end = k; end < b->blocks.count && needed(b, end);) end++;
        if (end > k && p->single)
            multiply_single(p, s, k, end);
        else if (end > k)
            nb_blocks_product(&b->blocks, k, end, s->count, s->keys, s->values, s->ld, p->product, p->reach);
        if (end == k) end++;
    }
    if (p->single) {
        add_heavy(p, s->count);
        check_stripe(p, s);
    }
    for (int i = 0; i < b->count; i++) {
        view *v = &b->views[i];
        if (!v->todo) continue;
        nb_gemm(NB_PLAIN, NB_TRANSPOSED, v->p.m, v->p.m, s->count, 1, v->p.q_f + (size_t)s->first * (size_t)v->p.m,
                v->p.m, p->product + b->blocks.blocks[v->block].column, p->reach, 1, v->p.mid, v->p.m);
    }
    return NB_OK;
}

/* The keys of the largest columns of S, as some of its rows have them: what stands beside a row must not matter. */
static nb_status find_heavy(pass *p, nb_ctx *ctx)
{
    int n = p->b->blocks.n, looked_at = n < LOOKED_AT ? n : LOOKED_AT, tokens[LOOKED_AT];
    double *rows, *squares;
    NB_NEED(p->keys, nb_alloc(ctx, (size_t)p->heavy, sizeof *p->keys));
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(rows, nb_alloc_raw(ctx, (size_t)n * (size_t)looked_at));
    NB_NEED(squares, nb_alloc_reals(ctx, (size_t)n, 1));
    for (int i = 0; i < looked_at; i++) tokens[i] = (int)((i + 1) * (long)n / looked_at) - 1;
    NB_TRY(ctx, nb_scene_some_rows(p->b->scene, looked_at, tokens, rows, ctx));
    for (int i = 0; i < looked_at; i++) {
        const double *row = rows + (size_t)i * (size_t)n;
        for (int j = 0; j < n; j++) squares[j] += row[j] * row[j];
    }
    gsl_sort_largest_index(p->keys, (size_t)p->heavy, squares, 1, (size_t)n);
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

static nb_status heavy_init(pass *p, nb_ctx *ctx)
{
    const nb_blocks *b = &p->b->blocks;
    NB_TRY(ctx, find_heavy(p, ctx));
    NB_NEED(p->q_heavy, nb_alloc_reals(ctx, (size_t)p->heavy, (size_t)p->reach));
    NB_NEED(p->s_heavy, nb_alloc_raw(ctx, (size_t)p->heavy * NB_STRIPE));
    for (int k = 0; k < b->count; k++)
        for (int j = b->blocks[k].column, end = j + b->blocks[k].width; b->blocks[k].good && j < end; j++)
            for (int h = 0; h < p->heavy; h++)
                p->q_heavy[h + j * p->heavy] = b->q[p->keys[h] + (size_t)j * (size_t)b->n];
    return NB_OK;
}

static nb_status check_init(pass *p, nb_ctx *ctx)
{
    NB_NEED(p->checked, nb_alloc_raw(ctx, (size_t)p->reach * (NB_STRIPE / CHECKED)));
    for (int i = 0; i < p->b->count; i++) {
        view *v = &p->b->views[i];
        if (v->todo) NB_NEED(v->check, nb_alloc_reals(ctx, (size_t)v->p.m, (size_t)v->p.m));
    }
    return NB_OK;
}

static nb_status pass_init(pass *p, batch *b, bool single, nb_ctx *ctx)
{
    const nb_blocks *all = &b->blocks;
    size_t n = (size_t)all->n, width = 0;
    *p = (pass){.b = b, .single = single, .reach = all->reach, .heavy = all->n < HEAVY ? all->n : HEAVY};
    if (!single) {
        NB_NEED(p->product, nb_alloc_raw(ctx, (size_t)p->reach * NB_STRIPE));
        return NB_OK;
    }
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

typedef struct { /* a second pass */
    batch *b;
    double *rest, *g; /* n x NB_STRIPE; m x NB_STRIPE for the largest m */
} second;

/* |S - Q_F M Q_B'|^2, row by row. */
static nb_status residual_stripe(void *self, const nb_stripe *s, nb_ctx *ctx)
{
    const second *again = self;
    batch *b = again->b;
    size_t n = (size_t)b->blocks.n;
    double *rest = again->rest, *g = again->g;
    (void)ctx;
    for (int i = 0; i < b->count; i++) {
        view *v = &b->views[i];
        const nb_projection *p = &v->p;
        if (!v->todo) continue;
        for (size_t k = 0; k < (size_t)s->count; k++) {
            memcpy(rest + k * n, s->values + k * (size_t)s->ld, (size_t)s->keys * sizeof *rest);
            memset(rest + k * n + s->keys, 0, (n - (size_t)s->keys) * sizeof *rest);
        }
        nb_gemm(NB_TRANSPOSED, NB_PLAIN, p->m, s->count, p->m, 1, p->mid, p->m,
                p->q_f + (size_t)s->first * (size_t)p->m, p->m, 0, g, p->m);
        nb_gemm(NB_PLAIN, NB_PLAIN, p->n, s->count, p->m, -1, p->q_b, p->n, g, p->m, 1, rest, p->n);
        v->residual += nb_sum_of_squares(n * (size_t)s->count, rest);
    }
    return NB_OK;
}

/* Marks the views whose subspace part loses too much in a difference of squares; whether there are any. */
static bool mark_small(batch *b)
{
    bool any = false;
    for (int i = 0; i < b->count; i++) {
        view *v = &b->views[i];
        v->todo = v->todo && v->p.subspace < small;
        v->residual = 0;
        any = any || v->todo;
    }
    return any;
}

/* Marks the views whose subspace part may be off by more than is promised; whether there are any. */
static bool mark_inexact(batch *b)
{
    bool any = false;
    for (int i = 0; i < b->count; i++) {
        view *v = &b->views[i];
        v->todo =
            v->todo && (v->p.subspace < small_mixed || v->off_inside > promised_mixed * v->p.subspace * v->p.subspace);
        any = any || v->todo;
    }
    return any;
}

/* What E says. */
static void judge(view *v, double norm)
{
    size_t square = (size_t)v->p.m * (size_t)v->p.m;
    double all = nb_frobenius(square, v->check) / norm;
    v->off = 2 * CHECKED * all;
    v->off_inside = 2 * CHECKED * (fabs(nb_dot(square, v->p.mid, v->check)) / (norm * norm) + 3 * all / v->p.m);
}

/* The subspace part of the views that are `todo`, by a second pass. */
static nb_status look_again(batch *b, double norm, nb_ctx *ctx)
{
    second again = {.b = b};
    int most = 0;
    double start_s = nb_clock_s();
    for (int i = 0; i < b->count; i++)
        if (b->views[i].todo && b->views[i].p.m > most) most = b->views[i].p.m;
    NB_NEED(again.rest, nb_alloc_raw(ctx, (size_t)b->blocks.n * NB_STRIPE));
    NB_NEED(again.g, nb_alloc_raw(ctx, (size_t)most * NB_STRIPE));
    NB_TRY(ctx, nb_scene_pass(b->scene, residual_stripe, &again, ctx));
    for (int i = 0; i < b->count; i++)
        if (b->views[i].todo) b->views[i].p.subspace = sqrt(b->views[i].residual) / norm;
    b->times.second_pass_s += nb_clock_s() - start_s;
    return NB_OK;
}

/* M and the subspace part of the views that are `todo`. */
static nb_status project(batch *b, bool single, nb_ctx *ctx)
{
    pass p;
    double norm, start_s = nb_clock_s();
    NB_TRY(ctx, pass_init(&p, b, single, ctx));
    for (int i = 0; i < b->count; i++) {
        view *v = &b->views[i];
        if (v->todo) memset(v->p.mid, 0, (size_t)v->p.m * (size_t)v->p.m * sizeof *v->p.mid);
    }
    NB_TRY(ctx, nb_scene_pass(b->scene, project_stripe, &p, ctx));
    NB_TRY(ctx, nb_scene_norm(b->scene, &norm, ctx));
    for (int i = 0; i < b->count; i++) {
        view *v = &b->views[i];
        if (!v->todo) continue;
        double inside = nb_frobenius((size_t)v->p.m * (size_t)v->p.m, v->p.mid) / norm;
        v->p.subspace = sqrt(fmax(0, (1 - inside) * (1 + inside)));
        v->differenced = v->p.subspace >= small;
        v->single = single;
        if (single) judge(v, norm);
    }
    b->times.pass_s += nb_clock_s() - start_s;
    return single || !mark_small(b) ? NB_OK : look_again(b, norm, ctx);
}

/* The same from the factors of S. */
static nb_status project_factors(batch *b, nb_ctx *ctx)
{
    const nb_low_rank *s = &b->scene->factors;
    size_t r = (size_t)s->rank;
    double *scratch, *t_y, norm, residual, start_s = nb_clock_s();
    NB_NEED(scratch, nb_alloc_raw(ctx, r * (size_t)b->blocks.n));
    NB_NEED(t_y, nb_alloc_raw(ctx, r * r));
    NB_TRY(ctx, nb_low_rank_triangle(s->rank, b->blocks.n, s->y, scratch, t_y, ctx));
    NB_TRY(ctx, nb_scene_norm(b->scene, &norm, ctx));
    for (int i = 0; i < b->count; i++) {
        nb_projection *p = &b->views[i].p;
        if (!b->views[i].todo) continue;
        if (nb_low_rank_project(s, p->n, p->m, p->q_f, p->q_b, t_y, p->mid, &residual, ctx) != NB_OK) {
            NB_TRY(ctx, nb_keep_failure(&b->pairs[i].failure, b->failures));
            continue;
        }
        p->subspace = residual / norm;
    }
    b->times.pass_s += nb_clock_s() - start_s;
    return NB_OK;
}

static nb_status project_released(batch *b, bool single, nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = b->scene->factors.rank ? project_factors(b, ctx) : project(b, single, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}

/* What the outputs S V and F X B V need. */
static nb_status project_output(nb_projection *p, nb_ctx *ctx)
{
    const nb_head *h = p->scene->head;
    size_t size = (size_t)p->m * (size_t)h->dv, all = (size_t)h->dv * (size_t)h->n;
    const double *output;
    double *outside;
    NB_TRY(ctx, nb_scene_output(p->scene, &output, ctx));
    NB_NEED(p->exact_output, nb_alloc_reals(ctx, size, 2));
    p->output_b = p->exact_output + size;
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, p->m, h->dv, h->n, 1, p->q_f, p->m, output, h->dv, 0, p->exact_output, p->m);
    nb_gemm(NB_TRANSPOSED, NB_TRANSPOSED, p->m, h->dv, h->n, 1, p->q_b, h->n, h->v, h->dv, 0, p->output_b, p->m);
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(outside, nb_alloc_raw(ctx, all));
    memcpy(outside, output, all * sizeof *outside);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, h->dv, h->n, p->m, -1, p->exact_output, p->m, p->q_f, p->m, 1, outside, h->dv);
    p->output_norm = nb_frobenius(all, output);
    p->output_outside = nb_frobenius(all, outside);
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

nb_status nb_streamed_prepare(nb_scene *scene, const nb_how *how, int count, nb_pair *pairs, nb_engine_times *times,
                              nb_ctx *ctx)
{
    batch *b;
    double **f;
    NB_NEED(b, nb_alloc(ctx, 1, sizeof *b));
    *b = (batch){.scene = scene, .count = count, .pairs = pairs, .order = how->order};
    NB_NEED(b->views, nb_alloc(ctx, (size_t)count, sizeof *b->views));
    NB_NEED(b->failures, nb_ctx_child(ctx));
    NB_NEED(f, nb_alloc(ctx, (size_t)count, sizeof *f));
    double least = nb_scene_least_stripe(scene);
    NB_TRY(ctx, nb_blocks_build(scene, count, pairs, least, how->precision == NB_MIXED ? least / CHECKED : least,
                                &b->blocks, &b->times, ctx));
    for (int i = 0; i < count; i++) b->views[i].todo = !pairs[i].failure;
    NB_TRY(ctx, form_f(b, f, ctx));
    for (int i = 0; i < count; i++) {
        if (!pairs[i].failure && view_init(b, i, f[i], ctx) != NB_OK)
            NB_TRY(ctx, nb_keep_failure(&pairs[i].failure, ctx));
        b->views[i].todo = !pairs[i].failure;
    }
    bool mixed = how->precision == NB_MIXED && !scene->factors.rank;
    NB_TRY(ctx, project_released(b, mixed, ctx));
    if (mixed && mark_inexact(b)) NB_TRY(ctx, project_released(b, false, ctx));
    for (int i = 0; i < count; i++)
        if (!pairs[i].failure && (how->wanted & NB_WANT_OUTPUT) && scene->head->v)
            NB_TRY(ctx, project_output(&b->views[i].p, ctx));
    *times = b->times;
    return NB_OK;
}

/* |M - C|_F relative to |S|_F; c is the request's. */
static double core_part(const nb_projection *p, const double *c, double norm, double *scratch)
{
    size_t square = (size_t)p->m * (size_t)p->m;
    for (size_t i = 0; i < square; i++) scratch[i] = p->mid[i] - c[i];
    return nb_frobenius(square, scratch) / norm;
}

enum { TOGETHER = 8 }; /* row sums that are computed at once: always so many, and so each the same bits */

typedef struct { /* requests on one pair */
    int count;
    double *weights, *sums; /* C Q_B' 1 of each, m x count in whole groups; NB_STRIPE x TOGETHER */
    nb_measures **of;
} row_sums;

/* Room for `most` requests of up to m landmarks. */
static nb_status row_sums_init(row_sums *r, int m, int most, nb_ctx *ctx)
{
    size_t whole = ((size_t)most + TOGETHER - 1) / TOGETHER * TOGETHER;
    r->count = 0;
    NB_NEED(r->weights, nb_alloc_reals(ctx, (size_t)m, whole));
    NB_NEED(r->sums, nb_alloc_raw(ctx, (size_t)NB_STRIPE * TOGETHER));
    NB_NEED(r->of, nb_alloc(ctx, (size_t)most, sizeof *r->of));
    return NB_OK;
}

/* Where the sums overflow the deviation stays NaN. */
static void row_sums_add(row_sums *r, const nb_projection *p, const double *c, nb_measures *of)
{
    double *weights = r->weights + r->count * p->m;
    nb_gemv(NB_PLAIN, p->m, p->m, 1, c, p->m, p->ones, 0, weights);
    if (nb_all_finite((size_t)p->m, weights)) r->of[r->count++] = of;
}

/* rowsum_deviation of all: max |Q_F (C Q_B' 1) - 1|. */
static void row_sums_end(row_sums *r, const nb_projection *p)
{
    for (int first = 0; first < p->n; first += NB_STRIPE) {
        int rows = p->n - first < NB_STRIPE ? p->n - first : NB_STRIPE;
        const double *q_f = p->q_f + (size_t)first * (size_t)p->m;
        for (int k = 0; k < r->count; k++) {
            if (k % TOGETHER == 0)
                nb_gemm(NB_TRANSPOSED, NB_PLAIN, rows, TOGETHER, p->m, 1, q_f, p->m, r->weights + k * p->m, p->m, 0,
                        r->sums, rows);
            double *deviation = &r->of[k]->rowsum_deviation;
            *deviation = fmax(*deviation,
                              nb_largest_distance((size_t)rows, r->sums + k % TOGETHER * rows, 1)); /* NaN at first */
        }
    }
    r->count = 0;
}

/* |(S - F X B) V|: outside of range(F), and inside. */
static nb_status output_error(const nb_projection *p, const double *c, double *error, nb_ctx *ctx)
{
    size_t size = (size_t)p->m * (size_t)p->scene->head->dv;
    double *inside;
    NB_NEED(inside, nb_alloc_raw(ctx, size));
    memcpy(inside, p->exact_output, size * sizeof *inside);
    nb_gemm(NB_PLAIN, NB_PLAIN, p->m, p->scene->head->dv, p->m, -1, c, p->m, p->output_b, p->m, 1, inside, p->m);
    *error = hypot(p->output_outside, nb_frobenius(size, inside)) / p->output_norm;
    return NB_OK;
}

/* The rows of S that are kept, in place of those of F X B in a stripe. */
static nb_status put_exact(const nb_scene *scene, int kept, const int *order, int first, int count, double *rows,
                           nb_ctx *ctx)
{
    for (int i = 0; i < kept; i++)
        if (order[i] >= first && order[i] < first + count)
            NB_TRY(ctx, nb_scene_some_rows(scene, 1, &order[i],
                                           rows + (size_t)(order[i] - first) * (size_t)scene->head->n, ctx));
    return NB_OK;
}

/* What needs the entries of F X B, formed by stripes from F and B themselves: in
 * Q_F C Q_B' an entry that is zero would be rounding of either sign. So it may be here, where it is a sum of
 * terms that cancel, or X has rounding in place of zeros (under a mask): no more than entry_noise, which is of
 * all entries together, counts. */
static nb_status entries(const nb_projection *p, const double *f, const double *b, nb_request *r, const int *order,
                         unsigned wanted, nb_ctx *ctx)
{
    nb_measures *out = &r->measures;
    size_t n = (size_t)p->n, m = (size_t)p->m;
    double *g, *rows, negative = 0, mass = 0, entropy = 0, of_s = 0;
    NB_NEED(g, nb_alloc_raw(ctx, m * NB_STRIPE));
    NB_NEED(rows, nb_alloc_raw(ctx, n * NB_STRIPE));
    for (int first = 0; first < p->n; first += NB_STRIPE) {
        int count = p->n - first < NB_STRIPE ? p->n - first : NB_STRIPE;
        nb_gemm(NB_TRANSPOSED, NB_PLAIN, p->m, count, p->m, 1, r->x, p->m, f + (size_t)first * m, p->m, 0, g, p->m);
        nb_gemm(NB_PLAIN, NB_PLAIN, p->n, count, p->m, 1, b, p->n, g, p->m, 0, rows, p->n);
        if (r->keep_rows) NB_TRY(ctx, put_exact(p->scene, r->seen, order, first, count, rows, ctx));
        double number, sum;
        nb_negatives(n * (size_t)count, rows, -r->entry_noise, &number, &sum);
        negative += number;
        mass += sum;
        if (wanted & NB_WANT_ENTROPY) entropy += nb_entropy(n * (size_t)count, rows);
    }
    if (wanted & NB_WANT_ENTRIES) {
        out->negative_fraction = negative / p->n / p->n;
        out->negative_mass = mass / p->n;
    }
    if (wanted & NB_WANT_ENTROPY) {
        NB_TRY(ctx, nb_scene_entropy(p->scene, &of_s, ctx));
        out->entropy_difference = fabs(of_s - entropy / p->n);
    }
    return NB_OK;
}

/* All but rowsum_deviation and what the entries or the spectrum of S give. */
static nb_status measure(const view *v, nb_request *r, double *c, nb_ctx *ctx)
{
    const nb_projection *p = &v->p;
    nb_measures *out = &r->measures;
    const double *x = r->x;
    size_t square = (size_t)p->m * (size_t)p->m;
    double norm, *scratch;
    nb_sizes sizes;
    nb_measures_clear(out);
    NB_NEED(scratch, nb_alloc_raw(ctx, square));
    NB_TRY(ctx, nb_scene_norm(p->scene, &norm, ctx));
    nb_projection_core(p, x, scratch, c, &sizes);
    out->error_subspace = p->subspace;
    out->error_core = core_part(p, c, norm, scratch);
    out->error = hypot(out->error_subspace, out->error_core);
    if (!isfinite(out->error)) return NB_OK;
    out->mse = pow(out->error * norm / p->n, 2);
    out->cosine = nb_dot(square, p->mid, c) / (norm * nb_frobenius(square, c));
    out->landmark_rank = p->landmark_rank;
    out->landmark_condition = p->landmark_condition;
    r->entry_noise = nb_rounding_noise(p->factors, &sizes, 1);
    out->error_noise = (v->differenced ? rounding * fmax(1, 1 / out->error) : rounding) + r->entry_noise / norm +
                       (v->single ? promised_mixed * out->error : 0);
    NB_TRY(ctx, nb_core_residual(p->factors, x, &out->core_residual, ctx));
    NB_TRY(ctx, nb_scene_baseline_mean(p->scene, &out->baseline_mean, ctx));
    return p->exact_output ? output_error(p, c, &out->output_error, ctx) : NB_OK;
}

/* Measures again in double the requests whose core part may be off by more than is promised, and those whose
 * rows seen are to be subtracted, whatever stands beside them. */
static nb_status refine(batch *b, int count, nb_request *requests, bool *again, nb_ctx *ctx)
{
    bool any = false;
    for (int i = 0; i < b->count; i++) b->views[i].todo = false;
    for (int i = 0; i < count; i++) {
        view *v = requests[i].pair->own;
        double core = requests[i].measures.error_core;
        again[i] = !requests[i].failure && v->single &&
                   (core < small_mixed || v->off > promised_mixed * core || requests[i].seen > 0);
        if (again[i]) any = v->todo = true;
    }
    return any ? project_released(b, false, ctx) : NB_OK;
}

/* The first request with the same X and rows seen, which is measured again whenever that one is: settings
 * of a core often end alike. */
static int first_alike(size_t square, const nb_request *requests, int i)
{
    int k = 0;
    while (k < i && !(requests[k].seen == requests[i].seen && requests[k].keep_rows == requests[i].keep_rows &&
                      memcmp(requests[k].x, requests[i].x, square * sizeof(double)) == 0))
        k++;
    return k;
}

/* Requests on one pair, whose C are kept where `c` is not NULL, else each in `scratch`. */
static nb_status measure_pair(const view *v, int count, nb_request *requests, const bool *which, double *const *c,
                              double *scratch, int *alike, row_sums *sums, nb_ctx *ctx)
{
    size_t square = (size_t)v->p.m * (size_t)v->p.m;
    for (int i = 0; i < count; i++) {
        nb_request *r = &requests[i];
        double *own = c ? c[i] : scratch;
        alike[i] = i;
        if (which && !which[i]) continue;
        alike[i] = first_alike(square, requests, i);
        if (alike[i] < i) continue;
        nb_mark mark = nb_ctx_mark(ctx);
        nb_status status = measure(v, r, own, ctx);
        nb_ctx_release(ctx, mark);
        if (status != NB_OK)
            NB_TRY(ctx, nb_keep_failure(&r->failure, ctx));
        else if (isfinite(r->measures.error))
            row_sums_add(sums, &v->p, own, &r->measures);
    }
    row_sums_end(sums, &v->p);
    for (int i = 0; i < count; i++) {
        if (alike[i] == i) continue;
        requests[i].measures = requests[alike[i]].measures;
        requests[i].entry_noise = requests[alike[i]].entry_noise;
        requests[i].failure = requests[alike[i]].failure;
        if (c) memcpy(c[i], c[alike[i]], square * sizeof *c[i]);
    }
    return NB_OK;
}

/* Those of `which`; NULL: all. */
static nb_status measure_all(int count, nb_request *requests, const bool *which, double *const *c, nb_ctx *ctx)
{
    row_sums sums;
    double *scratch;
    int m = 0, *alike;
    for (int i = 0; i < count; i++) m = requests[i].pair->factors->m > m ? requests[i].pair->factors->m : m;
    NB_NEED(scratch, nb_alloc_raw(ctx, (size_t)m * (size_t)m));
    NB_NEED(alike, nb_alloc(ctx, (size_t)count, sizeof *alike));
    NB_TRY(ctx, row_sums_init(&sums, m, count, ctx));
    for (int i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && requests[next].pair == requests[i].pair;) next++;
        NB_TRY(ctx, measure_pair(requests[i].pair->own, next - i, requests + i, which ? which + i : NULL,
                                 c ? c + i : NULL, scratch, alike, &sums, ctx));
    }
    return NB_OK;
}

/* What the rows that cores have looked at change. */
static nb_status tell_unseen(const batch *b, int count, nb_request *requests, nb_ctx *ctx)
{
    for (int i = 0; i < count; i++) {
        nb_request *r = &requests[i];
        const view *v = r->pair->own;
        if (r->seen == 0 || r->failure || !isfinite(r->measures.error)) continue;
        nb_mark mark = nb_ctx_mark(ctx);
        nb_status status =
            nb_unseen_measure(&v->p, &(nb_seen){b->order, r->seen, r->keep_rows}, r->x, &r->measures, ctx);
        nb_ctx_release(ctx, mark);
        if (status != NB_OK) NB_TRY(ctx, nb_keep_failure(&r->failure, ctx));
    }
    return NB_OK;
}

/* The entries of the requests on one pair. */
static nb_status entries_of_pair(const batch *b, int pair, const double *f, unsigned wanted, int count,
                                 nb_request *requests, nb_ctx *ctx)
{
    const view *v = &b->views[pair];
    double *rows;
    NB_NEED(rows, nb_alloc_raw(ctx, (size_t)v->p.n * (size_t)v->p.m));
    NB_TRY(ctx, nb_factor_b(b->scene, b->pairs[pair].landmarks, b->pairs[pair].kind, rows, ctx));
    for (int i = 0; i < count; i++) {
        if (requests[i].pair->own != v || requests[i].failure || !isfinite(requests[i].measures.error)) continue;
        nb_mark mark = nb_ctx_mark(ctx);
        nb_status status = entries(&v->p, f, rows, &requests[i], b->order, wanted, ctx);
        nb_ctx_release(ctx, mark);
        NB_TRY(ctx, status);
    }
    return NB_OK;
}

/* The error is the failure of the requests on one pair. */
static nb_status fail_requests(const view *v, int count, nb_request *requests, nb_ctx *ctx)
{
    const char *failure;
    NB_TRY(ctx, nb_keep_failure(&failure, ctx));
    for (int i = 0; i < count; i++)
        if (requests[i].pair->own == v && !requests[i].failure) requests[i].failure = failure;
    return NB_OK;
}

static nb_status all_entries(batch *b, unsigned wanted, int count, nb_request *requests, nb_ctx *ctx)
{
    double **f;
    NB_NEED(f, nb_alloc(ctx, (size_t)b->count, sizeof *f));
    for (int i = 0; i < b->count; i++) b->views[i].todo = false;
    for (int i = 0; i < count; i++)
        if (!requests[i].failure) ((view *)requests[i].pair->own)->todo = true;
    NB_TRY(ctx, form_f(b, f, ctx));
    for (int i = 0; i < b->count; i++) {
        if (!b->views[i].todo) continue;
        nb_mark mark = nb_ctx_mark(ctx);
        nb_status status = entries_of_pair(b, i, f[i], wanted, count, requests, ctx);
        nb_ctx_release(ctx, mark);
        if (status != NB_OK) NB_TRY(ctx, fail_requests(&b->views[i], count, requests, ctx));
    }
    return NB_OK;
}

/* The spectral norms of all differences, together. */
static nb_status spectral(nb_scene *scene, const int *order, int count, nb_request *requests, double *const *c,
                          nb_ctx *ctx)
{
    nb_difference *differences;
    nb_request **of;
    int used = 0;
    NB_NEED(differences, nb_alloc(ctx, (size_t)count, sizeof *differences));
    NB_NEED(of, nb_alloc(ctx, (size_t)count, sizeof *of));
    for (int i = 0; i < count; i++) {
        const nb_projection *p = &((const view *)requests[i].pair->own)->p;
        if (requests[i].failure || !isfinite(requests[i].measures.error)) continue;
        of[used] = &requests[i];
        differences[used++] = (nb_difference){.m = p->m,
                                              .q_f = p->q_f,
                                              .c = c[i],
                                              .q_b = p->q_b,
                                              .zero = order,
                                              .zeros = requests[i].keep_rows ? requests[i].seen : 0};
    }
    if (used > 0) NB_TRY(ctx, nb_spectral_norms(scene, used, differences, ctx));
    for (int i = 0; i < used; i++) {
        of[i]->measures.spectral_error = differences[i].norm;
        of[i]->measures.spectral_accuracy = differences[i].accuracy;
        of[i]->failure = differences[i].failure;
    }
    return NB_OK;
}

/* Room for the C of each request. */
static nb_status keep_cores(int count, const nb_request *requests, double ***c, nb_ctx *ctx)
{
    NB_NEED(*c, nb_alloc(ctx, (size_t)count, sizeof **c));
    for (int i = 0; i < count; i++) {
        size_t m = (size_t)requests[i].pair->factors->m;
        NB_NEED((*c)[i], nb_alloc_raw(ctx, m * m));
    }
    return NB_OK;
}

nb_status nb_streamed_measure(nb_scene *scene, const nb_how *how, int count, nb_request *requests, nb_ctx *ctx)
{
    double **c = NULL;
    bool *again;
    batch *b = ((view *)requests[0].pair->own)->of;
    for (int i = 0; i < count; i++)
        NB_REQUIRE(ctx, ((view *)requests[i].pair->own)->of == b, NB_EBUG,
                   "requests of two batches in one measurement");
    if (how->wanted & NB_WANT_SPECTRAL) NB_TRY(ctx, keep_cores(count, requests, &c, ctx));
    NB_NEED(again, nb_alloc(ctx, (size_t)count, sizeof *again));
    NB_TRY(ctx, measure_all(count, requests, NULL, c, ctx));
    if (how->precision == NB_MIXED) {
        NB_TRY(ctx, refine(b, count, requests, again, ctx));
        NB_TRY(ctx, measure_all(count, requests, again, c, ctx));
    }
    NB_TRY(ctx, tell_unseen(b, count, requests, ctx));
    if (how->wanted & (NB_WANT_ENTRIES | NB_WANT_ENTROPY))
        NB_TRY(ctx, all_entries(b, how->wanted, count, requests, ctx));
    return how->wanted & NB_WANT_SPECTRAL ? spectral(scene, b->order, count, requests, c, ctx) : NB_OK;
}
