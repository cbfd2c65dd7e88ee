/* SPDX-License-Identifier: GPL-3.0-or-later */
/* subsample.c - another strategy picks among some of the tokens, so that picking takes no longer where there are more.
 *
 * The smaller problem is that of min(n, tokens) tokens, in their order: their queries, keys and values, their mask, and
 * the kernel of these alone (a row of softmax has the sum 1 over their keys). The other strategy picks there as if this
 * were the head. Its tokens are the head's, its free points stay where they are, and its groups become points, their
 * means, since the other tokens are in none; of all tokens they stay groups.
 *
 * take=random: the first tokens of the trial's random order, the same for every m and every strategy; cores look at the
 * first ones too. take=even: the tokens floor((j + 1/2) n / k). first=f: tokens 0 ... f-1, and so k - f of the others:
 * in some models nearly all attend to the first token.
 *
 * What the other strategy takes on k tokens, and O(k d + n) for the order and the k points. An oracle sees k^2 entries
 * of the kernel, and is none. */
#include "strategy.h"

#include "nystrom/make_scene.h"

#include <gsl/gsl_sort_int.h>
#include <string.h>

typedef struct {
    const nb_choice *of;
    int tokens, take, first;
} subsample_options;

enum { RANDOM, EVEN };
static const char *const takes[] = {"random", "even", NULL};

static const nb_option options[] = {
    NB_COMPONENT(subsample_options, of, "kmeans", &nb_strategies,
                 "the strategy that picks among these tokens, with any pairing that it has"),
    NB_INT(subsample_options, tokens, "1024", 1, 1 << 20,
           "among how many tokens it picks; the landmarks are at most as many"),
    NB_ENUM(subsample_options, take, "random", takes, "which tokens: drawn uniformly, or evenly spaced ones"),
    NB_INT(subsample_options, first, "0", 0, 1 << 20, "so many of the head's first tokens are always among them"),
    NB_OPTION_END};

typedef struct { /* k of the head's n tokens, ascending, and their scene */
    int k, n;
    int *tokens;
    nb_scene *scene;
} cut;

/* tokens (count) <- those of first ... n - 1 that come first in the trial's order. */
static nb_status draw_tokens(const nb_points *points, int first, int count, int *tokens, nb_ctx *ctx)
{
    const int *order;
    NB_TRY(ctx, nb_scene_order(points->scene, points->stream.seed, points->stream.trial, &order, ctx));
    for (int found = 0, i = 0; found < count; i++)
        if (order[i] >= first) tokens[found++] = order[i];
    gsl_sort_int(tokens, 1, (size_t)count);
    return NB_OK;
}

static nb_status open_cut(const subsample_options *o, const nb_points *points, cut *c, nb_ctx *ctx)
{
    int n = nb_scene_head(points->scene)->n, k = o->tokens < n ? o->tokens : n, first = o->first < k ? o->first : k;
    *c = (cut){.n = n, .k = k};
    NB_NEED(c->tokens, nb_alloc(ctx, (size_t)k, sizeof *c->tokens));
    for (int i = 0; i < first; i++) c->tokens[i] = i;
    int count = k - first;
    for (int j = 0; j < count && o->take == EVEN; j++) /* evenly spaced ones of first ... n - 1 */
        c->tokens[first + j] = first + (int)((2 * j + 1L) * (n - first) / (2L * count));
    if (o->take != EVEN) NB_TRY(ctx, draw_tokens(points, first, k - first, c->tokens + first, ctx));
    return nb_scene_cut(points->scene, k, c->tokens, &c->scene, ctx);
}

/* Returns the head's token at a place of the cut; in a set of queries and keys, the keys follow all queries. */
static int token_of(const cut *c, int place)
{
    return place < c->k ? c->tokens[place] : c->n + c->tokens[place - c->k];
}

/* Tokens, with the moments at which they were found, of a nested strategy. */
static nb_status translate_tokens(const cut *c, const nb_picks *from, nb_picks *to, nb_ctx *ctx)
{
    size_t m = (size_t)from->m;
    if (from->added)
        NB_TRY(ctx, nb_picks_begin(to, from->m));
    else
        NB_NEED(to->tokens, nb_picks_tokens(to, from->m));
    for (size_t j = 0; j < m; j++) to->tokens[j] = token_of(c, from->tokens[j]);
    if (from->added) memcpy(to->added, from->added, m * sizeof *to->added);
    to->count = from->count;
    return NB_OK;
}

static nb_status copy_groups(const nb_picks *from, nb_picks *to)
{
    int *groups;
    NB_NEED(groups, nb_picks_groups(to, from->m, from->n));
    memcpy(groups, from->groups, (size_t)from->n * sizeof *groups);
    return NB_OK;
}

