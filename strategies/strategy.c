/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strategy.c - what a strategy's record says and must say, and what strategies share: scores, samples of S, starts. */
#include "strategies/strategy.h"

#include "components/component_facts.h"
#include "kernels/kernel.h"
#include "linalg/basis.h"

#include <gsl/gsl_sort_int.h>
#include <math.h>
#include <string.h>

const char *const nb_pairing_names[] = {NB_PAIRING_NAMES, [NB_PAIRING_COUNT] = NULL};

const char *const nb_side_names[] = {
    [NB_SIDE_QUERIES] = "queries", [NB_SIDE_KEYS] = "keys", [NB_SIDE_JOINT] = "joint", [NB_SIDE_SHARED] = "shared"};

const size_t nb_strategy_texts[] = {offsetof(nb_strategy, explanation), 0};

const char *nb_strategy_lacks(const nb_component *component)
{
    const nb_strategy *s = (const nb_strategy *)component;
    if ((unsigned)s->pairing >= NB_PAIRING_COUNT) return "a pairing out of nb_pairing";
    if (s->traits & ~(unsigned)NB_STRATEGY_TRAITS) return "traits out of NB_STRATEGY_TRAITS";
    return s->pairing == NB_BOTH ? (s->pick_both ? NULL : "the function pick_both for its pairing")
           : s->pick             ? NULL
                                 : "the function pick for its pairing";
}

static const nb_strategy *record_of(const nb_choice *strategy)
{
    return (const nb_strategy *)strategy->component;
}

static void tell_traits(const nb_choice *of, const void *question, void *answer)
{
    (void)question;
    *(unsigned *)answer = record_of(of)->traits_of(of->options);
}

unsigned nb_strategy_traits(const nb_choice *strategy)
{
    unsigned traits = record_of(strategy)->traits;
    if (record_of(strategy)->traits_of)
        nb_ask_fact(strategy, "traits_of", tell_traits, NULL, 0, &traits, sizeof traits);
    return traits;
}

typedef struct {
    int option; /* that holds the other strategy, by its place in the table; -1: none does */
    int tokens;
} told_within;

static const nb_choice *choice_at(const nb_choice *of, int option)
{
    return *(const nb_choice *const *)((const char *)of->options + of->component->options[option].offset);
}

static void tell_within(const nb_choice *of, const void *question, void *answer)
{
    const nb_option *options = of->component->options;
    nb_within within = record_of(of)->within(of->options);
    told_within *told = answer;
    (void)question;
    *told = (told_within){.option = -1, .tokens = within.tokens};
    for (int i = 0; options[i].key; i++)
        if (options[i].type == NB_OPTION_SPEC && options[i].registry == &nb_strategies &&
            choice_at(of, i) == within.strategy)
            told->option = i;
}

/* What `within` says; its strategy is NULL if there is none. */
static nb_within within_of(const nb_choice *strategy)
{
    told_within told = {.option = -1};
    if (record_of(strategy)->within) nb_ask_fact(strategy, "within", tell_within, NULL, 0, &told, sizeof told);
    return (nb_within){told.option < 0 ? NULL : choice_at(strategy, told.option), told.tokens};
}

typedef struct {
    int n, d, m;
} sizes;

static void tell_multiplications(const nb_choice *of, const void *question, void *answer)
{
    const sizes *s = question;
    *(double *)answer = record_of(of)->multiplications(of->options, s->n, s->d, s->m);
}

double nb_strategy_multiplications(const nb_choice *strategy, int n, int d, int m)
{
    const sizes asked = {n, d, m};
    double told = NAN;
    if (record_of(strategy)->multiplications)
        nb_ask_fact(strategy, "multiplications", tell_multiplications, &asked, sizeof asked, &told, sizeof told);
    return told;
}

/* alone: on a scene of its own. */
static bool counts(const nb_choice *strategy, bool alone)
{
    unsigned traits = nb_strategy_traits(strategy);
    if (nb_plugin_of(strategy->component) || traits & NB_ELSEWHERE || (traits & NB_ORACLE && !alone)) return false;
    for (const nb_option *o = strategy->component->options; o && o->key; o++) {
        if (o->type != NB_OPTION_SPEC || o->registry != &nb_strategies) continue;
        const nb_choice *inner = *(const nb_choice *const *)((const char *)strategy->options + o->offset);
        if (!counts(inner, alone || record_of(strategy)->within)) return false;
    }
    return true;
}

