/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kdpp.c - an exact sample of the determinantal point process of m tokens: a set Y
 * of m has probability det K_Y / e_m(lambda), K a kernel of the points themselves
 * (nystrom/psd_kernel.h), lambda its eigenvalues, e_m their elementary symmetric
 * polynomial.
 *
 * Eigenvectors first: from l = n down, vector l is taken with probability
 * lambda_l e_{k-1}(lambda_1..l-1) / e_k(lambda_1..l), k those still to be taken; in
 * logarithms. Then the projection process of the m vectors V: by the chain rule a
 * token is drawn in proportion to the residual diagonal of P = V V' after those
 * drawn, which is randomly pivoted Cholesky of P. O(n^3) for the eigenvectors, O(n m)
 * for the polynomials, O(n m^2) for the draw. Eigenvalues of at most eps n lambda_1
 * are rounding; where fewer than m are above, all their vectors are taken, the rest
 * is drawn uniformly, and the row says so. */
#include "strategy.h"

#include "linalg/cholesky.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "nystrom/psd_kernel.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST = 2048 }; /* points: two n x n matrices, and minutes */

typedef struct {
    int of;
    double bandwidth;
} kdpp_options;

static const nb_option options[] = {NB_ENUM(kdpp_options, of, "gauss", nb_similarity_names,
                                            "kernel of the points: exp(x.y/sqrt d), gauss or gram (x.y)"),
                                    NB_REAL_OR(kdpp_options, bandwidth, "median", "median", 1e-100, 1e100,
                                               "for of=gauss: h in exp(-|x-y|^2/(2h^2)); median: the median distance"),
                                    NB_OPTION_END};

/* log(exp(a) + exp(b)); -infinity is log 0. */
static double log_add(double a, double b)
{
    double more = fmax(a, b), less = fmin(a, b);
    return less == -INFINITY ? more : more + log1p(exp(less - more));
}

/* table (m + 1) x (count + 1): column l holds log e_k(lambda_1..l), k = 0 ... m. */
static void log_polynomials(int count, const double *log_lambda, int m, double *table)
{
    size_t ld = (size_t)m + 1;
    for (int l = 0; l <= count; l++) {
        double *e = table + ld * (size_t)l;
        e[0] = 0;
        for (size_t k = 1; k < ld; k++)
            e[k] = l == 0 ? -INFINITY : log_add((e - ld)[k], log_lambda[l - 1] + (e - ld)[k - 1]);
    }
}

/* Moves the columns that are taken to the front of `vectors` (n x count); m <= count. */
static nb_status choose_vectors(int n, int count, const double *lambda, int m, double *vectors, nb_ctx *ctx)
{
    size_t rows = (size_t)n, ld = (size_t)m + 1;
    double *log_lambda, *table;
    int *taken, left = m;
    NB_NEED(log_lambda, nb_alloc_reals(ctx, (size_t)count, 1));
    NB_NEED(table, nb_alloc_reals(ctx, ld, (size_t)count + 1));
    NB_NEED(taken, nb_alloc(ctx, (size_t)m, sizeof *taken));
    for (int l = 0; l < count; l++) log_lambda[l] = log(lambda[l]);
    log_polynomials(count, log_lambda, m, table);
    for (int l = count; left > 0; l--) {
        const double *e = table + ld * (size_t)l;
        /* log(lambda_l e_{k-1}(lambda_1..l-1) / e_k(lambda_1..l)), k = left */
        double log_p = log_lambda[l - 1] + (e - ld)[left - 1] - e[left];
        /* As many left as are to be taken: certain, whatever log_p has been rounded to. */
        if (l == left || log(gsl_rng_uniform_pos(nb_ctx_rng(ctx))) < log_p) taken[--left] = l - 1;
    }
    for (size_t j = 0; j < (size_t)m; j++) /* taken[j] >= j, ascending */
        memmove(vectors + rows * j, vectors + rows * (size_t)taken[j], rows * sizeof *vectors);
    return NB_OK;
}

