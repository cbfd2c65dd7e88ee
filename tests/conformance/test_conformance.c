/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every strategy on every problem, found through the registries: a new file in
 * strategies/ or src/ is covered without a word here. What must hold is what
 * strategies/strategy.h and components/component.h promise. */
#include "api/nysbench.h"
#include "safetensors.h"
#include "testing.h"

#include "base/scratch.h"
#include "cores/core.h"
#include "data/tensor.h"
#include "kernels/kernel.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "conformance/conformance.h"
#include "nystrom/engine.h"
#include "nystrom/make_scene.h"
#include "nystrom/scene_record.h"

#include <assert.h>

static const char *folder; /* for files that components need */

/* Problems at the sizes where code breaks; a problem that needs a file is given one. The first FEW, which differ from
 * the heads of `nysbench check`, are for `make test`, all for `make test-long`. */
enum { FEW = 6 };
static int heads_count = FEW;
static const char *const heads_of[] = {
    "heavy_tail(n=30, d=4, dof=0.1)", /* entries of 1e10 beside some of 1 */
    "clusters(n=33, d=6, count=5, order=shuffled)",
    "smooth(n=9, d=3, correlation=1)",      /* all points are one */
    "low_rank(n=40, d=8, rank=2, noise=0)", /* points in a plane through 0 */
    "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=0, max_n=110, causal=true)",
    "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=2, max_n=40, first=7, permute=true)",
    "gaussian(n=1, d=1)",
    "gaussian(n=2, d=3)",
    "gaussian(n=7, d=4, scale=2.385)",
    "gaussian(n=64, d=8)",
    "gaussian(n=130, d=5)",
    "gaussian(n=12, d=3, scale=0)",           /* all points are zero */
    "clusters(n=24, d=4, count=3, spread=0)", /* repeated points */
    "gaussian(n=20, d=1)",                    /* collinear points, on a line through 0 */
    "smooth(n=64, d=4)",
    "sink(n=30, d=5, sinks=2)",
    "rotated(n=31, d=6, count=4)",
    "rotated(n=33, d=1, count=33, order=shuffled)",
    "gaussian(n=64, d=8, permute=true)",
    "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=2)",
    "heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=0, causal=true)",
    "live_model(run=\"/usr/bin/python3 tests/support/tiny_model.py build/nysbench\", layers=half, source=1)",
    NULL};

/* Two rows of d + 1 weights for heads of dimension d, of both signs. */
static const char *weights_file(nb_ctx *ctx, int d)
{
    const char *path = nb_format(ctx, "%s/weights-%d.npy", folder, d);
    int64_t shape[2] = {2, d + 1};
    double *w = nb_alloc_reals(ctx, (size_t)d + 1, 2);
    for (int i = 0; i < 2 * (d + 1); i++) w[i] = sin(2.385 * i);
    assert_ok(ctx, nb_npy_save_reals(path, 2, shape, w, ctx));
    return nb_format(ctx, "weights=\"%s\"", path);
}

/* Other heads of dimension d, with as many tokens as any. */
static const char *other_heads(nb_ctx *ctx, int d)
{
    enum { HEADS = 3, N = 300 };
    const char *path = nb_format(ctx, "%s/heads-%d.safetensors", folder, d);
    size_t count = (size_t)HEADS * N * (size_t)d;
    double *q = nb_alloc_reals(ctx, count, 1), *k = nb_alloc_reals(ctx, count, 1);
    for (size_t i = 0; i < count; i++) {
        q[i] = sin(2.385 * (double)i);
        k[i] = cos(1.337 * (double)i);
    }
    tensor_out tensors[] = {{.name = "q", .dtype = NB_F32, .rank = 3, .shape = {HEADS, N, d}, .values = q},
                            {.name = "k", .dtype = NB_F32, .rank = 3, .shape = {HEADS, N, d}, .values = k}};
    assert_ok(ctx, save_safetensors(path, 2, tensors, NULL, ctx));
    return nb_format(ctx, "landmarks_from=\"%s\"", path);
}