bool nb_strategy_counts(const nb_choice *strategy)
{
    return counts(strategy, false);
}

/* Returns the strategy that picks in the end. */
static const nb_choice *innermost(const nb_choice *strategy)
{
    for (const nb_choice *inner; (inner = within_of(strategy).strategy);) strategy = inner;
    return strategy;
}

int nb_strategy_tokens(const nb_choice *strategy, int n)
{
    for (nb_within in; (in = within_of(strategy)).strategy; strategy = in.strategy)
        if (in.tokens < n) n = in.tokens;
    return n;
}

double nb_strategy_growth(const nb_choice *strategy, int d, int m)
{
    enum { SHORTER = 1 << 19, LONGER = 1 << 20 };
    unsigned traits = nb_strategy_traits(strategy);
    double longer = nb_strategy_multiplications(strategy, LONGER, d, m);
    if (nb_strategy_tokens(strategy, LONGER) < LONGER) return 1;
    if (!isnan(longer)) return log2(longer / nb_strategy_multiplications(strategy, SHORTER, d, m));
    if (traits & NB_EIGEN) return 3;
    if (traits & (NB_SQUARE | NB_ORACLE)) return 2;
    return nb_strategy_counts(strategy) ? 1 : NAN;
}

bool nb_strategy_has(const nb_choice *strategy, nb_pairing pairing)
{
    const nb_strategy *s = record_of(innermost(strategy));
    return pairing == NB_BOTH ? s->pick_both != NULL : s->pick != NULL;
}

nb_pairing nb_strategy_pairing(const nb_choice *strategy)
{
    return record_of(innermost(strategy))->pairing;
}

bool nb_pairing_shares(nb_pairing pairing)
{
    return pairing == NB_SHARED || pairing == NB_SHARED_QUERIES || pairing == NB_SHARED_KEYS;
}

nb_pairing nb_pairing_under(const nb_choice *kernel, const nb_choice *strategy, nb_pairing pairing)
{
    bool one_set = ((const nb_kernel *)kernel->component)->points;
    return one_set && nb_strategy_has(strategy, NB_QUERIES) ? NB_QUERIES : pairing;
}

nb_scores nb_scores_of(const nb_points *points, double *score)
{
    nb_scores s = {.weight = points->side == NB_SIDE_JOINT ? 0.5 : 1};
    if (points->side != NB_SIDE_KEYS) s.queries = score;
    if (points->side != NB_SIDE_QUERIES) s.keys = points->side == NB_SIDE_SHARED ? score + points->n / 2 : score;
    return s;
}

const char *const nb_sampling_names[] = {[NB_CENTRES] = "centres", [NB_SAMPLED_TOKENS] = "tokens", NULL};

enum { LEAST_ROWS = 64 };

int nb_rows_of(int rows, int m, int n)
{
    int wanted = rows != NB_AUTO ? rows : 4 * m > LEAST_ROWS ? 4 * m : LEAST_ROWS;
    return rows == NB_ALL_ROWS || wanted > n ? n : wanted;
}

unsigned nb_traits_with_rows(unsigned traits, int rows)
{
    unsigned of_all = NB_ORACLE | NB_SQUARE | NB_EIGEN | (rows == NB_AUTO ? NB_NESTED : 0);
    return rows == NB_ALL_ROWS ? traits : (traits & ~of_all) | NB_RANDOM;
}

const char *nb_rows_refusal(const nb_points *points, int rows, int sample, int m)
{
    const nb_head *h = nb_scene_head(points->scene);
    int k = nb_rows_of(rows, m, h->n);
    if (rows == NB_ALL_ROWS) return NULL;
    if (k > NB_DENSE) return "rows: they are held, n numbers each; at most 4096 of them";
    return sample == NB_CENTRES && h->causal && k < h->n
               ? "sample=centres: the centre of some queries has no place under a causal mask; take sample=tokens"
               : NULL;
}

