/* SPDX-License-Identifier: GPL-3.0-or-later */
/* performer.c - FAVOR+: positive random features phi of the softmax kernel (layers/positive.h) in the place of
 * exp(q'k/sqrt d), whose mean over draws phi(q)'phi(k) is.
 *
 * 2 n r (d + dv) multiplications a head for r features; drawing orthogonal ones takes 2 r d^2 more. All heads and
 * inputs have the same features, as in the official code. */
#include "attentions/attention.h"

#include "layers/features.h"
#include "layers/positive.h"

#include <math.h>
#include <stdio.h>

typedef struct {
    int features, orthogonal, redraw;
} performer_options;

static const nb_option options[] = {
    NB_INT_OR(performer_options, features, "auto", "auto", 1, 1 << 20,
              "random features; auto: d ln d, rounded down, at least 1"),
    NB_BOOL(performer_options, orthogonal, "true",
            "features orthogonal within every d of them, of the lengths of Gaussian vectors; false: independent"),
    NB_INT_OR(performer_options, redraw, "never", "1000", 1, 1 << 30, "passes that keep the same features"),
    NB_OPTION_END};

typedef struct {
    nb_features features;
    nb_scalar *w; /* d x r */
    double *room; /* d x d */
    gsl_rng *rng;
} performer_state;

typedef struct {
    int d, features;
    const nb_scalar *w;
} draw;

static int features_of(const void *opts, const nb_layer_shape *s)
{
    const performer_options *o = opts;
    if (o->features != NB_AUTO) return o->features;
    return s->d > 1 ? (int)(s->d * log(s->d)) : 1;
}

static int passes_per_choice(const void *opts)
{
    const performer_options *o = opts;
    return o->redraw == NB_AUTO ? INT_MAX : o->redraw;
}

static void map(const void *self, int at, int count, const nb_scalar *x, nb_scalar *out)
{
    const draw *w = self;
    (void)at;
    nb_positive_features(w->d, w->features, w->w, count, x, out);
}

static size_t room_of(const performer_options *o, const nb_layer_shape *s)
{
    return (size_t)s->d * (o->orthogonal ? (size_t)s->d : 1);
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **out, nb_ctx *ctx)
{
    const performer_options *o = opts;
    int r = features_of(o, s);
    performer_state *state;
    NB_NEED(state, nb_alloc(ctx, 1, sizeof *state));
    NB_NEED(state->w, nb_alloc_scalars(ctx, (size_t)s->d * (size_t)r));
    NB_NEED(state->room, nb_alloc_raw(ctx, room_of(o, s)));
    NB_TRY(ctx, nb_random_new(&state->rng, ctx));
    *out = state;
    return nb_features_new(s, r, threads, &state->features, ctx);
}

/* Each draw has a stream of its own. */
static void draw_features(const performer_options *o, const nb_pass *pass, int number)
{
    performer_state *state = pass->state;
    nb_stream stream = pass->stream;
    char role[32];
    snprintf(role, sizeof role, "features %d", number);
    stream.role = role;
    stream.m = state->features.features;
    nb_random_seed(state->rng, &stream);
    nb_draw_features(state->rng, pass->layer->shape.d, state->features.features, o->orthogonal, state->room, state->w);
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    const performer_options *o = opts;
    const performer_state *state = pass->state;
    int every = passes_per_choice(o);
    draw w = {.d = pass->layer->shape.d, .features = state->features.features, .w = state->w};
    nb_feature_map positive = {.features = w.features, .logs = true, .map = map, .self = &w};
    (void)ctx;
    if (pass->index % every == 0) draw_features(o, pass, pass->index / every);
    nb_pass_part(pass, NB_PART_LANDMARKS);
    nb_features_keys(&state->features, &positive, pass->layer, pass->team);
    nb_pass_part(pass, NB_PART_B);
    nb_features_queries(&state->features, &positive, pass->layer, pass->out, pass->team);
    nb_pass_part(pass, NB_PART_F);
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    const performer_options *o = opts;
    int r = features_of(o, s);
    double each = (double)s->d * (r + 1), w = (double)s->d * r;
    return (nb_attention_cost){.multiplications =
                                   nb_draw_features_work(s->d, r, o->orthogonal) + nb_features_work(s, r, true, each),
                               .bytes = sizeof(performer_state) + w * sizeof(nb_scalar) +
                                        (double)(room_of(o, s) * sizeof(double)) + nb_features_bytes(s, r, threads)};
}

static const char *const references[] = {
    "Choromanski et al., Rethinking attention with performers, ICLR 2021, arXiv:2009.14794", NULL};

const nb_attention nb_attention_performer = {
    .component = {"performer", "FAVOR+: positive random features of the softmax kernel", references, options,
                  sizeof(performer_options)},
    .traits = NB_ATTENTION_CAUSAL | NB_ATTENTION_RANDOM,
    .size = "features",
    .size_of = features_of,
    .passes_per_choice = passes_per_choice,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "The mean of phi(q)'phi(k) over draws of the features is exp(q'k/sqrt d), with a variance that grows as\n"
        "exp(|q + k|^2/sqrt d): heads with large logits need very many features. The outputs are quotients and have\n"
        "a bias. All heads share one draw. The official code draws 256 features; d ln d and a new draw every 1000\n"
        "passes are the defaults of performer-pytorch. Official codes subtract one stabiliser a query and one for\n"
        "all keys before exp and then add 1e-6 or 1e-4 to each feature, which pulls the outputs towards the mean of\n"
        "the values; here nothing is added, and the stabilisers of queries and of each feature's keys cancel.",
};
