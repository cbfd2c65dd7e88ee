/* SPDX-License-Identifier: GPL-3.0-or-later */
/* context.c - tokens by how well they match the other side on average.
 *
 *     score of query i:  mean over j of q_i.k_j = q_i.(mean of the keys)
 *     score of key j:    mean over i of q_i.k_j = (mean of the queries).k_j
 *     of a token:        the mean of both
 *
 * in O(nd), since the mean may be taken first. `top` takes the largest; `sample`
 * draws by the softmax of the scores. A mask does not count.
 *
 * This is what how-tos on landmark attention call adaptive or context-aware
 * selection; they form all n^2 products, the cost that landmarks are to avoid, and
 * add a learned term that the selection of the largest passes no gradient to. Here
 * it is the head's own q and k, and no such term: see learned.c. The score is
 * linear in a token, so `top` takes tokens of one direction, near one another. */
#include "strategy.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"

typedef struct {
    int take;
} context_options;

enum { TOP, SAMPLE };
static const char *const takes[] = {"top", "sample", NULL};

static const nb_option options[] = {
    NB_ENUM(context_options, take, "top", takes, "take the largest scores, or draw by their softmax"), NB_OPTION_END};

/* score <- score + weight x'(mean of the other's columns), both d x n; score NULL: nothing. */
static nb_status add_scores(int d, int n, const double *x, const double *other, double weight, double *score,
                            nb_ctx *ctx)
{
    double *mean;
    if (!score) return NB_OK;
    NB_NEED(mean, nb_alloc_reals(ctx, (size_t)d, 1));
    for (size_t i = 0; i < (size_t)n; i++) nb_add((size_t)d, other + i * (size_t)d, mean);
    nb_gemv(NB_TRANSPOSED, d, n, weight / n, x, d, mean, 1, score);
    return NB_OK;
}

static nb_status pick(const nb_points *points, int m, const void *opts, nb_picks *picks, nb_ctx *ctx)
{
    const context_options *o = opts;
    const nb_head *head = nb_scene_head(points->scene);
    int d = head->d, n = head->n;
    double *score;
    NB_NEED(score, nb_alloc_reals(ctx, (size_t)points->n, 1));
    nb_scores of = nb_scores_of(points, score);
    NB_TRY(ctx, add_scores(d, n, head->q, head->k, of.weight, of.queries, ctx));
    NB_TRY(ctx, add_scores(d, n, head->k, head->q, of.weight, of.keys, ctx));
    return nb_picks_by_log_score(picks, points->n, m, score, o->take == SAMPLE, ctx);
}

static unsigned traits_of(const void *opts)
{
    const context_options *o = opts;
    return o->take == SAMPLE ? NB_RANDOM | NB_NESTED : NB_NESTED;
}

static const char *const references[] = {
    "adaptive landmark selection as in how-tos on Nystroem attention; for the draw: Yellott, The relationship between "
    "Luce's choice "
    "axiom, Thurstone's theory of comparative judgment, and the double exponential distribution, J. Math. Psychol. 15, "
    "1977",
    NULL};

const nb_strategy nb_strategy_context = {
    .component = {"context", "tokens by their mean product with the other side", references, options,
                  sizeof(context_options)},
    .traits = NB_NESTED,
    .pairing = NB_JOINT,
    .traits_of = traits_of,
    .pick = pick,
};
