/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exchange.c - one landmark swapped at a time while the subspace part of `cur` falls, an oracle.
 *
 * With factors `cur` the least error that any core reaches is |S - P_C S P_R|_F, P_C
 * the projector on the columns J of S (key tokens), P_R on its rows I (query
 * tokens). A sweep goes once over the positions of J with I fixed, then over those
 * of I with J fixed, and puts at each position the token that lowers the error most.
 *
 * nystrom/swaps.h has the algebra. The error is formed entry by entry after each side's
 * turn, and a turn that did not lower it is taken back, so that part is never above
 * the start's; with other factors, or with X that is not the best one, the error may be.
 * The end is a local minimum, and one swap at a time is not all that there is: what it
 * wins bounds what there is to win from below, as floor_rank does from above. A sweep costs 20 n^2 m + O(n m^2) flops,
 * and 2 n^2 for each swap.
 *
 * Keys go first; the other order may end elsewhere, as may another start. */
#include "strategy.h"

#include "components/registry.h"
#include "linalg/linalg.h"
#include "nystrom/swaps.h"

#include <string.h>

typedef struct {
    const nb_choice *start;
    int sweeps;
} exchange_options;

static const nb_option options[] = {
    NB_COMPONENT(exchange_options, start, "uniform", &nb_strategies, "the strategy whose tokens it starts from"),
    NB_INT(exchange_options, sweeps, "3", 0, 1000,
           "at most that many passes over the landmarks of both sides; ends when a pass swaps none"),
    NB_OPTION_END};

/* S is held twice, and its products with m vectors. */

/* One turn, taken back where the error, formed anew, is not below *least. */
static nb_status improve(nb_swap_side *s, nb_swap_side *other, bool keys, nb_swaps *w, double *least, int *swaps,
                         nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    int *before, count = 0;
    size_t size = (size_t)w->m * sizeof *before;
    NB_NEED(before, nb_alloc(ctx, (size_t)w->m, sizeof *before));
    memcpy(before, s->tokens, size);
    nb_swap_turn(s, other, w, &count);
    nb_swap_factor(s, w);
    double error = count == 0 ? *least : keys ? nb_swap_error2(s, other, w) : nb_swap_error2(other, s, w);
    if (count > 0 && error < *least) {
        *least = error;
        *swaps += count;
    } else if (count > 0) {
        memcpy(s->tokens, before, size);
        nb_swap_factor(s, w);
    }
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

static nb_status exchange(const nb_points *points, int m, int sweeps, int *of_queries, int *of_keys, nb_ctx *ctx)
{
    int n = points->n;
    const double *rows;
    double *columns;
    nb_swap_side queries, keys;
    nb_swaps w;
    NB_TRY(ctx, nb_scene_rows(points->scene, &rows, ctx));
    NB_NEED(columns, nb_alloc_raw(ctx, (size_t)n * (size_t)n));
    nb_transpose(n, n, rows, columns);
    NB_TRY(ctx, nb_swap_side_init(&queries, n, m, rows, of_queries, ctx));
    NB_TRY(ctx, nb_swap_side_init(&keys, n, m, columns, of_keys, ctx));
    NB_TRY(ctx, nb_swaps_init(&w, n, m, ctx));
    for (int c = 0; c < n; c++) w.norm2 += keys.norms[c];
    nb_swap_factor(&queries, &w);
    nb_swap_factor(&keys, &w);
    double least = nb_swap_error2(&keys, &queries, &w);
    for (int sweep = 0, swaps = 1; sweep < sweeps && swaps > 0; sweep++) {
        swaps = 0;
        NB_TRY(ctx, improve(&keys, &queries, true, &w, &least, &swaps, ctx));
        NB_TRY(ctx, improve(&queries, &keys, false, &w, &least, &swaps, ctx));
    }
    return NB_OK;
}

static nb_status pick_both(const nb_points *queries, const nb_points *keys, int m, const void *opts,
                           nb_picks *of_queries, nb_picks *of_keys, nb_ctx *ctx)
{
    const exchange_options *o = opts;
    nb_picks start_queries, start_keys;
    int *i, *j;
    (void)keys;
    NB_TRY(ctx, nb_strategy_start(o->start, queries, m, &start_queries, &start_keys, ctx));
    NB_REQUIRE(ctx, start_queries.kind == NB_TOKENS, NB_EINVAL, "exchange: start=%s gives no tokens to swap",
               o->start->label);
    NB_NEED(i, nb_picks_tokens(of_queries, m));
    NB_NEED(j, nb_picks_tokens(of_keys, m));
    memcpy(i, start_queries.tokens, (size_t)m * sizeof *i);
    memcpy(j, start_keys.tokens, (size_t)m * sizeof *j);
    return m < queries->n ? exchange(queries, m, o->sweeps, i, j, ctx) : NB_OK;
}

static unsigned traits_of(const void *opts)
{
    const exchange_options *o = opts;
    return (nb_strategy_traits(o->start) & NB_RANDOM) | NB_ORACLE | NB_SQUARE;
}

static const char *refusal(const nb_points *points, int m, const void *opts)
{
    const exchange_options *o = opts;
    const nb_strategy *start = (const nb_strategy *)o->start->component;
    if (points->n > NB_DENSE) return "exchange: all of S is held twice; n is at most 4096";
    return start->refusal ? start->refusal(points, m, o->start->options) : NULL;
}

static const char *const references[] = {
    "Fedorov, Theory of optimal experiments, 1972 (the exchange of one point at a time)",
    "Altschuler et al., Greedy column subset selection: new bounds and distributed algorithms, ICML 2016", NULL};

const nb_strategy nb_strategy_exchange = {
    .component = {"exchange", "tokens swapped one at a time while the subspace part of cur falls (oracle)", references,
                  options, sizeof(exchange_options)},
    .traits = NB_RANDOM | NB_ORACLE,
    .pairing = NB_BOTH,
    .traits_of = traits_of,
    .pick_both = pick_both,
    .refusal = refusal,
    .explanation =
        "What falls is the subspace part with factors cur, the least error that any core reaches with these columns\n"
        "and rows of S; with other factors and cores the error may rise, as with nystromformer and six steps in one\n"
        "pick of eight on the MiniLM and ViT heads. It ends in a local minimum, or after the last sweep, so what it\n"
        "gains is a lower bound on what there is to win; floor_rank gives an upper bound.",
};
