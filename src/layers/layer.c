/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layer.c - heads of a file or of a problem, side by side. */
#include "layers/layer.h"

#include "base/text.h"

#include <math.h>

bool nb_layer_same(const nb_layer_shape *a, const nb_layer_shape *b)
{
    return a->batch == b->batch && a->heads == b->heads && a->key_heads == b->key_heads && a->n == b->n &&
           a->d == b->d && a->dv == b->dv && a->causal == b->causal && a->guide == b->guide;
}

int nb_layer_heads(const nb_layer_shape *s)
{
    return s->batch * s->heads;
}

int nb_layer_key_heads(const nb_layer_shape *s)
{
    return s->batch * s->key_heads;
}

int nb_layer_guide(const nb_layer_shape *s)
{
    return s->guide > 0 ? s->guide : s->dv;
}

int nb_layer_key_head(const nb_layer_shape *s, int head)
{
    return head / s->heads * s->key_heads + head % s->heads / (s->heads / s->key_heads);
}

nb_layer_head nb_layer_head_of(const nb_layer *layer, nb_scalar *out, int head)
{
    const nb_layer_shape *s = &layer->shape;
    size_t query = (size_t)s->d * (size_t)s->n, value = (size_t)s->dv * (size_t)s->n, h = (size_t)head;
    size_t key_head = (size_t)nb_layer_key_head(s, head);
    return (nb_layer_head){.q = layer->q + h * query,
                           .k = layer->k + key_head * query,
                           .v = layer->v + key_head * value,
                           .out = out ? out + h * value : NULL};
}

nb_status nb_layer_head_double(const nb_layer *layer, int head, nb_head *out, nb_ctx *ctx)
{
    const nb_layer_shape *s = &layer->shape;
    size_t query = (size_t)s->d * (size_t)s->n, value = (size_t)s->dv * (size_t)s->n;
    nb_layer_head h = nb_layer_head_of(layer, NULL, head);
    *out = (nb_head){.n = s->n, .d = s->d, .dv = s->dv, .causal = s->causal};
    NB_NEED(out->q, nb_alloc_raw(ctx, query));
    NB_NEED(out->k, nb_alloc_raw(ctx, query));
    NB_NEED(out->v, nb_alloc_raw(ctx, value));
    nb_scalar_to_double(query, h.q, out->q);
    nb_scalar_to_double(query, h.k, out->k);
    nb_scalar_to_double(value, h.v, out->v);
    return NB_OK;
}

nb_status nb_layer_find_odd(const nb_layer_shape *s, const nb_scalar *out, const char **where, nb_ctx *ctx)
{
    const size_t dv = (size_t)s->dv, each = (size_t)s->n * dv, heads = (size_t)s->heads;
    const size_t count = (size_t)nb_layer_heads(s) * each;
    const char *input = "";
    size_t at = 0;
    *where = NULL;
    if (nb_scalars_finite(count, out)) return NB_OK;
    while (isfinite(out[at])) at++;
    if (s->batch > 1) NB_NEED(input, nb_format(ctx, "input %zu, ", at / each / heads));
    NB_NEED(*where, nb_format(ctx, "%shead %zu, token %zu, coordinate %zu is %s", input, at / each % heads,
                              at % each / dv, at % dv, nb_text_of_odd((double)out[at])));
    return NB_OK;
}

static void gather_doubles(int d, int count, const int *tokens, const nb_scalar *x, double *out)
{
    for (int i = 0; i < count; i++)
        nb_scalar_to_double((size_t)d, x + (size_t)tokens[i] * (size_t)d, out + (size_t)i * (size_t)d);
}

void nb_layer_tokens_double(const nb_layer *layer, int head, int count, const int *tokens, nb_head *out)
{
    nb_layer_head h = nb_layer_head_of(layer, NULL, head);
    gather_doubles(layer->shape.d, count, tokens, h.q, out->q);
    gather_doubles(layer->shape.d, count, tokens, h.k, out->k);
    gather_doubles(layer->shape.dv, count, tokens, h.v, out->v);
}

nb_status nb_layer_check(const nb_layer_shape *s, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, s->n >= 1 && s->d >= 1 && s->dv >= 1, NB_EINVAL,
               "a layer of n = %d tokens, d = %d, dv = %d: each must be at least 1", s->n, s->d, s->dv);
    NB_REQUIRE(ctx, s->guide >= 0 && s->guide <= s->dv, NB_EINVAL,
               "a layer whose first %d coordinates of v guide it, of dv = %d: from 0 (all) to dv", s->guide, s->dv);
    NB_REQUIRE(ctx, s->batch >= 1 && s->heads >= 1, NB_EINVAL, "a layer of %d heads and %d inputs: at least 1 each",
               s->heads, s->batch);
    NB_REQUIRE(ctx, s->key_heads >= 1 && s->heads % s->key_heads == 0, NB_EINVAL,
               "%d query heads cannot share %d key heads: their number must be a multiple of it", s->heads,
               s->key_heads);
    return NB_OK;
}

