/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conformance.c - the checks of strategies, each with its options on one head, and what
 * all kinds of components share. */
#include "conformance/conformance.h"

#include "attentions/attention.h"
#include "base/apart.h"
#include "base/builder.h"
#include "base/digest.h"
#include "calls/dividing.h"
#include "calls/early.h"
#include "components/plugin.h"
#include "components/row.h"
#include "nystrom/make_scene.h"

#include <ctype.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { LARGE = 100 }; /* tokens from which two random picks of 9 are never the same */

typedef struct {
    nb_trial_run *run;
    nb_scene *scene;
    gsl_rng *rng;
} bench;

static nb_status open_bench(nb_trial_run *run, bench *b, nb_ctx *ctx)
{
    *b = (bench){.run = run};
    NB_TRY(ctx, nb_scene_new(run->head, run->kernel, &b->scene, ctx));
    return nb_random_new(&b->rng, ctx);
}

static nb_status pick(const bench *b, int m, nb_pairing pairing, int trial, nb_landmarks *out, nb_ctx *ctx)
{
    const nb_choice *strategy = b->run->choice;
    nb_stream stream = {.seed = 5, .trial = trial, .component = strategy->canonical};
    b->run->told.calls++;
    return nb_landmarks_pick(&(nb_picking){b->scene, strategy, m, pairing, stream, b->rng}, out, ctx);
}

/* True if the strategy has the pairing, and does not refuse it. */
static bool has(const nb_trial_run *run, nb_pairing pairing)
{
    return nb_strategy_has(run->choice, pairing) && !run->refused.why[pairing];
}

/* Its own, or else the first that it has. */
static nb_pairing pairing_of(const nb_trial_run *run)
{
    nb_pairing own = nb_strategy_pairing(run->choice), other = NB_INDEPENDENT;
    while (other < NB_BOTH && !has(run, other)) other++;
    return has(run, own) ? own : other;
}

static bool same(const nb_picks *a, const nb_picks *b)
{
    if (a->kind != b->kind || a->m != b->m) return false;
    if (a->kind == NB_TOKENS) return memcmp(a->tokens, b->tokens, (size_t)a->m * sizeof(int)) == 0;
    if (a->kind == NB_GROUPS) return memcmp(a->groups, b->groups, (size_t)a->n * sizeof(int)) == 0;
    return memcmp(a->points, b->points, (size_t)a->d * (size_t)a->m * sizeof(double)) == 0;
}

/* Describes where the picks of one side first differ; NULL: nowhere, or memory is out. */
static const char *difference(const nb_picks *a, const nb_picks *b, nb_ctx *ctx)
{
    static const char *const kinds[] = {[NB_TOKENS] = "tokens", [NB_GROUPS] = "groups", [NB_POINTS] = "points"};
    size_t d = (size_t)a->d;
    if (a->kind != b->kind) return nb_format(ctx, "%s, and then %s", kinds[a->kind], kinds[b->kind]);
    for (int j = 0; a->kind == NB_TOKENS && j < a->m; j++)
        if (a->tokens[j] != b->tokens[j])
            return nb_format(ctx, "landmark %d is token %d, and then token %d", j, a->tokens[j], b->tokens[j]);
    for (int i = 0; a->kind == NB_GROUPS && i < a->n; i++)
        if (a->groups[i] != b->groups[i])
            return nb_format(ctx, "token %d is in group %d, and then in group %d", i, a->groups[i], b->groups[i]);
    for (size_t j = 0; a->kind == NB_POINTS && j < (size_t)a->m; j++)
        if (memcmp(a->points + j * d, b->points + j * d, d * sizeof(double)) != 0)
            return nb_format(ctx, "landmark %zu is one point, and then another", j);
    return NULL;
}

static nb_status check_repeated(const nb_landmarks *once, const nb_landmarks *again, nb_ctx *ctx)
{
    bool of_queries = !same(&once->queries, &again->queries);
    const char *text;
    if (!of_queries && same(&once->keys, &again->keys)) return NB_OK;
    NB_NEED(text,
            of_queries ? difference(&once->queries, &again->queries, ctx) : difference(&once->keys, &again->keys, ctx));
    NB_FAIL(ctx, NB_EBUG, "the same seed gave other landmarks: of the %s, %s", of_queries ? "queries" : "keys", text);
}

