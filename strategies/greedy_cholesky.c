/* SPDX-License-Identifier: GPL-3.0-or-later */
/* greedy_cholesky.c - pivoted Cholesky of a kernel of the points themselves
 * (nystrom/psd_kernel.h): the pivot is the token of largest residual, the diagonal
 * of K - L L', the lowest among equals. O(n m (d + m)). When all residuals are 0, at
 * the numerical rank (linalg/cholesky.h), the lowest tokens that are left follow, and
 * the row says so. */
#include "strategy.h"

#include "linalg/cholesky.h"
#include "linalg/vector.h"
#include "nystrom/psd_kernel.h"

typedef struct {
    int of;
    double bandwidth;
} greedy_cholesky_options;

static const nb_option options[] = {NB_ENUM(greedy_cholesky_options, of, "exp", nb_similarity_names,
                                            "kernel of the points: exp(x.y/sqrt d), gauss or gram (x.y)"),
                                    NB_REAL_OR(greedy_cholesky_options, bandwidth, "median", "median", 1e-100, 1e100,
                                               "for of=gauss: h in exp(-|x-y|^2/(2h^2)); median: the median distance"),
                                    NB_OPTION_END};

static nb_status pick(const nb_points *points, int m, const void *opts, nb_picks *picks, nb_ctx *ctx)
{
    const greedy_cholesky_options *o = opts;
    int n = points->n;
    double *diagonal;
    nb_similarity kernel;
    nb_cholesky c;
    NB_NEED(diagonal, nb_alloc_reals(ctx, (size_t)n, 1));
    NB_TRY(ctx, nb_similarity_init(&kernel, (nb_similarity_kind)o->of, o->bandwidth, n, points->d, points->x, ctx));
    nb_similarity_diagonal(&kernel, diagonal);
    NB_TRY(ctx, nb_cholesky_init(&c, n, m, diagonal, nb_similarity_column, &kernel, ctx));
    NB_TRY(ctx, nb_picks_begin(picks, m));
    while (picks->count < m) {
        int pivot = (int)nb_largest_index((size_t)n, c.residual);
        if (!(c.residual[pivot] > 0)) break;
        nb_cholesky_eliminate(&c, pivot);
        nb_picks_add(picks, pivot);
    }
    return nb_picks_rest(picks, n, nb_similarity_names[o->of], NULL, ctx);
}

static const char *const references[] = {
    "Fine & Scheinberg, Efficient SVM training using low-rank kernel representations, JMLR 2, 2001",
    "Bach & Jordan, Kernel independent component analysis, JMLR 3, 2002", NULL};

const nb_strategy nb_strategy_greedy_cholesky = {
    .component = {"greedy_cholesky", "pivots of Cholesky with the largest residual, of a kernel of the points",
                  references, options, sizeof(greedy_cholesky_options)},
    .traits = NB_NESTED,
    .pairing = NB_JOINT,
    .pick = pick,
};