static const char *picks_by_awk(nb_ctx *ctx, int d)
{
    (void)ctx;
    (void)d;
    return "run=\"sh tests/conformance/picks.sh\"";
}

/* The values are the outputs, which no other token changes. */
static const char *copies_values(nb_ctx *ctx, int d)
{
    (void)ctx;
    (void)d;
    return "run=\"sh tests/conformance/values.sh\"";
}

static const char *few_steps(nb_ctx *ctx, int d)
{
    (void)ctx;
    (void)d;
    return "steps=3";
}

/* Tokens from the seed on, as picks.awk. */
static int pick_from_seed(nysbench_pick *p, void *user)
{
    (void)user;
    p->kind = NYSBENCH_TOKENS;
    for (int j = 0; j < p->m; j++) p->tokens[0][j] = (int64_t)((p->seed + (uint64_t)j) % (uint64_t)p->n);
    return 0;
}

/* A number above 0 from the seed, times I. */
static int multiply_by_seed(nysbench_middle *c, void *user)
{
    (void)user;
    for (int i = 0; i < c->m; i++) c->x[i + i * c->m] = 1 + (double)(c->seed % 65536);
    return 0;
}

/* Functions of this program, added once. */
static const char *added(nb_ctx *ctx, bool strategy)
{
    static const char *specs[2];
    nysbench *h = NULL;
    if (!specs[strategy]) {
        assert_int_equal(nysbench_new(&h), NYSBENCH_OK);
        assert_int_equal(strategy ? nysbench_add_strategy(h, "from seed", 0, pick_from_seed, NULL, &specs[1])
                                  : nysbench_add_core(h, "from seed", 0, multiply_by_seed, NULL, &specs[0]),
                         NYSBENCH_OK);
        specs[strategy] = strdup(specs[strategy]);
        nysbench_free(h);
    }
    const char *options = strchr(specs[strategy], '(') + 1;
    return nb_format(ctx, "%.*s", (int)strlen(options) - 1, options);
}

static const char *added_strategy(nb_ctx *ctx, int d)
{
    (void)d;
    return added(ctx, true);
}

static const char *added_core(nb_ctx *ctx, int d)
{
    (void)d;
    return added(ctx, false);
}

/* Options that must be given for heads of dimension d, or that make a call shorter; `brief`: a call takes ms, so
 * the heads of `check` have to do. */
static const struct {
    const nb_registry *registry;
    const char *name;
    const char *(*options)(nb_ctx *ctx, int d);
    bool brief;
} required[] = {{&nb_strategies, "command", picks_by_awk, true},
                {&nb_strategies, "kept", other_heads, false},
                {&nb_strategies, "learned", weights_file, false},
                {&nb_strategies, "optimized", few_steps, false},
                {&nb_cores, "command", picks_by_awk, true},
                {&nb_strategies, "callback", added_strategy, false},
                {&nb_cores, "callback", added_core, false},
                {&nb_attentions, "command", copies_values, true},
                {0}};

static int required_of(const nb_component *c)
{
    int i = 0;
    while (required[i].name && nb_registry_find(required[i].registry, required[i].name) != c) i++;
    return i;
}

static bool is_brief(const nb_component *c)
{
    return required[required_of(c)].brief;
}

static const char *given_options(nb_ctx *ctx, const nb_component *c, int d)
{
    int i = required_of(c);
    return required[i].name ? required[i].options(ctx, d) : "";
}

static const nb_option *option_of(const nb_component *c, const char *key)
{
    const nb_option *o = c->options;
    while (o->key && strcmp(o->key, key) != 0) o++;
    return o->key ? o : NULL;
}

static void add_variant(nb_ctx *ctx, const nb_component *c, const char *given, const char *more, nb_choices *all)
{
    const char *text = nb_format(ctx, "%s(%s%s%s)", c->name, given, *given && *more ? ", " : "", more);
    assert_ok(ctx, nb_choices_append(all, choose(&nb_strategies, text, ctx), ctx));
}

