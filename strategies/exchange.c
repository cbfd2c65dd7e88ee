/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exchange.c - one landmark swapped at a time while the subspace part of `cur` falls, an oracle
 * unless it looks at some rows alone.
 *
 * With factors `cur` the least error that any core reaches is |S - P_C S P_R|_F, P_C
 * the projector on the columns J of S (key tokens), P_R on its rows I (query
 * tokens). A sweep goes once over the positions of J with I fixed, then over those
 * of I with J fixed, and puts at each position the token that lowers the error most.
 *
 * nystrom/swaps.h has the algebra. The error is formed entry by entry after each side's
 * turn, and a turn that did not lower it is taken back, so that part is never above
 * the start's; with other factors, or with X that is not the best one, the error may be.
 * The end is a local minimum, and only one token is swapped at a time: its gain is a lower bound on what can be
 * gained; floor_rank gives an upper bound. A sweep costs 20 n^2 m + O(n m^2) flops,
 * and 2 n^2 for each swap.
 *
 * Keys go first; the other order may end elsewhere, as may another start.
 *
 * rows = k: the same within the cut S[I,J], for k query tokens and k key tokens, the start's and the first others of
 * the trial's random order. What falls is the cut's own subspace part, and candidates are the cut's tokens. k n d for
 * the rows of S that its entries are from, and a sweep costs 20 k^2 m + O(k m^2) flops. */
#include "strategy.h"

#include "components/registry.h"
#include "linalg/linalg.h"
#include "nystrom/swaps.h"

#include <gsl/gsl_sort_int.h>
#include <string.h>

typedef struct {
    const nb_choice *start;
    int sweeps, rows, sample;
} exchange_options;

static const nb_option options[] = {
    NB_COMPONENT(exchange_options, start, "uniform", &nb_strategies, "the strategy whose tokens it starts from"),
    NB_INT(exchange_options, sweeps, "3", 0, 1000,
           "at most that many passes over the landmarks of both sides; ends when a pass swaps none"),
    NB_ORACLE_ROWS_OPTIONS(exchange_options), NB_OPTION_END};

typedef struct { /* what is swapped within: S, or its entries at k queries and k keys */
    int k;
    const double *rows;        /* k x k: column i is row i; held twice while tokens are swapped */
    const int *queries, *keys; /* k: their tokens, ascending; NULL: all */
} cut;

/* Candidates: the m start tokens, then the others in the trial's order, k in all. *seen: how far into that order they
 * reach. */
static nb_status start_first(const nb_points *points, int m, const int *start, int **order, nb_ctx *ctx)
{
    const int *all;
    bool *taken;
    int count = m;
    NB_TRY(ctx, nb_scene_order(points->scene, points->stream.seed, points->stream.trial, &all, ctx));
    NB_NEED(*order, nb_alloc(ctx, (size_t)points->n, sizeof **order));
    NB_NEED(taken, nb_alloc(ctx, (size_t)points->n, sizeof *taken));
    memcpy(*order, start, (size_t)m * sizeof *start);
    for (int j = 0; j < m; j++) taken[start[j]] = true;
    for (int i = 0; i < points->n; i++)
        if (!taken[all[i]]) (*order)[count++] = all[i];
    return NB_OK;
}

static nb_status cut_init(cut *c, const nb_points *points, int m, const int *of_queries, const int *of_keys,
                          nb_ctx *ctx)
{
    size_t n = (size_t)points->n, k = (size_t)c->k;
    int *queries, *keys;
    double *entries;
    nb_row_sample some;
    NB_TRY(ctx, start_first(points, m, of_queries, &queries, ctx));
    NB_TRY(ctx, start_first(points, m, of_keys, &keys, ctx));
    NB_TRY(ctx, nb_row_sample_tokens(points->scene, c->k, queries, &some, ctx));
    NB_NEED(entries, nb_alloc_raw(ctx, k * k));
    gsl_sort_int(keys, 1, k);
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) entries[i * k + j] = some.rows[i * n + (size_t)keys[j]];
    c->rows = entries;
    c->queries = some.tokens;
    c->keys = keys;
    return NB_OK;
}

/* The m tokens are replaced by their places among the cut's, or the other way round. */
static void to_places(const cut *c, const int *tokens, int m, int *picks)
{
    for (int j = 0; j < m && tokens; j++) {
        int place = 0;
        while (place + 1 < c->k && tokens[place] < picks[j]) place++;
        picks[j] = place;
    }
}

static void to_tokens(const int *tokens, int m, int *picks)
{
    for (int j = 0; j < m && tokens; j++) picks[j] = tokens[picks[j]];
}

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

