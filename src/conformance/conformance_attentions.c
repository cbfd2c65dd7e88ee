/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conformance_attentions.c - the checks of attentions, on layers of two heads: the head, and the head with its tokens
 * in reverse. */
#include "attentions/attention.h"
#include "base/digest.h"
#include "components/plugin.h"
#include "conformance/conformance.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

/* x's columns in reverse. */
static nb_status reversed(int d, int n, const double *x, double **out, nb_ctx *ctx)
{
    size_t length = (size_t)d;
    NB_NEED(*out, nb_alloc_raw(ctx, length * (size_t)n));
    for (size_t i = 0; i < (size_t)n; i++)
        memcpy(*out + i * length, x + ((size_t)n - 1 - i) * length, length * sizeof *x);
    return NB_OK;
}

/* masked: under a mask, whatever the head says. */
static nb_status make_heads(const nb_trial_run *run, bool masked, nb_head heads[2], nb_ctx *ctx)
{
    const nb_head *h = run->head;
    heads[0] = heads[1] = *h;
    heads[0].causal = heads[1].causal = h->causal || masked;
    NB_TRY(ctx, reversed(h->d, h->n, h->q, &heads[1].q, ctx));
    NB_TRY(ctx, reversed(h->d, h->n, h->k, &heads[1].k, ctx));
    if (h->v) NB_TRY(ctx, reversed(h->dv, h->n, h->v, &heads[1].v, ctx));
    return NB_OK;
}

static nb_status make_layer(const nb_trial_run *run, bool masked, nb_layer *layer, nb_ctx *ctx)
{
    nb_head heads[2];
    NB_TRY(ctx, make_heads(run, masked, heads, ctx));
    return nb_layer_of_heads(2, heads, layer, ctx);
}

static size_t size_of(const nb_layer_shape *s)
{
    return (size_t)nb_layer_heads(s) * (size_t)s->n * (size_t)s->dv;
}

static uint64_t sum_of(const nb_layer *layer)
{
    const nb_layer_shape *s = &layer->shape;
    size_t points = (size_t)s->batch * (size_t)s->n, key_points = points * (size_t)s->key_heads;
    uint64_t sum = nb_checksum(layer->q, points * (size_t)(s->heads * s->d) * sizeof(nb_scalar), 0);
    sum = nb_checksum(layer->k, key_points * (size_t)s->d * sizeof(nb_scalar), sum);
    return nb_checksum(layer->v, key_points * (size_t)s->dv * sizeof(nb_scalar), sum);
}

typedef struct {
    nb_scalar *out; /* NULL: it was refused */
    nb_attending attending;
    nb_passed passed;
} result;

/* The first pass. */
static nb_status attend(nb_trial_run *run, const nb_layer *layer, int threads, int trial, result *r, nb_ctx *ctx)
{
    nb_team *team;
    const char *why;
    r->out = NULL;
    run->told.calls++;
    const nb_attention *a = (const nb_attention *)run->choice->component;
    nb_status checked = a->check ? a->check(run->choice->options, ctx) : NB_OK;
    if (checked == NB_EINVAL) nb_error_clear(ctx); /* options that do not go together */
    if (checked != NB_OK) return checked == NB_EINVAL ? NB_OK : checked;
    NB_TRY(ctx, nb_attention_refusal(run->choice, &layer->shape, &why, ctx));
    if (why) return NB_OK;
    nb_scalar *out;
    NB_NEED(out, nb_alloc_scalars(ctx, size_of(&layer->shape)));
    for (size_t i = 0; i < size_of(&layer->shape); i++) out[i] = NAN;
    NB_TRY(ctx, nb_team_new(threads, &team, ctx));
    NB_TRY(ctx, nb_attention_open(run->choice, &layer->shape, team, (nb_stream){.seed = 1, .trial = trial},
                                  &r->attending, ctx));
    NB_TRY(ctx, nb_attention_forward(&r->attending, layer, out, &r->passed, ctx));
    if (!r->passed.refusal) r->out = out;
    return NB_OK;
}

