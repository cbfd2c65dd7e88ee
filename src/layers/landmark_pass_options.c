/* SPDX-License-Identifier: GPL-3.0-or-later */
/* landmark_pass_options.c - what the options of attention from landmarks mean, and what a pass takes. */
#include "calls/early.h"
#include "cores/core.h"
#include "layers/landmark_pass_private.h"

#include <math.h>

const char *const nb_landmark_pairings[] = {NB_PAIRING_NAMES, [NB_OWN_PAIRING] = "own", NULL};
const char *const nb_landmark_keeps[] = {"points", "tokens", NULL};
/* kernel_ridge is an attention of its own. */
const char *const nb_landmark_factors[] = {
    [NB_NYSTROMFORMER] = "nystromformer", [NB_CUR] = "cur", [NB_NOCORE] = "nocore", NULL};

nb_landmark_how nb_landmark_how_of(const nb_landmark_options *o, int n)
{
    const nb_core *core = (const nb_core *)o->core->component;
    bool fits = o->factors == NB_NYSTROMFORMER && o->refresh == 1 && !nb_plugin_of(o->core->component) && core->fit;
    int m = o->landmarks;
    if (m == NB_AUTO)
        for (m = 0; n >> (m + 1);) m++;
    if (m < 1) m = 1;
    return (nb_landmark_how){.strategy = o->strategy,
                             .core = o->core,
                             .m = m,
                             .pairing = o->pairing == NB_OWN_PAIRING ? nb_strategy_pairing(o->strategy)
                                                                     : (nb_pairing)o->pairing,
                             .kind = (nb_factors_kind)o->factors,
                             .chunk = nb_blocks(o->chunk, NB_BLOCK_QUERIES),
                             .refresh = o->refresh,
                             .keep_place = o->keep == NB_KEEP_TOKENS,
                             .drawn = fits ? nb_core_cost_of(o->core, n, m).drawn : 0};
}

int nb_landmark_queries(const nb_landmark_how *how)
{
    return how->m + how->drawn;
}

bool nb_landmark_looks_at_s(const nb_landmark_how *how)
{
    return how->kind != NB_NOCORE && !how->drawn &&
           nb_core_traits(how->core) & (NB_CORE_RANDOM | NB_CORE_ORACLE | NB_CORE_ELSEWHERE);
}

/* Returns how many rows the core may return exactly. */
static int most_kept(const nb_landmark_how *how, int n)
{
    int kept = nb_core_cost_of(how->core, n, how->m).kept;
    if (how->drawn) return kept ? how->drawn : 0;
    return kept < n ? kept : n;
}

static nb_status open_head(const nb_landmark_how *how, const nb_layer_shape *shape, const nb_landmark_state *s,
                           nb_landmark_head *h, nb_ctx *ctx)
{
    size_t m = (size_t)how->m, queries = (size_t)nb_landmark_queries(how), d = (size_t)shape->d, dv = (size_t)shape->dv;
    NB_NEED(h->q, nb_alloc_scalars(ctx, d * (queries + m)));
    h->k = h->q + d * queries;
    NB_NEED(h->queries, nb_alloc(ctx, queries + m, sizeof *h->queries));
    h->keys = h->queries + queries;
    if (how->drawn) {
        NB_NEED(h->weights, nb_alloc_raw(ctx, queries));
    } else {
        NB_NEED(h->a, nb_alloc_raw(ctx, 2 * m * m));
        h->x = h->a + m * m;
    }
    NB_NEED(h->w, nb_alloc_scalars(ctx, dv * m));
    NB_NEED(h->sums, nb_alloc_scalars(ctx, (dv + 2) * queries * (size_t)s->stretches));
    if (how->kind == NB_CUR) NB_NEED(h->lse, nb_alloc_scalars(ctx, (size_t)shape->n));
    if (s->most_kept) NB_NEED(h->kept, nb_alloc(ctx, (size_t)s->most_kept, sizeof *h->kept));
    return NB_OK;
}

static double head_bytes(const nb_landmark_how *how, const nb_layer_shape *shape)
{
    double m = how->m, queries = nb_landmark_queries(how), reals = how->drawn ? queries : 2 * m * m;
    double scalars =
        (queries + m) * shape->d + m * shape->dv + (shape->dv + 2.0) * queries * nb_blocks(shape->n, NB_STRETCH);
    if (how->kind == NB_CUR) scalars += shape->n;
    return sizeof(nb_landmark_head) + scalars * sizeof(nb_scalar) + (queries + m) * sizeof(int) +
           reals * sizeof(double) + sizeof(int) * (double)most_kept(how, shape->n);
}

static double thread_bytes(const nb_landmark_how *how, const nb_layer_shape *shape)
{
    double bytes = nb_softmax_bytes(shape->d, shape->dv, nb_tile_of(shape->n)) + sizeof(nb_scalar *) + sizeof(double) +
                   sizeof(double *) + 2.0 * shape->dv * how->m * sizeof(double);
    if (most_kept(how, shape->n)) bytes += (shape->d + shape->dv) * (double)NB_BLOCK_QUERIES * sizeof(nb_scalar);
    return bytes;
}

