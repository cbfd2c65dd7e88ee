/* shifted.c - the inverse of A + gamma I, as Skyformer has it.
 *
 * With D = diag((A + gamma I) 1) and N = D^-1/2 (A + gamma I) D^-1/2, X = D^-1/2 Y D^-1/2
 * where Y is N^-1, or some steps of Nystromformer's iteration on N. The inverse is
 * the same without D; the iteration is not. gamma moves every eigenvalue of A by
 * the same, while a regularised inverse acts on its singular values: where A is
 * not symmetric positive semi-definite that is no damping. O(m^3). */
#include "cores/core.h"

#include "linalg/linalg.h"
#include "measure/iteration.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

typedef struct {
    double gamma;
    int steps;
} shifted_options;

static const nb_option options[] = {
    NB_REAL(shifted_options, gamma, "0.1", 0, 1e6, "added to the diagonal of A"),
    NB_INT_OR(shifted_options, steps, "exact", "exact", 0, 10000, "iterations of `iterative` from N' / |N|_1; exact: LU"),
    NB_OPTION_END};

static const nb_iteration iteration = {
    .name = "shifted", .terms = 4, .coefficients = {3.25, -3.75, 1.75, -0.25}, .region = 3};

/* scale[i] = (row sum i of A + gamma I)^-1/2; false where one is not positive. */
static bool scales(int m, const double *shifted, double *scale)
{
    for (int j = 0; j < m; j++)
        for (int i = 0; i < m; i++) scale[i] += shifted[i + j * m];
    bool positive = true;
    for (int i = 0; i < m; i++) {
        positive = positive && scale[i] > 0 && isfinite(scale[i]);
        scale[i] = 1 / sqrt(scale[i]);
    }
    return positive;
}

/* x <- n^-1, not finite where n is singular; n is lost. */
static nb_status invert(int m, double *n, double *x, nb_ctx *ctx)
{
    lapack_int *pivots;
    NB_NEED(pivots, nb_alloc(ctx, (size_t)m, sizeof *pivots));
    memset(x, 0, (size_t)m * (size_t)m * sizeof *x);
    for (int i = 0; i < m; i++) x[i + i * m] = 1;
    lapack_int info = LAPACKE_dgesv(LAPACK_COL_MAJOR, m, m, n, m, pivots, x, m);
    NB_REQUIRE(ctx, info >= 0, NB_EBUG, "dgesv: info = %d", (int)info);
    for (size_t i = 0; info > 0 && i < (size_t)m * (size_t)m; i++) x[i] = NAN;
    return NB_OK;
}

static nb_status compute(nb_factors *factors, const void *opts, double *x, nb_ctx *ctx)
{
    const shifted_options *o = opts;
    int m = factors->m;
    size_t square = (size_t)m * (size_t)m;
    double *n, *scale;
    NB_TRY(ctx, nb_require_finite(m, m, factors->a, ctx));
    NB_NEED(n, nb_alloc_raw(ctx, square));
    NB_NEED(scale, nb_alloc_reals(ctx, (size_t)m, 1));
    memcpy(n, factors->a, square * sizeof *n);
    for (int i = 0; i < m; i++) n[i + i * m] += o->gamma;
    NB_REQUIRE(ctx, scales(m, n, scale), NB_EINVAL, "shifted: a row sum of A + gamma I is not positive, so it cannot be normalised");
    for (int j = 0; j < m; j++)
        for (int i = 0; i < m; i++) n[i + j * m] *= scale[i] * scale[j];
    if (o->steps == NB_AUTO) {
        NB_TRY(ctx, invert(m, n, x, ctx));
    } else {
        nb_factors normalised = {.m = m, .a = n, .ctx = ctx};
        nb_iterating how = {.start = NB_START_EXACT, .steps = o->steps};
        NB_TRY(ctx, nb_iterate(&normalised, &iteration, &how, x, ctx));
        if (normalised.notes.diverged) NB_NEED(factors->notes.diverged, nb_strdup(factors->ctx, normalised.notes.diverged));
    }
    for (int j = 0; j < m; j++)
        for (int i = 0; i < m; i++) x[i + j * m] *= scale[i] * scale[j];
    return NB_OK;
}

static const char *const references[] = {
    "Chen, Zeng, Ji & Yang, Skyformer: remodel self-attention with Gaussian kernel and Nystrom method, NeurIPS 2021, arXiv:2111.00035", NULL};

const nb_core nb_core_shifted = {
    .component = {"shifted", "inverse of A + gamma I, normalised by its row sums", references, options, sizeof(shifted_options)},
    .compute = compute,
};