/* A check makes a layer, and first passes over it. */
typedef struct {
    nb_trial_run *run;
    nb_layer layer;
    uint64_t input; /* checksum of the layer, before */
    int threads;    /* of `one`, in the check of costs */
    result one, again, more;
} bench;

static nb_status open_bench(nb_trial_run *run, bool masked, bench *b, nb_ctx *ctx)
{
    *b = (bench){.run = run};
    NB_TRY(ctx, make_layer(run, masked, &b->layer, ctx));
    b->input = sum_of(&b->layer);
    return NB_OK;
}

static bool same_outputs(const bench *b, const result *other)
{
    return other->out && memcmp(b->one.out, other->out, size_of(&b->layer.shape) * sizeof(nb_scalar)) == 0;
}

static bool has_outputs(const void *self)
{
    return ((const bench *)self)->one.out;
}

static nb_status input_untouched(const void *self, double tolerance, nb_ctx *ctx)
{
    const bench *b = self;
    (void)tolerance;
    NB_REQUIRE(ctx, sum_of(&b->layer) == b->input, NB_EBUG, "it changed its input");
    return NB_OK;
}

static nb_status repeatable(const void *self, double tolerance, nb_ctx *ctx)
{
    const bench *b = self;
    (void)tolerance;
    NB_REQUIRE(ctx, same_outputs(b, &b->again), NB_EBUG, "other outputs for the same seed");
    NB_REQUIRE(ctx, same_outputs(b, &b->more), NB_EBUG, "other outputs with two threads");
    return NB_OK;
}

static nb_status all_finite(const void *self, double tolerance, nb_ctx *ctx)
{
    const bench *b = self;
    const char *where;
    (void)tolerance;
    if (b->one.passed.diverged) return NB_OK;
    NB_TRY(ctx, nb_layer_find_odd(&b->layer.shape, b->one.out, &where, ctx));
    NB_REQUIRE(ctx, !where, NB_EBUG, "outputs are not finite: %s", where);
    return NB_OK;
}

static nb_status check_output(nb_trial_run *run, nb_ctx *ctx)
{
    bench b;
    NB_TRY(ctx, open_bench(run, false, &b, ctx));
    NB_TRY(ctx, attend(run, &b.layer, 1, 0, &b.one, ctx));
    NB_TRY(ctx, attend(run, &b.layer, 1, 0, &b.again, ctx));
    NB_TRY(ctx, attend(run, &b.layer, 2, 0, &b.more, ctx));
    return nb_properties_hold(nb_attention_properties, "output", &b, ctx);
}

static nb_status as_predicted(const void *self, double tolerance, nb_ctx *ctx)
{
    const bench *b = self;
    nb_attention_cost cost = nb_attention_cost_of(b->run->choice, &b->layer.shape, b->threads);
    (void)tolerance;
    NB_REQUIRE(ctx, isnan(cost.bytes) || cost.bytes == b->one.attending.bytes, NB_EBUG,
               "it says that %.0f bytes are allocated with %d threads, and %.0f are", cost.bytes, b->threads,
               b->one.attending.bytes);
    NB_REQUIRE(ctx, !(cost.multiplications > b->one.passed.multiplications), NB_EBUG,
               "it says that a pass has %.0f multiplications, and %.0f were counted", cost.multiplications,
               b->one.passed.multiplications);
    return NB_OK;
}

static nb_status check_cost(nb_trial_run *run, nb_ctx *ctx)
{
    bench b;
    NB_TRY(ctx, open_bench(run, false, &b, ctx));
    for (b.threads = 1; b.threads <= 2; b.threads++) {
        NB_TRY(ctx, attend(run, &b.layer, b.threads, 0, &b.one, ctx));
        if (!b.one.out) return NB_OK;
        NB_TRY(ctx, nb_properties_hold(nb_attention_properties, "cost", &b, ctx));
    }
    return NB_OK;
}

