/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fitted.c - X by ridge regression on some exact rows I of S.
 *
 * W = X R_B' minimises |S_I Q_B - F_I W|^2 + lambda s_1^2 |W|^2, s the singular values
 * of F_I; X = W (R_B+)', without directions of B below 1e-12 of its largest. With
 * F_I = U diag(s) V' and H = U diag(s^2 / (s^2 + lambda s_1^2)) U', leaving out row i
 * changes its residual e_i to e_i / (1 - H_ii), so lambda = auto minimises the sum of
 * those squares over a grid: exact leave-one-out, at the cost of one product each.
 *
 * |I| n d for S_I, |I| n m for S_I Q_B, n m^2 for Q_B and R_B (a QR that the
 * pseudo-inverses do not need), 60 |I| m^2 for the ridge: linear in n. lambda = 0
 * fails where |I| is near m (experiments/05-fitted-limits.yaml).
 *
 * In a forward pass W = (X B V)' is all that is needed, and fitted by itself: with
 * row i of F, o_i of S V and w_i the queries it stands for, at the landmarks' and at
 * m/2 other queries, sum w_i |o_i - W f_i|^2 + lambda s_1^2 |W - mu 1'|^2 is least, s_1
 * the norm of diag(w)^1/2 F, mu the mean of o with weights w (rows of F sum to 1).
 * lambda is that of 1e-3, 1e-5, 1e-7, 1e-9 that predicts the other queries best, each
 * left out; error is taken to have one minimum.
 * Cholesky of m x m, in double precision: in single, lambda could not go below 1e-6,
 * which costs 10 % of error with 256 landmarks. A smaller lambda that is given is met
 * by an SVD of F. n m (d + dv)/2, m^2 (m + dv) for each lambda. */
#include "cores/core.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "linalg/work.h"

#include <math.h>
#include <string.h>

typedef struct {
    int rows;
    double ridge;
    int keep_rows;
} fitted_options;

static const nb_option options[] = {
    NB_INT_OR(fitted_options, rows, "auto", "auto", 1, 1 << 20,
              "number of exact rows of S, at most n; auto: 4 m, and in forward passes m/2 beside the landmarks' own"),
    NB_REAL_OR(fitted_options, ridge, "auto", "auto", 0, 1e6,
               "lambda, relative to the squared spectral norm of F_I; auto: chosen by leave-one-out on these rows"),
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

/* Returns the squared residual of a row that is predicted from the others, of the one with all rows and H_ii. It is
 * infinite where the row fits itself, so that its residual says nothing. */
static double without(double squares, double own)
{
    return 1 - own > 1e-10 ? squares / pow(1 - own, 2) : INFINITY;
}

/* Returns the sum of squares left when each row is predicted from the others. */
static double left_out(regression *g, double ridge)
{
    size_t b = (size_t)g->rank_b;
    double sum = 0;
    /* (S_I Q_B - H S_I Q_B)': column i is e_i */
    for (int c = 0; c < g->rank_b; c++)
        for (int j = 0; j < g->r; j++) g->shrunk[j + c * g->r] = kept(g, j, ridge) * g->z[j + c * g->r];
    memcpy(g->fit, g->rows->target, b * (size_t)g->k * sizeof *g->fit);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, g->rank_b, g->k, g->r, -1, g->shrunk, g->r, g->ut, g->r, 1, g->fit, g->rank_b);
    /* |e_i|^2 / (1 - H_ii)^2 */
    for (int i = 0; i < g->k; i++) {
        double own = 0, residual = nb_frobenius(b, g->fit + (size_t)i * b);
        for (int j = 0; j < g->r; j++) own += kept(g, j, ridge) * g->ut[j + i * g->r] * g->ut[j + i * g->r];
        sum += without(residual * residual, own);
    }
    return sum;
}

enum { RIDGES = 61 }; /* that are tried: a quarter of a decade apart, from 1 on */

static double best_ridge(regression *g)
{
    double best = 1, least = INFINITY;
    for (int quarter = 0; quarter < RIDGES; quarter++) {
        double ridge = pow(10, -quarter / 4.0);
        if (nb_is_less(left_out(g, ridge), 0, &least)) best = ridge;
    }
    return best;
}

/* w (m x rank_b) <- W of a ridge. */
static void solve(regression *g, double ridge, double *w)
{
    for (int c = 0; c < g->rank_b; c++)
        for (int j = 0; j < g->r; j++)
            g->shrunk[j + c * g->r] = g->s[j] > 0 ? kept(g, j, ridge) / g->s[j] * g->z[j + c * g->r] : 0;
    nb_gemm(NB_PLAIN, NB_PLAIN, g->m, g->rank_b, g->r, 1, g->v, g->m, g->shrunk, g->r, 0, w, g->m);
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
    solve(&g, isnan(o->ridge) ? best_ridge(&g) : o->ridge, w);
    NB_TRY(ctx, nb_pseudo_inverse(g.rank_b, m, rows.r_b, 1e-12, inverse, ctx));
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, m, g.rank_b, 1, w, m, inverse, m, 0, x, m);
    return NB_OK;
}

