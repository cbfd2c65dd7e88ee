/* SPDX-License-Identifier: GPL-3.0-or-later */
/* picking.c - which points a strategy sees, and to which side its picks go. */
#include "calls/picking.h"

#include "base/clock.h"
#include "calls/called.h"
#include "calls/isolated.h"
#include "components/plugin.h"
#include "linalg/work.h"
#include "nystrom/request.h"
#include "nystrom/scene_record.h"

#include <math.h>
#include <string.h>

/* For pairings that call the strategy once: which points it gets. */
static const nb_side side_of[] = {[NB_QUERIES] = NB_SIDE_QUERIES,
                                  [NB_KEYS] = NB_SIDE_KEYS,
                                  [NB_JOINT] = NB_SIDE_JOINT,
                                  [NB_SHARED] = NB_SIDE_SHARED,
                                  [NB_SHARED_QUERIES] = NB_SIDE_QUERIES,
                                  [NB_SHARED_KEYS] = NB_SIDE_KEYS};

typedef struct { /* one call of the strategy: for `a`, or for `a` and `b` together */
    const nb_picking *r;
    const char *role;
    const nb_points *a, *b; /* b: NULL if there is one set */
    nb_picks *of_a, *of_b;
    /* The call sets these. */
    const char *refusal;
    nb_picks_moment start, end;
    double spared_s; /* seconds of what the scene had at hand */
} call;

static nb_status pick_within(const nb_choice *strategy, nb_points *a, nb_points *b, int m, nb_picks *of_a,
                             nb_picks *of_b, nb_ctx *ctx);

/* nb_strategy_start, in the trial that the points are of. A refusal is the caller's too. */
static nb_status pick_start(const nb_choice *strategy, const nb_points *points, int m, nb_picks *of_queries,
                            nb_picks *of_keys, nb_ctx *ctx)
{
    nb_picking picking = {
        .scene = points->scene,
        .strategy = strategy,
        .m = m,
        .pairing = nb_strategy_pairing(strategy),
        .stream = {.seed = points->stream.seed, .trial = points->stream.trial, .component = strategy->canonical}};
    nb_landmarks picked;
    NB_TRY(ctx, nb_random_new(&picking.rng, ctx));
    NB_TRY(ctx, nb_landmarks_pick(&picking, &picked, ctx));
    NB_REQUIRE(ctx, !picked.refusal, NB_EREFUSED, "%s: %s", strategy->label, picked.refusal);
    *of_queries = picked.queries;
    *of_keys = picked.keys;
    return NB_OK;
}

static nb_status points_of(const nb_picking *r, nb_side side, nb_points *points, nb_ctx *ctx)
{
    const nb_head *head = r->scene->head;
    *points = (nb_points){.n = head->n,
                          .d = head->d,
                          .side = side,
                          .scene = r->scene,
                          .stream = r->stream,
                          .start = pick_start,
                          .pick = pick_within};
    if (side == NB_SIDE_JOINT) {
        points->d = 2 * head->d;
        /* One that picks among fewer tokens looks at theirs */
        bool blind = nb_strategy_traits(r->strategy) & NB_BLIND;
        if (blind || nb_strategy_tokens(r->strategy, head->n) != head->n) return NB_OK;
        return nb_scene_stacked(r->scene, &points->x, ctx);
    }
    if (side == NB_SIDE_SHARED) {
        points->n = 2 * head->n;
        return nb_scene_united(r->scene, &points->x, ctx);
    }
    points->x = side == NB_SIDE_QUERIES ? head->q : head->k;
    return NB_OK;
}

/* Clock and multiplications at each token that was added count from the start of the call. */
static nb_status note_added(const call *c, nb_landmarks *out, nb_ctx *ctx)
{
    const nb_picks *picks = c->of_a;
    bool counts = nb_strategy_counts(c->r->strategy);
    if (!picks->added) return NB_OK;
    if (!out->selected_s) NB_NEED(out->selected_s, nb_alloc_reals(ctx, (size_t)c->r->m, 1));
    if (!out->multiplied) NB_NEED(out->multiplied, nb_alloc_reals(ctx, (size_t)c->r->m, 1));
    for (int j = 0; j < c->r->m; j++) {
        out->selected_s[j] += picks->added[j].clock_s - c->start.clock_s + c->spared_s;
        out->multiplied[j] += counts ? (double)(picks->added[j].multiplications - c->start.multiplications) : NAN;
    }
    return NB_OK;
}

