/* SPDX-License-Identifier: GPL-3.0-or-later */
/* basis.c - Cholesky QR: G = A'A = R'R, Q = A R^-1 (Yamamoto et al., ETNA 44,
 * 2015, for its repetition), and what catches it.
 *
 * One round leaves |Q'Q - I| of about eps cond(A)^2; a round that starts from
 * |G - I| < 0.1 ends with Q orthonormal to rounding. */
#include "linalg/basis.h"

#include "linalg/linalg.h"
#include "linalg/tall_qr.h"
#include "linalg/vector.h"
#include "linalg/work.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { ROUNDS = 4 };
static const double least_rcond =
    1e-6; /* below it Householder: eps / rcond^2 = 2e-4, far from the 1 at which a round fails */
static const double nearly = 0.1;
/* Least share of a column's square that must be left beside those of its panel: a condition of 1e6. */
static const double safe = 1e-12;
/* Least share of a unit column's square that must be left after the second projection: less is left of a column that
 * was only rounding. */
static const double twice = 0.25;

typedef struct { /* m vectors of length n */
    nb_layout layout;
    int n, m;
    double *a; /* n x m, or m x n with a vector a row */
} vectors;

typedef struct {       /* for m vectors */
    double *g, *work;  /* m x m, 3m */
    double *scratch;   /* nb_tall_scratch(m), for rows */
    lapack_int *iwork; /* m */
} workspace;

/* The upper triangle of G, whose rest is zero. n m^2 flops. */
static void gram(const vectors *v, const workspace *w)
{
    nb_count_multiplications(0.5 * v->n * v->m * v->m);
    memset(w->g, 0, (size_t)v->m * (size_t)v->m * sizeof *w->g);
    if (v->layout == NB_ROWS)
        nb_tall_for(v->m)->gram(v->n, v->m, v->a, w->g, w->scratch);
    else
        cblas_dsyrk(CblasColMajor, CblasUpper, CblasTrans, v->m, v->n, 1.0, v->a, v->n, 0.0, w->g, v->m);
}

/* |G - I|_F of a symmetric matrix's upper triangle. */
static double deviation(int m, const double *g)
{
    double sum = 0;
    for (int j = 0; j < m; j++) {
        for (int i = 0; i < j; i++) sum += 2 * g[i + j * m] * g[i + j * m];
        sum += (g[j + j * m] - 1) * (g[j + j * m] - 1);
    }
    return sqrt(sum);
}

/* g <- its Cholesky factor; false if there is none of a good condition. m^3 / 3 flops (sec. 4.2.5). */
static bool factorise(int m, const workspace *w)
{
    double rcond = 0;
    nb_count_multiplications(m / 6.0 * m * m);
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', m, w->g, m) != 0) return false;
    LAPACKE_dtrcon_work(LAPACK_COL_MAJOR, '1', 'U', 'N', m, w->g, m, &rcond, w->work, w->iwork);
    return rcond > least_rcond;
}

/* a <- a g^-1 by substitution. n m^2 flops. */
static void divide_by_triangle(const vectors *v, const workspace *w)
{
    nb_count_multiplications(0.5 * v->n * v->m * v->m);
    if (v->layout == NB_ROWS)
        nb_tall_for(v->m)->divide(v->n, v->m, v->a, w->g, w->scratch);
    else
        cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, v->n, v->m, 1.0, w->g, v->m,
                    v->a, v->n);
}

/* The same for a triangle near the identity: for columns, where it is faster, by the inverse itself, which is as good
 * there. m^3 / 3 and n m^2 flops. */
static void divide_near_one(const vectors *v, const workspace *w)
{
    if (v->layout == NB_ROWS) {
        divide_by_triangle(v, w);
        return;
    }
    nb_count_multiplications((v->m / 6.0 + v->n / 2.0) * v->m * v->m);
    LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'U', 'N', v->m, w->g, v->m);
    cblas_dtrmm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, v->n, v->m, 1.0, w->g, v->m, v->a,
                v->n);
}

/* r <- g r, both upper triangular: m^3 / 3 flops. */
static void multiply_triangles(int m, const double *g, double *r)
{
    nb_count_multiplications(m / 6.0 * m * m);
    cblas_dtrmm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, m, m, 1.0, g, m, r, m);
}

