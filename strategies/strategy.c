/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strategy.c - what a strategy's record says, and what it must. */
#include "strategies/strategy.h"

#include "kernels/kernel.h"

const char *const nb_pairing_names[] = {[NB_INDEPENDENT] = "independent",
                                        [NB_QUERIES] = "queries",
                                        [NB_KEYS] = "keys",
                                        [NB_JOINT] = "joint",
                                        [NB_SHARED] = "shared",
                                        [NB_SHARED_QUERIES] = "shared_queries",
                                        [NB_SHARED_KEYS] = "shared_keys",
                                        [NB_BOTH] = "both",
                                        [NB_PAIRING_COUNT] = NULL};

const char *const nb_side_names[] = {
    [NB_SIDE_QUERIES] = "queries", [NB_SIDE_KEYS] = "keys", [NB_SIDE_JOINT] = "joint", [NB_SIDE_SHARED] = "shared"};

const char *nb_strategy_lacks(const nb_component *component)
{
    const nb_strategy *s = (const nb_strategy *)component;
    if ((unsigned)s->pairing >= NB_PAIRING_COUNT) return "a pairing out of nb_pairing";
    if (s->traits & ~(unsigned)NB_STRATEGY_TRAITS) return "traits out of NB_STRATEGY_TRAITS";
    return s->pairing == NB_BOTH ? (s->pick_both ? NULL : "the function pick_both for its pairing")
           : s->pick             ? NULL
                                 : "the function pick for its pairing";
}

unsigned nb_strategy_traits(const nb_choice *strategy)
{
    const nb_strategy *s = (const nb_strategy *)strategy->component;
    return s->traits_of ? s->traits_of(strategy->options) : s->traits;
}

bool nb_strategy_has(const nb_strategy *strategy, nb_pairing pairing)
{
    return pairing == NB_BOTH ? strategy->pick_both != NULL : strategy->pick != NULL;
}

bool nb_pairing_shares(nb_pairing pairing)
{
    return pairing == NB_SHARED || pairing == NB_SHARED_QUERIES || pairing == NB_SHARED_KEYS;
}

nb_pairing nb_pairing_under(const nb_choice *kernel, const nb_choice *strategy, nb_pairing pairing)
{
    bool one_set = ((const nb_kernel *)kernel->component)->points;
    return one_set && ((const nb_strategy *)strategy->component)->pick ? NB_QUERIES : pairing;
}

nb_scores nb_scores_of(const nb_points *points, double *score)
{
    nb_scores s = {.weight = points->side == NB_SIDE_JOINT ? 0.5 : 1};
    if (points->side != NB_SIDE_KEYS) s.queries = score;
    if (points->side != NB_SIDE_QUERIES) s.keys = points->side == NB_SIDE_SHARED ? score + points->n / 2 : score;
    return s;
}

nb_status nb_strategy_start(const nb_choice *strategy, const nb_points *points, int m, nb_picks *of_queries,
                            nb_picks *of_keys, nb_ctx *ctx)
{
    return points->start(strategy, points, m, of_queries, of_keys, ctx);
}
