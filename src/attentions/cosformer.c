/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cosformer.c - relu(q)'relu(k) cos(pi (i - j) / 2n) in the place of exp(q'k/sqrt d), for tokens at i and j: features
 * relu(x_l) cos(pi i / 2n) and relu(x_l) sin(pi i / 2n), 2 d of them.
 *
 * 4 n d dv multiplications a head. The paper's M, at least the length, is n, as in the official code. */
#include "attentions/attention.h"

#include "layers/features.h"

#include <math.h>

static void map(const void *self, int at, int count, const nb_scalar *x, nb_scalar *out)
{
    const nb_layer_shape *s = self;
    nb_count_multiplications(2.0 * count * s->d);
    for (int i = 0; i < count; i++) {
        const nb_scalar *point = x + (size_t)i * (size_t)s->d;
        nb_scalar *phi = out + (size_t)i * 2 * (size_t)s->d;
        double angle = acos(-1) * (at + i) / (2.0 * s->n);
        nb_scalar c = (nb_scalar)cos(angle), sine = (nb_scalar)sin(angle);
        for (int l = 0; l < s->d; l++) {
            nb_scalar positive = point[l] > 0 ? point[l] : 0;
            phi[l] = c * positive;
            phi[s->d + l] = sine * positive;
        }
    }
}

static nb_status open(const void *options, const nb_layer_shape *shape, int threads, void **state, nb_ctx *ctx)
{
    (void)options;
    NB_NEED(*state, nb_alloc(ctx, 1, sizeof(nb_features)));
    return nb_features_new(shape, 2 * shape->d, threads, *state, ctx);
}

static nb_status forward(nb_pass *pass, const void *options, nb_ctx *ctx)
{
    const nb_layer *layer = pass->layer;
    nb_feature_map waves = {.features = 2 * layer->shape.d, .map = map, .self = &layer->shape};
    (void)options, (void)ctx;
    nb_features_keys(pass->state, &waves, layer, pass->team);
    nb_pass_part(pass, NB_PART_B);
    nb_features_queries(pass->state, &waves, layer, pass->out, pass->team);
    nb_pass_part(pass, NB_PART_F);
    return NB_OK;
}

static nb_attention_cost cost(const void *options, const nb_layer_shape *s, int threads)
{
    (void)options;
    return (nb_attention_cost){.multiplications = nb_features_work(s, 2 * s->d, false, 2.0 * s->d),
                               .bytes = sizeof(nb_features) + nb_features_bytes(s, 2 * s->d, threads)};
}

static const nb_option options[] = {NB_OPTION_END};

static const char *const references[] = {
    "Qin et al., cosFormer: rethinking softmax in attention, ICLR 2022, arXiv:2202.08791", NULL};

const nb_attention nb_attention_cosformer = {
    .component = {"cosformer", "linear attention, relu features that fade with distance", references, options, 0},
    .traits = NB_ATTENTION_CAUSAL | NB_ATTENTION_UNTRAINED,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "Models learn weights for its kernel, which is another than exp(q'k/sqrt d): on the points of a model that\n"
        "was trained with softmax its distance from exact attention says little about what it does where it was\n"
        "trained. A query that has no positive coordinate in common with a key gets the output 0, as with the small\n"
        "number that the official code has as the least denominator.",
};
