/* SPDX-License-Identifier: GPL-3.0-or-later */
/* project.c - projects S on the ranges of all pairs:
 *
 * 1. Each stripe of S gives P = Q_B' S' for all pairs by one product, and M += Q_F' P'.
 * 2. The subspace part is |S|^2 - |M|^2, with an absolute error of 1e-15 to 1e-14 of |S|^2.
 * 3. If it is below `small` times |S|, the residual S - Q_F M Q_B' of that pair is summed directly in a second pass:
 *    above it, the part is right to 1e-14 / 2 small^2 = 5e-9 relative; below, to about 1e-10.
 *
 * If the kernel gives factors of S there is no pass, and no such subtraction (low_rank.c). */
#include "nystrom/factor_batch.h"

#include "base/clock.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "nystrom/low_rank.h"
#include "nystrom/mixed.h"
#include "nystrom/scene_record.h"

#include <math.h>
#include <string.h>

static const double small = 1e-3; /* of |S| */

typedef struct { /* one pass for the views that are `todo` */
    nb_batch *b;
    const nb_mixed *mixed; /* NULL: in double */
    int reach;             /* columns of Q_B and zeros behind them that the products may have rows of P for */
    double *product;       /* reach x NB_STRIPE: P */
} pass;

static bool needed(const nb_batch *b, int block)
{
    for (int i = 0; i < b->count; i++)
        if (b->views[i].todo && b->views[i].block == block) return true;
    return false;
}

static nb_status project_stripe(void *self, const nb_stripe *s, nb_ctx *ctx)
{
    pass *p = self;
    nb_batch *b = p->b;
    (void)ctx;
    if (p->mixed) nb_mixed_begin(p->mixed, s);
    /* P = Q_B' S' of the stripe */
    for (int k = 0, end; k < b->blocks.count; k = end) { /* blocks that stand together in one product */
        for (end = k; end < b->blocks.count && needed(b, end);) end++;
        if (end > k && p->mixed)
            nb_mixed_multiply(p->mixed, s, k, end);
        else if (end > k)
            nb_blocks_product(&b->blocks, k, end, s, p->product, p->reach);
        if (end == k) end++;
    }
    if (p->mixed) nb_mixed_end(p->mixed, s);
    for (int i = 0; i < b->count; i++) {
        nb_view *v = &b->views[i];
        if (!v->todo) continue;
        /* M += Q_F' P' */
        nb_gemm(NB_PLAIN, NB_TRANSPOSED, v->p.m, v->p.m, s->count, 1, v->p.q_f + (size_t)s->first * (size_t)v->p.m,
                v->p.m, p->product + b->blocks.blocks[v->block].column, p->reach, 1, v->p.mid, v->p.m);
    }
    return NB_OK;
}

typedef struct { /* a second pass */
    nb_batch *b;
    double *rest, *g; /* n x NB_STRIPE; m x NB_STRIPE for the largest m */
} second;

/* |S - Q_F M Q_B'|^2, row by row. */
static nb_status residual_stripe(void *self, const nb_stripe *s, nb_ctx *ctx)
{
    const second *again = self;
    nb_batch *b = again->b;
    size_t n = (size_t)b->blocks.n;
    double *rest = again->rest, *g = again->g;
    (void)ctx;
    for (int i = 0; i < b->count; i++) {
        nb_view *v = &b->views[i];
        const nb_projection *p = &v->p;
        if (!v->todo) continue;
        for (size_t k = 0; k < (size_t)s->count; k++) {
            memcpy(rest + k * n, s->values + k * (size_t)s->ld, (size_t)s->keys * sizeof *rest);
            memset(rest + k * n + s->keys, 0, (n - (size_t)s->keys) * sizeof *rest);
        }
        /* G = M' Q_F' of the stripe's rows */
        nb_gemm(NB_TRANSPOSED, NB_PLAIN, p->m, s->count, p->m, 1, p->mid, p->m,
                p->q_f + (size_t)s->first * (size_t)p->m, p->m, 0, g, p->m);
        /* S' - Q_B G */
        nb_gemm(NB_PLAIN, NB_PLAIN, p->n, s->count, p->m, -1, p->q_b, p->n, g, p->m, 1, rest, p->n);
        v->residual += nb_sum_of_squares(n * (size_t)s->count, rest);
    }
    return NB_OK;
}

