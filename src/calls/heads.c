/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heads.c - a problem's own head, then the permutation. */
#include "calls/heads.h"

#include "calls/called.h"
#include "calls/early.h"
#include "components/plugin.h"

#include <gsl/gsl_randist.h>
#include <string.h>

static bool permuted(const nb_choice *problem)
{
    for (const nb_option *o = problem->component->options; o->key; o++)
        if (o->reorders) return *(const int *)((const char *)problem->options + o->offset);
    return false;
}

typedef struct {
    const nb_choice *problem;
    nb_problem_shape shape;
} question;

static nb_status ask_shape(void *self, nb_ctx *ctx)
{
    question *q = self;
    return ((const nb_problem *)q->problem->component)->shape(q->problem->options, &q->shape, ctx);
}

nb_status nb_heads_shape(const nb_choice *problem, nb_problem_shape *shape, nb_ctx *ctx)
{
    question q = {.problem = problem};
    NB_TRY(ctx, nb_ask_early(ask_shape, &q, &q.shape, sizeof q.shape, problem, "calling its shape", ctx));
    *shape = q.shape;
    if (nb_plugin_within(problem)) { /* texts of the child's */
        shape->origins = (nb_head_origins){.model = NULL};
        if (shape->keyless) shape->keyless = "it has no keys";
        if (shape->valueless) shape->valueless = "it has no values";
    }
    NB_REQUIRE(
        ctx, !shape->causal || !permuted(problem), NB_EINVAL,
        "%s: permute = true needs a head without a causal mask, which depends on the order of the tokens (causal = "
        "false removes it)",
        problem->label);
    return NB_OK;
}

/* x (d x n) <- its columns in another order. */
static nb_status reorder(const int *order, int d, int n, double **x, nb_ctx *ctx)
{
    double *out;
    size_t length = (size_t)d;
    NB_NEED(out, nb_alloc_raw(ctx, length * (size_t)n));
    for (size_t i = 0; i < (size_t)n; i++)
        memcpy(out + i * length, *x + (size_t)order[i] * length, length * sizeof *out);
    *x = out;
    return NB_OK;
}

static nb_status permute(nb_head *h, gsl_rng *rng, nb_ctx *ctx)
{
    int *order;
    NB_NEED(order, nb_alloc(ctx, (size_t)h->n, sizeof *order));
    for (int i = 0; i < h->n; i++) order[i] = i;
    gsl_ran_shuffle(rng, order, (size_t)h->n, sizeof *order);
    NB_TRY(ctx, reorder(order, h->d, h->n, &h->q, ctx));
    if (h->k) NB_TRY(ctx, reorder(order, h->d, h->n, &h->k, ctx));
    return h->v ? reorder(order, h->dv, h->n, &h->v, ctx) : NB_OK;
}

nb_status nb_heads_make(const nb_choice *problem, int index, nb_stream stream, gsl_rng *rng, nb_head *head, nb_ctx *ctx)
{
    const nb_problem *p = (const nb_problem *)problem->component;
    const nb_component *caller;
    NB_TRY(ctx, nb_choice_drawn(problem, &stream.component, ctx));
    NB_TRY(ctx, nb_called_begin(problem, &caller, ctx));
    stream.role = "problem";
    nb_random_seed(rng, &stream);
    nb_ctx_set_rng(ctx, rng);
    nb_status status = p->make(problem->options, index, head, ctx);
    status = nb_called_end(caller, problem, status, ctx);
    nb_ctx_set_rng(ctx, NULL);
    NB_TRY(ctx, status);
    if (!permuted(problem)) return NB_OK;
    stream.role = "permute"; /* of all heads of a layer alike: they are of the same tokens */
    stream.m = 0;
    if (!p->random) stream.trial = 0;
    nb_random_seed(rng, &stream);
    return permute(head, rng, ctx);
}
