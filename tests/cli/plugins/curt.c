/* SPDX-License-Identifier: GPL-3.0-or-later */
/* curt.c - a strategy, a core and an attention that print to standard output, or fail without a word, for
 * tests/cli/isolation.bats. */
#include "attentions/attention.h"
#include "cores/core.h"
#include "strategy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int fails, leaves;
} curt_options;

static const char *const references[] = {"none: made to fail", NULL};
static const nb_option options[] = {NB_BOOL(curt_options, fails, "false", "fail, and do not say why"),
                                    NB_BOOL(curt_options, leaves, "false", "end the program"), NB_OPTION_END};

static nb_status act(const curt_options *o)
{
    printf("a word in between\n");
    if (o->leaves) exit(0);
    return o->fails ? NB_ENUMERIC : NB_OK;
}

static nb_status pick(const nb_points *points, int m, const void *opts, nb_picks *picks, nb_ctx *ctx)
{
    int *tokens;
    (void)points;
    NB_NEED(tokens, nb_picks_tokens(picks, m));
    for (int j = 0; j < m; j++) tokens[j] = j;
    (void)ctx;
    return act(opts);
}

static nb_status compute(nb_factors *factors, const void *opts, double *x, nb_ctx *ctx)
{
    size_t m = (size_t)nb_factors_m(factors);
    (void)ctx;
    memset(x, 0, m * m * sizeof *x);
    return act(opts);
}

static nb_status open_quietly(const void *opts, const nb_layer_shape *shape, int threads, void **state, nb_ctx *ctx)
{
    (void)opts, (void)shape, (void)threads, (void)state, (void)ctx;
    return NB_OK;
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    const nb_layer_shape *s = &pass->layer->shape;
    (void)ctx;
    memset(pass->out, 0, (size_t)nb_layer_heads(s) * (size_t)s->n * (size_t)s->dv * sizeof *pass->out);
    return act(opts);
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *shape, int threads)
{
    (void)opts, (void)shape, (void)threads;
    return (nb_attention_cost){.bytes = 0};
}

static const nb_strategy curt = {
    .component = {"curt", "the first tokens", references, options, sizeof(curt_options)},
    .pairing = NB_JOINT,
    .pick = pick,
};

static const nb_core curt_core = {
    .component = {"curt_core", "zeros", references, options, sizeof(curt_options)},
    .compute = compute,
};

static const nb_attention curt_attention = {
    .component = {"curt_attention", "zeros", references, options, sizeof(curt_options)},
    .cost = cost,
    .open = open_quietly,
    .forward = forward,
};

NB_PLUGIN({"strategy", &curt.component}, {"core", &curt_core.component}, {"attention", &curt_attention.component});