static nb_status place_points(const nb_points *there, const nb_picks *from, nb_picks *to, nb_ctx *ctx)
{
    const double *x = there->x;
    double *points;
    int d = from->kind == NB_POINTS ? from->d : there->d;
    if (!x && from->kind == NB_GROUPS) NB_TRY(ctx, nb_scene_stacked(there->scene, &x, ctx));
    NB_NEED(points, nb_picks_points(to, d, from->m));
    return nb_picks_landmarks(from, d, there->n, x, points, ctx);
}

/* Gives the picks of the points `there` as picks of the head. */
static nb_status translate_picks(const cut *c, const nb_points *there, const nb_picks *from, nb_picks *to, nb_ctx *ctx)
{
    if (from->refusal) {
        NB_NEED(to->refusal, nb_strdup(to->ctx, from->refusal));
        return NB_OK;
    }
    if (from->note) NB_NEED(to->note, nb_strdup(to->ctx, from->note));
    to->note_from = from->note_from;
    if (from->kind == NB_TOKENS) return translate_tokens(c, from, to, ctx);
    if (from->kind == NB_GROUPS && c->k == c->n) return copy_groups(from, to);
    return place_points(there, from, to, ctx);
}

static nb_status pick(const nb_points *points, int m, const void *opts, nb_picks *picks, nb_ctx *ctx)
{
    const subsample_options *o = opts;
    nb_points there = *points;
    nb_picks found;
    cut c;
    NB_TRY(ctx, open_cut(o, points, &c, ctx));
    there.scene = c.scene;
    NB_TRY(ctx, nb_strategy_pick(o->of, &there, m, &found, ctx));
    return translate_picks(&c, &there, &found, picks, ctx);
}

static nb_status pick_both(const nb_points *queries, const nb_points *keys, int m, const void *opts,
                           nb_picks *of_queries, nb_picks *of_keys, nb_ctx *ctx)
{
    const subsample_options *o = opts;
    nb_points there_queries = *queries, there_keys = *keys;
    nb_picks found_queries, found_keys;
    cut c;
    NB_TRY(ctx, open_cut(o, queries, &c, ctx));
    there_queries.scene = there_keys.scene = c.scene;
    NB_TRY(ctx, nb_strategy_pick_both(o->of, &there_queries, &there_keys, m, &found_queries, &found_keys, ctx));
    NB_TRY(ctx, translate_picks(&c, &there_queries, &found_queries, of_queries, ctx));
    return found_queries.refusal ? NB_OK : translate_picks(&c, &there_keys, &found_keys, of_keys, ctx);
}

static nb_within within(const void *opts)
{
    const subsample_options *o = opts;
    return (nb_within){o->of, o->tokens};
}

/* An oracle among k tokens holds only k x k numbers. */
static unsigned traits_of(const void *opts)
{
    const subsample_options *o = opts;
    unsigned of = nb_strategy_traits(o->of), own = o->take == RANDOM ? NB_RANDOM : 0;
    return (of & ~(unsigned)(NB_ORACLE | NB_BLIND)) | own | (of & NB_ORACLE ? NB_SQUARE : 0);
}

static const char *refusal(const nb_points *points, int m, const void *opts)
{
    const subsample_options *o = opts;
    (void)points;
    if (m > o->tokens) return "subsample: more landmarks than tokens to pick among: tokens is below m";
    return o->first > o->tokens ? "subsample: more first tokens than tokens to pick among: tokens is below first"
                                : NULL;
}

static const char *const references[] = {
    "Cohen, Lee, Musco, Musco, Peng & Sidford, Uniform sampling for matrix approximation, ITCS 2015, arXiv:1408.5099 "
    "(leverage scores from a uniform sample)",
    "Sculley, Web-scale k-means clustering, WWW 2010 (k-means on small samples)",
    "Xiao, Tian, Chen, Han & Lewis, Efficient streaming language models with attention sinks, ICLR 2024, "
    "arXiv:2309.17453 (first tokens that are always kept)",
    NULL};

const nb_strategy nb_strategy_subsample = {
    .component = {"subsample", "another strategy's picks among some of the tokens, at a cost that does not grow with n",
                  references, options, sizeof(subsample_options)},
    .traits = NB_RANDOM,
    .pairing = NB_JOINT,
    .traits_of = traits_of,
    .pick = pick,
    .pick_both = pick_both,
    .refusal = refusal,
    .within = within,
    .explanation =
        "The other strategy sees these tokens alone, as if they were the head: their queries, keys and values, in\n"
        "their order, under the mask. Tokens stay tokens and points stay points; groups become points, the means of\n"
        "what is in them, so that their pairings are joint, independent, shared and both. An oracle sees S of these\n"
        "tokens, and is called none. With as many tokens as there are, the picks are those of the other strategy, bit\n"
        "for bit. In a trial, subsamples of one size have the same tokens, whoever picks among them, and a smaller\n"
        "one is part of a larger one. Where nearly all attend to the first token, as in some causal models, first=1\n"
        "keeps it in sight.",
};