uint64_t nb_conformance_sum(const nb_head *h)
{
    size_t points = (size_t)h->n * (size_t)h->d * sizeof *h->q;
    uint64_t sum = nb_checksum(h->q, points, 0);
    if (h->k) sum = nb_checksum(h->k, points, sum);
    return h->v ? nb_checksum(h->v, (size_t)h->n * (size_t)h->dv * sizeof *h->v, sum) : sum;
}

/* Computes a checksum of all points that a strategy sees. */
static nb_status input(const bench *b, uint64_t *sum, nb_ctx *ctx)
{
    const nb_head *h = b->run->head;
    const double *stacked, *united;
    size_t bytes = 2 * (size_t)h->n * (size_t)h->d * sizeof *stacked;
    NB_TRY(ctx, nb_scene_stacked(b->scene, &stacked, ctx));
    NB_TRY(ctx, nb_scene_united(b->scene, &united, ctx));
    *sum = nb_checksum(united, bytes, nb_checksum(stacked, bytes, nb_conformance_sum(h)));
    return NB_OK;
}

static nb_status check_one(const bench *b, int m, nb_pairing pairing, nb_picks_kind *kind, nb_ctx *ctx)
{
    nb_landmarks once, again;
    uint64_t before, after;
    NB_TRY(ctx, input(b, &before, ctx));
    NB_TRY(ctx, pick(b, m, pairing, 0, &once, ctx));
    *kind = once.queries.kind;
    if (once.refusal) {
        NB_REQUIRE(ctx, strlen(once.refusal) > 10, NB_EBUG, "its refusal is not a sentence: '%s'", once.refusal);
        return NB_OK;
    }
    NB_TRY(ctx, nb_picks_check(&once.queries, b->run->head->n, m, ctx));
    NB_TRY(ctx, nb_picks_check(&once.keys, b->run->head->n, m, ctx));
    NB_REQUIRE(ctx, once.select_s >= 0, NB_EBUG, "it took %g s", once.select_s);
    NB_TRY(ctx, pick(b, m, pairing, 0, &again, ctx));
    NB_TRY(ctx, check_repeated(&once, &again, ctx));
    NB_REQUIRE(ctx, nb_real_same(once.multiplications, again.multiplications), NB_EBUG, /* NaN: not counted */
               "%.17g multiplications, and then %.17g, for the same picks", once.multiplications,
               again.multiplications);
    NB_TRY(ctx, input(b, &after, ctx));
    NB_REQUIRE(ctx, before == after, NB_EBUG, "it changed its input");
    NB_REQUIRE(ctx, !nb_ctx_overrun(ctx), NB_EBUG, "it wrote beyond the end of memory from nb_alloc, or of its picks");
    return NB_OK;
}

nb_status nb_conformance_at(nb_status status, int m, const char *axis, const char *value, nb_ctx *ctx)
{
    const char *message;
    if (status == NB_OK || status == NB_ENOMEM) return status;
    NB_NEED(message, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    NB_FAIL(ctx, status, "m = %d, %s %s: %s", m, axis, value, message);
}

const char *nb_conformance_cause(const char *message)
{
    const char *end = strncmp(message, "m = ", 4) == 0 ? strstr(message, ": ") : NULL;
    return end ? end + 2 : message;
}

static nb_status refuses(const bench *b, int m, nb_ctx *ctx)
{
    nb_landmarks landmarks;
    NB_REQUIRE(ctx, pick(b, m, nb_strategy_pairing(b->run->choice), 0, &landmarks, ctx) == NB_EINVAL, NB_EBUG,
               "%d landmarks were not refused", m);
    nb_error_clear(ctx);
    return NB_OK;
}

/* Free points of one side have no token, whose other half would be the other side's landmark. */
static bool serves_points(nb_pairing pairing)
{
    return pairing != NB_QUERIES && pairing != NB_KEYS;
}

static nb_status check_picks(nb_trial_run *run, nb_ctx *ctx)
{
    bench b;
    nb_picks_kind kind = NB_NO_PICKS; /* of the pairing before, `independent` at first, which takes any */
    int n = run->head->n, sizes[] = {1, n / 3, n / 2, n - 1, n};
    NB_TRY(ctx, open_bench(run, &b, ctx));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int p = 0; p < NB_PAIRING_COUNT; p++)
            if (sizes[i] >= 1 && has(run, (nb_pairing)p) && (kind != NB_POINTS || serves_points((nb_pairing)p)))
                NB_TRY(ctx, nb_conformance_at(check_one(&b, sizes[i], (nb_pairing)p, &kind, ctx), sizes[i], "pairing",
                                              nb_pairing_names[p], ctx));
    NB_TRY(ctx, refuses(&b, 0, ctx));
    return refuses(&b, n + 1, ctx);
}

