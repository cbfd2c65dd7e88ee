/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rpcholesky.c - randomly pivoted Cholesky of a kernel of the points themselves
 * (nystrom/psd_kernel.h).
 *
 * A pivot is drawn with a probability proportional to its residual, the diagonal of
 * K - L L' (clipped at 0 and at rounding: linalg/cholesky.h), and eliminated:
 * O(n m (d + m)). With block = b, b pivots at once are drawn from the same residuals,
 * independently; repeated ones and those that the block's earlier ones explain are
 * dropped. Blocks are drawn whole whatever m is, so the picks are nested; they are
 * eliminated one by one, so a block changes the picks, not the speed. When all
 * residuals are 0, the rest is drawn uniformly, and the row says so. */
#include "strategy.h"

#include "linalg/cholesky.h"
#include "linalg/vector.h"
#include "nystrom/psd_kernel.h"

typedef struct {
    int of, block;
    double bandwidth;
} rpcholesky_options;

static const nb_option options[] = {
    NB_ENUM(rpcholesky_options, of, "exp", nb_similarity_names,
            "kernel of the points: exp(x.y/sqrt d), gauss or gram (x.y)"),
    NB_INT(rpcholesky_options, block, "1", 1, 4096, "number of pivots drawn from the same residuals"),
    NB_REAL_OR(rpcholesky_options, bandwidth, "median", "median", 1e-100, 1e100,
               "for of=gauss: h in exp(-|x-y|^2/(2h^2)); median: the median distance"),
    NB_OPTION_END};

static nb_status pick(const nb_points *points, int m, const void *opts, nb_picks *picks, nb_ctx *ctx)
{
    const rpcholesky_options *o = opts;
    int n = points->n, *block;
    double *diagonal;
    nb_similarity kernel;
    nb_cholesky c;
    NB_NEED(block, nb_alloc(ctx, (size_t)o->block, sizeof *block));
    NB_NEED(diagonal, nb_alloc_reals(ctx, (size_t)n, 1));
    NB_TRY(ctx, nb_similarity_init(&kernel, (nb_similarity_kind)o->of, o->bandwidth, n, points->d, points->x, ctx));
    nb_similarity_diagonal(&kernel, diagonal);
    NB_TRY(ctx, nb_cholesky_init(&c, n, m, diagonal, nb_similarity_column, &kernel, ctx));
    NB_TRY(ctx, nb_picks_begin(picks, m));
    while (picks->count < m && nb_sum((size_t)n, c.residual) > 0) {
        for (int b = 0; b < o->block; b++) block[b] = nb_draw(nb_ctx_rng(ctx), n, c.residual);
        for (int b = 0; b < o->block && picks->count < m; b++) {
            if (!(c.residual[block[b]] > 0)) continue;
            nb_cholesky_eliminate(&c, block[b]);
            nb_picks_add(picks, block[b]);
        }
    }
    return nb_picks_rest(picks, n, nb_similarity_names[o->of], nb_ctx_rng(ctx), ctx);
}

static const char *const references[] = {
    "Chen, Epperly, Tropp & Webber, Randomly pivoted Cholesky, Comm. Pure Appl. Math. 78, 2025, arXiv:2207.06503",
    NULL};

const nb_strategy nb_strategy_rpcholesky = {
    .component = {"rpcholesky", "pivots of randomly pivoted Cholesky of a kernel of the points", references, options,
                  sizeof(rpcholesky_options)},
    .traits = NB_RANDOM | NB_NESTED,
    .pairing = NB_JOINT,
    .pick = pick,
};
