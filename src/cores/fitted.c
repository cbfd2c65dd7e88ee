/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fitted.c - X by ridge regression on some exact rows I of S.
 *
 * W = X R_B' minimises |S_I Q_B - F_I W|^2 + lambda s_1^2 |W|^2, s the singular values
 * of F_I; X = W (R_B+)', without directions of B below 1e-12 of its largest. With
 * F_I = U diag(s) V' and H = U diag(s^2 / (s^2 + lambda s_1^2)) U', leaving out row i
 * changes its residual e_i to e_i / (1 - H_ii), so lambda = auto minimises the sum of
 * those squares over a grid: exact leave-one-out, at the cost of one product each.
 *
 * In a forward pass: |I| n d for S_I, |I| n m for S_I Q_B, n m^2 for Q_B and R_B (a
 * QR that the pseudo-inverses do not need), 60 |I| m^2 for the ridge: linear in n.
 * lambda = 0 fails where |I| is near m (experiments/05-fitted-limits.yaml). */
#include "cores/core.h"

#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

typedef struct {
    int rows;
    double ridge;
    int keep_rows;
} fitted_options;

static const nb_option options[] = {
    NB_INT_OR(fitted_options, rows, "auto", "auto", 1, 1 << 20, "number of exact rows of S, at most n; auto: 4 m"),
    NB_REAL_OR(fitted_options, ridge, "auto", "auto", 0, 1e6,
               "lambda, relative to the squared spectral norm of F_I; auto: chosen by leave-one-out on the rows"),
    NB_BOOL(fitted_options, keep_rows, "false", NB_KEEP_ROWS_HELP), NB_OPTION_END};

typedef struct {
    int m, k, r, rank_b; /* r = min(m, k) */
    const nb_exact_rows *rows;
    double *v, *s, *ut;   /* F_I' = v diag(s) ut: m x r, r, r x k */
    double *z;            /* ut S_I Q_B, r x rank_b */
    double *shrunk, *fit; /* r x rank_b; rank_b x k */
} regression;

static nb_status regression_init(regression *g, int m, const nb_exact_rows *rows, nb_ctx *ctx)
{
    *g = (regression){.m = m, .k = rows->k, .r = m < rows->k ? m : rows->k, .rank_b = rows->rank_b, .rows = rows};
    size_t r = (size_t)g->r, k = (size_t)g->k, b = (size_t)g->rank_b;
    NB_NEED(g->v, nb_alloc_raw(ctx, (size_t)m * r));
    NB_NEED(g->s, nb_alloc_raw(ctx, r));
    NB_NEED(g->ut, nb_alloc_raw(ctx, r * k));
    NB_NEED(g->z, nb_alloc_raw(ctx, r * b));
    NB_NEED(g->shrunk, nb_alloc_raw(ctx, r * b));
    NB_NEED(g->fit, nb_alloc_raw(ctx, b * k));
    NB_TRY(ctx, nb_svd(m, g->k, rows->f, g->v, g->s, g->ut, ctx));
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, g->r, g->rank_b, g->k, 1, g->ut, g->r, rows->target, g->rank_b, 0, g->z, g->r);
    return NB_OK;
}

/* s^2 / (s^2 + ridge s_1^2); 0 where s counts as 0. */
static double kept(const regression *g, int j, double ridge)
{
    double share = g->s[j] / g->s[0];
    return share > 1e-15 ? share * share / (share * share + ridge) : 0;
}

/* The sum of squares left when each row is predicted from the others. */
static double left_out(regression *g, double ridge)
{
    size_t b = (size_t)g->rank_b;
    double sum = 0;
    for (int c = 0; c < g->rank_b; c++)
        for (int j = 0; j < g->r; j++) g->shrunk[j + c * g->r] = kept(g, j, ridge) * g->z[j + c * g->r];
    memcpy(g->fit, g->rows->target, b * (size_t)g->k * sizeof *g->fit);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, g->rank_b, g->k, g->r, -1, g->shrunk, g->r, g->ut, g->r, 1, g->fit, g->rank_b);
    for (int i = 0; i < g->k; i++) {
        double own = 0, residual = nb_frobenius(b, g->fit + (size_t)i * b);
        for (int j = 0; j < g->r; j++) own += kept(g, j, ridge) * g->ut[j + i * g->r] * g->ut[j + i * g->r];
        if (1 - own < 1e-10) return INFINITY; /* the row fits itself: its residual says nothing */
        sum += pow(residual / (1 - own), 2);
    }
    return sum;
}