/* The picks and the time for m, from those for n and by themselves. */
static nb_status check_first(const nb_landmarks *all, const nb_landmarks *some, int m, nb_ctx *ctx)
{
    nb_landmarks first = nb_landmarks_first(all, m);
    NB_REQUIRE(ctx, some->queries.kind == NB_TOKENS && all->selected_s, NB_EBUG,
               "nested, but without nb_picks_begin and nb_picks_add");
    NB_REQUIRE(ctx, same(&some->queries, &first.queries) && same(&some->keys, &first.keys), NB_EBUG,
               "nested, but the first %d picks depend on how many there are", m);
    NB_REQUIRE(ctx, !some->note == !first.note, NB_EBUG,
               "nested, but the note for %d picks depends on how many there are", m);
    /* the clock ticks in ns */
    NB_REQUIRE(ctx, first.select_s > 0 && first.select_s <= all->select_s + 1e-9, NB_EBUG,
               "%d picks took %g s, all %g s", m, first.select_s, all->select_s);
    double alone = nb_landmarks_first(some, m).multiplications;
    NB_REQUIRE(ctx, nb_real_same(first.multiplications, alone), NB_EBUG,
               "nested, but the first %d of %d picks took %.17g multiplications, %d alone %.17g", m, all->queries.m,
               first.multiplications, m, alone);
    NB_REQUIRE(ctx, m < 2 || first.select_s >= all->selected_s[m - 2], NB_EBUG, "%d picks took less time than %d", m,
               m - 1);
    return NB_OK;
}

static nb_status check_nested(nb_trial_run *run, nb_ctx *ctx)
{
    bench b;
    nb_landmarks all, some;
    nb_pairing pairing = pairing_of(run);
    if (!(nb_strategy_traits(run->choice) & NB_NESTED)) return NB_OK;
    NB_TRY(ctx, open_bench(run, &b, ctx));
    NB_TRY(ctx, pick(&b, run->head->n, pairing, 0, &all, ctx));
    for (int m = 1; m <= run->head->n && !all.refusal; m += 1 + m / 2) {
        NB_TRY(ctx, pick(&b, m, pairing, 0, &some, ctx));
        if (!some.refusal) NB_TRY(ctx, check_first(&all, &some, m, ctx));
    }
    return NB_OK;
}

/* Who looks at nothing picks the same where there are no points. */
static nb_status check_blind(const bench *b, const nb_landmarks *picked, nb_pairing pairing, nb_ctx *ctx)
{
    nb_landmarks blind;
    bench blank = *b;
    NB_TRY(ctx, nb_scene_new_blank(b->run->head->n, b->run->head->d, b->run->kernel, &blank.scene, ctx));
    NB_TRY(ctx, pick(&blank, picked->queries.m, pairing, 0, &blind, ctx));
    NB_REQUIRE(ctx, !blind.refusal && same(&picked->queries, &blind.queries) && same(&picked->keys, &blind.keys),
               NB_EBUG, "it declares NB_BLIND, but picks others where there are no points");
    return NB_OK;
}

nb_status nb_check_draws(nb_draws d, nb_ctx *ctx)
{
    const char *trait = d.by_option ? "deterministic=true" : d.trait;
    NB_REQUIRE(ctx, !d.random || !d.same, NB_EBUG, "it is declared random, but %s in another trial: %s %s, or draw%s",
               d.same_text, d.by_option ? "add" : "drop", trait, d.by_option ? " from the seed" : "");
    NB_REQUIRE(ctx, d.random || d.same, NB_EBUG, "it is declared not random, but %s in another trial: %s %s%s",
               d.other_text, d.by_option ? "drop" : "add", trait, d.by_option ? "" : " to its traits");
    return NB_OK;
}