static nb_status make_call(void *self, nb_ctx *ctx)
{
    call *c = self;
    const nb_picking *r = c->r;
    const nb_choice *choice = r->strategy;
    const nb_strategy *record = (const nb_strategy *)choice->component;
    const nb_component *caller;
    nb_stream stream = r->stream;
    nb_ctx *scratch;
    gsl_rng *outer = nb_ctx_rng(ctx); /* of a strategy that has asked for this one's picks */
    double outer_s = r->scene->reused_s;
    NB_NEED(scratch, nb_ctx_child(ctx));
    NB_TRY(ctx, nb_called_begin(choice, &caller, ctx));
    if (record->refusal && (c->refusal = record->refusal(c->a, r->m, choice->options)))
        return nb_called_end(caller, choice, NB_OK, ctx);
    stream.role = c->role;
    stream.m = nb_strategy_traits(choice) & NB_NESTED ? 0 : r->m;
    nb_random_seed(r->rng, &stream);
    nb_ctx_set_rng(scratch, r->rng);
    r->scene->reused_s = 0;
    c->start = (nb_picks_moment){nb_clock_s(), nb_multiplications()};
    nb_status status = c->b ? record->pick_both(c->a, c->b, r->m, choice->options, c->of_a, c->of_b, scratch)
                            : record->pick(c->a, r->m, choice->options, c->of_a, scratch);
    c->end = (nb_picks_moment){nb_clock_s(), nb_multiplications()};
    c->spared_s = r->scene->reused_s;
    r->scene->reused_s = outer_s + c->spared_s;
    nb_ctx_set_rng(scratch, outer);
    nb_ctx_release(scratch, 0);
    return nb_called_end(caller, choice, status, ctx);
}

/* Moves the picks between child and parent; picks that announce an array and bring none are refused. */
static void move_picks(nb_parcel *parcel, nb_picks *picks)
{
    nb_ctx *own = picks->ctx;
    nb_parcel_move(parcel, picks, sizeof *picks);
    nb_picks_kind kind = picks->kind;
    size_t m = (size_t)picks->m;
    picks->ctx = own;
    picks->tokens = nb_parcel_array(parcel, kind == NB_TOKENS ? picks->tokens : NULL, m, sizeof *picks->tokens);
    picks->groups =
        nb_parcel_array(parcel, kind == NB_GROUPS ? picks->groups : NULL, (size_t)picks->n, sizeof *picks->groups);
    picks->points =
        nb_parcel_array(parcel, kind == NB_POINTS ? picks->points : NULL, m, (size_t)picks->d * sizeof *picks->points);
    picks->added = nb_parcel_array(parcel, picks->added, m, sizeof *picks->added);
    picks->note = nb_parcel_text(parcel, picks->note);
    picks->refusal = nb_parcel_text(parcel, picks->refusal);
    if (!picks->tokens && !picks->groups && !picks->points) picks->kind = NB_NO_PICKS;
}

/* Counts the bytes of the largest kind of picks, for one side or both. */
static size_t picks_bytes(const call *c)
{
    size_t m = (size_t)c->r->m, n = (size_t)c->a->n, d = (size_t)c->a->d;
    size_t one = m * d * sizeof(double) + (n + m) * sizeof(int) + m * sizeof(nb_picks_moment);
    return c->b ? 2 * one : one;
}

static void move_call(void *self, nb_parcel *parcel)
{
    call *c = self;
    c->refusal = nb_parcel_text(parcel, c->refusal);
    nb_parcel_move(parcel, &c->start, sizeof c->start);
    nb_parcel_move(parcel, &c->end, sizeof c->end);
    nb_parcel_move(parcel, &c->spared_s, sizeof c->spared_s);
    move_picks(parcel, c->of_a);
    if (c->b) move_picks(parcel, c->of_b);
}

static nb_status call_strategy(call *c, nb_landmarks *out, nb_ctx *ctx)
{
    const nb_picking *r = c->r;
    const nb_choice *choice = r->strategy;
    bool counted = nb_strategy_counts(choice) && !nb_plugin_of(r->scene->kernel->component);
    *c->of_a = (nb_picks){.ctx = ctx};
    if (c->b) *c->of_b = (nb_picks){.ctx = ctx};
    nb_status status = nb_isolated_call(
        &(nb_isolated){choice, "the strategy's pick", r->scene, c, make_call, move_call, picks_bytes(c)}, ctx);
    if (status == NB_EREFUSED) return nb_record_failure(&out->refusal, ctx);
    if (status != NB_OK || (out->refusal = c->refusal)) return status;
    out->select_s += c->end.clock_s - c->start.clock_s + c->spared_s;
    out->multiplications += counted ? (double)(c->end.multiplications - c->start.multiplications) : NAN;
    if ((out->refusal = c->of_a->refusal)) return NB_OK;
    NB_TRY(ctx, nb_picks_check(c->of_a, c->a->n, r->m, ctx));
    if (c->b) NB_TRY(ctx, nb_picks_check(c->of_b, c->b->n, r->m, ctx));
    return note_added(c, out, ctx);
}

/* nb_strategy_pick and nb_strategy_pick_both. */
static nb_status pick_within(const nb_choice *strategy, nb_points *a, nb_points *b, int m, nb_picks *of_a,
                             nb_picks *of_b, nb_ctx *ctx)
{
    nb_picking picking = {
        .scene = a->scene,
        .strategy = strategy,
        .m = m,
        .stream = {.seed = a->stream.seed, .trial = a->stream.trial, .component = strategy->canonical}};
    call c = {.r = &picking, .role = b ? "both" : nb_side_names[a->side], .a = a, .b = b, .of_a = of_a, .of_b = of_b};
    nb_landmarks out = {.select_s = 0};
    NB_TRY(ctx, nb_random_new(&picking.rng, ctx));
    NB_TRY(ctx, points_of(&picking, a->side, a, ctx));
    if (b) NB_TRY(ctx, points_of(&picking, b->side, b, ctx));
    NB_TRY(ctx, call_strategy(&c, &out, ctx));
    of_a->refusal = out.refusal;
    return NB_OK;
}

