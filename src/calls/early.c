/* SPDX-License-Identifier: GPL-3.0-or-later */
/* early.c - check, ready, points, and what tells of options, such as traits and costs. */
#include "calls/early.h"

#include "base/apart.h"
#include "components/plugin.h"
#include "components/registry.h"
#include "cores/core.h"
#include "kernels/kernel.h"
#include "strategies/strategy.h"

typedef struct {
    const nb_choice *of;
    nb_status (*act)(void *self, nb_ctx *ctx);
    void *self;
} asked;

static nb_status open_and_act(void *self, nb_ctx *ctx)
{
    const asked *a = self;
    NB_TRY(ctx, nb_plugin_open(a->of, ctx));
    return a->act(a->self, ctx);
}

nb_status nb_ask_early(nb_status (*act)(void *self, nb_ctx *ctx), void *self, void *answer, size_t bytes,
                       const nb_choice *of, const char *what, nb_ctx *ctx)
{
    const char *reason;
    if (!nb_plugin_within(of)) return act(self, ctx);
    nb_status status = nb_apart(open_and_act, &(asked){of, act, self}, nb_ctx_patience(ctx), answer, bytes, ctx);
    if (status != NB_EBUG) return status;
    NB_NEED(reason, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    NB_FAIL(ctx, status, "%s: %s: %s: %s", nb_plugin_within(of), of->label, what, reason);
}

/* A small head stands for what traits and costs depend on. */
enum { N = 64, D = 8, M = 8 };

static bool has_strategy(const nb_choice *c, const nb_choice *strategy)
{
    for (const nb_option *o = c->component->options; o && o->key; o++)
        if (o->type == NB_OPTION_SPEC && o->registry == &nb_strategies &&
            *(const nb_choice *const *)((const char *)c->options + o->offset) == strategy)
            return true;
    return false;
}

static nb_status check_strategy(void *choice, nb_ctx *ctx)
{
    const nb_choice *c = choice;
    const nb_strategy *s = (const nb_strategy *)c->component;
    if (s->check) NB_TRY(ctx, s->check(c->options, ctx));
    NB_REQUIRE(ctx, !s->traits_of || !(s->traits_of(c->options) & ~(unsigned)NB_STRATEGY_TRAITS), NB_EINVAL,
               "its traits_of gives traits out of NB_STRATEGY_TRAITS");
    if (s->within)
        NB_REQUIRE(ctx, has_strategy(c, s->within(c->options).strategy), NB_EINVAL,
                   "its within names no strategy of its options");
    if (s->multiplications) s->multiplications(c->options, N, D, M);
    return NB_OK;
}

static nb_status is_strategy_ready(void *choice, nb_ctx *ctx)
{
    const nb_choice *c = choice;
    const nb_strategy *s = (const nb_strategy *)c->component;
    return s->ready ? s->ready(c->options, ctx) : NB_OK;
}

/* The traits that a plug-in may have: NB_CORE_IDENTITY is the program's own identity's, which has no traits_of. */
static nb_status check_core(void *choice, nb_ctx *ctx)
{
    const nb_choice *c = choice;
    const nb_core *core = (const nb_core *)c->component;
    NB_REQUIRE(ctx, !core->traits_of || !(core->traits_of(c->options) & ~(unsigned)NB_CORE_TRAITS), NB_EINVAL,
               "its traits_of gives traits out of NB_CORE_TRAITS");
    if (core->cost) core->cost(c->options, N, M);
    return NB_OK;
}

static nb_status is_core_ready(void *choice, nb_ctx *ctx)
{
    const nb_choice *c = choice;
    const nb_core *core = (const nb_core *)c->component;
    return core->ready ? core->ready(c->options, ctx) : NB_OK;
}

/* Components of the same kind within its options come first. */
static nb_status ask(nb_status (*act)(void *choice, nb_ctx *ctx), const char *what, const nb_registry *registry,
                     const nb_choice *component, nb_ctx *ctx)
{
    nb_choice copy = *component;
    for (const nb_option *o = component->component->options; o && o->key; o++) {
        if (o->type != NB_OPTION_SPEC || o->registry != registry) continue;
        const nb_choice *inner = *(const nb_choice *const *)((const char *)component->options + o->offset);
        NB_TRY(ctx, ask(act, what, registry, inner, ctx));
    }
    return nb_ask_early(act, &copy, NULL, 0, component, what, ctx);
}

nb_status nb_strategy_check(const nb_choice *strategy, nb_ctx *ctx)
{
    return ask(check_strategy, "calling its check, traits_of, within or multiplications", &nb_strategies, strategy,
               ctx);
}

nb_status nb_strategy_ready(const nb_choice *strategy, nb_ctx *ctx)
{
    return ask(is_strategy_ready, "calling its ready", &nb_strategies, strategy, ctx);
}

nb_status nb_core_check(const nb_choice *core, nb_ctx *ctx)
{
    return ask(check_core, "calling its traits_of or cost", &nb_cores, core, ctx);
}

nb_status nb_core_ready(const nb_choice *core, nb_ctx *ctx)
{
    return ask(is_core_ready, "calling its ready", &nb_cores, core, ctx);
}

typedef struct {
    const nb_choice *kernel;
    bool needs;
} keys_question;

/* Asks for the points of a head of queries alone. */
static nb_status ask_points(void *self, nb_ctx *ctx)
{
    keys_question *q = self;
    double query = 0;
    const nb_head head = {.n = 1, .d = 1, .q = &query};
    (void)ctx;
    q->needs = !((const nb_kernel *)q->kernel->component)->points(&head, q->kernel->options);
    return NB_OK;
}

nb_status nb_kernel_needs_keys(const nb_choice *kernel, bool *needs, nb_ctx *ctx)
{
    keys_question q = {.kernel = kernel, .needs = true};
    if (((const nb_kernel *)kernel->component)->points)
        NB_TRY(ctx, nb_ask_early(ask_points, &q, &q, sizeof q, kernel, "calling its points", ctx));
    *needs = q.needs;
    return NB_OK;
}