/* The head with other tokens from `cut` on. */
static nb_status change_from(int cut, nb_head *head, nb_ctx *ctx)
{
    size_t all = (size_t)head->n * (size_t)head->d, values = head->v ? (size_t)head->n * (size_t)head->dv : 0;
    double *x;
    NB_NEED(x, nb_alloc_raw(ctx, 2 * all + values));
    memcpy(x, head->q, all * sizeof *x);
    memcpy(x + all, head->k, all * sizeof *x);
    if (values) memcpy(x + 2 * all, head->v, values * sizeof *x);
    for (size_t l = (size_t)cut * (size_t)head->d; l < all; l++) {
        x[l] = 2 - x[l];
        x[all + l] = 1 - x[all + l];
    }
    for (size_t l = (size_t)cut * (size_t)head->dv; l < values; l++) x[2 * all + l] = 3 - x[2 * all + l];
    head->q = x;
    head->k = x + all;
    if (values) head->v = x + 2 * all;
    return NB_OK;
}

/* Refuses outputs that differ before token `cut`, by more than `tolerance` or, if that is 0, at all. */
static nb_status same_before(int cut, const nb_layer_shape *s, double tolerance, const nb_scalar *one,
                             const nb_scalar *two, nb_ctx *ctx)
{
    for (int h = 0; h < s->heads; h++)
        for (int i = 0; i < cut * s->dv; i++) {
            size_t at = (size_t)h * (size_t)s->n * (size_t)s->dv + (size_t)i;
            double a = (double)one[at], b = (double)two[at];
            bool same = tolerance > 0 ? fabs(a - b) <= tolerance * fmax(1, fabs(a)) : a == b;
            NB_REQUIRE(ctx, same, NB_EBUG,
                       "it looks ahead under a causal mask: other tokens from number %d on change the output of token "
                       "%d in head %d from %.6g to %.6g",
                       cut, i / s->dv, h, a, b);
        }
    return NB_OK;
}

enum { WIDE_HEADS = 12, WIDE_TOKENS = 1024, WIDE_D = 16 };

/* Random heads with other tokens from `cut` on than with another cut. */
static nb_status make_wide(int cut, nb_layer *layer, nb_ctx *ctx)
{
    nb_scalar *x[3];
    gsl_rng *rng;
    *layer = (nb_layer){.problem = ""};
    layer->shape = (nb_layer_shape){.batch = 1,
                                    .heads = WIDE_HEADS,
                                    .key_heads = WIDE_HEADS,
                                    .n = WIDE_TOKENS,
                                    .d = WIDE_D,
                                    .dv = WIDE_D,
                                    .causal = true};
    NB_TRY(ctx, nb_layer_allocate(layer, &x[0], &x[1], &x[2], ctx));
    NB_TRY(ctx, nb_random_new(&rng, ctx));
    nb_random_seed(rng, &(nb_stream){.seed = 1, .role = "conformance", .component = "many tokens"});
    for (int i = 0; i < 3; i++)
        for (int at = 0; at < WIDE_HEADS * WIDE_TOKENS * WIDE_D; at++) {
            double value = gsl_ran_gaussian(rng, 1);
            x[i][at] = (nb_scalar)(at / WIDE_D % WIDE_TOKENS < cut ? value : i + 1 - value);
        }
    return NB_OK;
}

static bool is_wide(const void *self)
{
    const bench *b = self;
    const nb_choice *c = b->run->choice; /* in the tree, tests know more of it */
    bool outside = nb_plugin_of(c->component) || nb_attention_traits(c) & NB_ATTENTION_ELSEWHERE;
    return b->one.out && outside && b->run->head->causal;
}

/* Many tokens and heads: what looks ahead may do so in few of them. */
static nb_status wide_blind_ahead(const void *self, double tolerance, nb_ctx *ctx)
{
    const int cuts[] = {1, 100, WIDE_TOKENS / 2, 1000, WIDE_TOKENS - 1};
    nb_trial_run *run = ((const bench *)self)->run;
    nb_layer layer;
    result one, two;
    snprintf(run->told.place, sizeof run->told.place, "%d heads of %d tokens", WIDE_HEADS, WIDE_TOKENS);
    NB_TRY(ctx, make_wide(WIDE_TOKENS, &layer, ctx));
    NB_TRY(ctx, attend(run, &layer, 1, 0, &one, ctx));
    for (int i = 0; i < 5 && one.out; i++) {
        nb_mark mark = nb_ctx_mark(ctx);
        NB_TRY(ctx, make_wide(cuts[i], &layer, ctx));
        NB_TRY(ctx, attend(run, &layer, 1, 0, &two, ctx));
        if (two.out) NB_TRY(ctx, same_before(cuts[i], &layer.shape, tolerance, one.out, two.out, ctx));
        nb_ctx_release(ctx, mark);
    }
    *run->told.place = '\0';
    return NB_OK;
}

