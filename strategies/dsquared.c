/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dsquared.c - each next token drawn in proportion to its squared distance to the
 * nearest of those there, the first one uniformly: k-means++ seeding without
 * k-means. O(nmd). Tokens at distance 0 come last, drawn uniformly. */
#include "strategy.h"

#include "linalg/cover.h"

static nb_status pick(const nb_points *points, int m, const void *options, nb_picks *picks, nb_ctx *ctx)
{
    nb_cover cover;
    (void)options;
    NB_TRY(ctx, nb_cover_init(&cover, points->d, points->n, points->x, ctx));
    NB_TRY(ctx, nb_picks_begin(picks, m));
    for (int j = 0; j < m; j++) {
        int token = nb_cover_draw(&cover, nb_ctx_rng(ctx));
        nb_picks_add(picks, token);
        nb_cover_add(&cover, token);
    }
    return NB_OK;
}

static const char *const references[] = {
    "Arthur & Vassilvitskii, k-means++: the advantages of careful seeding, SODA 2007",
    "Oglic & Gaertner, Nystrom method with kernel k-means++ samples as landmarks, ICML 2017", NULL};

static const nb_option options[] = {NB_OPTION_END};

const nb_strategy nb_strategy_dsquared = {
    .component = {"dsquared", "tokens drawn by squared distance from those picked so far (k-means++)", references,
                  options, 0},
    .traits = NB_RANDOM | NB_NESTED,
    .pairing = NB_JOINT,
    .pick = pick,
};
