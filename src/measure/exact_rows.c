/* exact_rows.c - rows of S formed by stripes, each times Q_B. */
#include "measure/exact_rows.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"

/* What k rows give, a stripe at a time; of `cur` also their columns. */
static nb_status take(const nb_offer *o, int k, double *target, double *f, double *squares, nb_ctx *ctx)
{
    int n = o->scene->head->n, b = o->ranges.rank_b;
    nb_f_columns columns[] = {{&o->landmarks->keys, f}, {NULL, NULL}};
    double *rows;
    NB_NEED(rows, nb_alloc_raw(ctx, (size_t)n * (size_t)(k < NB_STRIPE ? k : NB_STRIPE)));
    for (int i = 0; i < k; i += NB_STRIPE) {
        int count = k - i < NB_STRIPE ? k - i : NB_STRIPE;
        NB_TRY(ctx, nb_scene_some_rows(o->scene, count, o->order + i, rows, ctx));
        nb_gemm(NB_TRANSPOSED, NB_PLAIN, b, count, n, 1, o->q_b, n, rows, n, 0, target + (size_t)i * (size_t)b, b);
        for (int j = 0; j < count; j++) squares[i + j] = nb_sum_of_squares((size_t)n, rows + (size_t)j * (size_t)n);
        if (o->kind == NB_CUR) nb_factor_take(columns, &(nb_stripe){.first = i, .count = count, .keys = n, .ld = n, .values = rows});
    }
    return NB_OK;
}

static nb_status make_rows(const nb_factors *factors, int k, nb_exact_rows *rows, nb_ctx *ctx)
{
    const nb_offer *o = factors->offer;
    double *target, *f, *squares;
    NB_NEED(target, nb_alloc_raw(ctx, (size_t)o->ranges.rank_b * (size_t)k));
    NB_NEED(f, nb_alloc_raw(ctx, (size_t)factors->m * (size_t)k));
    NB_NEED(squares, nb_alloc_raw(ctx, (size_t)k));
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = take(o, k, target, f, squares, ctx);
    if (status == NB_OK && o->kind != NB_CUR) status = nb_factor_f(o->scene, o->landmarks, k, o->order, f, ctx);
    nb_ctx_release(ctx, mark);
    NB_TRY(ctx, status);
    *rows = (nb_exact_rows){.k = k, .rank_b = o->ranges.rank_b, .target = target, .f = f, .r_b = o->ranges.r_b, .squares = squares};
    return NB_OK;
}

void nb_factors_offer(nb_factors *factors, const nb_offer *offer)
{
    factors->n = offer->scene->head->n;
    factors->offer = offer;
    factors->ranges = &offer->ranges;
    factors->make_rows = offer->order ? make_rows : NULL;
}