nb_status nb_landmark_open(const void *options, const nb_layer_shape *shape, int threads, void **out, nb_ctx *ctx)
{
    nb_landmark_state *s;
    nb_landmark_how own = nb_landmark_how_of(options, shape->n), *how = &own;
    int heads = nb_layer_heads(shape);
    NB_NEED(s, nb_alloc(ctx, 1, sizeof *s));
    *s = (nb_landmark_state){
        .how = own, .stretches = nb_blocks(shape->n, NB_STRETCH), .most_kept = most_kept(how, shape->n)};
    NB_NEED(s->heads, nb_alloc(ctx, (size_t)heads, sizeof *s->heads));
    for (int h = 0; h < heads; h++) NB_TRY(ctx, open_head(how, shape, s, &s->heads[h], ctx));
    NB_NEED(s->softmax, nb_alloc(ctx, (size_t)threads, sizeof *s->softmax));
    NB_NEED(s->busy_s, nb_alloc(ctx, (size_t)threads, sizeof *s->busy_s));
    NB_NEED(s->gather, nb_alloc(ctx, (size_t)threads, sizeof *s->gather));
    NB_NEED(s->middle, nb_alloc(ctx, (size_t)threads, sizeof *s->middle));
    for (int i = 0; i < threads; i++) {
        NB_TRY(ctx, nb_softmax_new(shape->d, shape->dv, nb_tile_of(shape->n), &s->softmax[i], ctx));
        NB_NEED(s->middle[i], nb_alloc_raw(ctx, 2 * (size_t)shape->dv * (size_t)how->m));
        if (s->most_kept)
            NB_NEED(s->gather[i], nb_alloc_scalars(ctx, (size_t)(shape->d + shape->dv) * NB_BLOCK_QUERIES));
    }
    *out = s;
    return NB_OK;
}

nb_attention_cost nb_landmark_cost(const void *options, const nb_layer_shape *shape, int threads)
{
    nb_landmark_how own = nb_landmark_how_of(options, shape->n), *how = &own;
    double heads = nb_layer_heads(shape), n = shape->n, m = how->m, d = shape->d, dv = shape->dv;
    double each = 2 * n * m * (d + dv), middle = how->kind == NB_NOCORE ? 0 : m * m * dv;
    if (how->kind == NB_CUR) { /* the sums of S's rows */
        for (int first = 0; first < shape->n; first += NB_BLOCK_QUERIES) {
            double count = nb_lesser(shape->n - first, NB_BLOCK_QUERIES);
            each += count * (shape->causal ? first + count : n) * d;
        }
    }
    bool looks = how->drawn || nb_landmark_looks_at_s(how);
    if (how->kind != NB_NOCORE && looks) middle = NAN;
    if (how->kind != NB_NOCORE && !looks)
        middle += m * m * d + nb_core_cost_of(how->core, shape->n, how->m).multiplications;
    return (nb_attention_cost){.multiplications = heads * (each + middle),
                               .bytes = sizeof(nb_landmark_state) + heads * head_bytes(how, shape) +
                                        threads * thread_bytes(how, shape)};
}

int nb_landmark_size(const void *options, const nb_layer_shape *shape)
{
    return nb_landmark_how_of(options, shape->n).m;
}

int nb_landmark_passes_per_choice(const void *options)
{
    return ((const nb_landmark_options *)options)->refresh;
}

unsigned nb_landmark_traits(const void *options)
{
    const nb_landmark_options *o = options;
    unsigned s = nb_strategy_traits(o->strategy), c = nb_core_traits(o->core), traits = 0;
    if (s & NB_RANDOM || c & NB_CORE_RANDOM) traits |= NB_ATTENTION_RANDOM;
    if (s & NB_ORACLE || c & NB_CORE_ORACLE) traits |= NB_ATTENTION_ORACLE;
    if (o->factors == NB_CUR) traits |= NB_ATTENTION_CAUSAL | NB_ATTENTION_FORESEES;
    return traits;
}

nb_status nb_landmark_check(const void *options, nb_ctx *ctx)
{
    const nb_landmark_options *o = options;
    NB_TRY(ctx, nb_strategy_check(o->strategy, ctx));
    NB_TRY(ctx, nb_core_check(o->core, ctx));
    nb_landmark_how how = nb_landmark_how_of(o, 1 << 20);
    bool identity = nb_core_traits(how.core) & NB_CORE_IDENTITY;
    NB_REQUIRE(ctx, nb_strategy_has(how.strategy, how.pairing), NB_EINVAL, "%s has no pairing '%s'",
               how.strategy->component->name, nb_pairing_names[how.pairing]);
    NB_REQUIRE(ctx, identity == (how.kind == NB_NOCORE), NB_EINVAL,
               "core=%s with factors=%s: '%s' are the factors without a middle, whose core is the identity alone",
               how.core->component->name, nb_factors_names[how.kind], nb_factors_names[NB_NOCORE]);
    NB_REQUIRE(ctx, how.refresh == 1 || !how.keep_place || !nb_landmark_looks_at_s(&how), NB_EINVAL,
               "core=%s looks at S with new landmarks, so it cannot be had with keep=tokens and refresh above 1",
               how.core->component->name);
    return NB_OK;
}

nb_status nb_landmark_refusal(const void *options, const nb_layer_shape *shape, const char **why, nb_ctx *ctx)
{
    nb_landmark_how how = nb_landmark_how_of(options, shape->n);
    *why = NULL;
    if (how.m > shape->n) NB_NEED(*why, nb_format(ctx, "%d landmarks of %d tokens", how.m, shape->n));
    return NB_OK;
}
