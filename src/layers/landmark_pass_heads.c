/* SPDX-License-Identifier: GPL-3.0-or-later */
/* landmark_pass_heads.c - landmarks, A and X, head by head, in double precision. */
#include "layers/landmark_pass_private.h"

#include "base/clock.h"
#include "calls/compute.h"
#include "calls/picking.h"
#include "linalg/vector.h"
#include "nystrom/engine.h"
#include "nystrom/factors_record.h"
#include "nystrom/make_scene.h"
#include "nystrom/row_sample.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void nb_landmark_keep_failure(nb_landmark_head *h, nb_status status, nb_ctx *ctx)
{
    h->status = status;
    if (status == NB_OK) return;
    snprintf(h->reason, sizeof h->reason, "%s", nb_error_message(ctx));
    nb_error_clear(ctx);
}

void nb_landmark_note(nb_landmark_head *h, bool *flag, const char *reason)
{
    *flag = true;
    snprintf(h->reason, sizeof h->reason, "%s", reason);
}

typedef struct {
    const nb_layer *layer;
    int head;
} points_of_layer;

static void take_points(const void *self, int count, const int *tokens, nb_head *head)
{
    const points_of_layer *p = self;
    nb_layer_tokens_double(p->layer, p->head, count, tokens, head);
}

/* Opens a scene for a strategy that looks at some of the tokens alone. */
static nb_status open_far_scene(const nb_landmark_work *w, int head, nb_scene **scene, nb_ctx *ctx)
{
    const nb_layer *layer = w->pass->layer;
    const nb_layer_shape *shape = &layer->shape;
    points_of_layer *from;
    nb_head *blank;
    NB_NEED(from, nb_alloc(ctx, 1, sizeof *from));
    NB_NEED(blank, nb_alloc(ctx, 1, sizeof *blank));
    *from = (points_of_layer){layer, head};
    *blank = (nb_head){.n = shape->n, .d = shape->d, .dv = shape->dv, .causal = shape->causal};
    NB_TRY(ctx, nb_scene_new_far(blank, &w->s->kernel, take_points, from, scene, ctx));
    nb_scene_name(*scene, layer->problem, layer->first + head);
    return NB_OK;
}

/* The head's scene: without points if nobody looks at them, or at those of some tokens alone. */
static nb_status find_scene(const nb_landmark_work *w, int head, nb_scene **scene, nb_ctx *ctx)
{
    const nb_layer *layer = w->pass->layer;
    const nb_landmark_how *how = &w->s->how;
    nb_head *points;
    bool alone = !nb_pairing_shares(how->pairing) && !nb_landmark_looks_at_s(how),
         blind = nb_strategy_traits(how->strategy) & NB_BLIND;
    if (alone && blind) return nb_scene_new_blank(layer->shape.n, layer->shape.d, &w->s->kernel, scene, ctx);
    if (alone && nb_strategy_tokens(how->strategy, layer->shape.n) < layer->shape.n)
        return open_far_scene(w, head, scene, ctx);
    NB_NEED(points, nb_alloc(ctx, 1, sizeof *points));
    NB_TRY(ctx, nb_layer_head_double(layer, head, points, ctx));
    NB_TRY(ctx, nb_scene_new(points, &w->s->kernel, scene, ctx));
    nb_scene_name(*scene, layer->problem, layer->first + head);
    return NB_OK;
}

static nb_status pick(const nb_landmark_work *w, nb_scene *scene, nb_landmarks *landmarks, nb_ctx *ctx)
{
    const nb_landmark_how *how = &w->s->how;
    nb_picking picking = {.scene = scene,
                          .strategy = how->strategy,
                          .m = how->m,
                          .pairing = how->pairing,
                          .stream = {.seed = w->pass->stream.seed,
                                     .trial = w->pass->stream.trial,
                                     .component = how->strategy->canonical}};
    NB_TRY(ctx, nb_random_new(&picking.rng, ctx));
    return nb_landmarks_pick(&picking, landmarks, ctx);
}

