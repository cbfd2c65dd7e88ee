/* SPDX-License-Identifier: GPL-3.0-or-later */
/* landmarks.c - which points a strategy sees, and to which side its picks go. */
#include "nystrom/landmarks.h"

#include "base/apart.h"
#include "base/clock.h"
#include "components/plugin.h"
#include "components/registry.h"
#include "nystrom/guard.h"

#include <string.h>

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

/* Of the pairings that pick once. */
static const nb_side side_of[] = {[NB_QUERIES] = NB_SIDE_QUERIES,
                                  [NB_KEYS] = NB_SIDE_KEYS,
                                  [NB_JOINT] = NB_SIDE_JOINT,
                                  [NB_SHARED] = NB_SIDE_SHARED,
                                  [NB_SHARED_QUERIES] = NB_SIDE_QUERIES,
                                  [NB_SHARED_KEYS] = NB_SIDE_KEYS};

typedef struct {
    nb_scene *scene;
    const nb_choice *choice;
    const nb_strategy *strategy;
    int m;
    nb_stream stream;
    gsl_rng *rng;
} request;

unsigned nb_strategy_traits(const nb_choice *strategy)
{
    const nb_strategy *s = (const nb_strategy *)strategy->component;
    return s->traits_of ? s->traits_of(strategy->options) : s->traits;
}

static nb_status check_one(void *choice, nb_ctx *ctx)
{
    const nb_choice *c = choice;
    const nb_strategy *s = (const nb_strategy *)c->component;
    if (s->check) NB_TRY(ctx, s->check(c->options, ctx));
    NB_REQUIRE(ctx, !(nb_strategy_traits(c) & ~(unsigned)NB_STRATEGY_TRAITS), NB_EINVAL,
               "its traits_of gives traits out of NB_STRATEGY_TRAITS");
    return NB_OK;
}

static nb_status is_one_ready(void *choice, nb_ctx *ctx)
{
    const nb_choice *c = choice;
    const nb_strategy *s = (const nb_strategy *)c->component;
    return s->ready ? s->ready(c->options, ctx) : NB_OK;
}

/* Those within its options come first. */
static nb_status ask(nb_status (*act)(void *choice, nb_ctx *ctx), const char *what, const nb_choice *strategy,
                     nb_ctx *ctx)
{
    nb_choice copy = *strategy;
    for (const nb_option *o = strategy->component->options; o && o->key; o++)
        if (o->type == NB_OPTION_SPEC && o->registry == &nb_strategies)
            NB_TRY(ctx, ask(act, what, *(const nb_choice *const *)((const char *)strategy->options + o->offset), ctx));
    return nb_plugin_of(strategy->component) ? nb_apart_named(act, &copy, NULL, 0, strategy->label, what, ctx)
                                             : act(&copy, ctx);
}

nb_status nb_strategy_check(const nb_choice *strategy, nb_ctx *ctx)
{
    return ask(check_one, "calling its check or traits_of", strategy, ctx);
}