typedef struct {
    int n, m;
    const double *rows; /* m x n: V' */
} projection;

static void projection_column(const void *self, int j, double *out)
{
    const projection *p = self;
    nb_gemv(NB_TRANSPOSED, p->m, p->n, 1, p->rows, p->m, p->rows + (size_t)j * (size_t)p->m, 0, out);
}

static nb_status draw_tokens(int n, int m, const double *vectors, nb_picks *picks, nb_ctx *ctx)
{
    double *rows, *diagonal;
    nb_cholesky c;
    if (m == 0) return NB_OK;
    NB_NEED(rows, nb_alloc_raw(ctx, (size_t)n * (size_t)m));
    NB_NEED(diagonal, nb_alloc_reals(ctx, (size_t)n, 1));
    nb_transpose(n, m, vectors, rows);
    nb_count_multiplications((double)n * m);
    /* the diagonal of P = V V' */
    for (int i = 0; i < n; i++) diagonal[i] = nb_sum_of_squares((size_t)m, rows + (size_t)i * (size_t)m);
    projection p = {n, m, rows};
    NB_TRY(ctx, nb_cholesky_init(&c, n, m, diagonal, projection_column, &p, ctx));
    for (int j = 0; j < m && nb_sum((size_t)n, c.residual) > 0; j++) {
        int token = nb_draw(nb_ctx_rng(ctx), n, c.residual);
        nb_cholesky_eliminate(&c, token);
        nb_picks_add(picks, token);
    }
    return NB_OK;
}

static nb_status pick(const nb_points *points, int m, const void *opts, nb_picks *picks, nb_ctx *ctx)
{
    const kdpp_options *o = opts;
    int n = points->n, rank = 0;
    double *vectors, *lambda;
    nb_similarity kernel;
    NB_NEED(vectors, nb_alloc_raw(ctx, (size_t)n * (size_t)n));
    NB_NEED(lambda, nb_alloc_reals(ctx, (size_t)n, 1));
    NB_NEED(picks->tokens, nb_picks_tokens(picks, m));
    NB_TRY(ctx, nb_similarity_init(&kernel, (nb_similarity_kind)o->of, o->bandwidth, n, points->d, points->x, ctx));
    nb_similarity_matrix(&kernel, vectors);
    NB_TRY(ctx, nb_symmetric_eigen(n, vectors, lambda, ctx));
    while (rank < n && lambda[rank] > DBL_EPSILON * n * lambda[0]) rank++;
    int taken = rank < m ? rank : m;
    if (taken > 0) NB_TRY(ctx, choose_vectors(n, rank, lambda, taken, vectors, ctx));
    NB_TRY(ctx, draw_tokens(n, taken, vectors, picks, ctx));
    return nb_picks_rest(picks, n, nb_similarity_names[o->of], nb_ctx_rng(ctx), ctx);
}

static const char *refusal(const nb_points *points, int m, const void *opts)
{
    (void)m;
    (void)opts;
    return points->n > MOST ? "kdpp needs all eigenvectors of the kernel: at most 2048 points" : NULL;
}

static const char *const references[] = {
    "Kulesza & Taskar, k-DPPs: fixed-size determinantal point processes, ICML 2011",
    "Kulesza & Taskar, Determinantal point processes for machine learning, Found. Trends Mach. Learn. 5, 2012, "
    "arXiv:1207.6083",
    "Li, Jegelka & Sra, Fast DPP sampling for Nystrom with application to kernel methods, ICML 2016, arXiv:1603.06052",
    NULL};

const nb_strategy nb_strategy_kdpp = {
    .component = {"kdpp", "a determinantal sample of m tokens (k-DPP), exact", references, options,
                  sizeof(kdpp_options)},
    .traits = NB_RANDOM | NB_EIGEN,
    .pairing = NB_JOINT,
    .pick = pick,
    .refusal = refusal,
};