/* landmarks (d x m) <- the picks' points: of tokens x's columns, of groups their means. */
static nb_status place_landmarks(const nb_picks *picks, const nb_layer_shape *shape, const nb_scalar *x,
                                 nb_scalar *landmarks, nb_ctx *ctx)
{
    size_t d = (size_t)shape->d, m = (size_t)picks->m;
    if (picks->kind == NB_POINTS) {
        nb_scalar_of(d * m, picks->points, landmarks);
    } else if (picks->kind == NB_TOKENS) {
        for (size_t j = 0; j < m; j++) memcpy(landmarks + j * d, x + (size_t)picks->tokens[j] * d, d * sizeof *x);
    } else {
        int *size;
        NB_NEED(size, nb_alloc(ctx, m, sizeof *size));
        memset(landmarks, 0, d * m * sizeof *landmarks);
        for (int i = 0, end; i < shape->n; i = end) { /* tokens of one group in a row */
            int group = picks->groups[i];
            for (end = i + 1; end < shape->n && picks->groups[end] == group;) end++;
            size[group] += end - i;
            nb_scalar_add_columns(shape->d, end - i, x + (size_t)i * d, landmarks + (size_t)group * d);
        }
        for (size_t j = 0; j < m; j++) nb_scalar_scale(d, 1 / (nb_scalar)size[j], landmarks + j * d);
    }
    return NB_OK;
}

/* Chooses the head's landmarks; refused: h->refused. */
static nb_status choose_landmarks(const nb_landmark_work *w, int head, nb_scene *scene, nb_landmarks *l,
                                  nb_landmark_head *h, nb_ctx *ctx)
{
    const nb_layer_shape *shape = &w->pass->layer->shape;
    const nb_landmark_how *how = &w->s->how;
    nb_layer_head points = nb_layer_head_of(w->pass->layer, NULL, head);
    NB_TRY(ctx, pick(w, scene, l, ctx));
    const char *refusal = l->refusal;
    if (!refusal) refusal = nb_factors_refusal(how->kind, l->queries.kind, shape->causal, NULL);
    if (!refusal && how->refresh > 1 && how->keep_place && l->queries.kind != NB_TOKENS)
        refusal = "means and free points have no place to be kept: keep=points keeps where they are";
    if (refusal) {
        nb_landmark_note(h, &h->refused, refusal);
        return NB_OK;
    }
    h->tokens = l->queries.kind == NB_TOKENS;
    if (h->tokens) {
        memcpy(h->queries, l->queries.tokens, (size_t)how->m * sizeof *h->queries);
        memcpy(h->keys, l->keys.tokens, (size_t)how->m * sizeof *h->keys);
    }
    NB_TRY(ctx, place_landmarks(&l->queries, shape, points.q, h->q, ctx));
    return place_landmarks(&l->keys, shape, points.k, h->k, ctx);
}

/* The same tokens as before, of this layer. */
static void place_again(const nb_landmark_work *w, int head, nb_landmark_head *h)
{
    const nb_layer_shape *shape = &w->pass->layer->shape;
    size_t d = (size_t)shape->d, bytes = d * sizeof(nb_scalar);
    nb_layer_head points = nb_layer_head_of(w->pass->layer, NULL, head);
    for (int j = 0; j < w->s->how.m; j++) {
        memcpy(h->q + (size_t)j * d, points.q + (size_t)h->queries[j] * d, bytes);
        memcpy(h->k + (size_t)j * d, points.k + (size_t)h->keys[j] * d, bytes);
    }
}

/* A = softmax(Q~ K~') of `nystromformer`; of `cur`, S[I, J] = exp(logit - lse of the query), with the mask. */
static nb_status form_a(const nb_landmark_work *w, nb_landmark_head *h, nb_ctx *ctx)
{
    const nb_layer_shape *shape = &w->pass->layer->shape;
    int m = w->s->how.m, d = shape->d;
    size_t square = (size_t)m * (size_t)m;
    double *q, *k, *logits;
    NB_NEED(q, nb_alloc_raw(ctx, 2 * (size_t)d * (size_t)m + square));
    k = q + (size_t)d * (size_t)m;
    logits = k + (size_t)d * (size_t)m;
    nb_scalar_to_double((size_t)d * (size_t)m, h->q, q);
    nb_scalar_to_double((size_t)d * (size_t)m, h->k, k);
    /* K~'Q~/sqrt d: a landmark's query is a column */
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, m, d, 1 / sqrt(d), k, d, q, d, 0, logits, m);
    for (int i = 0; i < m; i++) {
        double *row = logits + (size_t)i * (size_t)m;
        /* A row of A is a softmax over the landmarks' keys; of cur, a part of the row of S, e^(logit - lse) */
        bool cur = w->s->how.kind == NB_CUR;
        double sum = nb_exp_sum((size_t)m, row, cur ? (double)h->lse[h->queries[i]] : nb_largest((size_t)m, row));
        for (int j = 0; j < m && !cur; j++) row[j] /= sum;
        for (int j = 0; j < m && cur && shape->causal; j++)
            if (h->keys[j] > h->queries[i]) row[j] = 0;
    }
    nb_transpose(m, m, logits, h->a);
    /* |A|_1, the largest column sum */
    h->one = 0;
    for (int j = 0; j < m; j++) h->one = fmax(h->one, nb_sum((size_t)m, h->a + (size_t)j * (size_t)m));
    return NB_OK;
}