/* *done is false, and the vectors as they were, where they are too close to dependent. */
static nb_status cholesky_qr(const vectors *v, double *r, const workspace *w, bool *done, nb_ctx *ctx)
{
    int n = v->n, m = v->m;
    *done = false;
    for (int round = 0; round < ROUNDS && !*done; round++) {
        /* G = V'V, which ends the rounds where it is I already to `nearly` */
        gram(v, w);
        *done = deviation(m, w->g) < nearly;
        /* G = R_k'R_k; it fails at first where V is too ill-conditioned */
        if (!factorise(m, w)) {
            NB_REQUIRE(ctx, round == 0, NB_ENUMERIC, "Cholesky QR of %d vectors of length %d broke down in round %d", m,
                       n, round + 1);
            return NB_OK;
        }
        /* R = R_k ... R_1 */
        if (round == 0)
            memcpy(r, w->g, (size_t)m * (size_t)m * sizeof *r);
        else
            multiply_triangles(m, w->g, r);
        /* V <- V R_k^-1 */
        if (*done)
            divide_near_one(v, w);
        else
            divide_by_triangle(v, w);
    }
    NB_REQUIRE(ctx, *done, NB_ENUMERIC, "Cholesky QR of %d vectors of length %d is not orthonormal after %d rounds", m,
               n, ROUNDS);
    return NB_OK;
}

/* If R = U diag(s) W' is singular: q <- q U and r <- diag(s) W', cut to the rank. */
static nb_status reveal_rank(int n, int m, double *q, double *r, int *rank, nb_ctx *ctx)
{
    size_t square = (size_t)m * (size_t)m;
    double *u, *s, *wt, *rotated;
    NB_NEED(u, nb_alloc_reals(ctx, square, 2));
    NB_NEED(s, nb_alloc_reals(ctx, (size_t)m, 1));
    wt = u + square;
    NB_TRY(ctx, nb_svd(m, m, r, u, s, wt, ctx));
    for (*rank = 0; *rank < m && s[*rank] > DBL_EPSILON * n * s[0];) ++*rank;
    if (*rank == m) return NB_OK;
    NB_NEED(rotated, nb_alloc_reals(ctx, (size_t)n, (size_t)m));
    nb_gemm(NB_PLAIN, NB_PLAIN, n, *rank, m, 1, q, n, u, m, 0, rotated, n);
    memcpy(q, rotated, (size_t)n * (size_t)m * sizeof *q);
    for (int j = 0; j < m; j++)
        for (int i = 0; i < m; i++) r[i + j * m] = i < *rank ? s[i] * wt[i + j * m] : 0;
    return NB_OK;
}

/* Householder QR of any vectors; *q holds Q by columns, in the vectors' place or, from rows, in the ctx. */
static nb_status any_qr(const vectors *v, double **q, double *r, nb_ctx *ctx)
{
    int n = v->n, m = v->m;
    NB_REQUIRE(ctx, nb_all_finite((size_t)n * (size_t)m, v->a), NB_ENUMERIC, "NaN or Inf in a %d x %d matrix", n, m);
    *q = v->a;
    if (v->layout == NB_ROWS) {
        NB_NEED(*q, nb_alloc_reals(ctx, (size_t)n, (size_t)m));
        nb_transpose(m, n, v->a, *q);
    }
    return nb_qr(n, m, *q, r, ctx);
}

static nb_status careful(const vectors *v, double *r, int *rank, nb_ctx *ctx)
{
    double *q;
    NB_TRY(ctx, any_qr(v, &q, r, ctx));
    NB_TRY(ctx, reveal_rank(v->n, v->m, q, r, rank, ctx));
    if (v->layout == NB_ROWS) nb_transpose(v->n, v->m, q, v->a);
    return NB_OK;
}

static nb_status try_cholesky_qr(const vectors *v, double *r, bool *done, nb_ctx *ctx)
{
    workspace w;
    int m = v->m;
    NB_NEED(w.g, nb_alloc_reals(ctx, (size_t)m, (size_t)m));
    NB_NEED(w.work, nb_alloc_reals(ctx, (size_t)m, 3));
    NB_NEED(w.iwork, nb_alloc(ctx, (size_t)m, sizeof *w.iwork));
    NB_NEED(w.scratch, nb_alloc_raw(ctx, nb_tall_scratch(m)));
    return cholesky_qr(v, r, &w, done, ctx);
}

static nb_status orthonormalise(const vectors *v, double *r, int *rank, nb_ctx *ctx)
{
    bool done;
    *rank = v->m;
    NB_TRY(ctx, try_cholesky_qr(v, r, &done, ctx));
    return done ? NB_OK : careful(v, r, rank, ctx);
}

nb_status nb_orthonormalise(nb_layout layout, int n, int m, double *a, double *r, int *rank, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, m >= 1 && n >= m, NB_EDIM,
               "orthonormal basis of %d vectors of length %d: needs 1 to length of them", m, n);
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = orthonormalise(&(vectors){layout, n, m, a}, r, rank, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}

