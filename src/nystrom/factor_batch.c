/* SPDX-License-Identifier: GPL-3.0-or-later */
/* factor_batch.c - what all passes need. */
#include "nystrom/factor_batch.h"

#include "base/clock.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "nystrom/scene_record.h"

nb_view *nb_view_of(const nb_request *request)
{
    return request->pair->own;
}

nb_status nb_batch_form_f(nb_batch *b, double **f, nb_ctx *ctx)
{
    nb_f_columns *columns;
    bool *wanted;
    double start_s = nb_clock_s();
    NB_NEED(columns, nb_alloc(ctx, (size_t)b->count + 1, sizeof *columns));
    NB_NEED(wanted, nb_alloc(ctx, (size_t)b->count, sizeof *wanted));
    for (int i = 0; i < b->count; i++) wanted[i] = b->views[i].todo;
    const nb_f_rows rows = {.scene = b->scene, .count = b->blocks.n};
    NB_TRY(ctx, nb_pairs_form_f(&rows, b->count, b->pairs, wanted, f, columns, ctx));
    if (columns->keys) NB_TRY(ctx, nb_factor_columns(b->scene, columns, ctx));
    b->times.form_s += nb_clock_s() - start_s;
    return NB_OK;
}

/* The projection of one pair but for M; `f` becomes Q_F. */
static nb_status view_init(nb_batch *b, int i, double *f, nb_ctx *ctx)
{
    nb_view *v = &b->views[i];
    const nb_block *block = &b->blocks.blocks[b->blocks.block_of[i]];
    int rank, m = b->pairs[i].landmarks->keys.m;
    size_t square = (size_t)m * (size_t)m, n = (size_t)b->blocks.n;
    nb_projection *p = &v->p;
    *v = (nb_view){.of = b, .block = b->blocks.block_of[i], .todo = true};
    *p = (nb_projection){.scene = b->scene, .factors = b->pairs[i].factors, .n = b->blocks.n, .m = m, .q_f = f};
    /* Q_B and R_B: the first columns of the block's, which may serve pairs with more landmarks. */
    p->q_b = b->blocks.q + n * (size_t)block->column;
    NB_NEED(p->r_f, nb_alloc_reals(ctx, square, 3));
    p->r_b = p->r_f + square;
    p->mid = p->r_b + square;
    nb_blocks_triangle(&b->blocks, i, m, p->r_b);
    NB_NEED(p->ones, nb_alloc_reals(ctx, (size_t)m, 1));
    for (int j = 0; j < m; j++) p->ones[j] = nb_sum(n, p->q_b + n * (size_t)j); /* Q_B' 1 */
    b->pairs[i].own = v;
    v->offer =
        (nb_offer){b->scene, b->pairs[i].landmarks, b->pairs[i].kind, {m, m, p->r_f, p->r_b, p->mid}, p->q_b, b->order};
    nb_factors_offer(p->factors, &v->offer);
    /* F = Q_F R_F, in its place; then |F| = |R_F| and |B| = |R_B|. */
    double start_s = nb_clock_s();
    NB_TRY(ctx, nb_orthonormalise(NB_ROWS, p->n, m, f, p->r_f, &rank, ctx));
    p->f = nb_frobenius(square, p->r_f);
    p->b = nb_frobenius(square, p->r_b);
    p->upper = nb_is_upper(m, p->r_f) && nb_is_upper(m, p->r_b);
    /* Rank and condition of A. */
    double done_s = nb_clock_s();
    NB_TRY(ctx, nb_landmarks_of_a(p->factors, &p->landmark_rank, &p->landmark_condition, ctx));
    b->times.orthonormal_s += done_s - start_s;
    b->times.svd_s += nb_clock_s() - done_s;
    return NB_OK;
}

nb_status nb_batch_new(nb_scene *scene, const nb_how *how, int count, nb_pair *pairs, nb_batch **batch, nb_ctx *ctx)
{
    nb_batch *b;
    double **f, least = nb_scene_least_stripe(scene);
    nb_product_sizes sizes = {.least = least, .smallest = how->precision == NB_MIXED ? least / NB_CHECKED : least};
    NB_NEED(b, nb_alloc(ctx, 1, sizeof *b));
    *b = (nb_batch){.scene = scene, .count = count, .pairs = pairs, .order = how->order};
    NB_NEED(b->views, nb_alloc(ctx, (size_t)count, sizeof *b->views));
    NB_NEED(b->failures, nb_ctx_child(ctx));
    NB_NEED(f, nb_alloc(ctx, (size_t)count, sizeof *f));
    NB_TRY(ctx, nb_blocks_build(scene, count, pairs, sizes, &b->blocks, &b->times, ctx));
    for (int i = 0; i < count; i++) b->views[i].todo = !pairs[i].failure;
    NB_TRY(ctx, nb_batch_form_f(b, f, ctx));
    for (int i = 0; i < count; i++) {
        if (!pairs[i].failure && view_init(b, i, f[i], ctx) != NB_OK)
            NB_TRY(ctx, nb_record_failure(&pairs[i].failure, ctx));
        b->views[i].todo = !pairs[i].failure;
    }
    *batch = b;
    return NB_OK;
}