static nb_status check_traits(nb_trial_run *run, nb_ctx *ctx)
{
    bench b;
    nb_landmarks one, two;
    nb_pairing pairing = has(run, NB_INDEPENDENT) ? NB_INDEPENDENT : NB_BOTH;
    NB_REQUIRE(ctx, nb_strategy_has(run->choice, nb_strategy_pairing(run->choice)), NB_EBUG,
               "it lacks the function for its own pairing");
    if (run->head->n < LARGE) return NB_OK;
    NB_TRY(ctx, open_bench(run, &b, ctx));
    NB_TRY(ctx, pick(&b, 9, pairing, 0, &one, ctx));
    NB_TRY(ctx, pick(&b, 9, pairing, 1, &two, ctx));
    if (one.refusal || two.refusal) return NB_OK;
    unsigned traits = nb_strategy_traits(run->choice);
    NB_TRY(ctx, nb_check_draws((nb_draws){.random = traits & NB_RANDOM,
                                          .by_option = traits & NB_ELSEWHERE && !nb_plugin_of(run->choice->component),
                                          .same = same(&one.queries, &two.queries),
                                          .trait = "NB_RANDOM",
                                          .same_text = "picks the same",
                                          .other_text = "picks others"},
                               ctx));
    return traits & NB_BLIND ? check_blind(&b, &one, pairing, ctx) : NB_OK;
}

nb_status nb_check_allocations(nb_status (*prepare)(void *self, nb_ctx *ctx), nb_status (*act)(void *self, nb_ctx *ctx),
                               void *self, nb_ctx *ctx)
{
    enum { MOST = 10000 };
    for (long k = 1;; k++) {
        nb_mark mark = nb_ctx_mark(ctx);
        NB_REQUIRE(ctx, k < MOST, NB_EBUG, "more than %d allocations", MOST);
        if (prepare) NB_TRY(ctx, prepare(self, ctx));
        nb_ctx_fail_alloc(ctx, k);
        nb_status status = act(self, ctx);
        bool failed = nb_ctx_fail_alloc(ctx, 0) == 0;
        nb_ctx_release(ctx, mark);
        nb_error_clear(ctx);
        if (!failed) return NB_OK;
        NB_REQUIRE(ctx, status == NB_OK || status == NB_ENOMEM, NB_EBUG,
                   "allocation %ld failed, and it reported '%s', expected '%s'", k, nb_status_name(status),
                   nb_status_name(NB_ENOMEM));
        NB_REQUIRE(ctx, nb_ctx_blocks(ctx) == mark, NB_EBUG, "allocation %ld failed, and %zu blocks are left", k,
                   nb_ctx_blocks(ctx) - mark);
    }
}

static nb_status prepare_pick(void *self, nb_ctx *ctx)
{
    return open_bench(((bench *)self)->run, self, ctx);
}

static nb_status try_pick(void *self, nb_ctx *ctx)
{
    const bench *b = self;
    nb_landmarks landmarks;
    return pick(b, b->run->head->n > 4 ? 4 : b->run->head->n, pairing_of(b->run), 0, &landmarks, ctx);
}

static nb_status check_memory(nb_trial_run *run, nb_ctx *ctx)
{
    enum { SMALL = 50 };
    return run->head->n < SMALL ? nb_check_allocations(prepare_pick, try_pick, &(bench){.run = run}, ctx) : NB_OK;
}

nb_status nb_check_early(const nb_choice *choice, const nb_registry *registry, nb_ctx *ctx)
{
    if (registry == &nb_strategies) NB_TRY(ctx, nb_strategy_check(choice, ctx));
    if (registry == &nb_cores) NB_TRY(ctx, nb_core_check(choice, ctx));
    return registry == &nb_strategies   ? nb_strategy_ready(choice, ctx)
           : registry == &nb_cores      ? nb_core_ready(choice, ctx)
           : registry == &nb_partitions ? nb_partition_check(choice, ctx)
           : registry == &nb_attentions ? nb_attention_check(choice, ctx)
                                        : NB_OK;
}

nb_status nb_memory_untouched(const void *self, double tolerance, nb_ctx *ctx)
{
    (void)self, (void)tolerance;
    NB_REQUIRE(ctx, !nb_ctx_overrun(ctx), NB_EBUG, "it wrote beyond the end of memory from nb_alloc");
    return NB_OK;
}

nb_status nb_properties_hold(const nb_property *properties, const char *check, const void *self, nb_ctx *ctx)
{
    for (const nb_property *p = properties; p->name; p++)
        if (strcmp(p->check, check) == 0 && (!p->applies || p->applies(self)))
            NB_TRY(ctx, p->holds(self, p->tolerance, ctx));
    return NB_OK;
}