nb_status nb_layer_allocate(nb_layer *layer, nb_scalar **q, nb_scalar **k, nb_scalar **v, nb_ctx *ctx)
{
    const nb_layer_shape *s = &layer->shape;
    size_t n = (size_t)s->n, heads = (size_t)nb_layer_heads(s), key_heads = (size_t)s->batch * (size_t)s->key_heads;
    NB_TRY(ctx, nb_layer_check(s, ctx));
    NB_NEED(*q, nb_alloc_scalars(ctx, heads * (size_t)s->d * n));
    NB_NEED(*k, nb_alloc_scalars(ctx, key_heads * (size_t)s->d * n));
    NB_NEED(*v, nb_alloc_scalars(ctx, key_heads * (size_t)s->dv * n));
    layer->q = *q;
    layer->k = *k;
    layer->v = *v;
    return NB_OK;
}

/* Finds how heads `first` ... of a file divide into inputs and share keys. */
static nb_status find_shape(const char *path, const nb_head_shape *file, int first, int count, nb_layer_shape *shape,
                            nb_ctx *ctx)
{
    int inputs = file->inputs > 0 ? file->inputs : 1, each = file->heads / inputs, batch = 1;
    NB_REQUIRE(ctx, file->key_heads > 0 && file->dv > 0, NB_EINVAL,
               "%s: there is no %s, and attention needs q, k and v", path, file->key_heads > 0 ? "v" : "k");
    NB_REQUIRE(ctx, first >= 0 && count >= 1 && first + count <= file->heads, NB_EINVAL,
               "%s: heads %d to %d of %d are not there", path, first, first + count - 1, file->heads);
    int shared = file->heads / file->key_heads;
    if (count > each || first % each + count > each) {
        NB_REQUIRE(ctx, first % each == 0 && count % each == 0, NB_EINVAL,
                   "%s: heads %d to %d are of several inputs of %d heads, but not whole inputs", path, first,
                   first + count - 1, each);
        batch = count / each;
    }
    int heads = count / batch, key_heads = heads / shared;
    if (key_heads < 1 || heads % shared != 0 || first % shared != 0) {
        /* a part of those that share keys: each gets its own copy, unless all are of one group */
        key_heads = first / shared == (first + heads - 1) / shared ? 1 : heads;
    }
    *shape = (nb_layer_shape){.batch = batch,
                              .heads = heads,
                              .key_heads = key_heads,
                              .n = file->n,
                              .d = file->d,
                              .dv = file->dv,
                              .causal = file->causal};
    return NB_OK;
}

nb_status nb_layer_load(const char *path, int first, int count, nb_layer *layer, nb_ctx *ctx)
{
    nb_head_shape file;
    nb_scalar *q, *k, *v;
    *layer = (nb_layer){.problem = "", .first = first};
    NB_TRY(ctx, nb_head_file_shape(path, &file, ctx));
    NB_TRY(ctx, find_shape(path, &file, first, count, &layer->shape, ctx));
    NB_TRY(ctx, nb_layer_allocate(layer, &q, &k, &v, ctx));
    const nb_layer_shape *s = &layer->shape;
    size_t query = (size_t)s->d * (size_t)s->n, value = (size_t)s->dv * (size_t)s->n;
    nb_mark mark = nb_ctx_mark(ctx);
    for (int h = 0; h < count; h++) {
        nb_head head;
        NB_TRY(ctx, nb_head_load(path, first + h, &head, ctx));
        size_t key_head = (size_t)nb_layer_key_head(s, h);
        nb_scalar_of(query, head.q, q + (size_t)h * query);
        nb_scalar_of(query, head.k, k + key_head * query);
        nb_scalar_of(value, head.v, v + key_head * value);
        nb_ctx_release(ctx, mark);
    }
    return NB_OK;
}

nb_status nb_layer_of_heads(int count, const nb_head *heads, nb_layer *layer, nb_ctx *ctx)
{
    const nb_head *one = &heads[0];
    nb_scalar *q, *k, *v;
    *layer = (nb_layer){.problem = ""};
    layer->shape = (nb_layer_shape){.batch = 1,
                                    .heads = count,
                                    .key_heads = count,
                                    .n = one->n,
                                    .d = one->d,
                                    .dv = one->v ? one->dv : one->d,
                                    .causal = one->causal};
    NB_TRY(ctx, nb_layer_allocate(layer, &q, &k, &v, ctx));
    size_t query = (size_t)one->d * (size_t)one->n, value = (size_t)layer->shape.dv * (size_t)one->n;
    for (size_t h = 0; h < (size_t)count; h++) {
        NB_REQUIRE(ctx, heads[h].k, NB_EINVAL, "head %zu has no keys", h);
        NB_REQUIRE(ctx,
                   heads[h].n == one->n && heads[h].d == one->d && heads[h].dv == one->dv && !heads[h].v == !one->v,
                   NB_EDIM, "head %zu has another shape than head 0", h);
        nb_scalar_of(query, heads[h].q, q + h * query);
        nb_scalar_of(query, heads[h].k, k + h * query);
        nb_scalar_of(value, heads[h].v ? heads[h].v : heads[h].k, v + h * value);
    }
    return NB_OK;
}
