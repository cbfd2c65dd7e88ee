/* SPDX-License-Identifier: GPL-3.0-or-later */
/* segment_means.c - the means of m contiguous segments, Nystromformer's landmarks.
 *
 * With n = m l + r, the first m - r segments have l tokens and the last r have l + 1. O(n). With padded = true segments
 * have l = ceil(n / m) tokens, of a sequence with zeros before its first token, which count in the means. O(n d). */
#include "strategy.h"

#include "linalg/vector.h"

typedef struct {
    int padded;
} segment_options;

static const nb_option options[] = {
    NB_OPTION_FIELD(segment_options, padded, NB_OPTION_BOOL, int, "false",
                    "zeros before the first token up to a multiple of m, as lucidrains' nystrom-attention has them",
                    .newer = true),
    NB_OPTION_END};

static unsigned traits_of(const void *opts)
{
    return ((const segment_options *)opts)->padded ? 0 : NB_BLIND;
}

static nb_status pick_padded(const nb_points *points, int m, nb_picks *picks)
{
    int length = (points->n + m - 1) / m, before = length * m - points->n;
    size_t d = (size_t)points->d;
    double *means;
    NB_NEED(means, nb_picks_points(picks, points->d, m));
    for (size_t l = 0; l < d * (size_t)m; l++) means[l] = 0;
    for (int i = 0; i < points->n; i++)
        nb_add(d, points->x + (size_t)i * d, means + (size_t)((i + before) / length) * d);
    nb_scale(d * (size_t)m, 1.0 / length, means);
    nb_count_multiplications((double)m * points->d);
    return NB_OK;
}

static nb_status pick(const nb_points *points, int m, const void *opts, nb_picks *picks, nb_ctx *ctx)
{
    (void)ctx;
    if (((const segment_options *)opts)->padded) return pick_padded(points, m, picks);
    int *groups, token = 0, length = points->n / m, longer = points->n % m;
    NB_NEED(groups, nb_picks_groups(picks, m, points->n));
    for (int j = 0; j < m; j++)
        for (int end = token + length + (j >= m - longer); token < end; token++) groups[token] = j;
    return NB_OK;
}

static const char *const references[] = {
    "Xiong et al., Nystromformer, AAAI 2021, arXiv:2102.03902",
    "Wang (lucidrains), nystrom-attention, https://github.com/lucidrains/nystrom-attention (padded)", NULL};

const nb_strategy nb_strategy_segment_means = {
    .component = {"segment_means", "means of contiguous segments of the sequence", references, options,
                  sizeof(segment_options)},
    .traits = NB_BLIND,
    .traits_of = traits_of,
    .pairing = NB_JOINT,
    .pick = pick,
};
