/* landmarks.c - which points a strategy sees, and to which side its picks go. */
#include "measure/landmarks.h"

#include "base/clock.h"

#include <string.h>

const char *const nb_pairing_names[] = {
    [NB_INDEPENDENT] = "independent", [NB_QUERIES] = "queries", [NB_KEYS] = "keys",
    [NB_JOINT] = "joint",             [NB_PAIRING_COUNT] = NULL};

static const char *const roles[] = {
    [NB_SIDE_QUERIES] = "queries", [NB_SIDE_KEYS] = "keys", [NB_SIDE_JOINT] = "joint"};

typedef struct {
    nb_scene *scene;
    const nb_choice *choice;
    const nb_strategy *strategy;
    int m;
    nb_stream stream;
    gsl_rng *rng;
} request;

static nb_status call(request *r, const nb_points *points, nb_picks *picks, double *time_s, nb_ctx *ctx)
{
    bool nested = r->strategy->traits & NB_NESTED;
    nb_ctx *scratch;
    NB_NEED(scratch, nb_ctx_child(ctx));
    r->stream.role = roles[points->side];
    r->stream.m = nested ? 0 : r->m;
    nb_random_seed(r->rng, &r->stream);
    nb_ctx_set_rng(scratch, r->rng);
    *picks = (nb_picks){.ctx = ctx};
    r->scene->reused_s = 0;
    double start_s = nb_clock_s();
    nb_status status = r->strategy->pick(points, r->m, r->choice->options, picks, scratch);
    *time_s += nb_clock_s() - start_s + r->scene->reused_s;
    nb_ctx_set_rng(scratch, NULL);
    nb_ctx_release(scratch, 0);
    NB_TRY(ctx, status);
    return nb_picks_check(picks, points->n, r->m, ctx);
}

static nb_status pick_side(request *r, nb_side side, nb_picks *picks, double *time_s, nb_ctx *ctx)
{
    const nb_head *head = r->scene->head;
    nb_points points = {.n = head->n, .d = head->d, .side = side, .scene = r->scene};
    if (side == NB_SIDE_JOINT) {
        points.d = 2 * head->d;
        NB_TRY(ctx, nb_scene_stacked(r->scene, &points.x, ctx));
    } else {
        points.x = side == NB_SIDE_QUERIES ? head->q : head->k;
    }
    return call(r, &points, picks, time_s, ctx);
}

nb_status nb_landmarks_pick(nb_scene *scene, const nb_choice *strategy, int m, nb_pairing pairing, nb_stream stream,
                            gsl_rng *rng, nb_landmarks *landmarks, nb_ctx *ctx)
{
    request r = {scene, strategy, (const nb_strategy *)strategy->component, m, stream, rng};
    nb_landmarks out = {.select_s = 0};
    NB_REQUIRE(ctx, m >= 1 && m <= scene->head->n, NB_EINVAL, "%d landmarks of %d tokens, allowed are 1 to %d", m,
               scene->head->n, scene->head->n);
    if (pairing == NB_INDEPENDENT) {
        NB_TRY(ctx, pick_side(&r, NB_SIDE_QUERIES, &out.queries, &out.select_s, ctx));
        NB_TRY(ctx, pick_side(&r, NB_SIDE_KEYS, &out.keys, &out.select_s, ctx));
        NB_REQUIRE(ctx, out.queries.kind == out.keys.kind, NB_EINVAL, "picks of two kinds for queries and keys");
    } else {
        nb_side side = pairing == NB_QUERIES ? NB_SIDE_QUERIES : pairing == NB_KEYS ? NB_SIDE_KEYS : NB_SIDE_JOINT;
        NB_TRY(ctx, pick_side(&r, side, &out.queries, &out.select_s, ctx));
        NB_REQUIRE(ctx, out.queries.kind != NB_POINTS, NB_EINVAL, "free points need the pairing 'independent', not '%s'",
                   nb_pairing_names[pairing]);
        out.keys = out.queries;
    }
    *landmarks = out;
    return NB_OK;
}