static nb_status draw_order(const nb_points *points, const int **order, nb_ctx *ctx)
{
    return nb_scene_order(points->scene, points->stream.seed, points->stream.trial, order, ctx);
}

nb_status nb_strategy_sample(const nb_points *points, nb_sampling sampling, int k, nb_row_sample *sample, nb_ctx *ctx)
{
    const int *order;
    int n = nb_scene_head(points->scene)->n;
    if (k > n) k = n;
    if (sampling == NB_CENTRES && k < n) return nb_row_sample_centres(points->scene, k, nb_ctx_rng(ctx), sample, ctx);
    NB_TRY(ctx, draw_order(points, &order, ctx));
    return nb_row_sample_tokens(points->scene, k, order, sample, ctx);
}

nb_status nb_strategy_sample_tokens(const nb_points *points, int k, const int **tokens, nb_ctx *ctx)
{
    const int *order;
    int n = nb_scene_head(points->scene)->n, *out;
    if (k > n) k = n;
    NB_TRY(ctx, draw_order(points, &order, ctx));
    NB_NEED(out, nb_alloc(ctx, (size_t)k, sizeof *out));
    memcpy(out, order, (size_t)k * sizeof *out);
    gsl_sort_int(out, 1, (size_t)k);
    *tokens = out;
    return NB_OK;
}

nb_status nb_strategy_look(const nb_points *points, int rows, int sample, int m, nb_sight *sight, nb_ctx *ctx)
{
    int n = nb_scene_head(points->scene)->n, k = nb_rows_of(rows, m, n);
    const int *tokens;
    double *columns;
    nb_row_sample some;
    *sight = (nb_sight){.n = n, .k = k};
    if (rows == NB_ALL_ROWS) {
        NB_TRY(ctx, nb_scene_rows(points->scene, &sight->rows, ctx));
        sight->columns = sight->rows;
        return NB_OK;
    }
    if (points->side != NB_SIDE_QUERIES) {
        NB_TRY(ctx, nb_strategy_sample(points, (nb_sampling)sample, k, &some, ctx));
        NB_TRY(ctx, nb_row_sample_weigh(&some, n, &sight->rows, ctx));
    }
    if (points->side == NB_SIDE_KEYS) return NB_OK;
    NB_NEED(columns, nb_alloc_raw(ctx, (size_t)k * (size_t)n));
    NB_TRY(ctx, nb_strategy_sample_tokens(points, k, &tokens, ctx));
    NB_TRY(ctx, nb_scene_some_columns(points->scene, k, tokens, columns, ctx));
    sight->columns = columns;
    return NB_OK;
}

nb_status nb_sight_vectors(const nb_sight *sight, bool of_keys, double **values, double **vectors, nb_ctx *ctx)
{
    size_t n = (size_t)sight->n, k = (size_t)sight->k;
    NB_NEED(*values, nb_alloc_raw(ctx, k));
    NB_NEED(*vectors, nb_alloc_raw(ctx, n * k));
    if (of_keys) return nb_singular_vectors(NB_COLUMNS, sight->n, sight->k, sight->rows, *values, *vectors, ctx);
    return nb_singular_vectors(NB_ROWS, sight->n, sight->k, sight->columns, *values, *vectors, ctx);
}

nb_status nb_strategy_start(const nb_choice *strategy, const nb_points *points, int m, nb_picks *of_queries,
                            nb_picks *of_keys, nb_ctx *ctx)
{
    return points->start(strategy, points, m, of_queries, of_keys, ctx);
}

nb_status nb_strategy_pick(const nb_choice *strategy, nb_points *points, int m, nb_picks *picks, nb_ctx *ctx)
{
    return points->pick(strategy, points, NULL, m, picks, NULL, ctx);
}

nb_status nb_strategy_pick_both(const nb_choice *strategy, nb_points *queries, nb_points *keys, int m,
                                nb_picks *of_queries, nb_picks *of_keys, nb_ctx *ctx)
{
    return queries->pick(strategy, queries, keys, m, of_queries, of_keys, ctx);
}