/* Computes x from the factors, or says why there is none. */
static nb_status compute(const nb_landmark_work *w, nb_factors *factors, nb_scene *scene, nb_landmark_head *h,
                         nb_ctx *ctx)
{
    size_t square = (size_t)factors->m * (size_t)factors->m;
    nb_computed computed;
    NB_TRY(ctx, nb_core_compute(w->s->how.core, factors, scene, w->pass->stream, h->x, &computed, ctx));
    if (computed.refusal)
        nb_landmark_note(h, &h->refused, computed.refusal);
    else if (!nb_all_finite(square, h->x))
        nb_landmark_note(h, &h->diverged, factors->notes.diverged ? factors->notes.diverged : "X is not finite");
    return NB_OK;
}

/* Computes X of a core that looks at S, with the engine's factors. */
static nb_status compute_from_s(const nb_landmark_work *w, nb_scene *scene, const nb_landmarks *l, nb_landmark_head *h,
                                nb_ctx *ctx)
{
    nb_pair pair = {.landmarks = l, .kind = w->s->how.kind};
    nb_how how = {.engine = NB_STREAMED, .precision = NB_DOUBLE};
    nb_engine_times times;
    NB_TRY(ctx, nb_scene_order(scene, w->pass->stream.seed, w->pass->stream.trial, &how.order, ctx));
    if (!(nb_core_traits(w->s->how.core) & NB_CORE_ORACLE)) { /* one row is all that the engine itself looks at */
        how.sample = 1;
        how.tokens = how.order;
    }
    NB_TRY(ctx, nb_engine_prepare(scene, &how, 1, &pair, &times, ctx));
    NB_REQUIRE(ctx, !pair.failure, NB_ENUMERIC, "%s", pair.failure);
    NB_TRY(ctx, compute(w, pair.factors, scene, h, ctx));
    h->kept_count = nb_factors_keeps_rows(pair.factors) ? nb_lesser(nb_factors_seen(pair.factors), w->s->most_kept) : 0;
    for (int i = 0; i < h->kept_count; i++) h->kept[i] = how.order[i];
    return NB_OK;
}

static nb_status prepare_head(const nb_landmark_work *w, int head, nb_landmark_head *h, nb_ctx *ctx)
{
    const nb_landmark_how *how = &w->s->how;
    nb_scene *scene;
    nb_landmarks l;
    double start_s = nb_clock_s();
    if (w->fresh) {
        NB_TRY(ctx, find_scene(w, head, &scene, ctx));
        NB_TRY(ctx, choose_landmarks(w, head, scene, &l, h, ctx));
    } else {
        place_again(w, head, h);
    }
    h->select_s = nb_clock_s() - start_s;
    if (h->refused || how->kind == NB_NOCORE) return NB_OK;
    if (how->drawn) return nb_landmark_draw(w, head, h, ctx);
    if (!nb_landmark_looks_at_s(how)) return form_a(w, h, ctx);
    NB_REQUIRE(ctx, w->fresh, NB_EBUG, "a core that looks at S, with landmarks that were kept");
    return compute_from_s(w, scene, &l, h, ctx);
}

static void prepare_task(void *self, int task, int thread)
{
    const nb_landmark_work *w = self;
    nb_landmark_head *h = &w->s->heads[task];
    nb_ctx *ctx = nb_team_ctx(w->pass->team, thread);
    double start_s = nb_clock_s();
    h->refused = h->diverged = false;
    nb_landmark_keep_failure(h, prepare_head(w, task, h, ctx), ctx);
    nb_ctx_release(ctx, 0);
    h->core_s = nb_clock_s() - start_s - h->select_s;
}