enum { POWER_STEPS = 20 };
static const double least_ridge = 1e-9;

/* In a forward pass: rows and outputs times the roots of their weights, the mean taken away. */
typedef struct {
    const nb_core_outputs *of;
    double *f, *outputs, *mean; /* m x count; dv x count; dv */
    double *gram, *moment;      /* f f', m x m, its upper triangle; f outputs', m x dv */
    double unit;                /* s_1^2 */
    double *matrix, *halves; /* m x m: U with U'U = gram + ridge; m x (dv + drawn): U'^-1 [moment, last columns of f] */
    double *left;            /* dv x drawn: outputs that W leaves */
} normal_equations;

static nb_status weigh_outputs(const nb_core_outputs *of, normal_equations *e, nb_ctx *ctx)
{
    size_t m = (size_t)of->m, dv = (size_t)of->dv, count = (size_t)of->count;
    *e = (normal_equations){.of = of};
    NB_NEED(e->f, nb_alloc_raw(ctx, m * count));
    NB_NEED(e->outputs, nb_alloc_raw(ctx, dv * count));
    NB_NEED(e->mean, nb_alloc_reals(ctx, dv, 1));
    double total = nb_sum(count, of->weights);
    nb_count_multiplications((double)count * (double)(m + 2 * dv));
    for (size_t i = 0; i < count; i++) nb_add_scaled(dv, of->weights[i] / total, of->outputs + i * dv, e->mean);
    for (size_t i = 0; i < count; i++) {
        double root = sqrt(of->weights[i]);
        for (size_t j = 0; j < m; j++) e->f[i * m + j] = root * of->features[i * m + j];
        for (size_t l = 0; l < dv; l++) e->outputs[i * dv + l] = root * (of->outputs[i * dv + l] - e->mean[l]);
    }
    return NB_OK;
}

/* The largest eigenvalue of f f', of entries >= 0, from below. */
static nb_status find_unit(normal_equations *e, nb_ctx *ctx)
{
    int m = e->of->m, count = e->of->count;
    double *x, *y;
    NB_NEED(x, nb_alloc_raw(ctx, (size_t)(m + count)));
    y = x + m;
    for (int j = 0; j < m; j++) x[j] = 1;
    for (int step = 0; step < POWER_STEPS; step++) {
        nb_scale((size_t)m, 1 / nb_frobenius((size_t)m, x), x);
        nb_gemv(NB_TRANSPOSED, m, count, 1, e->f, m, x, 0, y);
        nb_gemv(NB_PLAIN, m, count, 1, e->f, m, y, 0, x);
    }
    e->unit = nb_frobenius((size_t)m, x);
    return NB_OK;
}

static nb_status form_normal_equations(normal_equations *e, nb_ctx *ctx)
{
    int m = e->of->m, dv = e->of->dv, count = e->of->count, drawn = e->of->drawn;
    size_t square = (size_t)m * (size_t)m;
    NB_NEED(e->gram, nb_alloc_raw(ctx, 2 * square));
    e->matrix = e->gram + square;
    NB_NEED(e->moment, nb_alloc_raw(ctx, (size_t)m * (size_t)dv));
    NB_NEED(e->halves, nb_alloc_raw(ctx, (size_t)m * (size_t)(drawn + dv)));
    NB_NEED(e->left, nb_alloc_raw(ctx, (size_t)dv * (size_t)drawn));
    nb_gram_upper(m, count, e->f, e->gram);
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, dv, count, 1, e->f, m, e->outputs, dv, 0, e->moment, m);
    return find_unit(e, ctx);
}

