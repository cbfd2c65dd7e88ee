/* SPDX-License-Identifier: GPL-3.0-or-later */
/* best.c - X = F+ S B+, the core of least error: an oracle, since it looks at all of S.
 *
 * With F = Q_F R_F, B' = Q_B R_B and M = Q_F' S Q_B it is R_F+ M (R_B+)', so that
 * R_F X R_B' = M but for directions of F or B' below 1e-12 of their largest, which
 * would need an X that drowns in rounding. O(m^3) beyond M. */
#include "cores/core.h"

#include "linalg/linalg.h"

static nb_status compute(nb_factors *factors, const void *options, double *x, nb_ctx *ctx)
{
    const nb_ranges *r = nb_factors_ranges(factors);
    int m = nb_factors_m(factors);
    double *left, *right, *half;
    (void)options;
    NB_NEED(left, nb_alloc_raw(ctx, (size_t)m * (size_t)r->rank_f));
    NB_NEED(right, nb_alloc_raw(ctx, (size_t)m * (size_t)r->rank_b));
    NB_NEED(half, nb_alloc_raw(ctx, (size_t)m * (size_t)r->rank_b));
    NB_TRY(ctx, nb_pseudo_inverse(r->rank_f, m, r->r_f, 1e-12, left, ctx));
    NB_TRY(ctx, nb_pseudo_inverse(r->rank_b, m, r->r_b, 1e-12, right, ctx));
    nb_gemm(NB_PLAIN, NB_PLAIN, m, r->rank_b, r->rank_f, 1, left, m, r->mid, r->rank_f, 0, half, m);
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, m, r->rank_b, 1, half, m, right, m, 0, x, m);
    return NB_OK;
}

static const char *refusal(const nb_factors *factors, const void *options)
{
    const nb_ranges *r = nb_factors_ranges(factors);
    (void)options;
    return r && r->mid ? NULL : "best looks at all of S, and only some rows are measured";
}

static const char *const references[] = {
    "Stewart, Four algorithms for the efficient computation of truncated pivoted QR approximations to a sparse matrix, "
    "Numer. Math. 83, 1999 (the middle F+ S B+)",
    "Wang & Zhang, Improving CUR matrix decomposition and the Nystrom approximation via adaptive sampling, JMLR 14, "
    "2013",
    NULL};

static const nb_option options[] = {NB_OPTION_END};

const nb_core nb_core_best = {
    .component = {"best", "F+ S B+, the core of least error (oracle)", references, options, 0},
    .traits = NB_CORE_ORACLE,
    .compute = compute,
    .refusal = refusal,
};