/* Other tokens from a cut on change no earlier output. */
static nb_status blind_ahead(const void *self, double tolerance, nb_ctx *ctx)
{
    const bench *b = self;
    int n = b->run->head->n;
    const int cuts[] = {1, n / 2, n - 1};
    nb_head changed[2];
    nb_layer other;
    result two;
    (void)tolerance;
    for (int i = 0; i < 3; i++) {
        NB_TRY(ctx, make_heads(b->run, true, changed, ctx));
        for (int h = 0; h < 2; h++) NB_TRY(ctx, change_from(cuts[i], &changed[h], ctx));
        NB_TRY(ctx, nb_layer_of_heads(2, changed, &other, ctx));
        NB_TRY(ctx, attend(b->run, &other, 1, 0, &two, ctx));
        if (two.out) NB_TRY(ctx, same_before(cuts[i], &b->layer.shape, 0, b->one.out, two.out, ctx));
    }
    return NB_OK;
}

/* An attention with a causal form reads no later token. */
static nb_status check_causal(nb_trial_run *run, nb_ctx *ctx)
{
    bench b;
    const char *why;
    unsigned traits = nb_attention_traits(run->choice);
    NB_TRY(ctx, open_bench(run, true, &b, ctx));
    NB_TRY(ctx, nb_attention_refusal(run->choice, &b.layer.shape, &why, ctx));
    NB_REQUIRE(ctx, traits & NB_ATTENTION_CAUSAL || why, NB_EBUG, "it has no causal form, and accepts a causal layer");
    if (why || run->head->n < 2 || traits & NB_ATTENTION_FORESEES) return NB_OK;
    NB_TRY(ctx, attend(run, &b.layer, 1, 0, &b.one, ctx));
    return nb_properties_hold(nb_attention_properties, "causal", &b, ctx);
}

/* A pass in pieces, one token at a time at first and at the end, gives the bits of one pass. */
static nb_status same_in_pieces(const void *self, double tolerance, nb_ctx *ctx)
{
    const bench *b = self;
    const nb_layer_shape *s = &b->layer.shape;
    size_t n = (size_t)s->n, d = (size_t)s->d, dv = (size_t)s->dv;
    nb_scalar *q, *k, *v, *out;
    nb_layer piece = b->layer;
    nb_attending attending = b->one.attending;
    nb_passed passed;
    (void)tolerance;
    NB_NEED(out, nb_alloc_scalars(ctx, 2 * n * dv));
    NB_TRY(ctx, nb_layer_allocate(&piece, &q, &k, &v, ctx));
    for (size_t at = 0, count; at < n; at += count) {
        count = at < 3 || at + 40 >= n ? 1 : n - at - 40;
        piece.shape.n = (int)count;
        for (size_t h = 0; h < 2; h++) {
            memcpy(q + h * count * d, b->layer.q + (h * n + at) * d, count * d * sizeof *q);
            memcpy(k + h * count * d, b->layer.k + (h * n + at) * d, count * d * sizeof *k);
            memcpy(v + h * count * dv, b->layer.v + (h * n + at) * dv, count * dv * sizeof *v);
        }
        NB_TRY(ctx, nb_attention_extend(&attending, &piece, out, &passed, ctx));
        for (size_t h = 0; h < 2; h++)
            NB_REQUIRE(ctx, memcmp(out + h * count * dv, b->one.out + (h * n + at) * dv, count * dv * sizeof *out) == 0,
                       NB_EBUG, "%zu tokens after the first %zu have other outputs than in one pass", count, at);
    }
    return NB_OK;
}

static nb_status check_steps(nb_trial_run *run, nb_ctx *ctx)
{
    bench b;
    NB_TRY(ctx, open_bench(run, true, &b, ctx));
    if (!(nb_attention_traits(run->choice) & NB_ATTENTION_STEPS)) return NB_OK;
    NB_TRY(ctx, attend(run, &b.layer, 1, 0, &b.one, ctx));
    return nb_properties_hold(nb_attention_properties, "steps", &b, ctx);
}

