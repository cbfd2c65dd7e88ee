/* idle.c - attentions for tests/cli/suite.bats: one counts no multiplications, one has outputs that are not finite, one
 * looks ahead under a mask, one returns something else each time. And the first tokens as strategies: one says that its
 * work is square, one says nothing. */
#include "attentions/attention.h"
#include "strategies/strategy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const references[] = {"none: made to be refused", NULL};
static const nb_option options[] = {NB_OPTION_END};

static nb_attention_cost cost(const void *o, const nb_layer_shape *s, int threads)
{
    (void)o, (void)s, (void)threads;
    return (nb_attention_cost){.bytes = NAN, .multiplications = NAN};
}

static nb_status open(const void *o, const nb_layer_shape *s, int threads, void **state, nb_ctx *ctx)
{
    (void)o, (void)s, (void)threads;
    NB_NEED(*state, nb_alloc(ctx, 1, 64));
    return NB_OK;
}

#define ATTENTION(symbol, spoil) \
    static nb_status forward_##symbol(nb_pass *p, const void *o, nb_ctx *ctx) \
    { \
        const nb_layer_shape *s = p->shape; \
        size_t size = (size_t)nb_layer_heads(s) * (size_t)s->n * (size_t)s->dv; \
        (void)o, (void)ctx; \
        memcpy(p->out, p->layer->v, size * sizeof *p->out); \
        nb_count_multiplications((double)size); \
        spoil; \
        return NB_OK; \
    } \
    static const nb_attention attention_##symbol = { \
        .component = {#symbol, "breaks a promise", references, options, 0}, \
        .traits = NB_ATTENTION_CAUSAL, \
        .cost = cost, \
        .open = open, \
        .forward = forward_##symbol};

ATTENTION(good, )
ATTENTION(idle, nb_count_multiplications(-(double)size))
ATTENTION(not_finite, p->out[1] = NAN)
/* Its outputs are finite on the first heads of the tiny list, and not on those of its third file. */
ATTENTION(later, if (p->layer->v[0] > 0) p->out[1] = NAN)
ATTENTION(looks_ahead, p->out[0] = p->layer->k[(s->n - 1) * s->d])
ATTENTION(crashes, abort())
ATTENTION(changes, static int calls; p->out[0] = (nb_scalar)calls++)

static nb_status pick(const nb_points *points, int m, const void *o, nb_picks *picks, nb_ctx *ctx)
{
    int *tokens;
    (void)points, (void)o;
    NB_NEED(tokens, nb_picks_tokens(picks, m));
    for (int j = 0; j < m; j++) tokens[j] = j;
    return NB_OK;
}

static double square(const void *o, int n, int d, int m)
{
    (void)o, (void)m;
    return (double)n * n * d;
}

static const nb_strategy first = {
    .component = {"first", "the first tokens", references, options, 0}, .pairing = NB_JOINT, .pick = pick};
static const nb_strategy all_pairs = {.component = {"all_pairs", "the first tokens", references, options, 0},
                                      .pairing = NB_JOINT,
                                      .pick = pick,
                                      .multiplications = square};

NB_PLUGIN({"strategy", &first.component}, {"strategy", &all_pairs.component}, {"attention", &attention_good.component},
          {"attention", &attention_idle.component}, {"attention", &attention_not_finite.component},
          {"attention", &attention_looks_ahead.component}, {"attention", &attention_changes.component},
          {"attention", &attention_crashes.component}, {"attention", &attention_later.component});
