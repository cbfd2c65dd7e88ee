/* Every strategy on every problem, found through the registries: a new file in
 * strategies/ or src/ is covered without a word here. What must hold is what
 * strategies/strategy.h and base/component.h promise. */
#include "testing.h"

#include "cores/core.h"
#include "kernels/kernel.h"
#include "measure/landmarks.h"

#include <assert.h>
#include <ctype.h>

/* Problems at the sizes where code breaks; a problem that needs a file is given one. */
static const char *const heads_of[] = {
    "gaussian(n=1, d=1)",
    "gaussian(n=2, d=3)",
    "gaussian(n=7, d=4, scale=2.385)",
    "gaussian(n=64, d=8)",
    "gaussian(n=130, d=5)",
    "gaussian(n=12, d=3, scale=0)",                    /* all points are zero */
    "clusters(n=24, d=4, count=3, spread=0)",          /* repeated points */
    "clusters(n=33, d=6, count=5, order=shuffled)",
    "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=2)",
    "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=0, causal=true)",
    NULL};

typedef struct {
    nb_head head;
    nb_choice kernel;
    nb_scene *scene;
    gsl_rng *rng;
} fixture;

static fixture fixture_of(nb_ctx *ctx, const char *problem)
{
    fixture f = {.head = make_head(problem, 0, 0, ctx), .kernel = choose(&nb_kernels, "softmax", ctx)};
    return f;
}

static void open_scene(nb_ctx *ctx, fixture *f)
{
    assert_ok(ctx, nb_scene_new(&f->head, &f->kernel, true, &f->scene, ctx));
    assert_ok(ctx, nb_random_new(&f->rng, ctx));
}

static nb_status pick(nb_ctx *ctx, const fixture *f, const nb_choice *strategy, int m, nb_pairing pairing, int trial,
                      nb_landmarks *out)
{
    nb_stream stream = {.seed = 5, .trial = trial, .component = strategy->canonical};
    return nb_landmarks_pick(f->scene, strategy, m, pairing, stream, f->rng, out, ctx);
}

static bool same_picks(const nb_picks *a, const nb_picks *b)
{
    if (a->kind != b->kind || a->m != b->m) return false;
    if (a->kind == NB_TOKENS) return memcmp(a->tokens, b->tokens, (size_t)a->m * sizeof(int)) == 0;
    if (a->kind == NB_GROUPS) return memcmp(a->groups, b->groups, (size_t)a->n * sizeof(int)) == 0;
    return memcmp(a->points, b->points, (size_t)a->d * (size_t)a->m * sizeof(double)) == 0;
}

static uint64_t digest(const nb_head *h)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < (size_t)h->n * (size_t)h->d; i++) {
        uint64_t q, k;
        memcpy(&q, h->q + i, 8);
        memcpy(&k, h->k + i, 8);
        sum = (sum * 31 + q) * 31 + k;
    }
    return sum;
}

/* Picks are valid, and the same again for the same stream; the head is as it was. */
static void check_picks(nb_ctx *ctx, const fixture *f, const nb_choice *strategy, int m, nb_pairing pairing)
{
    nb_landmarks once, again;
    uint64_t before = digest(&f->head);
    assert_ok(ctx, pick(ctx, f, strategy, m, pairing, 0, &once));
    if (once.refusal) {
        assert_true(strlen(once.refusal) > 10);
        return;
    }
    assert_ok(ctx, nb_picks_check(&once.queries, f->head.n, m, ctx));
    assert_ok(ctx, nb_picks_check(&once.keys, f->head.n, m, ctx));
    assert_true(once.select_s >= 0);
    assert_ok(ctx, pick(ctx, f, strategy, m, pairing, 0, &again));
    if (!same_picks(&once.queries, &again.queries) || !same_picks(&once.keys, &again.keys))
        fail_msg("%s, m = %d: other picks for the same seed", strategy->canonical, m);
    if (digest(&f->head) != before) fail_msg("%s changed its input", strategy->canonical);
}

