/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gcv.c - a pseudo-inverse whose cut-off is chosen from A alone.
 *
 * Keeping r singular values leaves out tail_r = s_r+1^2 + ... + s_m^2 of |A|^2, with
 * r (2 m - r) of m^2 numbers fitted. Generalised cross-validation takes the r that
 * minimises
 *     tail_r / (1 - r (2 m - r) / m^2)^2 = m^4 tail_r / (m - r)^4,   0 < r < m:
 * the rank at which A looks like a matrix of low rank and noise. What is right for
 * A need not be right for F X B. O(m^3). */
#include "cores/core.h"

#include <float.h>
#include <math.h>

static int best_rank(int m, const double *s)
{
    double tail = 0, least = INFINITY;
    int best = m;
    for (int r = m - 1; r >= 1; r--) {
        double share = (double)(m - r) / m;
        tail += (s[r] / s[0]) * (s[r] / s[0]);
        if (tail / pow(share, 4) < least) {
            least = tail / pow(share, 4);
            best = r;
        }
    }
    while (best > 0 && !(s[best - 1] > DBL_EPSILON * m * s[0])) best--;
    return best;
}

static nb_status compute(nb_factors *factors, const void *options, double *x, nb_ctx *ctx)
{
    const nb_factors_spectrum *s;
    int m = nb_factors_m(factors);
    double *filter;
    (void)options;
    NB_TRY(ctx, nb_factors_svd(factors, &s, ctx));
    NB_NEED(filter, nb_alloc_reals(ctx, (size_t)m, 1));
    int rank = best_rank(m, s->values);
    for (int j = 0; j < rank; j++) filter[j] = 1 / s->values[j];
    nb_factors_note_cutoff(factors, nb_factors_kept_cutoff(s, m, rank, DBL_EPSILON * m));
    return nb_factors_filter(factors, filter, x, ctx);
}

static const char *const references[] = {
    "Golub, Heath & Wahba, Generalized cross-validation as a method for choosing a good ridge parameter, Technometrics "
    "21, 1979",
    "Josse & Husson, Selecting the number of components in principal component analysis using cross-validation "
    "approximations, Comput. Stat. Data Anal. 56, 2012",
    NULL};

static const nb_option options[] = {NB_OPTION_END};

const nb_core nb_core_gcv = {
    .component = {"gcv", "pseudo-inverse of A, cut off by generalised cross-validation on A", references, options, 0},
    .traits = NB_CORE_FILTER,
    .compute = compute,
};
