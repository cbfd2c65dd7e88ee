/* SPDX-License-Identifier: GPL-3.0-or-later */
/* low_rank.c - S = X'Y through its factors.
 *
 * With P_F = Q_F Q_F', P_B likewise, S - P_F S P_B is the sum of (1 - P_F) S and
 * P_F S (1 - P_B), which are orthogonal to each other. */
#include "nystrom/low_rank.h"

#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

nb_status nb_low_rank_triangle(int r, int n, const double *x, double *q, double *t, nb_ctx *ctx)
{
    int rank;
    if (q != x) memcpy(q, x, (size_t)r * (size_t)n * sizeof *q);
    return nb_orthonormalise(NB_ROWS, n, r, q, t, &rank, ctx);
}

/* |a b'|_F^2, a rows x r, b r x r. */
static nb_status product_squares(int rows, int r, const double *a, const double *b, double *squares, nb_ctx *ctx)
{
    double *product;
    size_t size = (size_t)rows * (size_t)r;
    NB_NEED(product, nb_alloc_raw(ctx, size));
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, rows, r, r, 1, a, rows, b, r, 0, product, rows);
    *squares = pow(nb_frobenius(size, product), 2);
    return NB_OK;
}

/* out (r x n) <- x less its mean column, which is `mean` (r). */
static void centre(size_t r, size_t n, const double *x, const double *mean, double *out)
{
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < r; l++) out[i * r + l] = x[i * r + l] - mean[l];
}

typedef struct {             /* of a sum over all of S */
    double *t_x, *t_y;       /* r x r */
    double *mean_x, *mean_y; /* r: the mean columns */
    double *scratch;         /* r x n */
} parts;

/* |S - mean|: with e = 1/sqrt(n), S - e e'S e e' = (1 - ee') S + e e'S (1 - ee'), orthogonal to each other; (1 - ee')
 * centres the factors. */
static nb_status distances_of(const nb_low_rank *s, int n, const parts *p, double *distances, nb_ctx *ctx)
{
    int r = s->rank;
    double *scratch = p->scratch, *t, *row, first;
    NB_NEED(t, nb_alloc_raw(ctx, (size_t)r * (size_t)r));
    NB_NEED(row, nb_alloc_raw(ctx, (size_t)n));
    centre((size_t)r, (size_t)n, s->x, p->mean_x, scratch);
    NB_TRY(ctx, nb_low_rank_triangle(r, n, scratch, scratch, t, ctx));
    NB_TRY(ctx, product_squares(r, r, t, p->t_y, &first, ctx));
    centre((size_t)r, (size_t)n, s->y, p->mean_y, scratch);
    nb_gemv(NB_TRANSPOSED, r, n, 1, scratch, r, p->mean_x, 0, row);
    *distances = first + n * pow(nb_frobenius((size_t)n, row), 2);
    return NB_OK;
}

static nb_status sums(const nb_low_rank *s, int n, double *squares, double *distances, double *row_sums,
                      double *column_sums, nb_ctx *ctx)
{
    size_t r = (size_t)s->rank;
    parts p;
    NB_NEED(p.t_x, nb_alloc_reals(ctx, r, 2 * r + 2));
    p.t_y = p.t_x + r * r;
    p.mean_x = p.t_y + r * r;
    p.mean_y = p.mean_x + r;
    NB_NEED(p.scratch, nb_alloc_raw(ctx, r * (size_t)n));
    for (size_t i = 0; i < (size_t)n; i++) {
        nb_add(r, s->x + i * r, p.mean_x);
        nb_add(r, s->y + i * r, p.mean_y);
    }
    nb_gemv(NB_TRANSPOSED, s->rank, n, 1, s->x, s->rank, p.mean_y, 0, row_sums); /* sums so far, not means */
    nb_gemv(NB_TRANSPOSED, s->rank, n, 1, s->y, s->rank, p.mean_x, 0, column_sums);
    nb_scale(2 * r, 1.0 / n, p.mean_x);
    NB_TRY(ctx, nb_low_rank_triangle(s->rank, n, s->x, p.scratch, p.t_x, ctx));
    NB_TRY(ctx, nb_low_rank_triangle(s->rank, n, s->y, p.scratch, p.t_y, ctx));
    NB_TRY(ctx, product_squares(s->rank, s->rank, p.t_x, p.t_y, squares, ctx));
    return distances_of(s, n, &p, distances, ctx);
}