/* What looks at all of S unless it is told to look at some rows (NB_ORACLE_ROWS_OPTIONS), with these options. */
static void add_sampled(nb_ctx *ctx, const nb_component *c, const char *given, const char *more, nb_choices *all)
{
    const nb_option *rows = option_of(c, "rows"), *of = option_of(c, "of");
    if (!rows || !rows->second || strcmp(rows->initial, rows->second) != 0) return;
    if (of && strcmp(of->initial, "kernel") != 0) more = nb_format(ctx, "of=kernel, %s", more);
    add_variant(ctx, c, given, more, all);
}

/* What lets another strategy pick, of each kind of picks and pairing, among fewer tokens than there are. */
static void add_within(nb_ctx *ctx, const nb_component *c, nb_choices *all)
{
    static const char *const others[] = {"of=uniform, tokens=20",  "of=segment_means, tokens=20, take=even",
                                         "of=kmeans, tokens=40",   "of=\"profile(rows=12)\", tokens=30",
                                         "of=leverage, tokens=25", "of=cpqr, tokens=25, take=even",
                                         "of=rplu, tokens=5",      "of=\"subsample(of=pilot, tokens=20)\", tokens=50"};
    for (size_t i = 0; ((const nb_strategy *)c)->within && i < sizeof others / sizeof *others; i++)
        add_variant(ctx, c, "", others[i], all);
}

/* On large heads the strategy as it is has to do, and with sampled rows. */
static nb_choices variants(nb_ctx *ctx, const nb_component *c, const nb_head *head)
{
    static const char *const sampled[] = {"rows=20, sample=centres", "rows=5", "rows=1, sample=centres", NULL};
    nb_choices all = {.count = 0};
    const char *given = given_options(ctx, c, head->d);
    if (head->n >= 100)
        add_variant(ctx, c, given, "", &all);
    else
        assert_ok(ctx, nb_conformance_variants(&nb_strategies, c, given, &all, ctx));
    add_sampled(ctx, c, given, "rows=auto", &all);
    for (int i = 0; sampled[i] && head->n < 100; i++) add_sampled(ctx, c, given, sampled[i], &all);
    add_within(ctx, c, &all);
    return all;
}

static void run_checks(nb_ctx *ctx, const nb_check *checks, const nb_choice *choice, const nb_choice *kernel,
                       const nb_head *head, const char *where)
{
    for (const nb_check *check = checks; check->name; check++) {
        nb_mark mark = nb_ctx_mark(ctx);
        nb_trial_run run = {.choice = choice, .kernel = kernel, .head = head};
        if (check->run(&run, ctx) != NB_OK)
            fail_msg("%s on %s, %s: %s", choice->canonical, where, check->name, nb_error_message(ctx));
        nb_ctx_release(ctx, mark);
    }
}

/* On every problem, and on the heads of `nysbench check`. */
static void test_strategy(void **state)
{
    const nb_component *c = *state;
    nb_ctx *ctx = nb_ctx_new();
    nb_choices all;
    nb_choice kernel = choose(&nb_kernels, "softmax", ctx);
    const char *name = "";
    nb_head head;
    for (int p = 0; p < heads_count && !is_brief(c); p++) {
        head = make_head(heads_of[p], 0, 0, ctx);
        all = variants(ctx, c, &head);
        for (int v = 0; v < all.count; v++)
            run_checks(ctx, nb_strategy_checks, &all.items[v], &kernel, &head, heads_of[p]);
    }
    int step = is_brief(c) && heads_count == FEW ? 3 : 1;
    for (int h = 0; name; h += step) {
        assert_ok(ctx, nb_conformance_head(h, &name, &head, ctx));
        if (name) all = variants(ctx, c, &head);
        for (int v = 0; name && v < all.count; v++)
            run_checks(ctx, nb_strategy_checks, &all.items[v], &kernel, &head, name);
    }
    nb_ctx_free(ctx);
}