static nb_status pick_side(const nb_picking *r, nb_side side, nb_landmarks *out, nb_points *points, nb_picks *picks,
                           nb_ctx *ctx)
{
    NB_TRY(ctx, points_of(r, side, points, ctx));
    return call_strategy(&(call){.r = r, .role = nb_side_names[side], .a = points, .of_a = picks}, out, ctx);
}

static nb_status pick_both(const nb_picking *r, nb_landmarks *out, nb_ctx *ctx)
{
    nb_points queries, keys;
    NB_TRY(ctx, points_of(r, NB_SIDE_QUERIES, &queries, ctx));
    NB_TRY(ctx, points_of(r, NB_SIDE_KEYS, &keys, ctx));
    call both = {.r = r, .role = "both", .a = &queries, .b = &keys, .of_a = &out->queries, .of_b = &out->keys};
    return call_strategy(&both, out, ctx);
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

static nb_status pick_one_for_both(const nb_picking *r, nb_pairing pairing, nb_landmarks *out, nb_ctx *ctx)
{
    nb_points points;
    NB_TRY(ctx, pick_side(r, side_of[pairing], out, &points, &out->queries, ctx));
    bool one_set = r->scene->head->q && r->scene->head->q == r->scene->head->k;
    if (out->queries.kind == NB_POINTS && pairing == NB_JOINT) return split(out, r->scene->head->d, ctx);
    if (out->queries.kind == NB_POINTS && !one_set)
        NB_NEED(out->refusal,
                nb_format(ctx,
                          "free points need the pairing 'joint', 'independent', 'shared' or 'both', not '%s'; "
                          "pairing=shared_%s lets them serve both sides",
                          nb_pairing_names[pairing], nb_pairing_names[pairing]));
    out->keys = out->queries;
    return NB_OK;
}

/* The landmarks of one pick are the points of both sides. They are no longer tokens, since a query is not a key. */
static nb_status pick_shared(const nb_picking *r, nb_pairing pairing, nb_landmarks *out, nb_ctx *ctx)
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

static nb_status pick(const nb_picking *p, nb_landmarks *landmarks, nb_ctx *ctx)
{
    nb_landmarks out = {.select_s = 0};
    int n = p->scene->head->n;
    NB_REQUIRE(ctx, p->m >= 1 && p->m <= n, NB_EINVAL, "%d landmarks of %d tokens, allowed are 1 to %d", p->m, n, n);
    NB_REQUIRE(ctx, nb_strategy_has(p->strategy, p->pairing), NB_EINVAL, "%s has no pairing '%s'",
               p->strategy->component->name, nb_pairing_names[p->pairing]);
    nb_pairing pairing = nb_pairing_under(p->scene->kernel, p->strategy, p->pairing);
    if (pairing == NB_BOTH) {
        NB_TRY(ctx, pick_both(p, &out, ctx));
    } else if (pairing == NB_INDEPENDENT) {
        nb_points points;
        NB_TRY(ctx, pick_side(p, NB_SIDE_QUERIES, &out, &points, &out.queries, ctx));
        if (!out.refusal) NB_TRY(ctx, pick_side(p, NB_SIDE_KEYS, &out, &points, &out.keys, ctx));
    } else if (nb_pairing_shares(pairing)) {
        NB_TRY(ctx, pick_shared(p, pairing, &out, ctx));
    } else {
        NB_TRY(ctx, pick_one_for_both(p, pairing, &out, ctx));
    }
    NB_REQUIRE(ctx, out.refusal || out.queries.kind == out.keys.kind, NB_EINVAL,
               "picks of two kinds for queries and keys");
    if (!out.refusal) out.note = nb_landmarks_note(&out, p->m);
    *landmarks = out;
    return NB_OK;
}

/* A strategy that is called by another reads on the other's account. */
nb_status nb_landmarks_pick(const nb_picking *p, nb_landmarks *landmarks, nb_ctx *ctx)
{
    int n = p->scene->head->n;
    bool *read;
    if (p->scene->whole || p->scene->read) return pick(p, landmarks, ctx);
    NB_NEED(read, nb_alloc(ctx, (size_t)n, sizeof *read));
    p->scene->read = read;
    nb_status status = pick(p, landmarks, ctx);
    p->scene->read = NULL;
    if (status != NB_OK || landmarks->refusal || nb_strategy_traits(p->strategy) & NB_ORACLE) return status;
    for (int i = 0; i < n; i++) landmarks->seen += read[i];
    if (landmarks->seen > 0) landmarks->read = read;
    return NB_OK;
}