/* Marks the views whose subspace part loses too much in a difference of squares; whether there are any. */
static bool mark_small(nb_batch *b)
{
    bool any = false;
    for (int i = 0; i < b->count; i++) {
        nb_view *v = &b->views[i];
        v->todo = v->todo && v->p.subspace < small;
        v->residual = 0;
        any = any || v->todo;
    }
    return any;
}

/* The subspace part of the views that are `todo`, by a second pass. */
static nb_status sum_residuals(nb_batch *b, double norm, nb_ctx *ctx)
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
static nb_status project(nb_batch *b, bool single, nb_ctx *ctx)
{
    nb_mixed mixed;
    pass p = {.b = b, .reach = b->blocks.reach};
    double norm, start_s = nb_clock_s();
    if (single) {
        NB_TRY(ctx, nb_mixed_init(&mixed, b, ctx));
        p = (pass){.b = b, .mixed = &mixed, .reach = mixed.reach, .product = mixed.product};
    } else {
        NB_NEED(p.product, nb_alloc_raw(ctx, (size_t)p.reach * NB_STRIPE));
    }
    for (int i = 0; i < b->count; i++) {
        nb_view *v = &b->views[i];
        if (v->todo) memset(v->p.mid, 0, (size_t)v->p.m * (size_t)v->p.m * sizeof *v->p.mid);
    }
    NB_TRY(ctx, nb_scene_pass(b->scene, project_stripe, &p, ctx));
    NB_TRY(ctx, nb_scene_norm(b->scene, &norm, ctx));
    for (int i = 0; i < b->count; i++) {
        nb_view *v = &b->views[i];
        if (!v->todo) continue;
        /* subspace^2 = 1 - |M|^2/|S|^2 */
        double inside = nb_frobenius((size_t)v->p.m * (size_t)v->p.m, v->p.mid) / norm;
        v->p.subspace = sqrt(fmax(0, (1 - inside) * (1 + inside)));
        v->differenced = v->p.subspace >= small;
        v->single = single;
        if (single) nb_mixed_judge(v, norm);
    }
    b->times.pass_s += nb_clock_s() - start_s;
    return single || !mark_small(b) ? NB_OK : sum_residuals(b, norm, ctx);
}

/* The same from the factors of S. */
static nb_status project_factors(nb_batch *b, nb_ctx *ctx)
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
        if (nb_low_rank_project(s, p->n, &(nb_bases){p->m, p->q_f, p->q_b}, t_y, p->mid, &residual, ctx) != NB_OK) {
            NB_TRY(ctx, nb_record_failure(&b->pairs[i].failure, b->failures));
            continue;
        }
        p->subspace = residual / norm;
    }
    b->times.pass_s += nb_clock_s() - start_s;
    return NB_OK;
}

static nb_status project_released(nb_batch *b, bool single, nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = b->scene->factors.rank ? project_factors(b, ctx) : project(b, single, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}

nb_status nb_batch_project_again(nb_batch *b, nb_ctx *ctx)
{
    return project_released(b, false, ctx);
}

/* Marks the views whose subspace part may be off by more than is promised; whether there are any. */
static bool mark_inexact(nb_batch *b)
{
    bool any = false;
    for (int i = 0; i < b->count; i++) {
        nb_view *v = &b->views[i];
        v->todo = v->todo && nb_mixed_misses_subspace(v);
        any = any || v->todo;
    }
    return any;
}

nb_status nb_batch_project(nb_batch *b, nb_precision precision, nb_ctx *ctx)
{
    bool mixed = precision == NB_MIXED && !b->scene->factors.rank;
    NB_TRY(ctx, project_released(b, mixed, ctx));
    return mixed && mark_inexact(b) ? project_released(b, false, ctx) : NB_OK;
}