static void check_sizes(nb_ctx *ctx, const fixture *f, const nb_choice *strategy)
{
    const nb_strategy *s = (const nb_strategy *)strategy->component;
    int n = f->head.n, sizes[] = {1, n / 3, n / 2, n - 1, n};
    nb_landmarks landmarks;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int pairing = 0; pairing < NB_PAIRING_COUNT; pairing++)
            if (sizes[i] >= 1 && nb_strategy_has(s, (nb_pairing)pairing)) check_picks(ctx, f, strategy, sizes[i], (nb_pairing)pairing);
    assert_error(ctx, pick(ctx, f, strategy, n + 1, s->pairing, 0, &landmarks), NB_EINVAL, "landmarks of");
    assert_error(ctx, pick(ctx, f, strategy, 0, s->pairing, 0, &landmarks), NB_EINVAL, "landmarks of");
}

/* The first m of more picks are the picks for m, in a time that grows. */
static void check_nested(nb_ctx *ctx, const fixture *f, const nb_choice *strategy)
{
    const nb_strategy *s = (const nb_strategy *)strategy->component;
    nb_landmarks all, some;
    if (!(nb_strategy_traits(strategy) & NB_NESTED)) return;
    assert_ok(ctx, pick(ctx, f, strategy, f->head.n, s->pairing, 0, &all));
    if (all.refusal) return;
    for (int m = 1; m <= f->head.n; m += 1 + m / 2) {
        assert_ok(ctx, pick(ctx, f, strategy, m, s->pairing, 0, &some));
        nb_landmarks first = nb_landmarks_first(&all, m);
        assert_int_equal(some.queries.kind, NB_TOKENS);
        if (!same_picks(&some.queries, &first.queries) || !same_picks(&some.keys, &first.keys))
            fail_msg("%s: nested, but the first %d picks depend on how many there are", strategy->canonical, m);
        assert_true((some.note == NULL) == (first.note == NULL));
        if (!all.selected_s) fail_msg("%s: nested, but without nb_picks_add", strategy->canonical);
        assert_true(first.select_s > 0 && first.select_s <= all.select_s + 1e-9); /* the clock ticks in ns */
        if (m > 1) assert_true(first.select_s >= all.selected_s[m - 2]);
    }
}

/* The k-th allocation fails, for every k until none does: an error each time,
 * and not a block left. */
static void check_allocation_failures(nb_ctx *ctx, fixture *f, const nb_choice *strategy)
{
    nb_landmarks landmarks;
    int m = f->head.n > 4 ? 4 : f->head.n;
    nb_status status = NB_ENOMEM;
    for (long k = 1; status != NB_OK; k++) {
        nb_mark mark = nb_ctx_mark(ctx);
        assert_true(k < 10000);
        open_scene(ctx, f);
        nb_ctx_fail_alloc(ctx, k);
        status = pick(ctx, f, strategy, m, ((const nb_strategy *)strategy->component)->pairing, 0, &landmarks);
        nb_ctx_fail_alloc(ctx, 0);
        if (status != NB_OK) assert_int_equal(status, NB_ENOMEM);
        nb_error_clear(ctx);
        nb_ctx_release(ctx, mark);
        assert_int_equal(nb_ctx_blocks(ctx), mark);
    }
}

/* The strategy as it is, and with each choice of each of its options. */
static nb_choices variants(nb_ctx *ctx, const nb_component *c)
{
    nb_choices all = {.count = 0};
    nb_mistakes mistakes;
    nb_mistakes_init(&mistakes, ctx);
    assert_ok(ctx, nb_choices_add(&all, &nb_strategies, spec_of(c), (nb_place){.source = NULL}, &mistakes, ctx));
    for (const nb_option *o = c->options; o->key; o++)
        for (int i = 0; o->type == NB_OPTION_ENUM && o->choices[i]; i++)
            assert_ok(ctx, nb_choices_add(&all, &nb_strategies, nb_format(ctx, "%s(%s=%s)", c->name, o->key, o->choices[i]),
                                          (nb_place){.source = NULL}, &mistakes, ctx));
    assert_int_equal(mistakes.count, 0);
    return all;
}