const nb_check *nb_checks_of(const nb_registry *registry)
{
    static const nb_check none[] = {{.name = NULL}}; /* of a kind that has its record alone */
    return registry == &nb_problems     ? nb_problem_checks
           : registry == &nb_kernels    ? nb_kernel_checks
           : registry == &nb_cores      ? nb_core_checks
           : registry == &nb_strategies ? nb_strategy_checks
           : registry == &nb_partitions ? nb_partition_checks
           : registry == &nb_attentions ? nb_attention_checks
                                        : none;
}

typedef struct {
    const nb_check *check;
    nb_trial_run *run;
} attempt;

static nb_status open_and_check(void *self, nb_ctx *ctx)
{
    const attempt *a = self;
    NB_TRY(ctx, nb_plugin_open(a->run->choice, ctx));
    return a->check->run(a->run, ctx);
}

nb_status nb_check_apart(const nb_check *check, nb_trial_run *run, double limit_s, nb_ctx *ctx)
{
    attempt a = {check, run};
    return nb_apart(open_and_check, &a, limit_s, &run->told, sizeof run->told, ctx);
}

bool nb_checks_need_heads(const nb_registry *registry)
{
    return registry != &nb_problems;
}

const nb_check nb_strategy_checks[] = {
    {"picks", "valid at every m, repeatable, input untouched", check_picks, NULL},
    {"nested", "if declared nested: the first m landmarks are the same, however many are asked for", check_nested,
     NULL},
    {"traits", "random or deterministic, as declared", check_traits, NULL},
    {"memory", "nothing leaks when an allocation fails", check_memory, NULL},
    {.name = NULL}};

typedef enum { NORMAL, ZERO, REPEATED, LINE, MASKED, HUGE_NORMS } pattern;

static const struct {
    const char *name;
    int n, d;
    pattern pattern;
} heads[] = {{"1 token", 1, 1, NORMAL},
             {"2 tokens", 2, 3, NORMAL},
             {"7 tokens", 7, 4, NORMAL},
             {"64 tokens", 64, 8, NORMAL},
             {"130 tokens", 130, 5, NORMAL},
             {"12 points, all zero", 12, 3, ZERO},
             {"24 points, of 3 kinds", 24, 4, REPEATED},
             {"20 points on a line", 20, 3, LINE},
             {"33 tokens under a mask", 33, 6, MASKED},
             {"28 tokens of huge norms", 28, 4, HUGE_NORMS}};

static void fill(gsl_rng *rng, int n, int d, pattern p, double *x)
{
    for (int i = 0; i < n; i++)
        for (int l = 0; l < d; l++) {
            double *entry = x + (size_t)i * (size_t)d + (size_t)l;
            *entry = p == ZERO ? 0 : 2.385 * gsl_ran_gaussian_ziggurat(rng, 1);
            if (p == HUGE_NORMS) *entry *= 1e3; /* the exponential of a score overflows */
            if (p == REPEATED && i >= 3) *entry = entry[-3 * d];
            if (p == LINE && l > 0) *entry = entry[-1] / 3;
        }
}

nb_status nb_conformance_head(int index, const char **name, nb_head *head, nb_ctx *ctx)
{
    gsl_rng *rng;
    *name = NULL;
    if (index >= (int)(sizeof heads / sizeof *heads)) return NB_OK;
    NB_TRY(ctx, nb_random_new(&rng, ctx));
    nb_random_seed(rng, &(nb_stream){.seed = 1, .role = "conformance", .component = heads[index].name});
    NB_TRY(ctx, nb_head_new(heads[index].n, heads[index].d, head, ctx));
    fill(rng, head->n, head->d, heads[index].pattern, head->q);
    fill(rng, head->n, head->d, heads[index].pattern, head->k);
    if (head->v) fill(rng, head->n, head->dv, heads[index].pattern, head->v);
    head->causal = heads[index].pattern == MASKED;
    *name = heads[index].name;
    return NB_OK;
}

