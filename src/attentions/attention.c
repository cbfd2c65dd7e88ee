/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attention.c - one pass, counted and timed. */
#include "attentions/attention.h"

#include "base/clock.h"
#include "base/machine.h"
#include "calls/called.h"
#include "calls/early.h"
#include "components/component_facts.h"
#include "cores/core.h"
#include "strategies/strategy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const nb_attention *record_of(const nb_choice *attention)
{
    return (const nb_attention *)attention->component;
}

/* A shape and a number of threads, which an attention's functions are told. */
enum { NUMBERS = 9 };
typedef struct {
    int of[NUMBERS];
} question;

static question pack(const nb_layer_shape *s, int threads)
{
    return (question){{s->batch, s->heads, s->key_heads, s->n, s->d, s->dv, s->causal, s->guide, threads}};
}

static nb_layer_shape unpack(const question *q)
{
    const int *x = q->of;
    return (nb_layer_shape){.batch = x[0],
                            .heads = x[1],
                            .key_heads = x[2],
                            .n = x[3],
                            .d = x[4],
                            .dv = x[5],
                            .causal = x[6],
                            .guide = x[7]};
}

static void tell_traits(const nb_choice *of, const void *q, void *answer)
{
    (void)q;
    *(unsigned *)answer = record_of(of)->traits_of(of->options);
}

unsigned nb_attention_traits(const nb_choice *attention)
{
    unsigned traits = record_of(attention)->traits;
    if (record_of(attention)->traits_of)
        nb_ask_fact(attention, "traits_of", tell_traits, NULL, 0, &traits, sizeof traits);
    return traits;
}

static void tell_size(const nb_choice *of, const void *q, void *answer)
{
    const nb_layer_shape shape = unpack(q);
    *(int *)answer = record_of(of)->size_of(of->options, &shape);
}

int nb_attention_size(const nb_choice *attention, const nb_layer_shape *shape)
{
    const nb_attention *a = record_of(attention);
    const question asked = pack(shape, 0);
    int size = 0;
    if (a->size_of) nb_ask_fact(attention, "size_of", tell_size, &asked, sizeof asked, &size, sizeof size);
    for (const nb_option *o = a->component.options; !a->size_of && a->size && o->key; o++)
        if (strcmp(o->key, a->size) == 0) return *(const int *)((const char *)attention->options + o->offset);
    return size;
}

static void tell_passes_per_choice(const nb_choice *of, const void *q, void *answer)
{
    (void)q;
    *(int *)answer = record_of(of)->passes_per_choice(of->options);
}

int nb_attention_passes_per_choice(const nb_choice *attention)
{
    int passes = 1;
    if (record_of(attention)->passes_per_choice)
        nb_ask_fact(attention, "passes_per_choice", tell_passes_per_choice, NULL, 0, &passes, sizeof passes);
    return passes;
}

static void tell_cost(const nb_choice *of, const void *q, void *answer)
{
    const nb_layer_shape shape = unpack(q);
    *(nb_attention_cost *)answer = record_of(of)->cost(of->options, &shape, ((const question *)q)->of[NUMBERS - 1]);
}

nb_attention_cost nb_attention_cost_of(const nb_choice *attention, const nb_layer_shape *shape, int threads)
{
    const question asked = pack(shape, threads);
    nb_attention_cost cost = {.multiplications = NAN};
    nb_ask_fact(attention, "cost", tell_cost, &asked, sizeof asked, &cost, sizeof cost);
    return cost;
}

/* All that is asked before anything runs; what depends on a layer, of a small one. */
static nb_status ask(void *choice, nb_ctx *ctx)
{
    const nb_choice *c = choice;
    const nb_attention *a = record_of(c);
    const nb_layer_shape small = {.batch = 1, .heads = 1, .key_heads = 1, .n = 64, .d = 8, .dv = 8};
    const char *why;
    if (a->check) NB_TRY(ctx, a->check(c->options, ctx));
    NB_REQUIRE(ctx, !a->traits_of || !(a->traits_of(c->options) & ~(unsigned)NB_ATTENTION_TRAITS), NB_EINVAL,
               "its traits_of gives traits out of NB_ATTENTION_TRAITS");
    if (a->passes_per_choice) a->passes_per_choice(c->options);
    if (a->size_of) a->size_of(c->options, &small);
    why = NULL;
    if (a->refusal) NB_TRY(ctx, a->refusal(c->options, &small, &why, ctx));
    if (!why) a->cost(c->options, &small, 1);
    return NB_OK;
}

nb_status nb_attention_check(const nb_choice *attention, nb_ctx *ctx)
{
    const nb_attention *a = record_of(attention);
    nb_choice copy = *attention;
    if (!nb_plugin_of(attention->component)) return a->check ? a->check(attention->options, ctx) : NB_OK;
    return nb_ask_early(ask, &copy, NULL, 0, attention,
                        "calling its check, traits_of, passes_per_choice, size_of, refusal or cost", ctx);
}