static void test_strategy(void **state)
{
    const nb_component *c = *state;
    nb_ctx *ctx = nb_ctx_new();
    nb_choices all = variants(ctx, c);
    for (int p = 0; heads_of[p]; p++)
        for (int v = 0; v < all.count; v++) {
            nb_mark mark = nb_ctx_mark(ctx);
            fixture f = fixture_of(ctx, heads_of[p]);
            open_scene(ctx, &f);
            check_sizes(ctx, &f, &all.items[v]);
            check_nested(ctx, &f, &all.items[v]);
            if (f.head.n < 50) check_allocation_failures(ctx, &f, &all.items[v]);
            nb_ctx_release(ctx, mark);
        }
    nb_ctx_free(ctx);
}

/* A random strategy draws other picks in another trial, any other the same. */
static void test_strategy_traits(void **state)
{
    const nb_component *c = *state;
    const nb_strategy *s = (const nb_strategy *)c;
    nb_ctx *ctx = nb_ctx_new();
    nb_choices all = variants(ctx, c);
    fixture f = fixture_of(ctx, "gaussian(n=130, d=5)");
    open_scene(ctx, &f);
    assert_int_equal(s->abi, NB_STRATEGY_ABI);
    assert_true(s->pairing < NB_PAIRING_COUNT && nb_strategy_has(s, s->pairing));
    for (int v = 0; v < all.count; v++) {
        unsigned traits = nb_strategy_traits(&all.items[v]);
        nb_landmarks one, two;
        nb_pairing pairing = s->pick ? NB_QUERIES : NB_BOTH;
        assert_ok(ctx, pick(ctx, &f, &all.items[v], 9, pairing, 0, &one));
        assert_ok(ctx, pick(ctx, &f, &all.items[v], 9, pairing, 1, &two));
        assert_true(!one.refusal && !two.refusal);
        if (same_picks(&one.queries, &two.queries) == (bool)(traits & NB_RANDOM))
            fail_msg("%s: the trait 'random' and the picks of two trials do not agree", all.items[v].canonical);
    }
    nb_ctx_free(ctx);
}

/* A problem is the same for the same stream, another for another trial if it is
 * random, and is what its shape said. */
static void test_problem(void **state)
{
    const nb_component *c = *state;
    nb_ctx *ctx = nb_ctx_new();
    bool covered = false;
    for (int p = 0; heads_of[p]; p++) {
        nb_choice choice = choose(&nb_problems, heads_of[p], ctx);
        const nb_problem *problem = (const nb_problem *)choice.component;
        nb_problem_shape shape;
        if (choice.component != c) continue;
        covered = true;
        assert_ok(ctx, problem->shape(choice.options, &shape, ctx));
        nb_head one = make_head(heads_of[p], shape.first, 0, ctx), again = make_head(heads_of[p], shape.first, 0, ctx);
        nb_head other = make_head(heads_of[p], shape.first, 1, ctx);
        assert_int_equal(one.n, shape.n);
        assert_int_equal(one.d, shape.d);
        assert_int_equal(one.causal, shape.causal);
        assert_true(digest(&one) == digest(&again));
        bool zero = strstr(heads_of[p], "scale=0");
        if (!zero) assert_true((digest(&one) != digest(&other)) == problem->random);
    }
    if (!covered) fail_msg("add a problem '%s' to heads_of", c->name);
    nb_ctx_free(ctx);
}

/* Rows of a kernel tile do not depend on how the matrix is cut into tiles. */
static void test_kernel(void **state)
{
    const nb_component *c = *state;
    const nb_kernel *kernel = (const nb_kernel *)c;
    nb_ctx *ctx = nb_ctx_new();
    nb_choice choice = choose(&nb_kernels, c->name, ctx);
    nb_head h = make_head("gaussian(n=64, d=8)", 0, 0, ctx);
    double *whole = nb_alloc_reals(ctx, 64, 64), *part = nb_alloc_reals(ctx, 64, 7);
    for (int causal = 0; causal < 2; causal++) {
        int positions[64];
        for (int i = 0; i < 64; i++) positions[i] = i;
        nb_tile tile = {.d = 8, .queries = 64, .keys = 64, .q = h.q, .k = h.k, .causal = causal, .positions = positions, .ld = 64};
        assert_ok(ctx, kernel->fill(&tile, choice.options, whole, ctx));
        for (int first = 0; first + 7 <= 64; first += 7) {
            tile.queries = 7;
            tile.positions = positions + first;
            tile.q = h.q + first * 8;
            assert_ok(ctx, kernel->fill(&tile, choice.options, part, ctx));
            for (int i = 0; i < 7 * 64; i++) assert_close(part[i], whole[first * 64 + i], 1e-13); /* sums of 8 products of order 1 */
        }
    }
    nb_ctx_free(ctx);
}