nb_status nb_low_rank_sums(const nb_low_rank *s, int n, double *squares, double *distances, double *row_sums,
                           double *column_sums, nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = sums(s, n, squares, distances, row_sums, column_sums, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}

nb_status nb_low_rank_multiply(const nb_low_rank *s, bool transposed, int n, int b, const double *v, double *out,
                               nb_ctx *ctx)
{
    const double *first = transposed ? s->x : s->y, *second = transposed ? s->y : s->x;
    double *inner;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(inner, nb_alloc_raw(ctx, (size_t)s->rank * (size_t)b));
    nb_gemm(NB_PLAIN, NB_PLAIN, s->rank, b, n, 1, first, s->rank, v, n, 0, inner, s->rank);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, n, b, s->rank, 1, second, s->rank, inner, s->rank, 0, out, n);
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

nb_status nb_low_rank_output(const nb_low_rank *s, int n, int dv, const double *v, double *out, nb_ctx *ctx)
{
    double *inner;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(inner, nb_alloc_raw(ctx, (size_t)s->rank * (size_t)dv));
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, dv, s->rank, n, 1, v, dv, s->y, s->rank, 0, inner, dv);
    nb_gemm(NB_PLAIN, NB_PLAIN, dv, n, s->rank, 1, inner, dv, s->x, s->rank, 0, out, dv);
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

nb_status nb_low_rank_columns(const nb_low_rank *s, int n, int m, const int *tokens, double *f, nb_ctx *ctx)
{
    double *some;
    size_t r = (size_t)s->rank;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(some, nb_alloc_raw(ctx, r * (size_t)m));
    for (size_t j = 0; j < (size_t)m; j++) memcpy(some + j * r, s->y + (size_t)tokens[j] * r, r * sizeof *some);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, n, s->rank, 1, some, s->rank, s->x, s->rank, 0, f, m);
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

/* S = Q_x (R_x R_y') Q_y', and the middle is U diag(values) W'. */
static nb_status svd(const nb_low_rank *s, int n, double *values, double *left, double *right, nb_ctx *ctx)
{
    int r = s->rank;
    size_t square = (size_t)r * (size_t)r, tall = (size_t)r * (size_t)n;
    double *t_x, *t_y, *mid, *u, *wt, *q_x, *q_y;
    NB_NEED(t_x, nb_alloc_raw(ctx, 5 * square));
    t_y = t_x + square;
    mid = t_y + square;
    u = mid + square;
    wt = u + square;
    NB_NEED(q_x, nb_alloc_raw(ctx, tall));
    NB_NEED(q_y, nb_alloc_raw(ctx, tall));
    NB_TRY(ctx, nb_low_rank_triangle(r, n, s->x, q_x, t_x, ctx));
    NB_TRY(ctx, nb_low_rank_triangle(r, n, s->y, q_y, t_y, ctx));
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, r, r, r, 1, t_x, r, t_y, r, 0, mid, r);
    if (!left) return nb_svd(r, r, mid, NULL, values, NULL, ctx);
    NB_TRY(ctx, nb_svd(r, r, mid, u, values, wt, ctx));
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, n, r, r, 1, q_x, r, u, r, 0, left, n);
    nb_gemm(NB_TRANSPOSED, NB_TRANSPOSED, n, r, r, 1, q_y, r, wt, r, 0, right, n);
    return NB_OK;
}

nb_status nb_low_rank_svd(const nb_low_rank *s, int n, double *values, double *left, double *right, nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = svd(s, n, values, left, right, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}

static nb_status project(const nb_low_rank *s, int n, const nb_bases *bases, const double *t_y, double *mid,
                         double *residual, nb_ctx *ctx)
{
    int r = s->rank, m = bases->m;
    const double *q_f = bases->q_f, *q_b = bases->q_b;
    size_t tall = (size_t)r * (size_t)n, size = (size_t)r * (size_t)m;
    double *in_f, *in_b, *rest, *t, outside, beside;
    NB_NEED(in_f, nb_alloc_raw(ctx, 2 * size));
    in_b = in_f + size;
    NB_NEED(t, nb_alloc_raw(ctx, (size_t)r * (size_t)r));
    NB_NEED(rest, nb_alloc_raw(ctx, tall));
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, r, n, 1, q_f, m, s->x, r, 0, in_f, m); /* Q_F' X', m x r */
    nb_gemm(NB_PLAIN, NB_PLAIN, r, m, n, 1, s->y, r, q_b, n, 0, in_b, r);      /* Y Q_B, r x m */
    nb_gemm(NB_PLAIN, NB_PLAIN, m, m, r, 1, in_f, m, in_b, r, 0, mid, m);
    memcpy(rest, s->x, tall * sizeof *rest); /* X (1 - P_F) */
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, r, n, m, -1, in_f, m, q_f, m, 1, rest, r);
    NB_TRY(ctx, nb_low_rank_triangle(r, n, rest, rest, t, ctx));
    NB_TRY(ctx, product_squares(r, r, t, t_y, &outside, ctx));
    memcpy(rest, s->y, tall * sizeof *rest); /* Y (1 - P_B) */
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, r, n, m, -1, in_b, r, q_b, n, 1, rest, r);
    NB_TRY(ctx, nb_low_rank_triangle(r, n, rest, rest, t, ctx));
    NB_TRY(ctx, product_squares(m, r, in_f, t, &beside, ctx));
    *residual = sqrt(outside + beside);
    return NB_OK;
}

nb_status nb_low_rank_project(const nb_low_rank *s, int n, const nb_bases *bases, const double *t_y, double *mid,
                              double *residual, nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = project(s, n, bases, t_y, mid, residual, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}
