/* SPDX-License-Identifier: GPL-3.0-or-later */
/* uniform.c - m tokens drawn uniformly, without replacement: the first m of a
 * random permutation (Fisher & Yates), O(n). The baseline that every other
 * strategy has to beat.
 *
 * strided: the tokens floor((j + 1/2) n / m), j = 0 ... m - 1, nothing drawn. Each
 * stands in the middle of a stretch of n/m tokens, so that none is more than
 * about n/2m from one; with floor(j n / m) the last would be n/m away, and token
 * 0, often a special one, always taken. */
#include "strategy.h"

typedef struct {
    int strided;
} uniform_options;

static const nb_option options[] = {
    NB_BOOL(uniform_options, strided, "false",
            "take every (n/m)-th token instead, beginning in the middle of the first n/m"),
    NB_OPTION_END};

static nb_status draw_tokens(int n, int m, nb_picks *picks, nb_ctx *ctx)
{
    int *order;
    NB_NEED(order, nb_alloc(ctx, (size_t)n, sizeof *order));
    NB_TRY(ctx, nb_picks_begin(picks, m));
    for (int i = 0; i < n; i++) order[i] = i;
    for (int j = 0; j < m; j++) {
        int from = j + (int)gsl_rng_uniform_int(nb_ctx_rng(ctx), (unsigned long)(n - j));
        nb_picks_add(picks, order[from]);
        order[from] = order[j];
    }
    return NB_OK;
}

static nb_status pick(const nb_points *points, int m, const void *opts, nb_picks *picks, nb_ctx *ctx)
{
    const uniform_options *o = opts;
    int *tokens;
    if (!o->strided) return draw_tokens(points->n, m, picks, ctx);
    NB_NEED(tokens, nb_picks_tokens(picks, m));
    for (int j = 0; j < m; j++) tokens[j] = (int)((2 * j + 1L) * points->n / (2L * m));
    return NB_OK;
}

static unsigned traits_of(const void *opts)
{
    const uniform_options *o = opts;
    return NB_BLIND | (o->strided ? 0 : NB_RANDOM | NB_NESTED);
}

static const char *const references[] = {
    "Williams & Seeger, Using the Nystrom method to speed up kernel machines, NIPS 2000",
    "Kumar, Mohri & Talwalkar, Sampling methods for the Nystrom method, JMLR 13, 2012", NULL};

const nb_strategy nb_strategy_uniform = {
    .component = {"uniform", "tokens drawn uniformly, without replacement", references, options,
                  sizeof(uniform_options)},
    .traits = NB_BLIND | NB_RANDOM | NB_NESTED,
    .pairing = NB_JOINT,
    .traits_of = traits_of,
    .pick = pick,
};