/* The gradient of sum(weight * tile) against central differences with a step of 1e-5,
 * which are off by some 1e-16 * 100 / 1e-5 + 1e-10 on gradients of order 1. */
static void test_kernel_gradient(void **state)
{
    const nb_component *c = *state;
    const nb_kernel *kernel = (const nb_kernel *)c;
    enum { D = 3, QUERIES = 4, KEYS = 5, COUNT = D * (QUERIES + KEYS), LD = KEYS + 1 };
    nb_ctx *ctx = nb_ctx_new();
    nb_choice choice = choose(&nb_kernels, c->name, ctx);
    nb_head h = make_head("gaussian(n=64, d=8)", 0, 0, ctx);
    double x[COUNT], gradient[COUNT], out[LD * QUERIES], slope[LD * QUERIES];
    nb_tile tile = {.d = D, .queries = QUERIES, .keys = KEYS, .q = x, .k = x + D * QUERIES, .ld = LD};
    memcpy(x, h.q, sizeof x);
    memcpy(slope, h.k, sizeof slope);
    if (kernel->pull_back) {
        assert_ok(ctx, kernel->fill(&tile, choice.options, out, ctx));
        assert_ok(ctx, kernel->pull_back(&tile, choice.options, out, slope, gradient, gradient + D * QUERIES, ctx));
    }
    for (int i = 0; i < COUNT && kernel->pull_back; i++) {
        double sums[2] = {0, 0}, kept = x[i];
        for (int side = 0; side < 2; side++) {
            x[i] = kept + (side ? 1e-5 : -1e-5);
            assert_ok(ctx, kernel->fill(&tile, choice.options, out, ctx));
            for (int j = 0; j < LD * QUERIES; j++)
                if (j % LD < KEYS) sums[side] += out[j] * h.k[j];
        }
        x[i] = kept;
        assert_close((sums[1] - sums[0]) / 2e-5, gradient[i], 1e-8);
    }
    nb_ctx_free(ctx);
}

/* A core's work leaves A alone, and no allocation failure goes unseen. */
static void test_core(void **state)
{
    const nb_component *c = *state;
    const nb_core *core = (const nb_core *)c;
    nb_ctx *ctx = nb_ctx_new();
    nb_choice choice = choose(&nb_cores, c->name, ctx);
    nb_status status = NB_ENOMEM;
    for (long k = 1; status != NB_OK; k++) {
        nb_mark mark = nb_ctx_mark(ctx);
        double a[9] = {0.7, 0.2, 0.1, 0.2, 0.6, 0.3, 0.1, 0.2, 0.6}, kept[9], x[9];
        memcpy(kept, a, sizeof a);
        assert_true(k < 1000);
        nb_factors f = {.m = 3, .a = a, .ctx = nb_ctx_child(ctx)};
        nb_ctx_fail_alloc(ctx, k);
        status = core->compute(&f, choice.options, x, ctx);
        nb_ctx_fail_alloc(ctx, 0);
        if (status != NB_OK) assert_int_equal(status, NB_ENOMEM);
        assert_memory_equal(a, kept, sizeof a);
        nb_error_clear(ctx);
        nb_ctx_release(ctx, mark);
    }
    nb_ctx_free(ctx);
}

static bool is_number(const nb_option *o)
{
    return o->type == NB_OPTION_INT || o->type == NB_OPTION_REAL;
}

/* A value that the option must refuse. */
static const char *bad_value(nb_ctx *ctx, const nb_option *o)
{
    return is_number(o) ? nb_format(ctx, "%.17g", o->hi >= 0 ? o->hi * 2 + 1 : 1.0) : "no_such_value";
}