/* What S a pick needs on a new scene, in entries of the kernel: at most 16 m n, or n^2 if it is an oracle. */
static void check_entries(nb_ctx *ctx, const nb_choice *choice, int n)
{
    enum { M = 8 };
    nb_choice kernel = choose(&nb_kernels, "softmax", ctx);
    nb_head head = make_head(nb_format(ctx, "gaussian(n=%d, d=8)", n), 0, 0, ctx);
    nb_scene *scene;
    nb_landmarks landmarks;
    nb_picking picking = {.strategy = choice,
                          .m = M,
                          .pairing = ((const nb_strategy *)choice->component)->pairing,
                          .stream = {.seed = 5, .component = choice->canonical}};
    assert_ok(ctx, nb_scene_new(&head, &kernel, &scene, ctx));
    assert_ok(ctx, nb_random_new(&picking.rng, ctx));
    picking.scene = scene;
    if (nb_landmarks_pick(&picking, &landmarks, ctx) != NB_OK)
        fail_msg("%s: %s", choice->canonical, nb_error_message(ctx));
    if (landmarks.refusal && strstr(landmarks.refusal, "centre")) return; /* it takes tokens alone */
    if (landmarks.refusal) fail_msg("%s refuses n = %d: %s", choice->canonical, n, landmarks.refusal);
    double entries = nb_scene_entries(scene), square = (double)n * n;
    bool oracle = nb_strategy_traits(choice) & NB_ORACLE;
    if (oracle ? entries < square : entries > 16.0 * M * n)
        fail_msg("%s, %s, has formed %g entries of S for %d landmarks of %d tokens, expected at %s %g",
                 choice->canonical, oracle ? "an oracle" : "no oracle", entries, M, n, oracle ? "least" : "most",
                 oracle ? square : 16.0 * M * n);
}

static void test_entries(void **state)
{
    enum { D = 8 };
    nb_ctx *ctx = nb_ctx_new();
    nb_choices all = {.count = 0};
    const char *given = given_options(ctx, *state, D);
    add_variant(ctx, *state, given, "", &all);
    add_sampled(ctx, *state, given, "rows=auto", &all);
    add_sampled(ctx, *state, given, "rows=auto, sample=centres", &all);
    for (int v = 0; v < all.count; v++)
        for (int n = 512; n <= 1024; n *= 2) check_entries(ctx, &all.items[v], n);
    nb_ctx_free(ctx);
}

/* On each of heads_of that is its own. */
static void test_problem(void **state)
{
    const nb_component *c = *state;
    nb_ctx *ctx = nb_ctx_new();
    bool covered = false;
    const nb_option *o = c->options;
    while (o->key && !o->reorders) o++;
    if (!o->key || strcmp(o->key, "permute") != 0) fail_msg("%s: its options lack NB_PERMUTE", c->name);
    for (int p = 0; heads_of[p]; p++) {
        nb_choice choice = choose(&nb_problems, heads_of[p], ctx);
        if (choice.component != c) continue;
        covered = true;
        run_checks(ctx, nb_problem_checks, &choice, NULL, NULL, heads_of[p]);
    }
    if (!covered) fail_msg("add a problem '%s' to heads_of", c->name);
    nb_ctx_free(ctx);
}

static bool reads_file(const nb_component *c)
{
    for (const nb_option *o = c->options; o->key; o++)
        if (o->names_files && !o->initial) return true;
    return false;
}

/* Each option, on the heads that break code. */
static void check_on_heads(const nb_registry *registry, const nb_check *checks, const nb_component *c)
{
    nb_ctx *ctx = nb_ctx_new();
    nb_choices all = {.count = 0};
    assert_ok(ctx, nb_conformance_variants(registry, c, given_options(ctx, c, 0), &all, ctx));
    for (int i = 0; i < all.count; i++)
        for (int h = 0;; h++) {
            nb_head head;
            const char *name;
            assert_ok(ctx, nb_conformance_head(h, &name, &head, ctx));
            if (!name) break;
            run_checks(ctx, checks, &all.items[i], NULL, &head, name);
        }
    nb_ctx_free(ctx);
}

/* One that reads a file is for heads of one size: tests/oracle/coherence.py has it. */
static void test_partition(void **state)
{
    if (!reads_file(*state)) check_on_heads(&nb_partitions, nb_partition_checks, *state);
}