static nb_status check_option(const nb_registry *registry, const nb_component *c, const nb_option *o, const char *given,
                              nb_ctx *ctx)
{
    nb_choice choice;
    const char *bad, *text, *printed;
    NB_REQUIRE(ctx, o->help && strlen(o->help) > 3, NB_EBUG, "option '%s' has no help", o->key);
    for (const char *k = o->key; *k; k++)
        NB_REQUIRE(ctx, islower((unsigned char)*k) || *k == '_' || isdigit((unsigned char)*k), NB_EBUG,
                   "option '%s': allowed are a-z, 0-9 and '_'", o->key);
    if (o->type == NB_OPTION_STRING || o->type == NB_OPTION_SPEC || o->of_caller) return NB_OK;
    NB_REQUIRE(ctx, o->initial, NB_EBUG, "option '%s' has no default", o->key);
    bool number = o->type == NB_OPTION_INT || o->type == NB_OPTION_REAL; /* else no word is a value */
    NB_NEED(bad, number ? nb_format(ctx, "%.17g", o->hi >= 0 ? o->hi * 2 + 1 : 1.0) : "no_such_value");
    NB_NEED(text, nb_format(ctx, "%s(%s%s=%s)", c->name, given, o->key, bad));
    nb_status status = nb_choice_parse(registry, text, &choice, ctx);
    NB_REQUIRE(ctx, status == NB_EINVAL && strstr(nb_error_message(ctx), o->key), NB_EBUG, "%s was not refused: %s",
               text, nb_error_message(ctx));
    nb_error_clear(ctx);
    NB_NEED(text, nb_format(ctx, "%s(%s%s=%s)", c->name, given, o->key, o->initial));
    NB_TRY(ctx, nb_choice_parse(registry, text, &choice, ctx));
    NB_TRY(ctx, nb_option_text(choice.options, o, 0, &printed, ctx));
    NB_REQUIRE(ctx, strcmp(printed, o->initial) == 0, NB_EBUG,
               "option '%s': the default %s is printed as %s, so every label would show it", o->key, o->initial,
               printed);
    return NB_OK;
}

nb_status nb_check_record(const nb_registry *registry, const nb_component *c, nb_ctx *ctx)
{
    enum { LEAST = 11 };
    nb_string given = NB_NO_TEXT;
    NB_REQUIRE(ctx, c->summary, NB_EBUG, "there is no summary");
    NB_REQUIRE(ctx, strlen(c->summary) >= LEAST, NB_EBUG, "the summary '%s' has fewer than %d characters", c->summary,
               LEAST);
    NB_REQUIRE(ctx, c->references && c->references[0], NB_EBUG, "there is no reference");
    NB_REQUIRE(ctx, strlen(c->references[0]) >= LEAST, NB_EBUG,
               "the first reference, '%s', has fewer than %d characters", c->references[0], LEAST);
    NB_REQUIRE(ctx, c->options, NB_EBUG, "there is no options table");
    for (const nb_option *o = c->options; o->key; o++)
        if (!o->initial) NB_TRY(ctx, nb_append(&given, ctx, "%s=x, ", o->key));
    for (const nb_option *o = c->options; o->key; o++) NB_TRY(ctx, check_option(registry, c, o, given.text, ctx));
    return NB_OK;
}

/* NULL: no option is given but those that must be; one that counts under a value of another has that too. */
static nb_status add_variant(const nb_registry *registry, const nb_component *c, const char *given, const nb_option *o,
                             const char *value, nb_choices *choices, nb_ctx *ctx)
{
    const char *text = given, *gap = *given ? ", " : "";
    nb_mistakes mistakes = {.ctx = ctx};
    if (o && o->for_key)
        NB_NEED(text, nb_format(ctx, "%s%s%s=%s, %s=%s", given, gap, o->for_key, o->for_value, o->key, value));
    else if (o)
        NB_NEED(text, nb_format(ctx, "%s%s%s=%s", given, gap, o->key, value));
    NB_NEED(text, nb_format(ctx, "%s(%s)", c->name, text));
    NB_TRY(ctx, nb_choices_add(choices, registry, text, (nb_place){.source = NULL}, &mistakes, ctx));
    NB_REQUIRE(ctx, mistakes.count == 0, NB_EINVAL, "%s", mistakes.texts[0]);
    return NB_OK;
}

nb_status nb_conformance_variants(const nb_registry *registry, const nb_component *c, const char *given,
                                  nb_choices *choices, nb_ctx *ctx)
{
    static const char *const booleans[] = {"false", "true", NULL};
    NB_TRY(ctx, add_variant(registry, c, given, NULL, "", choices, ctx));
    for (const nb_option *o = c->options; o->key; o++) {
        const char *const words[] = {o->word, o->second, NULL};
        const char *const *values = o->type == NB_OPTION_ENUM   ? o->choices
                                    : o->type == NB_OPTION_BOOL ? booleans
                                                                : words;
        for (int i = 0; values[i]; i++) NB_TRY(ctx, add_variant(registry, c, given, o, values[i], choices, ctx));
    }
    return NB_OK;
}
