/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exact_rows.c - rows of S formed a few at a time, each times Q_B; and F and B, formed anew for a core. */
#include "nystrom/exact_rows.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "nystrom/factors_record.h"
#include "nystrom/scene_record.h"

#include <string.h>

enum { TOGETHER = 64 }; /* rows formed at once: a fixed number, so that a row has the same bits whatever k is */

typedef struct {    /* of TOGETHER rows */
    double *rows;   /* n x TOGETHER */
    double *target; /* rank_b x TOGETHER: S Q_B by rows */
    double *f;      /* m x TOGETHER: their rows of F */
} panel;

/* Computes target, F and squares for rows first ... first + TOGETHER - 1 of the order; in place of rows from k on the
 * first row is repeated, without its square. */
static nb_status form_panel(const nb_offer *o, const double *bias, int first, int k, const panel *p, double *squares,
                            nb_ctx *ctx)
{
    int n = o->scene->head->n, b = o->ranges.rank_b, tokens[TOGETHER];
    nb_f_columns columns[] = {{&o->landmarks->keys, p->f}, {NULL, NULL}};
    for (int i = 0; i < TOGETHER; i++) tokens[i] = o->order[first + i < k ? first + i : 0];
    NB_TRY(ctx, nb_scene_some_rows(o->scene, TOGETHER, tokens, p->rows, ctx));
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, b, TOGETHER, n, 1, o->q_b, n, p->rows, n, 0, p->target, b);
    for (int i = 0; i < TOGETHER && first + i < k; i++)
        squares[first + i] = nb_sum_of_squares((size_t)n, p->rows + (size_t)i * (size_t)n);
    if (o->kind != NB_CUR) return nb_factor_f(o->scene, o->landmarks, bias, TOGETHER, tokens, p->f, ctx);
    nb_factor_copy_columns(columns, &(nb_stripe){.first = 0, .count = TOGETHER, .keys = n, .ld = n, .values = p->rows});
    return NB_OK;
}

static nb_status form_rows(const nb_offer *o, const double *bias, int k, double *target, double *f, double *squares,
                           nb_ctx *ctx)
{
    size_t b = (size_t)o->ranges.rank_b, m = (size_t)o->landmarks->keys.m;
    panel p;
    NB_NEED(p.rows, nb_alloc_raw(ctx, (size_t)o->scene->head->n * TOGETHER));
    NB_NEED(p.target, nb_alloc_raw(ctx, (b + m) * TOGETHER));
    p.f = p.target + b * TOGETHER;
    for (int i = 0; i < k; i += TOGETHER) {
        size_t at = (size_t)i, count = (size_t)(k - i < TOGETHER ? k - i : TOGETHER);
        nb_mark mark = nb_ctx_mark(ctx);
        nb_status status = form_panel(o, bias, i, k, &p, squares, ctx);
        nb_ctx_release(ctx, mark);
        NB_TRY(ctx, status);
        memcpy(target + at * b, p.target, count * b * sizeof *target);
        memcpy(f + at * m, p.f, count * m * sizeof *f);
    }
    return NB_OK;
}

static nb_status make_rows_of(const nb_factors *factors, const nb_offer *o, int k, nb_exact_rows *rows, nb_ctx *ctx)
{
    double *target, *f, *squares;
    NB_NEED(target, nb_alloc_raw(ctx, (size_t)o->ranges.rank_b * (size_t)k));
    NB_NEED(f, nb_alloc_raw(ctx, (size_t)factors->m * (size_t)k));
    NB_NEED(squares, nb_alloc_raw(ctx, (size_t)k));
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = form_rows(o, factors->interpolation.bias, k, target, f, squares, ctx);
    nb_ctx_release(ctx, mark);
    NB_TRY(ctx, status);
    *rows = (nb_exact_rows){
        .k = k, .rank_b = o->ranges.rank_b, .target = target, .f = f, .r_b = o->ranges.r_b, .squares = squares};
    return NB_OK;
}

static nb_status make_rows(const nb_factors *factors, int k, nb_exact_rows *rows, nb_ctx *ctx)
{
    return make_rows_of(factors, factors->offer, k, rows, ctx);
}

nb_status nb_factors_rows_in(const nb_factors *factors, int k, const int *order, nb_exact_rows *rows, nb_ctx *ctx)
{
    nb_offer offer = *(const nb_offer *)factors->offer;
    offer.order = order;
    return make_rows_of(factors, &offer, k, rows, ctx);
}

static nb_status form_outer(const nb_factors *factors, nb_outer_factors *outer, nb_ctx *ctx)
{
    const nb_offer *o = factors->offer;
    const nb_head *head = o->scene->head;
    size_t size = (size_t)factors->m * (size_t)head->n;
    double *f, *b;
    NB_NEED(f, nb_alloc_raw(ctx, size));
    NB_NEED(b, nb_alloc_raw(ctx, size));
    nb_f_columns columns[] = {{&o->landmarks->keys, f}, {NULL, NULL}};
    *outer = (nb_outer_factors){.n = head->n, .causal = head->causal, .f = f, .b = b};
    NB_TRY(ctx, nb_factor_b(o->scene, o->landmarks, o->kind, b, NULL, ctx));
    if (o->kind == NB_CUR) return nb_factor_columns(o->scene, columns, ctx);
    return nb_factor_f(o->scene, o->landmarks, factors->interpolation.bias, head->n, NULL, f, ctx);
}

void nb_factors_offer(nb_factors *factors, const nb_offer *offer)
{
    factors->n = offer->scene->head->n;
    factors->offer = offer;
    factors->ranges = &offer->ranges;
    factors->make_rows = offer->order ? make_rows : NULL;
    factors->form = form_outer;
    if (offer->kind == NB_CUR && !offer->ranges.mid)
        factors->no_form = "F of cur is columns of S, for which all rows of S are needed, and only some are formed";
}
