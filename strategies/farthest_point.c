/* SPDX-License-Identifier: GPL-3.0-or-later */
/* farthest_point.c - each next token is the one farthest from its nearest
 * landmark, the lowest index among equals. O(nmd).
 *
 * The largest distance of a token to its nearest landmark is at most twice the
 * least that any m tokens reach (Gonzalez). */
#include "strategy.h"

#include "linalg/cover.h"
#include "linalg/vector.h"

typedef struct {
    int start;
} farthest_options;

enum { RANDOM, CENTRAL };
static const char *const starts[] = {"random", "central", NULL};

static const nb_option options[] = {NB_ENUM(farthest_options, start, "random", starts,
                                            "the first token: drawn uniformly, or the one nearest to the mean of all"),
                                    NB_OPTION_END};

static nb_status nearest_to_mean(const nb_points *p, int *token, nb_ctx *ctx)
{
    size_t n = (size_t)p->n, d = (size_t)p->d;
    double *mean, least = 0;
    NB_NEED(mean, nb_alloc_reals(ctx, d, 1));
    nb_count_multiplications((double)p->n * p->d);
    for (size_t i = 0; i < n; i++) nb_add(d, p->x + i * d, mean);
    nb_scale(d, 1 / (double)n, mean);
    for (size_t i = 0; i < n; i++) {
        double distance = nb_squared_distance(d, p->x + i * d, mean);
        if (i > 0 && distance >= least) continue;
        least = distance;
        *token = (int)i;
    }
    return NB_OK;
}

static nb_status pick(const nb_points *points, int m, const void *opts, nb_picks *picks, nb_ctx *ctx)
{
    const farthest_options *o = opts;
    nb_cover cover;
    int token = 0;
    NB_TRY(ctx, nb_cover_init(&cover, points->d, points->n, points->x, ctx));
    NB_TRY(ctx, nb_picks_begin(picks, m));
    if (o->start == CENTRAL)
        NB_TRY(ctx, nearest_to_mean(points, &token, ctx));
    else
        token = nb_cover_draw(&cover, nb_ctx_rng(ctx));
    for (int j = 0; j < m; j++) {
        if (j > 0) token = nb_cover_farthest(&cover);
        nb_picks_add(picks, token);
        nb_cover_add(&cover, token);
    }
    return NB_OK;
}

static unsigned traits_of(const void *opts)
{
    const farthest_options *o = opts;
    return o->start == RANDOM ? NB_RANDOM | NB_NESTED : NB_NESTED;
}

static const char *const references[] = {
    "Gonzalez, Clustering to minimize the maximum intercluster distance, Theor. Comput. Sci. 38, 1985", NULL};

const nb_strategy nb_strategy_farthest_point = {
    .component = {"farthest_point", "tokens farthest from those picked so far (k-center)", references, options,
                  sizeof(farthest_options)},
    .traits = NB_RANDOM | NB_NESTED,
    .pairing = NB_JOINT,
    .traits_of = traits_of,
    .pick = pick,
};
