/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shifted.c - the inverse of A + gamma I, as Skyformer has it.
 *
 * With D = diag((A + gamma I) 1) and N = D^-1/2 (A + gamma I) D^-1/2, X = D^-1/2 Y D^-1/2
 * where Y is N^-1, or some steps of Nystromformer's iteration on N. The inverse is
 * the same without D, and so is computed without it; the iteration is not. gamma
 * moves every eigenvalue of A by the same, while a regularised inverse acts on its
 * singular values: where A is not symmetric positive semi-definite that is no
 * damping. O(m^3). */
#include "cores/core.h"

#include "linalg/linalg.h"
#include "nystrom/factors_record.h"
#include "nystrom/iteration.h"
#include "nystrom/projection.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

typedef struct {
    double gamma;
    int steps;
} shifted_options;

static const nb_option options[] = {NB_REAL(shifted_options, gamma, "0.1", 0, 1e6, "added to the diagonal of A"),
                                    NB_INT_OR(shifted_options, steps, "exact", "exact", 0, 10000,
                                              "iterations of `iterative` from N' / |N|_1; exact: LU"),
                                    NB_OPTION_END};

static const nb_iteration iteration = {.name = "shifted", NB_NYSTROMFORMER};

static double row_sum(const nb_factors *factors, double gamma, int i)
{
    double sum = gamma;
    for (int j = 0; j < factors->m; j++) sum += factors->a[i + j * factors->m];
    return sum;
}

/* The iteration needs D. If a sum is not a number, compute reports it. */
static const char *refusal(const nb_factors *factors, const void *opts)
{
    const shifted_options *o = opts;
    for (int i = 0; i < factors->m && o->steps != NB_AUTO; i++)
        if (row_sum(factors, o->gamma, i) <= 0)
            return "a row sum of A + gamma I is not positive, so it cannot be normalised; steps=exact needs no "
                   "normalisation";
    return NULL;
}

/* x <- shifted^-1, not finite if that is singular; `shifted` is lost. */
static nb_status invert(nb_factors *factors, double *shifted, double *x, nb_ctx *ctx)
{
    int m = factors->m;
    lapack_int *pivots;
    NB_NEED(pivots, nb_alloc(ctx, (size_t)m, sizeof *pivots));
    memset(x, 0, (size_t)m * (size_t)m * sizeof *x);
    for (int i = 0; i < m; i++) x[i + i * m] = 1;
    lapack_int info = LAPACKE_dgesv(LAPACK_COL_MAJOR, m, m, shifted, m, pivots, x, m);
    NB_REQUIRE(ctx, info >= 0, NB_EBUG, "dgesv: info = %d", (int)info);
    for (size_t i = 0; info > 0 && i < (size_t)m * (size_t)m; i++) x[i] = NAN;
    if (info > 0) factors->notes.diverged = "A + gamma I is singular";
    return NB_OK;
}

/* x <- D^-1/2 Y D^-1/2 after the steps; `shifted` is lost. */
static nb_status iterate(nb_factors *factors, const shifted_options *o, double *shifted, double *x, nb_ctx *ctx)
{
    int m = factors->m;
    double *scale, residual;
    NB_NEED(scale, nb_alloc_reals(ctx, (size_t)m, 1));
    for (int i = 0; i < m; i++) scale[i] = 1 / sqrt(row_sum(factors, o->gamma, i));
    for (int j = 0; j < m; j++)
        for (int i = 0; i < m; i++) shifted[i + j * m] *= scale[i] * scale[j];
    nb_factors normalised = {.m = m, .a = shifted, .ctx = ctx};
    nb_iterating how = {.start = NB_START_EXACT, .steps = o->steps, .uncut = true};
    NB_TRY(ctx, nb_iterate(&normalised, &iteration, &how, x, ctx));
    if (normalised.notes.diverged) NB_NEED(factors->notes.diverged, nb_strdup(factors->ctx, normalised.notes.diverged));
    NB_TRY(ctx, nb_core_residual(&normalised, x, &residual, ctx));
    if (residual > normalised.notes.residual_limit) { /* of N, which nobody else sees */
        factors->notes.diverged = nb_diverged_by_rounding;
        x[0] = NAN;
    }
    for (int j = 0; j < m; j++)
        for (int i = 0; i < m; i++) x[i + j * m] *= scale[i] * scale[j];
    return NB_OK;
}

static nb_status compute(nb_factors *factors, const void *opts, double *x, nb_ctx *ctx)
{
    const shifted_options *o = opts;
    int m = factors->m;
    size_t square = (size_t)m * (size_t)m;
    double *shifted;
    NB_TRY(ctx, nb_require_finite(m, m, factors->a, ctx));
    NB_NEED(shifted, nb_alloc_raw(ctx, square));
    memcpy(shifted, factors->a, square * sizeof *shifted);
    for (int i = 0; i < m; i++) shifted[i + i * m] += o->gamma;
    return o->steps == NB_AUTO ? invert(factors, shifted, x, ctx) : iterate(factors, o, shifted, x, ctx);
}

static const char *const references[] = {
    "Chen, Zeng, Ji & Yang, Skyformer: remodel self-attention with Gaussian kernel and Nystrom method, NeurIPS 2021, "
    "arXiv:2111.00035",
    NULL};

const nb_core nb_core_shifted = {
    .component = {"shifted", "inverse of A + gamma I, normalised by its row sums", references, options,
                  sizeof(shifted_options)},
    .compute = compute,
    .refusal = refusal,
};