static void test_attention(void **state)
{
    check_on_heads(&nb_attentions, nb_attention_checks, *state);
}

/* What the scene gives of a kernel is the same rows: some of them, all, and without the
 * mask. Sums of d <= 64 products of moderate size. */
static void check_rows(nb_ctx *ctx, const nb_scene *scene, double *row)
{
    const nb_head *h = scene->head;
    const double *rows = scene->rows, scale = nb_frobenius((size_t)h->n * (size_t)h->n, rows);
    double tolerance = 1e-13 * (1 + scale);
    for (int i = 0; i < h->n; i++) {
        assert_ok(ctx, nb_scene_some_rows(scene, 1, &i, row, ctx));
        for (int j = 0; j < h->n; j++) {
            double value = rows[(size_t)i * (size_t)h->n + (size_t)j];
            if (j <= i || !h->causal)
                assert_close(row[j], value, tolerance);
            else
                assert_true(row[j] == 0); /* of the kept rows, some of these are never written */
        }
        if (h->causal) continue;
        assert_ok(ctx, nb_scene_kernel(scene, 1, h->q + (size_t)i * (size_t)h->d, h->n, h->k, row, ctx));
        for (int j = 0; j < h->n; j++) assert_close(row[j], rows[(size_t)i * (size_t)h->n + (size_t)j], tolerance);
    }
}

/* The k-th allocation fails, for every k. */
static void check_kernel_allocations(nb_ctx *ctx, const nb_head *head, const nb_choice *kernel)
{
    nb_status status = NB_ENOMEM;
    for (long k = 1; status != NB_OK; k++) {
        nb_mark mark = nb_ctx_mark(ctx);
        nb_scene *scene;
        const double *rows;
        double norm;
        assert_true(k < 10000);
        nb_ctx_fail_alloc(ctx, k);
        status = nb_scene_new(head, kernel, &scene, ctx);
        if (status == NB_OK) status = nb_scene_rows(scene, &rows, ctx);
        if (status == NB_OK) status = nb_scene_norm(scene, &norm, ctx);
        nb_ctx_fail_alloc(ctx, 0);
        if (status != NB_OK) assert_int_equal(status, NB_ENOMEM);
        nb_error_clear(ctx);
        nb_ctx_release(ctx, mark);
        assert_int_equal(nb_ctx_blocks(ctx), mark);
    }
}

static void check_kernel(nb_ctx *ctx, const char *problem, const nb_choice *kernel, bool causal)
{
    const nb_kernel *k = (const nb_kernel *)kernel->component;
    nb_head h = make_head(problem, 0, 0, ctx);
    nb_scene *scene;
    const double *rows;
    h.causal = causal;
    run_checks(ctx, nb_kernel_checks, kernel, NULL, &h, problem);
    if (causal && k->causal_refusal) {
        assert_int_equal(nb_scene_new(&h, kernel, &scene, ctx), NB_EINVAL);
        assert_non_null(strstr(nb_error_message(ctx), k->causal_refusal));
        nb_error_clear(ctx);
        return;
    }
    assert_ok(ctx, nb_scene_new(&h, kernel, &scene, ctx));
    if (nb_scene_rows(scene, &rows, ctx) != NB_OK) { /* S = 0, or points so far out that entries overflow */
        assert_true(strstr(problem, "scale=0") || strstr(problem, "dof=0.1"));
        assert_true(strlen(nb_error_message(ctx)) > 20);
        nb_error_clear(ctx);
        return;
    }
    assert_true(!k->points || scene->head->q == scene->head->k);
    if (!strstr(problem, "dof=0.1")) check_rows(ctx, scene, nb_alloc_reals(ctx, (size_t)h.n, 1));
    if (h.n <= 12) check_kernel_allocations(ctx, &h, kernel);
}

static void test_kernel(void **state)
{
    const nb_component *c = *state;
    nb_ctx *ctx = nb_ctx_new();
    nb_choices all = {.count = 0};
    assert_ok(ctx, nb_conformance_variants(&nb_kernels, c, "", &all, ctx));
    for (int p = 0; p < heads_count; p++)
        for (int v = 0; v < 2 * all.count; v++) {
            nb_mark mark = nb_ctx_mark(ctx);
            check_kernel(ctx, heads_of[p], &all.items[v / 2], v % 2);
            nb_ctx_release(ctx, mark);
        }
    nb_ctx_free(ctx);
}