void nb_landmark_invert(void *self, int task, int thread)
{
    const nb_landmark_work *w = self;
    double start_s = nb_clock_s();
    nb_landmark_head *h = &w->s->heads[task];
    nb_ctx *ctx = nb_team_ctx(w->pass->team, thread);
    nb_factors factors = {.m = w->s->how.m, .a = h->a, .unremarked = true, .batch_one = w->batch_one};
    nb_status status = (factors.ctx = nb_ctx_child(ctx)) ? NB_OK : NB_ENOMEM;
    if (status == NB_OK) status = compute(w, &factors, NULL, h, ctx);
    nb_landmark_keep_failure(h, status, ctx);
    nb_ctx_release(ctx, 0);
    h->core_s = nb_clock_s() - start_s;
}

/* The first head that has something to tell, tells it. */
nb_status nb_landmark_outcome(nb_pass *pass, const nb_landmark_state *s, nb_ctx *ctx)
{
    int heads = nb_layer_heads(&pass->layer->shape);
    for (int i = 0; i < heads; i++) {
        const nb_landmark_head *h = &s->heads[i];
        if (h->status != NB_OK && heads > 1) NB_FAIL(ctx, h->status, "head %d: %s", i, h->reason);
        if (h->status != NB_OK) NB_FAIL(ctx, h->status, "%s", h->reason);
        if (h->refused && !pass->refusal) pass->refusal = h->reason;
        if (h->diverged && !pass->diverged) pass->diverged = h->reason;
    }
    return NB_OK;
}

/* Returns whether a component, or one within its options, is a plug-in. */
static bool has_plugin(const nb_choice *choice)
{
    bool found = nb_plugin_of(choice->component);
    for (const nb_option *o = choice->component->options; !found && o && o->key; o++)
        if (o->type == NB_OPTION_SPEC)
            found = has_plugin(*(const nb_choice *const *)((const char *)choice->options + o->offset));
    return found;
}

/* Returns whether what is called may only be called in this thread: plug-ins, and what works outside of this process.
 * */
static bool is_outside(const nb_landmark_state *s)
{
    return has_plugin(s->how.strategy) || has_plugin(s->how.core) ||
           nb_strategy_traits(s->how.strategy) & NB_ELSEWHERE || nb_core_traits(s->how.core) & NB_CORE_ELSEWHERE;
}

static void run_calls(nb_pass *pass, const nb_landmark_state *s, nb_task *task, nb_landmark_work *w)
{
    int heads = nb_layer_heads(&pass->layer->shape);
    bool outside = is_outside(s);
    if (!outside) nb_team_run(pass->team, heads, task, w);
    for (int i = 0; i < heads && outside; i++) task(w, i, 0);
}

nb_status nb_landmark_middle(nb_landmark_work *w, nb_ctx *ctx)
{
    nb_pass *pass = w->pass;
    nb_landmark_state *s = w->s;
    int heads = nb_layer_heads(&pass->layer->shape);
    bool kept = !w->fresh && !s->how.keep_place;
    double select_s = 0, core_s = 0;
    if (kept) return NB_OK;
    run_calls(pass, s, prepare_task, w);
    for (int i = 0; i < heads; i++) {
        select_s += s->heads[i].select_s;
        core_s += s->heads[i].core_s;
    }
    nb_pass_parts(pass, (double[NB_PART_COUNT]){[NB_PART_LANDMARKS] = select_s, [NB_PART_CORE] = core_s});
    NB_TRY(ctx, nb_landmark_outcome(pass, s, ctx));
    if (pass->refusal || s->how.kind == NB_NOCORE || s->how.drawn || nb_landmark_looks_at_s(&s->how)) return NB_OK;
    for (int i = 0; i < heads; i++) w->batch_one = fmax(w->batch_one, s->heads[i].one);
    w->inverts = !is_outside(s);
    if (w->inverts) return NB_OK;
    run_calls(pass, s, nb_landmark_invert, w);
    nb_pass_part(pass, NB_PART_CORE);
    return nb_landmark_outcome(pass, s, ctx);
}