unsigned long nb_attention_seed(gsl_rng *rng, nb_stream stream)
{
    stream.role = "attention";
    nb_random_seed(rng, &stream);
    return gsl_rng_get(rng);
}

static nb_status is_ready(void *choice, nb_ctx *ctx)
{
    const nb_choice *c = choice;
    return record_of(c)->ready ? record_of(c)->ready(c->options, ctx) : NB_OK;
}

/* Components that its options name are made ready before it. */
nb_status nb_attention_ready(const nb_choice *attention, nb_ctx *ctx)
{
    nb_choice copy = *attention;
    for (const nb_option *o = attention->component->options; o && o->key; o++) {
        if (o->type != NB_OPTION_SPEC) continue;
        const nb_choice *inner = *(const nb_choice *const *)((const char *)attention->options + o->offset);
        if (o->registry == &nb_strategies) NB_TRY(ctx, nb_strategy_ready(inner, ctx));
        if (o->registry == &nb_cores) NB_TRY(ctx, nb_core_ready(inner, ctx));
        if (o->registry == &nb_attentions) NB_TRY(ctx, nb_attention_ready(inner, ctx));
    }
    return nb_ask_early(is_ready, &copy, NULL, 0, attention, "calling its ready", ctx);
}

typedef struct {
    nb_status status;
    bool refuses;
    char text[512]; /* why it refuses, or the message of an error */
} told_refusal;

static void tell_refusal(const nb_choice *of, const void *q, void *answer)
{
    const nb_layer_shape shape = unpack(q);
    const char *why = NULL;
    told_refusal *told = answer;
    nb_ctx *ctx = nb_ctx_new();
    *told = (told_refusal){.status = NB_ENOMEM, .text = "out of memory: a refusal"};
    if (!ctx) return;
    told->status = record_of(of)->refusal(of->options, &shape, &why, ctx);
    told->refuses = told->status == NB_OK && why;
    snprintf(told->text, sizeof told->text, "%s", why ? why : nb_error_message(ctx));
    nb_ctx_free(ctx);
}

static nb_status ask_refusal(const nb_choice *attention, const nb_layer_shape *shape, const char **why, nb_ctx *ctx)
{
    const question asked = pack(shape, 0);
    told_refusal told = {.status = NB_OK};
    NB_REQUIRE(ctx, nb_ask_fact(attention, "refusal", tell_refusal, &asked, sizeof asked, &told, sizeof told), NB_EIO,
               "%s: its refusal did not return", attention->label);
    told.text[sizeof told.text - 1] = '\0';
    NB_REQUIRE(ctx, told.status == NB_OK, told.status, "%s", told.text);
    if (told.refuses) NB_NEED(*why, nb_strdup(ctx, told.text));
    return NB_OK;
}

/* `own`: this process may call the function of a plug-in. */
static nb_status find_refusal(const nb_choice *attention, const nb_layer_shape *shape, bool own, const char **why,
                              nb_ctx *ctx)
{
    const nb_attention *a = record_of(attention);
    *why = NULL;
    unsigned traits = nb_attention_traits(attention);
    if (shape->causal && !(traits & NB_ATTENTION_CAUSAL)) {
        *why = traits & NB_ATTENTION_ELSEWHERE
                   ? "it has no causal form, and the layer is causal: a program that keeps to the mask says "
                     "causal=true, a function that does names the parameter `causal`"
                   : "it has no causal form: what stands for the rest is made of all tokens, later ones too";
        return NB_OK;
    }
    if (!a->refusal) return NB_OK;
    return own || !nb_plugin_of(attention->component) ? a->refusal(attention->options, shape, why, ctx)
                                                      : ask_refusal(attention, shape, why, ctx);
}

nb_status nb_attention_refusal(const nb_choice *attention, const nb_layer_shape *shape, const char **why, nb_ctx *ctx)
{
    return find_refusal(attention, shape, false, why, ctx);
}

nb_status nb_attention_open(const nb_choice *attention, const nb_layer_shape *shape, nb_team *team, nb_stream stream,
                            nb_attending *out, nb_ctx *ctx)
{
    const nb_attention *a = record_of(attention);
    const nb_component *caller;
    const char *why;
    int threads = nb_team_threads(team);
    NB_TRY(ctx, nb_layer_check(shape, ctx));
    NB_TRY(ctx, nb_plugin_open(attention, ctx));
    NB_TRY(ctx, find_refusal(attention, shape, true, &why, ctx));
    NB_REQUIRE(ctx, !why, NB_EINVAL, "%s: %s", attention->label, why);
    double bytes = a->cost(attention->options, shape, threads).bytes, room = nb_available_memory();
    NB_REQUIRE(ctx, !(bytes > room), NB_ENOMEM,
               "%s needs %.3g GB of workspace for %d heads of n = %d, and %.3g GB are to be had", attention->label,
               1e-9 * bytes, nb_layer_heads(shape), shape->n, 1e-9 * room);
    *out = (nb_attending){.attention = attention, .shape = *shape, .team = team, .stream = stream};
    out->stream.component = attention->canonical;
    size_t before = nb_ctx_held(ctx);
    NB_TRY(ctx, nb_called_begin(attention, &caller, ctx));
    nb_status status = a->open(attention->options, shape, threads, &out->state, ctx);
    NB_TRY(ctx, nb_called_end(caller, attention, status, ctx));
    out->bytes = (double)(nb_ctx_held(ctx) - before);
    return NB_OK;
}