nb_status nb_strategy_ready(const nb_choice *strategy, nb_ctx *ctx)
{
    return ask(is_one_ready, "calling its ready", strategy, ctx);
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

static nb_status points_of(const request *r, nb_side side, nb_points *points, nb_ctx *ctx)
{
    const nb_head *head = r->scene->head;
    *points = (nb_points){.n = head->n, .d = head->d, .side = side, .scene = r->scene, .stream = r->stream};
    if (side == NB_SIDE_JOINT) {
        points->d = 2 * head->d;
        return nb_scene_stacked(r->scene, &points->x, ctx);
    }
    if (side == NB_SIDE_SHARED) {
        points->n = 2 * head->n;
        return nb_scene_united(r->scene, &points->x, ctx);
    }
    points->x = side == NB_SIDE_QUERIES ? head->q : head->k;
    return NB_OK;
}

/* One call of the strategy: for `a`, or for `a` and `b` together. */
static nb_status call_unguarded(request *r, const char *role, const nb_points *a, const nb_points *b, nb_landmarks *out,
                                nb_picks *of_a, nb_picks *of_b, nb_ctx *ctx)
{
    nb_ctx *scratch;
    if (r->strategy->refusal && (out->refusal = r->strategy->refusal(a, r->m, r->choice->options))) return NB_OK;
    NB_NEED(scratch, nb_ctx_child(ctx));
    r->stream.role = role;
    r->stream.m = nb_strategy_traits(r->choice) & NB_NESTED ? 0 : r->m;
    nb_random_seed(r->rng, &r->stream);
    nb_ctx_set_rng(scratch, r->rng);
    *of_a = (nb_picks){.ctx = ctx};
    if (b) *of_b = (nb_picks){.ctx = ctx};
    r->scene->reused_s = 0;
    double start_s = nb_clock_s();
    nb_status status = b ? r->strategy->pick_both(a, b, r->m, r->choice->options, of_a, of_b, scratch)
                         : r->strategy->pick(a, r->m, r->choice->options, of_a, scratch);
    double spared_s = r->scene->reused_s;
    out->select_s += nb_clock_s() - start_s + spared_s;
    nb_ctx_set_rng(scratch, NULL);
    nb_ctx_release(scratch, 0);
    NB_TRY(ctx, status);
    NB_TRY(ctx, nb_picks_check(of_a, a->n, r->m, ctx));
    if (b) NB_TRY(ctx, nb_picks_check(of_b, b->n, r->m, ctx));
    if (!of_a->added_s) return NB_OK;
    if (!out->selected_s) NB_NEED(out->selected_s, nb_alloc_reals(ctx, (size_t)r->m, 1));
    for (int j = 0; j < r->m; j++) out->selected_s[j] += of_a->added_s[j] - start_s + spared_s;
    return NB_OK;
}

static nb_status call(request *r, const char *role, const nb_points *a, const nb_points *b, nb_landmarks *out,
                      nb_picks *of_a, nb_picks *of_b, nb_ctx *ctx)
{
    nb_guard guard;
    nb_guard_begin(&guard, r->choice, r->scene, NULL);
    nb_status status = call_unguarded(r, role, a, b, out, of_a, of_b, ctx);
    return nb_guard_end(&guard, status, ctx);
}

static nb_status pick_side(request *r, nb_side side, nb_landmarks *out, nb_points *points, nb_picks *picks, nb_ctx *ctx)
{
    NB_TRY(ctx, points_of(r, side, points, ctx));
    return call(r, nb_side_names[side], points, NULL, out, picks, NULL, ctx);
}

static nb_status pick_both(request *r, nb_landmarks *out, nb_ctx *ctx)
{
    nb_points queries, keys;
    NB_TRY(ctx, points_of(r, NB_SIDE_QUERIES, &queries, ctx));
    NB_TRY(ctx, points_of(r, NB_SIDE_KEYS, &keys, ctx));
    return call(r, "both", &queries, &keys, out, &out->queries, &out->keys, ctx);
}

/* Free points [q~; k~] of the stacked ones: a query landmark over a key landmark. */
static nb_status split(nb_landmarks *l, int d, nb_ctx *ctx)
{
    const nb_picks whole = l->queries;
    size_t bytes = (size_t)d * sizeof(double);
    double *q, *k;
    NB_REQUIRE(ctx, whole.d == 2 * d, NB_EDIM, "landmark points of dimension %d, expected %d, as the tokens' [q; k]",
               whole.d, 2 * d);
    l->keys = l->queries;
    NB_NEED(q, nb_picks_points(&l->queries, d, whole.m));
    NB_NEED(k, nb_picks_points(&l->keys, d, whole.m));
    for (int j = 0; j < whole.m; j++) {
        memcpy(q + j * d, whole.points + 2 * j * d, bytes);
        memcpy(k + j * d, whole.points + (2 * j + 1) * d, bytes);
    }
    return NB_OK;
}

static nb_status pick_one_for_both(request *r, nb_pairing pairing, nb_landmarks *out, nb_ctx *ctx)
{
    nb_points points;
    NB_TRY(ctx, pick_side(r, side_of[pairing], out, &points, &out->queries, ctx));
    bool one_set = r->scene->head->q == r->scene->head->k;
    if (out->queries.kind == NB_POINTS && pairing == NB_JOINT) return split(out, r->scene->head->d, ctx);
    NB_REQUIRE(ctx, out->queries.kind != NB_POINTS || one_set, NB_EINVAL,
               "free points need the pairing 'joint', 'independent', 'shared' or 'both', not '%s'",
               nb_pairing_names[pairing]);
    out->keys = out->queries;
    return NB_OK;
}

/* The landmarks of one pick are the points of both sides: no tokens any more, since
 * a query is none of the keys. */
static nb_status pick_shared(request *r, nb_pairing pairing, nb_landmarks *out, nb_ctx *ctx)
{
    nb_picks picks = {.ctx = ctx};
    nb_points points;
    double *landmarks;
    NB_TRY(ctx, pick_side(r, side_of[pairing], out, &points, &picks, ctx));
    if (out->refusal) return NB_OK;
    out->queries = (nb_picks){.ctx = ctx, .note = picks.note, .note_from = picks.note_from};
    NB_NEED(landmarks, nb_picks_points(&out->queries, points.d, r->m));
    out->keys = out->queries;
    return nb_picks_landmarks(&picks, points.d, points.n, points.x, landmarks, ctx);
}

static const char *note_of(const nb_landmarks *l, int m)
{
    if (l->queries.note && m > l->queries.note_from) return l->queries.note;
    return l->keys.note && m > l->keys.note_from ? l->keys.note : NULL;
}

nb_status nb_landmarks_pick(nb_scene *scene, const nb_choice *strategy, int m, nb_pairing pairing, nb_stream stream,
                            gsl_rng *rng, nb_landmarks *landmarks, nb_ctx *ctx)
{
    request r = {scene, strategy, (const nb_strategy *)strategy->component, m, stream, rng};
    nb_landmarks out = {.select_s = 0};
    NB_REQUIRE(ctx, !nb_ctx_spoilt(ctx), NB_EBUG, "a call before has %s", nb_ctx_spoilt(ctx));
    NB_REQUIRE(ctx, m >= 1 && m <= scene->head->n, NB_EINVAL, "%d landmarks of %d tokens, allowed are 1 to %d", m,
               scene->head->n, scene->head->n);
    NB_REQUIRE(ctx, nb_strategy_has(r.strategy, pairing), NB_EINVAL, "%s has no pairing '%s'",
               strategy->component->name, nb_pairing_names[pairing]);
    pairing = nb_pairing_under(scene->kernel, strategy, pairing);
    if (pairing == NB_BOTH) {
        NB_TRY(ctx, pick_both(&r, &out, ctx));
    } else if (pairing == NB_INDEPENDENT) {
        nb_points points;
        NB_TRY(ctx, pick_side(&r, NB_SIDE_QUERIES, &out, &points, &out.queries, ctx));
        if (!out.refusal) NB_TRY(ctx, pick_side(&r, NB_SIDE_KEYS, &out, &points, &out.keys, ctx));
    } else if (nb_pairing_shares(pairing)) {
        NB_TRY(ctx, pick_shared(&r, pairing, &out, ctx));
    } else {
        NB_TRY(ctx, pick_one_for_both(&r, pairing, &out, ctx));
    }
    NB_REQUIRE(ctx, out.refusal || out.queries.kind == out.keys.kind, NB_EINVAL,
               "picks of two kinds for queries and keys");
    if (!out.refusal) out.note = note_of(&out, m);
    *landmarks = out;
    return NB_OK;
}

nb_landmarks nb_landmarks_first(const nb_landmarks *all, int m)
{
    nb_landmarks out = *all;
    if (all->refusal) return out;
    out.queries.m = out.keys.m = m;
    if (all->selected_s) out.select_s = all->selected_s[m - 1];
    out.note = note_of(all, m);
    return out;
}

nb_status nb_strategy_start(const nb_choice *strategy, const nb_points *points, int m, nb_picks *of_queries,
                            nb_picks *of_keys, nb_ctx *ctx)
{
    const nb_strategy *s = (const nb_strategy *)strategy->component;
    nb_stream stream = {.seed = points->stream.seed, .trial = points->stream.trial, .component = strategy->canonical};
    nb_landmarks start;
    gsl_rng *rng;
    NB_TRY(ctx, nb_random_new(&rng, ctx));
    NB_TRY(ctx, nb_landmarks_pick(points->scene, strategy, m, s->pairing, stream, rng, &start, ctx));
    NB_REQUIRE(ctx, !start.refusal, NB_EINVAL, "%s: %s", strategy->label, start.refusal);
    *of_queries = start.queries;
    *of_keys = start.keys;
    return NB_OK;
}