enum { RIDGES = 61 }; /* that are tried: a quarter of a decade apart, from 1 on */

static double best_ridge(regression *g)
{
    double best = 1, least = INFINITY;
    for (int quarter = 0; quarter < RIDGES; quarter++) {
        double ridge = pow(10, -quarter / 4.0), sum = left_out(g, ridge);
        if (!(sum < least)) continue;
        least = sum;
        best = ridge;
    }
    return best;
}

static nb_status compute(nb_factors *factors, const void *opts, double *x, nb_ctx *ctx)
{
    const fitted_options *o = opts;
    int m = nb_factors_m(factors);
    nb_exact_rows rows;
    regression g;
    double *w, *inverse;
    NB_TRY(ctx, nb_factors_rows(factors, o->rows == NB_AUTO ? 4 * m : o->rows, &rows, ctx));
    nb_factors_keep_rows(factors, o->keep_rows);
    NB_TRY(ctx, regression_init(&g, m, &rows, ctx));
    NB_NEED(w, nb_alloc_raw(ctx, (size_t)m * (size_t)g.rank_b));
    NB_NEED(inverse, nb_alloc_raw(ctx, (size_t)m * (size_t)g.rank_b));
    double ridge = isnan(o->ridge) ? best_ridge(&g) : o->ridge;
    for (int c = 0; c < g.rank_b; c++)
        for (int j = 0; j < g.r; j++)
            g.shrunk[j + c * g.r] = g.s[j] > 0 ? kept(&g, j, ridge) / g.s[j] * g.z[j + c * g.r] : 0;
    nb_gemm(NB_PLAIN, NB_PLAIN, m, g.rank_b, g.r, 1, g.v, m, g.shrunk, g.r, 0, w, m);
    NB_TRY(ctx, nb_pseudo_inverse(g.rank_b, m, rows.r_b, 1e-12, inverse, ctx));
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, m, g.rank_b, 1, w, m, inverse, m, 0, x, m);
    return NB_OK;
}

/* S_I Q_B; the QR of B; an R-SVD of F_I, 6 k r^2 + 20 r^3 additions and multiplications; a product for each ridge that
 * is tried; the pseudo-inverse of R_B, as an SVD. */
static nb_core_cost cost(const void *opts, int n, int m)
{
    const fitted_options *o = opts;
    int rows = o->rows == NB_AUTO ? 4 * m : o->rows, tried = isnan(o->ridge) ? RIDGES : 1;
    if (rows > n) rows = n;
    double k = rows > m ? rows : m, r = rows < m ? rows : m, b = m;
    return (nb_core_cost){.multiplications = rows * b * n + 2 * b * b * n + 3 * k * r * r + 10 * r * r * r +
                                             tried * b * rows * r + 11 * b * b * b,
                          .rows = rows,
                          .kept = o->keep_rows ? rows : 0};
}

static const char *const references[] = {
    "Golub, Heath & Wahba, Generalized cross-validation as a method for choosing a good ridge parameter, Technometrics "
    "21, 1979 (leave-one-out)",
    "Wang & Zhang, Improving CUR matrix decomposition and the Nystrom approximation via adaptive sampling, JMLR 14, "
    "2013 (the middle F+ S B+)",
    "Tropp, Yurtsever, Udell & Cevher, Practical sketching algorithms for low-rank matrix approximation, SIAM J. "
    "Matrix Anal. Appl. 38, 2017",
    NULL};

const nb_core nb_core_fitted = {
    .component = {"fitted", "X fitted by ridge regression to some exact rows of S", references, options,
                  sizeof(fitted_options)},
    .traits = NB_CORE_RANDOM,
    .compute = compute,
    .cost = cost,
};