static nb_status exchange(const cut *c, int m, int sweeps, int *of_queries, int *of_keys, nb_ctx *ctx)
{
    int n = c->k;
    double *columns;
    nb_swap_side queries, keys;
    nb_swaps w;
    NB_NEED(columns, nb_alloc_raw(ctx, (size_t)n * (size_t)n));
    nb_transpose(n, n, c->rows, columns);
    NB_TRY(ctx, nb_swap_side_init(&queries, n, m, c->rows, of_queries, ctx));
    NB_TRY(ctx, nb_swap_side_init(&keys, n, m, columns, of_keys, ctx));
    NB_TRY(ctx, nb_swaps_init(&w, n, m, ctx));
    /* |S|^2, and the bases of P_R and P_C at the start */
    for (int j = 0; j < n; j++) w.norm2 += keys.norms[j];
    nb_swap_factor(&queries, &w);
    nb_swap_factor(&keys, &w);
    /* |S - P_C S P_R|^2, which no turn raises */
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
    cut c = {.k = nb_rows_of(o->rows, m, queries->n)};
    nb_picks start_queries, start_keys;
    int *i, *j;
    (void)keys;
    NB_TRY(ctx, nb_strategy_start(o->start, queries, m, &start_queries, &start_keys, ctx));
    NB_REQUIRE(ctx, start_queries.kind == NB_TOKENS, NB_EREFUSED, "exchange: start=%s gives no tokens to swap",
               o->start->label);
    NB_NEED(i, nb_picks_tokens(of_queries, m));
    NB_NEED(j, nb_picks_tokens(of_keys, m));
    memcpy(i, start_queries.tokens, (size_t)m * sizeof *i);
    memcpy(j, start_keys.tokens, (size_t)m * sizeof *j);
    if (m == c.k) return NB_OK;
    if (o->rows == NB_ALL_ROWS)
        NB_TRY(ctx, nb_scene_rows(queries->scene, &c.rows, ctx));
    else
        NB_TRY(ctx, cut_init(&c, queries, m, i, j, ctx));
    to_places(&c, c.queries, m, i);
    to_places(&c, c.keys, m, j);
    NB_TRY(ctx, exchange(&c, m, o->sweeps, i, j, ctx));
    to_tokens(c.queries, m, i);
    to_tokens(c.keys, m, j);
    return NB_OK;
}

static unsigned traits_of(const void *opts)
{
    const exchange_options *o = opts;
    unsigned start = nb_strategy_traits(o->start) & ~(unsigned)NB_BLIND,
             of_all = (start & (NB_RANDOM | NB_ELSEWHERE)) | NB_ORACLE | NB_SQUARE;
    return nb_traits_with_rows(of_all, o->rows) | (o->rows == NB_ALL_ROWS ? 0 : start & ~(unsigned)NB_NESTED);
}

static const char *refusal(const nb_points *points, int m, const void *opts)
{
    const exchange_options *o = opts;
    const nb_strategy *start = (const nb_strategy *)o->start->component;
    const char *no_rows = nb_rows_refusal(points, o->rows, o->sample, m);
    if (o->sample == NB_CENTRES) return "exchange swaps tokens: a centre of queries is none";
    if (nb_rows_of(o->rows, m, points->n) < m) return "exchange swaps among the tokens that it sees: rows is below m";
    if (o->rows == NB_ALL_ROWS && points->n > NB_DENSE)
        return "exchange: all of S is held twice; n is at most 4096; or take rows=auto";
    if (no_rows) return no_rows;
    return start->refusal ? start->refusal(points, m, o->start->options) : NULL;
}

/* The header's count, three times, since the loops wait for memory. */
static double multiplications(const void *opts, int n, int d, int m)
{
    const exchange_options *o = opts;
    double rows = nb_rows_of(o->rows, m, n);
    return 30.0 * o->sweeps * rows * rows * m + (o->rows == NB_ALL_ROWS ? 0 : rows * n * d);
}

static const char *const references[] = {
    "Fedorov, Theory of optimal experiments, 1972 (the exchange of one point at a time)",
    "Altschuler et al., Greedy column subset selection: new bounds and distributed algorithms, ICML 2016", NULL};

const nb_strategy nb_strategy_exchange = {
    .component = {"exchange",
                  "tokens swapped one at a time while cur's subspace part falls (oracle, or by sampled rows)",
                  references, options, sizeof(exchange_options)},
    .traits = NB_RANDOM | NB_ORACLE,
    .pairing = NB_BOTH,
    .traits_of = traits_of,
    .pick_both = pick_both,
    .refusal = refusal,
    .multiplications = multiplications,
    .explanation =
        "What falls is the subspace part with factors cur, the least error that any core reaches with these columns\n"
        "and rows of S; with other factors and cores the error may rise, as with nystromformer and six steps in one\n"
        "pick of eight on the MiniLM and ViT heads. It ends in a local minimum, or after the last sweep, so what it\n"
        "gains is a lower bound on what there is to win; floor_rank gives an upper bound. With rows=k it falls in the\n"
        "entries of S at k queries and k keys, and the part itself may rise.",
};
