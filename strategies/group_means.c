/* SPDX-License-Identifier: GPL-3.0-or-later */
/* group_means.c - the means of m random groups whose sizes differ by at most 1,
 * O(n).
 *
 * The control for segment_means: as many tokens averaged in each landmark, but not
 * neighbours. What segment_means gains over it comes from the tokens' order. */
#include "strategy.h"

#include <gsl/gsl_randist.h>

static nb_status pick(const nb_points *points, int m, const void *options, nb_picks *picks, nb_ctx *ctx)
{
    int *groups;
    (void)options;
    NB_NEED(groups, nb_picks_groups(picks, m, points->n));
    for (int i = 0; i < points->n; i++) groups[i] = i % m;
    gsl_ran_shuffle(nb_ctx_rng(ctx), groups, (size_t)points->n, sizeof *groups);
    return NB_OK;
}

static const char *const references[] = {
    "a control; for the segments: Xiong et al., Nystromformer, AAAI 2021, arXiv:2102.03902", NULL};

static const nb_option options[] = {NB_OPTION_END};

const nb_strategy nb_strategy_group_means = {
    .component = {"group_means", "means of random groups of equal size", references, options, 0},
    .traits = NB_BLIND | NB_RANDOM,
    .pairing = NB_JOINT,
    .pick = pick,
};
