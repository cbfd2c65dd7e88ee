/* SPDX-License-Identifier: GPL-3.0-or-later */
/* learned.c - tokens by a linear score of their vector, O(nd):
 *
 *     score of x = w.x + b;  of a token, the mean of its query's and its key's.
 *
 * The weights come from a file: `nysbench fit` regresses the logarithm of leverage
 * scores on the points of some heads, so that the scores of others cost no S.
 * `top` takes the largest, `sample` draws in proportion to exp(score), which for
 * such weights is the predicted leverage.
 *
 * The file is a .npy of shape (2, d+1), the row of the queries and that of the keys,
 * or (d+1), one row for both; the intercept b is last. It moves all scores of a side
 * alike, so that picks depend on it only where queries and keys are ranked together,
 * under the pairing `shared`. A file for another d is an error and not a refusal: it
 * was named for these heads by mistake. */
#include "strategy.h"

#include "data/tensor.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"

#include <string.h>

typedef struct {
    const char *weights;
    int take;
} learned_options;

enum { TOP, SAMPLE };
static const char *const takes[] = {"top", "sample", NULL};

static const nb_option options[] = {
    NB_FILE(learned_options, weights, NULL,
            "a .npy file of weights, of shape (2, d+1): queries and keys, the intercept last; or (d+1) for both"),
    NB_ENUM(learned_options, take, "top", takes, "take the largest scores, or draw in proportion to exp(score)"),
    NB_OPTION_END};

static nb_status open_weights(const char *path, nb_tensor *t, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_npy_open(path, t, ctx));
    NB_REQUIRE(ctx, t->rank == 1 || (t->rank == 2 && t->shape[0] == 2), NB_EDIM,
               "%s: weights of %d dimensions%s, expected shape (2, d+1) or (d+1)", path, t->rank,
               t->rank == 2 ? ", the first not 2" : "");
    NB_REQUIRE(ctx, t->dtype <= NB_F64, NB_EIO, "%s: weights are integers, expected floating-point numbers", path);
    return NB_OK;
}

/* w (d + 1, 2): a column for the queries, one for the keys. */
static nb_status read_weights(const char *path, int d, double *w, nb_ctx *ctx)
{
    nb_tensor t;
    NB_TRY(ctx, open_weights(path, &t, ctx));
    NB_REQUIRE(ctx, t.shape[t.rank - 1] == d + 1, NB_EDIM,
               "%s: %lld weights a side, expected %d for heads of dimension d = %d", path,
               (long long)t.shape[t.rank - 1], d + 1, d);
    NB_TRY(ctx, nb_tensor_read_reals(path, &t, 0, t.count, w, ctx));
    if (t.rank == 1) memcpy(w + d + 1, w, (size_t)(d + 1) * sizeof *w);
    for (int i = 0; i < 2 * (d + 1); i++)
        NB_REQUIRE(ctx, nb_all_finite(1, w + i), NB_ENUMERIC, "%s: weight %d is NaN or Inf", path, i);
    return NB_OK;
}

/* score <- score + weight (w.x + b), x the columns (d x n). */
static void add_scores(int d, int n, const double *x, const double *w, double weight, double *score)
{
    for (int i = 0; i < n; i++) score[i] += weight * w[d];
    nb_gemv(NB_TRANSPOSED, d, n, weight, x, d, w, 1, score);
}

static nb_status pick(const nb_points *points, int m, const void *opts, nb_picks *picks, nb_ctx *ctx)
{
    const learned_options *o = opts;
    const nb_head *head = nb_scene_head(points->scene);
    int d = head->d, n = head->n;
    double *w, *score;
    NB_NEED(w, nb_alloc_reals(ctx, (size_t)d + 1, 2));
    NB_NEED(score, nb_alloc_reals(ctx, (size_t)points->n, 1));
    NB_TRY(ctx, read_weights(o->weights, d, w, ctx));
    nb_scores of = nb_scores_of(points, score);
    if (of.queries) add_scores(d, n, head->q, w, of.weight, of.queries);
    if (of.keys) add_scores(d, n, head->k, w + d + 1, of.weight, of.keys);
    return nb_picks_by_log_score(picks, points->n, m, score, o->take == SAMPLE, ctx);
}

static nb_status check(const void *opts, nb_ctx *ctx)
{
    const learned_options *o = opts;
    nb_tensor t;
    return open_weights(o->weights, &t, ctx);
}

static unsigned traits_of(const void *opts)
{
    const learned_options *o = opts;
    return o->take == SAMPLE ? NB_RANDOM | NB_NESTED : NB_NESTED;
}

static const char *const references[] = {
    "a linear scorer, fitted by ridge regression: Hoerl & Kennard, Technometrics 12, 1970; for the draw: Yellott, J. "
    "Math. Psychol. 15, 1977",
    NULL};

const nb_strategy nb_strategy_learned = {
    .component = {"learned", "tokens by a linear score that was fitted on other heads", references, options,
                  sizeof(learned_options)},
    .traits = NB_NESTED,
    .pairing = NB_JOINT,
    .traits_of = traits_of,
    .pick = pick,
    .check = check,
};
