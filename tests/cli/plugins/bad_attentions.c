/* bad_attentions.c - attentions that break one promise each, for tests/cli/plugins.bats. */
#include "attentions/attention.h"

#include <math.h>
#include <stdlib.h>

static const char *const references[] = {"none: made to fail", NULL};
static const nb_option options[] = {NB_OPTION_END};

static size_t size_of(const nb_layer_shape *s)
{
    return (size_t)nb_layer_heads(s) * (size_t)s->n * (size_t)s->dv;
}

static nb_status open(const void *o, const nb_layer_shape *s, int threads, void **state, nb_ctx *ctx)
{
    (void)o, (void)s, (void)threads;
    NB_NEED(*state, nb_alloc(ctx, 1, 64));
    return NB_OK;
}

/* Every output is the sum of v's first values up to its token; what follows may spoil it. */
static void add_up(const nb_pass *pass)
{
    const nb_layer_shape *s = &pass->layer->shape;
    for (int h = 0; h < nb_layer_heads(s); h++) {
        nb_layer_head head = nb_layer_head_of(pass->layer, pass->out, h);
        nb_scalar sum = 0;
        for (int i = 0; i < s->n; i++) {
            sum += head.v[i * s->dv];
            for (int l = 0; l < s->dv; l++) head.out[i * s->dv + l] = sum;
        }
    }
    nb_count_multiplications((double)size_of(s));
}

#define ATTENTION(symbol, traits_, open_, bytes_, multiplications_, ...) \
    static nb_status forward_##symbol(nb_pass *p, const void *o, nb_ctx *ctx) \
    { \
        (void)o, (void)ctx; \
        add_up(p); \
        __VA_ARGS__; \
        return NB_OK; \
    } \
    static nb_attention_cost cost_##symbol(const void *o, const nb_layer_shape *s, int threads) \
    { \
        (void)o, (void)threads; \
        return (nb_attention_cost){.bytes = bytes_, .multiplications = (multiplications_) * (double)size_of(s)}; \
    } \
    static const nb_attention attention_##symbol = { \
        .component = {#symbol, "breaks a promise", references, options, 0}, \
        .traits = traits_, \
        .cost = cost_##symbol, \
        .open = open_, \
        .forward = forward_##symbol};

static nb_status allocate(nb_ctx *ctx)
{
    NB_REQUIRE(ctx, nb_alloc(ctx, 3, 3), NB_EINVAL, "something else");
    return NB_OK;
}

ATTENTION(not_finite, NB_ATTENTION_CAUSAL, open, 64, 1, p->out[1] = NAN)
ATTENTION(repeats_not, 0, open, 64, 1, static int calls; p->out[0] = (nb_scalar)calls++)
ATTENTION(by_threads, 0, open, 64, 1, p->out[0] = (nb_scalar)nb_team_threads(p->team))
ATTENTION(writes_q, 0, open, 64, 1, ((nb_scalar *)p->layer->q)[0] += 1)
ATTENTION(writes_last, 0, open, 64, 1, ((nb_scalar *)p->layer->v)[size_of(&p->layer->shape) - 1] += 1)
ATTENTION(holds_more, 0, open, 60, 1, )
ATTENTION(does_less, 0, open, 64, 2, )
ATTENTION(no_mask, NB_ATTENTION_CAUSAL, open, 64, 1,
          p->out[0] = p->layer->k[(p->layer->shape.n - 1) * p->layer->shape.d])
ATTENTION(draws, 0, open, 64, 1, p->out[0] = (nb_scalar)p->stream.trial)
ATTENTION(swallows, 0, open, 64, 1, NB_TRY(ctx, allocate(ctx)))
ATTENTION(crashes, 0, open, 64, 1, if (p->layer->shape.n == 7) abort())
ATTENTION(refuses, 0, open, 64, 1, p->refusal = "it wants to")
ATTENTION(diverges, 0, open, 64, 1, p->out[0] = NAN; p->diverged = "it goes too far")

NB_PLUGIN({"attention", &attention_not_finite.component}, {"attention", &attention_repeats_not.component},
          {"attention", &attention_by_threads.component}, {"attention", &attention_writes_q.component},
          {"attention", &attention_writes_last.component}, {"attention", &attention_holds_more.component},
          {"attention", &attention_does_less.component}, {"attention", &attention_no_mask.component},
          {"attention", &attention_draws.component}, {"attention", &attention_swallows.component},
          {"attention", &attention_crashes.component}, {"attention", &attention_refuses.component},
          {"attention", &attention_diverges.component});