/* A = Q R and R = U diag(s) W': the vectors are the columns of Q U. */
static nb_status vectors_of_many(const vectors *v, double *s, double *left, nb_ctx *ctx)
{
    int n = v->n, m = v->m;
    size_t square = (size_t)m * (size_t)m;
    bool done, rows;
    double *q = v->a, *r, *u, *wt;
    NB_NEED(r, nb_alloc_reals(ctx, square, 3));
    u = r + square;
    wt = u + square;
    NB_TRY(ctx, try_cholesky_qr(v, r, &done, ctx));
    if (!done) NB_TRY(ctx, any_qr(v, &q, r, ctx));
    NB_TRY(ctx, nb_svd(m, m, r, u, s, wt, ctx));
    rows = done && v->layout == NB_ROWS;
    nb_gemm(rows ? NB_TRANSPOSED : NB_PLAIN, NB_PLAIN, n, m, m, 1, q, rows ? m : n, u, m, 0, left, n);
    return NB_OK;
}

static nb_status singular_vectors(const vectors *v, double *s, double *left, nb_ctx *ctx)
{
    int n = v->n, m = v->m;
    double *u, *wt;
    if (m <= n) return vectors_of_many(v, s, left, ctx);
    NB_NEED(u, nb_alloc_raw(ctx, (size_t)n * (size_t)m));
    if (v->layout == NB_COLUMNS) return nb_svd(n, m, v->a, left, s, u, ctx);
    NB_NEED(wt, nb_alloc_raw(ctx, (size_t)n * (size_t)n));
    NB_TRY(ctx, nb_svd(m, n, v->a, u, s, wt, ctx));
    nb_transpose(n, n, wt, left);
    return NB_OK;
}

nb_status nb_singular_vectors(nb_layout layout, int n, int m, const double *a, double *s, double *v, nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    double *copy;
    NB_NEED(copy, nb_alloc_raw(ctx, (size_t)n * (size_t)m));
    memcpy(copy, a, (size_t)n * (size_t)m * sizeof *copy);
    nb_status status = singular_vectors(&(vectors){layout, n, m, copy}, s, v, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}

nb_status nb_orthonormalise_any(int n, int m, double *a, double *r, int *rank, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, m >= 1 && n >= m, NB_EDIM,
               "orthonormal basis of %d vectors of length %d: needs 1 to length of them", m, n);
    nb_mark mark = nb_ctx_mark(ctx);
    *rank = m;
    nb_status status = careful(&(vectors){NB_COLUMNS, n, m, a}, r, rank, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}

enum { WIDEST = 16 }; /* nb_panel_width's */

typedef struct { /* columns from `start` on become orthonormal: `used` of `width`, behind them zeros */
    int n, m, start, width, used;
    double *a, *r;
    double *panel, *w;                                 /* n x WIDEST, m x WIDEST */
    double g[WIDEST * WIDEST], first[WIDEST * WIDEST]; /* width x width */
    double least[WIDEST];                              /* of each column's square, what has to be left of it */
} ordered;

/* Takes the columns before out of the panel, and adds how much that was, w times `before`, to r. */
static void subtract_projection(ordered *o, const double *before)
{
    int n = o->n, width = o->width, start = o->start;
    if (start == 0) return;
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, start, width, n, 1, o->a, n, o->panel, n, 0, o->w, start);
    nb_gemm(NB_PLAIN, NB_PLAIN, n, width, start, -1, o->a, n, o->w, start, 1, o->panel, n);
    if (before) {
        nb_count_multiplications(0.5 * start * width * width);
        cblas_dtrmm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, start, width, 1.0, before, width,
                    o->w, start);
    }
    for (int j = 0; j < o->used; j++)
        nb_add((size_t)start, o->w + j * start, o->r + (size_t)(start + j) * (size_t)o->m);
}

/* The panel's Cholesky factor in g, as far as it is safe; `used` becomes so many, and behind them stands the
 * identity. */
static void factorise_panel(ordered *o)
{
    int width = o->width, used = o->used;
    nb_count_multiplications(width / 6.0 * width * width);
    double *g = o->g;
    /* G = P'P of the panel P */
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, width, width, o->n, 1, o->panel, o->n, o->panel, o->n, 0, g, width);
    o->used = 0;
    /* Column j of R, G = R'R: r_ij = (g_ij - sum_l<i r_li r_lj) / r_ii, r_jj^2 = g_jj - sum_l<j r_lj^2 */
    for (int j = 0; j < used && o->used == j; j++) {
        double *column = g + j * width, whole = column[j];
        for (int i = 0; i <= j; i++) {
            for (int l = 0; l < i; l++) column[i] -= g[l + i * width] * column[l];
            if (i < j) column[i] /= g[i + i * width];
        }
        if (!(column[j] > safe * whole && column[j] > o->least[j] && isfinite(column[j]))) break;
        column[j] = sqrt(column[j]);
        o->used = j + 1;
    }
    for (int j = 0; j < width; j++)
        for (int i = 0; i < width; i++)
            if (i > j || j >= o->used) g[i + j * width] = i == j;
}

