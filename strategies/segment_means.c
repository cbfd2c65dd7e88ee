/* SPDX-License-Identifier: GPL-3.0-or-later */
/* segment_means.c - the means of m contiguous segments, Nystromformer's landmarks.
 *
 * With n = m l + r, the first m - r segments have l tokens and the last r have
 * l + 1. O(n). */
#include "strategy.h"

static nb_status pick(const nb_points *points, int m, const void *options, nb_picks *picks, nb_ctx *ctx)
{
    int *groups, token = 0, length = points->n / m, longer = points->n % m;
    (void)options;
    (void)ctx;
    NB_NEED(groups, nb_picks_groups(picks, m, points->n));
    for (int j = 0; j < m; j++)
        for (int end = token + length + (j >= m - longer); token < end; token++) groups[token] = j;
    return NB_OK;
}

static const char *const references[] = {"Xiong et al., Nystromformer, AAAI 2021, arXiv:2102.03902", NULL};

static const nb_option options[] = {NB_OPTION_END};

const nb_strategy nb_strategy_segment_means = {
    .component = {"segment_means", "means of contiguous segments of the sequence", references, options, 0},
    .traits = NB_BLIND,
    .pairing = NB_JOINT,
    .pick = pick,
};