/* `error`: squared, at the drawn queries where each is left out; e->matrix, e->halves: what W takes. */
static nb_status leave_out(normal_equations *e, double ridge, double *error, nb_ctx *ctx)
{
    int dv = e->of->dv, drawn = e->of->drawn;
    size_t m = (size_t)e->of->m, from = (size_t)(e->of->count - drawn);
    double *of_f = e->halves + m * (size_t)dv;
    /* U'U = f f' + lambda s_1^2 I, and U'^-1 [f outputs', f_i of the drawn queries] */
    memcpy(e->matrix, e->gram, m * m * sizeof *e->gram);
    for (size_t j = 0; j < m; j++) e->matrix[j * m + j] += ridge * e->unit;
    memcpy(e->halves, e->moment, m * (size_t)dv * sizeof *e->moment);
    memcpy(of_f, e->f + from * m, m * (size_t)drawn * sizeof *of_f);
    NB_TRY(ctx, nb_factor_positive(e->of->m, e->matrix, ctx));
    nb_solve_upper(NB_TRANSPOSED, e->of->m, drawn + dv, e->matrix, e->halves);
    /* outputs_i - W f_i, where W f_i = (U'^-1 f outputs')' U'^-1 f_i; then H_ii = |U'^-1 f_i|^2 */
    memcpy(e->left, e->outputs + from * (size_t)dv, (size_t)dv * (size_t)drawn * sizeof *e->left);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, dv, drawn, e->of->m, -1, e->halves, e->of->m, of_f, e->of->m, 1, e->left, dv);
    *error = 0;
    for (size_t i = 0; i < (size_t)drawn; i++)
        *error += without(nb_sum_of_squares((size_t)dv, e->left + i * (size_t)dv), nb_sum_of_squares(m, of_f + i * m));
    nb_count_multiplications((double)drawn * (double)m);
    return NB_OK;
}

/* w (m x dv) by Cholesky, of the ridge that is given, or of the best of 1e-5, 1e-7, and 1e-9 or 1e-3, whichever lies
 * beyond the better of the two. */
static nb_status solve_by_gram(normal_equations *e, double given, double *w, nb_ctx *ctx)
{
    double ridges[] = {isnan(given) ? 1e-5 : given, 1e-7, 1e-3}, least = INFINITY, error;
    NB_TRY(ctx, form_normal_equations(e, ctx));
    for (int i = 0; i < (isnan(given) ? 3 : 1); i++) {
        NB_TRY(ctx, leave_out(e, ridges[i], &error, ctx));
        bool less = nb_is_less(error, 0, &least);
        if (i > 0 && !less) continue;
        if (i == 1) ridges[2] = 1e-9;
        memcpy(w, e->halves, (size_t)e->of->m * (size_t)e->of->dv * sizeof *w);
        nb_solve_upper(NB_PLAIN, e->of->m, e->of->dv, e->matrix, w);
    }
    return NB_OK;
}

static nb_status solve_by_svd(const normal_equations *e, double ridge, double *w, nb_ctx *ctx)
{
    nb_exact_rows rows = {.k = e->of->count, .rank_b = e->of->dv, .target = e->outputs, .f = e->f};
    regression g;
    NB_TRY(ctx, regression_init(&g, e->of->m, &rows, ctx));
    solve(&g, ridge, w);
    return NB_OK;
}

static nb_status fit(const nb_core_outputs *of, const void *opts, double *out, nb_ctx *ctx)
{
    const fitted_options *o = opts;
    size_t m = (size_t)of->m, dv = (size_t)of->dv;
    normal_equations e;
    double *w;
    NB_NEED(w, nb_alloc_raw(ctx, m * dv));
    NB_TRY(ctx, weigh_outputs(of, &e, ctx));
    NB_TRY(ctx, o->ridge < least_ridge ? solve_by_svd(&e, o->ridge, w, ctx) : solve_by_gram(&e, o->ridge, w, ctx));
    nb_transpose(of->m, of->dv, w, out);
    for (size_t j = 0; j < m; j++) nb_add(dv, e.mean, out + j * dv);
    return NB_OK;
}

/* S_I Q_B; the QR of B; an R-SVD of F_I, 6 k r^2 + 20 r^3 additions and multiplications; a product for each ridge that
 * is tried; the pseudo-inverse of R_B, as an SVD. */
static nb_core_cost cost(const void *opts, int n, int m)
{
    const fitted_options *o = opts;
    int drawn = o->rows == NB_AUTO ? (m + 1) / 2 : o->rows;
    int rows = o->rows == NB_AUTO ? 4 * m : o->rows, tried = isnan(o->ridge) ? RIDGES : 1;
    if (rows > n) rows = n;
    double k = rows > m ? rows : m, r = rows < m ? rows : m, b = m;
    return (nb_core_cost){.multiplications = rows * b * n + 2 * b * b * n + 3 * k * r * r + 10 * r * r * r +
                                             tried * b * rows * r + 11 * b * b * b,
                          .rows = rows,
                          .kept = o->keep_rows ? rows : 0,
                          .drawn = drawn < n ? drawn : n};
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
    .fit = fit,
    .explanation =
        "A forward pass needs W = X B V alone, and fits it by itself: to exact outputs at the landmarks' queries and\n"
        "at m/2 others, drawn far from these, which take a quarter of what F and B do. Where landmarks are kept\n"
        "(refresh), and with factors=cur, X is computed as in a study of errors.",
};