/* The rest is for `nysbench check` too. */
static void test_kernel_checks(void **state)
{
    nb_ctx *ctx = nb_ctx_new();
    nb_choices all = {.count = 0};
    const char *name = "";
    nb_head head;
    assert_ok(ctx, nb_conformance_variants(&nb_kernels, *state, "", &all, ctx));
    for (int h = 0; name; h++) {
        assert_ok(ctx, nb_conformance_head(h, &name, &head, ctx));
        for (int v = 0; name && v < all.count; v++) run_checks(ctx, nb_kernel_checks, &all.items[v], NULL, &head, name);
    }
    nb_ctx_free(ctx);
}

static void test_core(void **state)
{
    static const char *const kernels[] = {"softmax", "exp", "gram"};
    nb_ctx *ctx = nb_ctx_new();
    nb_choices all = {.count = 0};
    const char *name = "";
    nb_head head;
    int step = is_brief(*state) && heads_count == FEW ? 3 : 1;
    assert_ok(ctx, nb_conformance_variants(&nb_cores, *state, given_options(ctx, *state, 0), &all, ctx));
    for (int h = 0; name; h += step) {
        assert_ok(ctx, nb_conformance_head(h, &name, &head, ctx));
        for (int v = 0; name && v < 3 * all.count; v++) {
            if (heads_count == FEW && (v / 3 + h) % 3 != v % 3) continue; /* each variant under one of them */
            nb_choice kernel = choose(&nb_kernels, kernels[v % 3], ctx);
            if (head.causal && v % 3 == 2) continue;          /* no mask */
            if (strstr(name, "zero") && v % 3 == 2) continue; /* S = 0 */
            if (strstr(name, "huge") && v % 3 == 1) continue; /* refused: exp has no scale */
            run_checks(ctx, nb_core_checks, &all.items[v / 3], &kernel, &head, name);
        }
    }
    nb_ctx_free(ctx);
}

static void test_metadata(void **state)
{
    const nb_registry *registry = *state;
    nb_ctx *ctx = nb_ctx_new();
    assert_non_null(registry->entries[0].component);
    assert_ok(ctx, nb_registry_check(registry, ctx));
    for (const nb_entry *e = registry->entries; e->component; e++) {
        const nb_component *c = e->component;
        if (e != registry->entries) assert_true(strcmp(e[-1].component->name, c->name) < 0);
        if (nb_check_record(registry, c, ctx) != NB_OK) fail_msg("%s: %s", c->name, nb_error_message(ctx));
    }
    nb_ctx_free(ctx);
}

/* Each property belongs to a line of the report, and a tolerance has its reason; each line but `memory` has a
 * property. */
static void check_properties(const nb_registry *registry, const nb_property *properties)
{
    const nb_check *checks = nb_checks_of(registry);
    for (const nb_property *p = properties; p->name; p++) {
        const nb_check *check = checks;
        while (check->name && strcmp(check->name, p->check) != 0) check++;
        if (!check->name || (p->tolerance > 0) != (p->reason != NULL))
            fail_msg("%s: '%s' is of no check, or its tolerance has no reason", registry->kind, p->name);
    }
    for (const nb_check *check = checks; check->name; check++) {
        const nb_property *p = properties;
        while (p->name && strcmp(p->check, check->name) != 0) p++;
        if (!p->name && strcmp(check->name, "memory") != 0)
            fail_msg("%s: the check '%s' has no property", registry->kind, check->name);
    }
}

static void test_tables_of_properties(void **state)
{
    (void)state;
    check_properties(&nb_kernels, nb_kernel_properties);
    check_properties(&nb_cores, nb_core_properties);
    check_properties(&nb_attentions, nb_attention_properties);
}

