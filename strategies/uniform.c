/* uniform.c - m tokens drawn uniformly, without replacement: the first m of a
 * random permutation (Fisher & Yates), O(n).
 *
 * The baseline that every other strategy has to beat. */
#include "strategy.h"

static nb_status pick(const nb_points *points, int m, const void *options, nb_picks *picks, nb_ctx *ctx)
{
    int *order;
    (void)options;
    NB_NEED(order, nb_alloc(ctx, (size_t)points->n, sizeof *order));
    NB_TRY(ctx, nb_picks_begin(picks, m));
    for (int i = 0; i < points->n; i++) order[i] = i;
    for (int j = 0; j < m; j++) {
        int from = j + (int)gsl_rng_uniform_int(nb_ctx_rng(ctx), (unsigned long)(points->n - j));
        nb_picks_add(picks, order[from]);
        order[from] = order[j];
    }
    return NB_OK;
}

static const char *const references[] = {
    "Williams & Seeger, Using the Nystrom method to speed up kernel machines, NIPS 2000",
    "Kumar, Mohri & Talwalkar, Sampling methods for the Nystrom method, JMLR 13, 2012", NULL};

static const nb_option options[] = {NB_OPTION_END};

const nb_strategy nb_strategy_uniform = {
    .component = {"uniform", "tokens drawn uniformly, without replacement", references, options, 0},
    .abi = NB_STRATEGY_ABI,
    .traits = NB_RANDOM | NB_NESTED,
    .pairing = NB_JOINT,
    .pick = pick,
};
