/* SPDX-License-Identifier: GPL-3.0-or-later */
/* linear.c - linear attention: phi(q)'phi(k) in the place of exp(q'k/sqrt d), phi(x) = elu(x) + 1 for each coordinate,
 * which is 1 + x for x > 0 and exp(x) below. As in the paper q and k are not divided by d^(1/4) first.
 *
 * 2 n d dv multiplications a head, and memory of d dv. */
#include "attentions/attention.h"

#include "layers/features.h"

#include <math.h>

static void map(const void *self, int at, int count, const nb_scalar *x, nb_scalar *out)
{
    const nb_layer_shape *s = self;
    size_t size = (size_t)count * (size_t)s->d;
    (void)at;
    for (size_t i = 0; i < size; i++) out[i] = x[i] < 0 ? x[i] : 0;
    nb_scalar_exp_sum(size, out, 0);
    for (size_t i = 0; i < size; i++) out[i] += x[i] > 0 ? x[i] : 0;
}

static nb_status open(const void *options, const nb_layer_shape *shape, int threads, void **state, nb_ctx *ctx)
{
    (void)options;
    NB_NEED(*state, nb_alloc(ctx, 1, sizeof(nb_features)));
    return nb_features_new(shape, shape->d, threads, *state, ctx);
}

static nb_status forward(nb_pass *pass, const void *options, nb_ctx *ctx)
{
    const nb_layer *layer = pass->layer;
    nb_feature_map elu = {.features = layer->shape.d, .map = map, .self = &layer->shape};
    (void)options, (void)ctx;
    nb_features_keys(pass->state, &elu, layer, pass->team);
    nb_pass_part(pass, NB_PART_B);
    nb_features_queries(pass->state, &elu, layer, pass->out, pass->team);
    nb_pass_part(pass, NB_PART_F);
    return NB_OK;
}

static nb_attention_cost cost(const void *options, const nb_layer_shape *s, int threads)
{
    (void)options;
    return (nb_attention_cost){.multiplications = nb_features_work(s, s->d, false, 0),
                               .bytes = sizeof(nb_features) + nb_features_bytes(s, s->d, threads)};
}

static const nb_option options[] = {NB_OPTION_END};

static const char *const references[] = {
    "Katharopoulos, Vyas, Pappas & Fleuret, Transformers are RNNs, ICML 2020, arXiv:2006.16236", NULL};

const nb_attention nb_attention_linear = {
    .component = {"linear", "linear attention, features elu(x) + 1", references, options, 0},
    .traits = NB_ATTENTION_CAUSAL | NB_ATTENTION_UNTRAINED,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "It has another kernel than exp(q'k/sqrt d), which models learn weights for: on the points of a model that\n"
        "was trained with softmax its distance from exact attention says little about what it does where it was\n"
        "trained. Queries and keys are used as they are, without the factor d^(-1/4) each, as in the paper. A query\n"
        "whose features, or all keys', underflow gets the output 0, as with the small number that the official code\n"
        "adds to the denominator.",
};