/* panel <- panel g^-1, zero behind its columns. */
static void divide_panel(ordered *o)
{
    size_t n = (size_t)o->n;
    nb_count_multiplications(0.5 * o->n * o->width * o->width);
    cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, o->n, o->width, 1.0, o->g, o->width,
                o->panel, o->n);
    memset(o->panel + n * (size_t)o->used, 0, n * (size_t)(o->width - o->used) * sizeof *o->panel);
}

/* The next columns, as many as one panel may take; none: the first of them depends on those before. */
static void next_panel(ordered *o)
{
    size_t n = (size_t)o->n, m = (size_t)o->m;
    double *from = o->a + n * (size_t)o->start;
    /* The panel P of the next columns; more than eps n of a column's length has to be left of it */
    o->width = nb_panel_width(o->start);
    o->used = o->m - o->start < o->width ? o->m - o->start : o->width;
    memcpy(o->panel, from, n * (size_t)o->used * sizeof *from);
    memset(o->panel + n * (size_t)o->used, 0, n * (size_t)(o->width - o->used) * sizeof *from);
    for (int j = 0; j < o->used; j++) {
        o->least[j] = pow(DBL_EPSILON * o->n * nb_frobenius(n, from + n * (size_t)j), 2);
        memset(o->r + (size_t)(o->start + j) * m, 0, m * sizeof *o->r);
    }
    /* P - Q Q'P = P_1 R_1, Q the columns before */
    subtract_projection(o, NULL);
    factorise_panel(o);
    if (o->used == 0) return;
    divide_panel(o);
    /* Once more: P_1 - Q Q'P_1 = P_2 R_2, so that P = Q (Q'P + Q'P_1 R_1) + P_2 R_2 R_1 */
    memcpy(o->first, o->g, sizeof o->g);
    for (int j = 0; j < o->used; j++) o->least[j] = twice; /* they are of length 1 now */
    subtract_projection(o, o->first);
    factorise_panel(o);
    divide_panel(o);
    multiply_triangles(o->width, o->g, o->first);
    for (int j = 0; j < o->used; j++)
        memcpy(o->r + (size_t)(o->start + j) * m + o->start, o->first + j * o->width, (size_t)(j + 1) * sizeof *o->r);
    memcpy(from, o->panel, n * (size_t)o->used * sizeof *from);
    o->start += o->used;
}

nb_status nb_orthonormalise_in_order(int n, int m, double *a, double *r, int *good, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, m >= 1 && n >= m, NB_EDIM,
               "orthonormal basis of %d vectors of length %d: needs 1 to length of them", m, n);
    nb_mark mark = nb_ctx_mark(ctx);
    ordered o = {.n = n, .m = m, .a = a, .r = r};
    NB_NEED(o.panel, nb_alloc_raw(ctx, (size_t)n * WIDEST));
    NB_NEED(o.w, nb_alloc_raw(ctx, (size_t)m * WIDEST));
    do next_panel(&o);
    while (o.used > 0 && o.start < m);
    *good = o.start;
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

static nb_status has_full_rank(int n, int m, const double *r, int ld, bool *full, nb_ctx *ctx)
{
    double rcond = 0, *own, *s, *work;
    lapack_int *iwork;
    NB_NEED(own, nb_alloc_reals(ctx, (size_t)m, (size_t)m));
    NB_NEED(s, nb_alloc_reals(ctx, (size_t)m, 1));
    NB_NEED(work, nb_alloc_reals(ctx, (size_t)m, 3));
    NB_NEED(iwork, nb_alloc(ctx, (size_t)m, sizeof *iwork));
    for (size_t j = 0; j < (size_t)m; j++) memcpy(own + j * (size_t)m, r + j * (size_t)ld, (j + 1) * sizeof *own);
    LAPACKE_dtrcon_work(LAPACK_COL_MAJOR, '1', 'U', 'N', m, own, m, &rcond, work, iwork);
    *full = rcond > 100.0 * m * n * DBL_EPSILON; /* the norms differ by m at most, the estimate by 10 or so */
    if (*full) return NB_OK;
    NB_TRY(ctx, nb_svd(m, m, own, NULL, s, NULL, ctx));
    *full = s[m - 1] > DBL_EPSILON * n * s[0];
    return NB_OK;
}

nb_status nb_has_full_rank(int n, int m, const double *r, int ld, bool *full, nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = has_full_rank(n, m, r, ld, full, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}