static void check_options(nb_ctx *ctx, const nb_registry *registry, const nb_component *c)
{
    const char *required = "";
    for (const nb_option *o = c->options; o->key; o++)
        if (!o->initial) required = nb_format(ctx, "%s%s=x, ", required, o->key);
    for (const nb_option *o = c->options; o->key; o++) {
        nb_choice choice;
        assert_true(o->help && strlen(o->help) > 3);
        for (const char *k = o->key; *k; k++) assert_true(islower((unsigned char)*k) || *k == '_' || isdigit((unsigned char)*k));
        if (o->type == NB_OPTION_STRING || o->type == NB_OPTION_SPEC) continue;
        const char *text = nb_format(ctx, "%s(%s%s=%s)", c->name, required, o->key, bad_value(ctx, o));
        assert_error(ctx, nb_choice_parse(registry, text, &choice, ctx), NB_EINVAL, o->key);
        assert_true(o->initial != NULL);
        text = nb_format(ctx, "%s(%s%s=%s)", c->name, required, o->key, o->initial);
        assert_ok(ctx, nb_choice_parse(registry, text, &choice, ctx));
        const char *printed;
        assert_ok(ctx, nb_option_text(choice.options, o, 0, &printed, ctx));
        assert_string_equal(printed, o->initial); /* else the default shows in every label */
    }
}

static void test_metadata(void **state)
{
    const nb_registry *registry = *state;
    nb_ctx *ctx = nb_ctx_new();
    assert_non_null(registry->entries[0].component);
    for (const nb_entry *e = registry->entries; e->component; e++) {
        const nb_component *c = e->component;
        assert_string_equal(c->name, e->file);
        assert_true(c->summary && strlen(c->summary) > 10);
        assert_true(c->references && c->references[0] && strlen(c->references[0]) > 10);
        assert_non_null(c->options);
        if (e != registry->entries) assert_true(strcmp(e[-1].component->name, c->name) < 0);
        check_options(ctx, registry, c);
    }
    nb_ctx_free(ctx);
}

static void test_one_kernel_is_standard(void **state)
{
    int count = 0;
    (void)state;
    for (const nb_entry *e = nb_kernels.entries; e->component; e++) count += ((const nb_kernel *)e->component)->standard;
    assert_int_equal(count, 1);
}

enum { MOST = 512 };

static void add(struct CMUnitTest *tests, size_t *count, const char *name, CMUnitTestFunction function, const void *state)
{
    assert(*count < MOST);
    tests[(*count)++] = (struct CMUnitTest){.name = name, .test_func = function, .initial_state = (void *)(uintptr_t)state};
}

static void add_all(nb_ctx *ctx, struct CMUnitTest *tests, size_t *count, const nb_registry *registry, CMUnitTestFunction function,
                    const char *what)
{
    for (const nb_entry *e = registry->entries; e->component; e++)
        add(tests, count, nb_format(ctx, "%s %s%s", registry->kind, e->component->name, what), function, e->component);
}

int main(void)
{
    static struct CMUnitTest tests[MOST];
    size_t count = 0;
    nb_ctx *ctx = nb_ctx_new();
    for (int i = 0; nb_registries[i]; i++)
        add(tests, &count, nb_format(ctx, "metadata of %s", nb_registries[i]->plural), test_metadata, nb_registries[i]);
    add_all(ctx, tests, &count, &nb_problems, test_problem, "");
    add_all(ctx, tests, &count, &nb_kernels, test_kernel, "");
    add_all(ctx, tests, &count, &nb_kernels, test_kernel_gradient, ": gradient");
    add_all(ctx, tests, &count, &nb_cores, test_core, "");
    add_all(ctx, tests, &count, &nb_strategies, test_strategy, ": picks");
    add_all(ctx, tests, &count, &nb_strategies, test_strategy_traits, ": traits");
    add(tests, &count, "one kernel is standard", test_one_kernel_is_standard, NULL);
    int failed = _cmocka_run_group_tests("conformance", tests, count, NULL, NULL);
    nb_ctx_free(ctx);
    return failed;
}
