/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fragile.c - an attention that copies V, and fails as it is told, for tests/cli/forward.bats. */
#include "attentions/attention.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    int ends, from, keep;
} fragile_options;

enum { NEVER, ABORTS, FAILS, NANS, REFUSES, MOVES, FAULTS };
static const char *const ends[] = {"never", "aborts", "fails", "nans", "refuses", "moves", "faults", NULL};

static const nb_option options[] = {NB_ENUM(fragile_options, ends, "never", ends, "how a pass ends"),
                                    NB_INT(fragile_options, from, "0", 0, 1000000, "from which pass of a state on"),
                                    NB_INT(fragile_options, keep, "1", 1, 1000, "passes that one choice serves"),
                                    NB_OPTION_END};

static nb_attention_cost cost(const void *opts, const nb_layer_shape *shape, int threads)
{
    (void)opts, (void)shape, (void)threads;
    return (nb_attention_cost){.multiplications = 0, .bytes = 0};
}

static nb_status open(const void *opts, const nb_layer_shape *shape, int threads, void **state, nb_ctx *ctx)
{
    (void)opts, (void)shape, (void)threads, (void)ctx;
    *state = NULL;
    return NB_OK;
}

static int passes_per_choice(const void *opts)
{
    return ((const fragile_options *)opts)->keep;
}

/* In another thread than the first, which waits for that. */
static void fault(void *self, int task, int thread)
{
    (void)self, (void)task;
    if (thread == 0) pause();
    *(volatile int *)8 = 1;
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    const fragile_options *o = opts;
    const nb_layer_shape *s = &pass->layer->shape;
    int how = pass->index >= o->from ? o->ends : NEVER;
    for (int h = 0; h < nb_layer_heads(s); h++) {
        nb_layer_head head = nb_layer_head_of(pass->layer, pass->out, h);
        memcpy(head.out, head.v, (size_t)s->dv * (size_t)s->n * sizeof *head.out);
    }
    if (pass->index % o->keep == 0) /* some milliseconds more */
        for (volatile int i = 0; o->keep > 1 && i < 10000000; i++) continue;
    if (how == ABORTS) abort();
    if (how == FAULTS) nb_team_run(pass->team, 2, fault, NULL);
    if (how == MOVES) *(nb_scalar *)pass->layer->q += 1;
    if (how == NANS) pass->out[0] = NAN;
    if (how == REFUSES) pass->refusal = "it does not like these points";
    NB_REQUIRE(ctx, how != FAILS, NB_ENUMERIC, "the pass with index %d failed", pass->index);
    nb_pass_part(pass, NB_PART_OUTPUT);
    return NB_OK;
}

static const char *const references[] = {"none: made to fail", NULL};

static const nb_attention nb_attention_fragile = {
    .component = {"fragile", "V itself, until it fails", references, options, sizeof(fragile_options)},
    .traits = NB_ATTENTION_CAUSAL,
    .passes_per_choice = passes_per_choice,
    .cost = cost,
    .open = open,
    .forward = forward,
};

NB_PLUGIN({"attention", &nb_attention_fragile.component});