/* Bytes that the pass's contexts hold. */
static double watch(const nb_team *team, nb_ctx *ctx)
{
    double held = (double)nb_ctx_held(ctx);
    nb_ctx_watch(ctx);
    for (int i = 0; i < nb_team_threads(team); i++) {
        held += (double)nb_ctx_held(nb_team_ctx(team, i));
        nb_ctx_watch(nb_team_ctx(team, i));
    }
    return held;
}

/* The most of each, since then. */
static double most(const nb_team *team, const nb_ctx *ctx)
{
    double bytes = (double)nb_ctx_most(ctx);
    for (int i = 0; i < nb_team_threads(team); i++) bytes += (double)nb_ctx_most(nb_team_ctx(team, i));
    return bytes;
}

/* The tokens of the layer, `first` of the shape's already taken. */
static nb_status attend(nb_attending *a, const nb_layer *layer, int first, nb_scalar *out, nb_passed *passed,
                        nb_ctx *ctx)
{
    nb_pass pass = {.layer = layer,
                    .out = out,
                    .shape = &a->shape,
                    .first = first,
                    .index = a->passes,
                    .team = a->team,
                    .state = a->state,
                    .stream = a->stream};
    nb_mark mark = nb_ctx_mark(ctx);
    const nb_component *caller;
    NB_TRY(ctx, nb_called_begin(a->attention, &caller, ctx));
    double held = watch(a->team, ctx);
    uint64_t done = nb_multiplications();
    double start_s = pass.last_s = nb_clock_s();
    nb_status status = record_of(a->attention)->forward(&pass, a->attention->options, ctx);
    bool timed = pass.clock == NB_CLOCK_CALL || pass.clock == NB_CLOCK_OWN;
    passed->seconds = timed ? pass.seconds : nb_clock_s() - start_s;
    passed->clock = pass.clock;
    passed->device = pass.device;
    memcpy(passed->part_s, pass.part_s, sizeof pass.part_s);
    passed->multiplications = (double)(nb_multiplications() - done);
    passed->bytes = a->bytes + most(a->team, ctx) - held;
    passed->refusal = pass.refusal;
    passed->diverged = pass.diverged;
    nb_ctx_release(ctx, mark);
    return nb_called_end(caller, a->attention, status, ctx);
}

nb_status nb_attention_forward(nb_attending *a, const nb_layer *layer, nb_scalar *out, nb_passed *passed, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, nb_layer_same(&layer->shape, &a->shape), NB_EDIM, "%s was opened for layers of another shape",
               a->attention->label);
    nb_status status = attend(a, layer, 0, out, passed, ctx);
    a->tokens = 0;
    a->passes++;
    return status;
}

nb_status nb_attention_extend(nb_attending *a, const nb_layer *layer, nb_scalar *out, nb_passed *passed, nb_ctx *ctx)
{
    nb_layer_shape shape = layer->shape;
    shape.n = a->shape.n;
    NB_REQUIRE(ctx, nb_attention_traits(a->attention) & NB_ATTENTION_STEPS, NB_EINVAL,
               "%s takes all tokens at once, not piece by piece", a->attention->label);
    NB_REQUIRE(ctx, nb_layer_same(&shape, &a->shape), NB_EDIM, "%s was opened for layers of another shape",
               a->attention->label);
    NB_REQUIRE(ctx, layer->shape.n >= 1 && layer->shape.n <= shape.n - a->tokens, NB_EDIM,
               "%s was opened for %d tokens, of which %d are taken: %d more are not possible", a->attention->label,
               shape.n, a->tokens, layer->shape.n);
    NB_TRY(ctx, attend(a, layer, a->tokens, out, passed, ctx));
    a->tokens += layer->shape.n;
    return NB_OK;
}

void nb_attention_restart(nb_attending *a)
{
    a->passes = a->tokens = 0;
}

const size_t nb_attention_texts[] = {offsetof(nb_attention, size), offsetof(nb_attention, explanation), 0};

const char *nb_attention_lacks(const nb_component *component)
{
    const nb_attention *a = (const nb_attention *)component;
    if (a->traits & ~(unsigned)NB_ATTENTION_TRAITS) return "has traits that are unknown";
    if (!a->open || !a->forward) return "has no open or no forward";
    return a->cost ? NULL : "has no cost";
}