static void test_one_kernel_is_standard(void **state)
{
    int count = 0;
    (void)state;
    for (const nb_entry *e = nb_kernels.entries; e->component; e++)
        count += ((const nb_kernel *)e->component)->standard;
    assert_int_equal(count, 1);
}

static void test_one_core_is_the_identity(void **state)
{
    int count = 0;
    (void)state;
    for (const nb_entry *e = nb_cores.entries; e->component; e++)
        count += (((const nb_core *)e->component)->traits & NB_CORE_IDENTITY) != 0;
    assert_int_equal(count, 1);
}

/* A comparison of strategies is one of nothing else. */
static void test_one_default_pairing(void **state)
{
    (void)state;
    for (const nb_entry *e = nb_strategies.entries; e->component; e++) {
        const nb_strategy *s = (const nb_strategy *)e->component;
        if (s->pairing != (s->pick ? NB_JOINT : NB_BOTH))
            fail_msg("%s has another pairing than the rest", e->component->name);
    }
}

enum { MOST = 512 };

static void add(struct CMUnitTest *tests, size_t *count, const char *name, CMUnitTestFunction function,
                const void *state)
{
    assert(*count < MOST);
    tests[(*count)++] =
        (struct CMUnitTest){.name = name, .test_func = function, .initial_state = (void *)(uintptr_t)state};
}

static void add_all(nb_ctx *ctx, struct CMUnitTest *tests, size_t *count, const nb_registry *registry,
                    CMUnitTestFunction function, const char *what)
{
    for (const nb_entry *e = registry->entries; e->component; e++)
        add(tests, count, nb_format(ctx, "%s %s%s", registry->kind, e->component->name, what), function, e->component);
}

static void add_kind(nb_ctx *ctx, struct CMUnitTest *tests, size_t *count, const nb_registry *registry)
{
    static const struct {
        const nb_registry *registry;
        CMUnitTestFunction function;
        const char *what;
    } of[] = {{&nb_problems, test_problem, ""},
              {&nb_kernels, test_kernel, ""},
              {&nb_kernels, test_kernel_checks, ": checks"},
              {&nb_cores, test_core, ""},
              {&nb_strategies, test_strategy, ""},
              {&nb_strategies, test_entries, ": entries of S"},
              {&nb_partitions, test_partition, ""},
              {&nb_attentions, test_attention, ""}};
    add(tests, count, nb_format(ctx, "metadata of %s", registry->plural), test_metadata, registry);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        if (of[i].registry == registry) add_all(ctx, tests, count, registry, of[i].function, of[i].what);
    if (registry == &nb_kernels) add(tests, count, "one kernel is standard", test_one_kernel_is_standard, NULL);
    if (registry == &nb_kernels) add(tests, count, "tables of properties", test_tables_of_properties, NULL);
    if (registry == &nb_cores) add(tests, count, "one core is the identity", test_one_core_is_the_identity, NULL);
    if (registry == &nb_strategies) add(tests, count, "one default pairing", test_one_default_pairing, NULL);
}

/* test_conformance [all] [KIND]...: of all kinds of components unless some are named, on FEW heads or on all. */
int main(int argc, char **argv)
{
    static struct CMUnitTest tests[MOST];
    size_t count = 0;
    nb_ctx *ctx = nb_ctx_new();
    bool all = argc > 1 && strcmp(argv[1], "all") == 0;
    if (all) heads_count = (int)(sizeof heads_of / sizeof *heads_of) - 1;
    if (nb_temporary_folder(&folder, ctx) != NB_OK) return 1;
    for (int i = 0; nb_registries[i]; i++) {
        bool wanted = argc == 1 + all;
        for (int a = 1 + all; a < argc; a++) wanted = wanted || strcmp(argv[a], nb_registries[i]->kind) == 0;
        if (wanted) add_kind(ctx, tests, &count, nb_registries[i]);
    }
    if (count == 0) fprintf(stderr, "test_conformance: no kind of component is called %s\n", argv[argc - 1]);
    int failed = count == 0 || _cmocka_run_group_tests("conformance", tests, count, NULL, NULL);
    nb_ctx_free(ctx);
    return failed;
}