static nb_status same_in_trials(const void *self, double tolerance, nb_ctx *ctx)
{
    const bench *b = self;
    (void)tolerance;
    NB_REQUIRE(ctx, same_outputs(b, &b->again), NB_EBUG,
               "it is not declared random, and gives other outputs in another trial");
    return NB_OK;
}

static nb_status check_random(nb_trial_run *run, nb_ctx *ctx)
{
    bench b;
    NB_TRY(ctx, open_bench(run, false, &b, ctx));
    if (nb_attention_traits(run->choice) & NB_ATTENTION_RANDOM) return NB_OK; /* another draw may be the same */
    NB_TRY(ctx, attend(run, &b.layer, 1, 0, &b.one, ctx));
    NB_TRY(ctx, attend(run, &b.layer, 1, 1, &b.again, ctx));
    return nb_properties_hold(nb_attention_properties, "random", &b, ctx);
}

const nb_property nb_attention_properties[] = {
    {"output", "input untouched", input_untouched, NULL, 0, NULL},
    {"output", "the same again, and with two threads", repeatable, has_outputs, 0, NULL},
    {"output", "finite", all_finite, has_outputs, 0, NULL},
    {"output", "other memory untouched", nb_memory_untouched, has_outputs, 0, NULL},
    {"cost", "bytes and multiplications as predicted", as_predicted, NULL, 0, NULL},
    {"causal", "no earlier output changes with a later token", blind_ahead, has_outputs, 0, NULL},
    {"causal", "nor in any of many heads and tokens", wide_blind_ahead, is_wide, 1e-3,
     "a program may round otherwise than the time before"},
    {"steps", "the same in pieces", same_in_pieces, has_outputs, 0, NULL},
    {"random", "the same in another trial", same_in_trials, has_outputs, 0, NULL},
    {.name = NULL}};

static nb_status try_pass(void *self, nb_ctx *ctx)
{
    nb_trial_run *run = self;
    nb_layer layer;
    result r;
    NB_TRY(ctx, make_layer(run, false, &layer, ctx));
    return attend(run, &layer, 1, 0, &r, ctx);
}

static nb_status check_memory(nb_trial_run *run, nb_ctx *ctx)
{
    enum { SMALL = 30 };
    return run->head->n < SMALL ? nb_check_allocations(NULL, try_pass, run, ctx) : NB_OK;
}

static const char *no_cost(const nb_choice *attention)
{
    bool elsewhere = nb_attention_traits(attention) & NB_ATTENTION_ELSEWHERE;
    return elsewhere ? "nothing to check: it predicts neither memory nor multiplications" : NULL;
}

static const char *no_mask(const nb_choice *attention)
{
    unsigned traits = nb_attention_traits(attention);
    return !(traits & NB_ATTENTION_CAUSAL)  ? "nothing to check: it has no causal form"
           : traits & NB_ATTENTION_FORESEES ? "nothing to check: it is declared to look ahead"
                                            : NULL;
}

static const char *no_steps(const nb_choice *attention)
{
    bool steps = nb_attention_traits(attention) & NB_ATTENTION_STEPS;
    return steps ? NULL : "nothing to check: it does not take tokens piece by piece";
}

static const char *no_repeat(const nb_choice *attention)
{
    bool is_random = nb_attention_traits(attention) & NB_ATTENTION_RANDOM;
    return is_random ? "nothing to check: it is declared random" : NULL;
}

const nb_check nb_attention_checks[] = {
    {"output", "finite, repeatable on two threads, input untouched", check_output, NULL},
    {"cost", "memory and multiplications as predicted", check_cost, no_cost},
    {"causal", "under a mask nothing depends on a later token", check_causal, no_mask},
    {"steps", "piece by piece has the bits of one pass", check_steps, no_steps},
    {"random", "the same in all trials, as declared", check_random, no_repeat},
    {"memory", "nothing leaks when an allocation fails", check_memory, NULL},
    {.name = NULL}};
