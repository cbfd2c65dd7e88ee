/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kept.c - another strategy's landmarks of another input: the same head of the model, from another file.
 *
 * What landmarks cost that are chosen once and kept, as Geometric Progressive Attention caches them. Kept are the
 * places of the landmarks (free points, or where groups have their means) or which tokens they are, by position; of a
 * longer input the first n tokens are looked at. O(n d) for reading the file, and what the other strategy takes. */
#include "strategy.h"

#include "data/head.h"
#include "nystrom/make_scene.h"

#include <string.h>

typedef struct {
    const char *landmarks_from;
    const nb_choice *strategy;
    int keep;
} kept_options;

enum { POINTS, TOKENS };
static const char *const keeps[] = {"points", "tokens", NULL};

static const nb_option options[] = {
    NB_FILE(kept_options, landmarks_from, NULL,
            "a .safetensors file or a folder of .npy files with the same heads on another input"),
    NB_COMPONENT(kept_options, strategy, "kmeans(iterations=10, snap=nearest)", &nb_strategies,
                 "how the landmarks are picked there, with its own pairing"),
    NB_ENUM(kept_options, keep, "points", keeps,
            "what is taken over: where the landmarks are (points), or which tokens they are (tokens)"),
    NB_OPTION_END};

/* The head of the file with the number of the scene's head, as a scene under the same kernel. */
static nb_status open_other(const kept_options *o, const nb_points *here, nb_scene **scene, nb_ctx *ctx)
{
    const nb_head *head = nb_scene_head(here->scene);
    int number = nb_scene_number(here->scene);
    nb_head_shape shape;
    nb_head *other;
    NB_TRY(ctx, nb_head_file_shape(o->landmarks_from, &shape, ctx));
    NB_REQUIRE(ctx, number < shape.heads && shape.d == head->d, NB_EINVAL,
               "%s has %d heads of d = %d, and landmarks are wanted for head %d of d = %d", o->landmarks_from,
               shape.heads, shape.d, number, head->d);
    NB_NEED(other, nb_alloc(ctx, 1, sizeof *other));
    NB_TRY(ctx, nb_head_load(o->landmarks_from, number, other, ctx));
    if (other->n > head->n) other->n = head->n; /* the later ones have no place here */
    other->causal = head->causal;
    NB_TRY(ctx, nb_scene_new(other, nb_scene_kernel_choice(here->scene), scene, ctx));
    nb_scene_name(*scene, o->landmarks_from, number);
    return NB_OK;
}

static nb_status keep_points(const nb_picks *from, int d, int n, const double *x, nb_picks *to, nb_ctx *ctx)
{
    double *points;
    NB_NEED(points, nb_picks_points(to, d, from->m));
    return nb_picks_landmarks(from, d, n, x, points, ctx);
}

static nb_status keep_tokens(const nb_picks *from, nb_picks *to, nb_ctx *ctx)
{
    int *tokens;
    NB_REQUIRE(ctx, from->kind == NB_TOKENS, NB_EREFUSED,
               "keep=tokens keeps tokens, and the strategy picks means or free points: keep=points keeps these");
    NB_NEED(tokens, nb_picks_tokens(to, from->m));
    memcpy(tokens, from->tokens, (size_t)from->m * sizeof *tokens);
    return NB_OK;
}

static nb_status pick_both(const nb_points *queries, const nb_points *keys, int m, const void *opts,
                           nb_picks *of_queries, nb_picks *of_keys, nb_ctx *ctx)
{
    const kept_options *o = opts;
    nb_points there = *queries;
    nb_picks q, k;
    (void)keys;
    NB_TRY(ctx, open_other(o, queries, &there.scene, ctx));
    const nb_head *other = nb_scene_head(there.scene);
    NB_REQUIRE(ctx, m <= other->n, NB_EREFUSED, "%d landmarks of the %d tokens of %s", m, other->n, o->landmarks_from);
    NB_TRY(ctx, nb_strategy_start(o->strategy, &there, m, &q, &k, ctx));
    if (o->keep == TOKENS) {
        NB_TRY(ctx, keep_tokens(&q, of_queries, ctx));
        return keep_tokens(&k, of_keys, ctx);
    }
    NB_TRY(ctx, keep_points(&q, other->d, other->n, other->q, of_queries, ctx));
    return keep_points(&k, other->d, other->n, other->k, of_keys, ctx);
}

static nb_status check(const void *opts, nb_ctx *ctx)
{
    const kept_options *o = opts;
    const nb_strategy *strategy = (const nb_strategy *)o->strategy->component;
    nb_head_shape shape;
    NB_TRY(ctx, nb_head_file_shape(o->landmarks_from, &shape, ctx));
    NB_REQUIRE(ctx, shape.key_heads > 0, NB_EINVAL, "%s has no keys", o->landmarks_from);
    return strategy->check ? strategy->check(o->strategy->options, ctx) : NB_OK;
}

static unsigned traits_of(const void *opts)
{
    return nb_strategy_traits(((const kept_options *)opts)->strategy) & (NB_RANDOM | NB_ELSEWHERE);
}

static const char *const references[] = {
    "On the geometric selection of landmarks for low-rank self-attention approximation, 2025, OpenReview OdKBFAmCYX, "
    "which caches landmarks for 50 passes",
    NULL};

const nb_strategy nb_strategy_kept = {
    .component = {"kept", "another strategy's landmarks of the same head on another input", references, options,
                  sizeof(kept_options)},
    .traits = NB_RANDOM,
    .pairing = NB_BOTH,
    .traits_of = traits_of,
    .pick_both = pick_both,
    .check = check,
    .explanation =
        "What landmarks cost that are chosen once and kept for other inputs. The other file has the same head of the\n"
        "same model; of a longer input its first tokens are looked at, as many as there are here.",
};
