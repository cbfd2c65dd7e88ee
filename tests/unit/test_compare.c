/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_compare.c - contrasts and comparisons of rows of no study, made so that the answers are known: `cake` is one of
 * some recipes, baked in an oven, and eaten by the heads of a file. */
#include "pages.h"
#include "relations.h"

#include "show/compare_print.h"
#include "rows/where.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    NB_ROW_FIRST
    const char *recipe, *oven;
    int eggs;
    double error, error_noise, error_se, error_unseen;
} cake;

static const nb_column columns[] = {
    NB_COLUMN_EXPERIMENT(cake),
    NB_COLUMN_PROBLEM(cake),
    NB_COLUMN_HEAD(cake),
    NB_COLUMN_TRIAL(cake),
    NB_COLUMN_MODEL(cake),
    NB_COLUMN_LAYER(cake),
    NB_COLUMN_SOURCE(cake),
    NB_COLUMN_TEXT_OF(cake, recipe, .identity = true),
    NB_COLUMN_TEXT_OF(cake, oven, .identity = true),
    NB_COLUMN_INT_OF(cake, eggs, .identity = true),
    NB_COLUMN_STATUS(cake),
    {.name = "error",
     .type = NB_COLUMN_REAL,
     .offset = offsetof(cake, error),
     .noise = "error_noise",
     .se = "error_se",
     .unseen = "error_unseen"},
    {.name = "error_noise", .type = NB_COLUMN_REAL, .offset = offsetof(cake, error_noise)},
    {.name = "error_se", .type = NB_COLUMN_REAL, .offset = offsetof(cake, error_se)},
    {.name = "error_unseen", .type = NB_COLUMN_REAL, .offset = offsetof(cake, error_unseen)},
    NB_COLUMN_SEED_OF(cake),
    {.name = NULL}};

enum { SOURCES = 8, HEADS = 2, TRIALS = 4, MOST = 4 * SOURCES * HEADS * TRIALS * 2 };

typedef struct {
    cake rows[MOST];
    int count;
    char names[SOURCES][20];
} bakery;

/* A row of each recipe ("plain", "sweet") on each head, plain's error 1, sweet's `ratio` times a factor of its source
 * that has the geometric mean 1, of its head likewise, and of its trial, where a source is lucky and the next is
 * not. */
static void bake(bakery *b, int sources, double ratio)
{
    b->count = 0;
    for (int s = 0; s < sources; s++) {
        snprintf(b->names[s], sizeof b->names[s], "text %d", s);
        for (int h = 0; h < HEADS; h++)
            for (int t = 0; t < TRIALS; t++)
                for (int sweet = 0; sweet < 2; sweet++) {
                    double of_source = exp(0.01 * (2 * s - sources + 1)), of_head = h ? 1.25 : 0.8,
                           of_trial = (t + s) % 2 ? 1.1 : 1 / 1.1;
                    double error = sweet ? ratio * of_source * of_head * of_trial : 1;
                    b->rows[b->count++] = (cake){.problem = b->names[s],
                                                 .model = "M",
                                                 .layer = "3",
                                                 .source = b->names[s],
                                                 .status = "ok",
                                                 .head = h,
                                                 .trial = t,
                                                 .recipe = sweet ? "sweet" : "plain",
                                                 .oven = "gas",
                                                 .eggs = 3,
                                                 .error = error,
                                                 .error_noise = 0,
                                                 .error_se = NAN,
                                                 .error_unseen = error};
                }
    }
}

static void scale(cake *row, double by)
{
    row->error *= by;
    row->error_unseen *= by;
}

static nb_compare_terms terms_of(const char *by)
{
    return (nb_compare_terms){.contrast = {.by = by, .metric = "error"},
                              .confidence = 0.95,
                              .margin = log(1.02),
                              .resamples = 200,
                              .seed = 1};
}

static nb_relation *relation(const bakery *b, nb_ctx *ctx)
{
    return relation_of(&(test_rows){columns, b->rows, sizeof *b->rows, b->count, NULL, false}, ctx);
}

static nb_comparison compare(nb_ctx *ctx, const bakery *b, const nb_compare_terms *terms)
{
    nb_comparison c;
    assert_ok(ctx, nb_compare(relation(b, ctx), terms, &c, ctx));
    return c;
}

static void test_ratio(void **state)
{
    static bakery b;
    nb_compare_terms terms = terms_of("recipe");
    bake(&b, SOURCES, 0.5);
    nb_comparison c = compare(*state, &b, &terms);
    assert_int_equal(c.count, 1); /* one model: no line of its own */
    const nb_compared *x = &c.items[0];
    assert_int_equal(x->estimate.sources, SOURCES);
    assert_int_equal(x->estimate.units, SOURCES * HEADS);
    assert_int_equal(x->pairs->pairs, SOURCES * HEADS * TRIALS);
    assert_close(x->estimate.mean, log(0.5), 1e-14); /* some roundings of logarithms of 1 */
    double square = 0;
    for (int s = 0; s < SOURCES; s++) square += pow(0.01 * (2 * s - SOURCES + 1), 2);
    assert_close(x->estimate.sd, sqrt(square / (SOURCES - 1)), 1e-14);
    assert_int_equal(x->verdict, NB_BETTER);
    terms.contrast.baseline = 1;
    c = compare(*state, &b, &terms);
    assert_close(c.items[0].estimate.mean, log(2), 1e-14);
    assert_int_equal(c.items[0].verdict, NB_WORSE);
    terms.contrast.difference = true;
    terms.contrast.baseline = 0;
    terms.margin = 0.01;
    c = compare(*state, &b, &terms);
    double mean = 0;
    for (int i = 0; i < b.count; i++)
        if (i % 2) mean += (b.rows[i].error - 1) / (b.count / 2);
    assert_close(c.items[0].estimate.mean, mean, 1e-14);
}

static void test_verdicts(void **state)
{
    static bakery b;
    const nb_compare_terms terms = terms_of("recipe");
    bake(&b, SOURCES, 1.0001);
    for (int i = 1; i < b.count; i += 2)
        scale(&b.rows[i], (1 + 1e-4 * (b.rows[i].problem[5] % 3 - 1)) / b.rows[i].error);
    nb_comparison c = compare(*state, &b, &terms);
    assert_int_equal(c.items[0].verdict, NB_EQUIVALENT);
    bake(&b, SOURCES, 1.01);
    c = compare(*state, &b, &terms);
    assert_int_equal(c.items[0].verdict, NB_UNDECIDED);
    assert_true(c.items[0].more > 1);
    assert_null(c.items[0].why);
    bake(&b, NB_LEAST_SOURCES - 1, 0.1);
    c = compare(*state, &b, &terms);
    assert_int_equal(c.items[0].verdict, NB_NO_VERDICT);
    tell("five sources", c.items[0].why);
    bake(&b, 1, 0.1);
    c = compare(*state, &b, &terms);
    assert_int_equal(c.items[0].verdict, NB_NO_VERDICT);
    assert_true(isnan(c.items[0].estimate.low));
}

/* Three more trials, the last with half the error on all sources. One of 0.985 is less than the margin off the rest. */
static void test_far_trial(void **state)
{
    static bakery b;
    const nb_compare_terms terms = terms_of("recipe");
    static const double last[] = {0.5, 0.985};
    for (int i = 0; i < 2; i++) {
        bake(&b, SOURCES, 0.5);
        for (int r = 0, count = b.count; r < count; r++) {
            if (b.rows[r].trial == 3) continue;
            b.rows[b.count] = b.rows[r];
            b.rows[b.count].trial += 4;
            if (b.rows[r].trial == 2 && b.rows[r].recipe[0] == 's') scale(&b.rows[b.count], last[i]);
            b.count++;
        }
        nb_comparison c = compare(*state, &b, &terms);
        nb_page page;
        nb_grid grid;
        nb_page_make(&page, *state);
        assert_ok(*state, nb_compare_show(&page, &c, &(nb_compare_view){true, true}, *state));
        assert_ok(*state, nb_compare_fill(&grid, &c, *state));
        const char *text = page_text(&page, NB_PAGE_TEXT, 0, *state);
        const char *warning = "WARNING: a trial is far from the others: sweet: 0.25 in trial 6,";
        const char *cell = "0.25 in trial 6, where the median of 7 trials is 0.5";
        assert_true((strstr(text, warning) != NULL) == (i == 0));
        assert_true((strstr(json_text(&grid, *state), cell) != NULL) == (i == 0));
    }
}

/* Head 0 has 0.8 of the mean over both heads, head 1 1.25. With the sources' standard deviation 0.01 sqrt(24), each
 * interval is half as wide as t_(1 - 0.025 / 2) of 7 degrees of freedom times 0.01 sqrt(24 / 8) = 0.04921: two heads
 * share the 5 %. The trials' means over sources are equal. */
static void test_heads_that_differ(void **state)
{
    static bakery b;
    const nb_compare_terms terms = terms_of("recipe");
    bake(&b, SOURCES, 1);
    nb_comparison c = compare(*state, &b, &terms);
    tell("two heads", c.items[0].conflict);
    assert_non_null(strstr(c.items[0].conflict, "0.8 [0.762, 0.84]"));
    assert_non_null(strstr(c.items[0].conflict, "1.25 [1.19, 1.31]"));
    nb_page page;
    nb_page_make(&page, *state);
    assert_ok(*state, nb_compare_show(&page, &c, &(nb_compare_view){true, true}, *state));
    const char *warning = strstr(page_text(&page, NB_PAGE_TEXT, 0, *state), "WARNING: ");
    assert_non_null(warning);
    tell("a page of them", nb_format(*state, "%.*s", (int)strcspn(warning, "\n"), warning));
    bake(&b, SOURCES, 0.78); /* 0.975 of the baseline on head 1, up to 1.02 */
    c = compare(*state, &b, &terms);
    assert_null(c.items[0].conflict);
    bake(&b, NB_LEAST_SOURCES - 1, 1);
    c = compare(*state, &b, &terms);
    assert_null(c.items[0].conflict);
    bake(&b, SOURCES, 1); /* a third head, in another layer than the two */
    for (int i = 0, count = b.count; i < count; i++)
        if (b.rows[i].head == 0) {
            b.rows[b.count] = b.rows[i];
            b.rows[b.count].head = 2;
            b.rows[b.count++].layer = "9";
        }
    c = compare(*state, &b, &terms);
    tell("three heads of two layers", c.items[0].conflict);
    bake(&b, SOURCES, 1); /* one head a source: none of the two has enough of them */
    for (int i = 0; i < b.count; i++) b.rows[i].head = b.rows[i].problem[5] % 2;
    c = compare(*state, &b, &terms);
    assert_null(c.items[0].conflict);
}

/* Of three amounts of eggs, all with the p of one, 0.02: the interval of one by itself excludes 0, those that hold
 * together do not. */
static void test_among_others(void **state)
{
    static bakery b;
    const nb_compare_terms terms = terms_of("recipe");
    bake(&b, SOURCES, 0.95);
    nb_comparison c = compare(*state, &b, &terms);
    assert_int_equal(c.items[0].verdict, NB_BETTER);
    int count = b.count;
    for (int eggs = 1; eggs <= 2; eggs++)
        for (int i = 0; i < count; i++) {
            b.rows[b.count] = b.rows[i];
            b.rows[b.count++].eggs = eggs;
        }
    c = compare(*state, &b, &terms);
    assert_int_equal(c.count, 3);
    assert_int_equal(c.items[0].family, 3);
    assert_true(c.items[0].estimate.high < 0 && c.items[0].joint.high > 0);
    assert_close(c.items[0].joint.high, nb_estimate_interval(&c.items[0].estimate, 1 - 0.05 / 3).high, 1e-12);
    assert_int_equal(c.items[0].verdict, NB_UNDECIDED);
    tell("three lines", c.items[0].why);
    assert_true(isnan(c.items[0].more));
}

static int asked(nb_ctx *ctx, const nb_relation *r, const char *sql)
{
    nb_grid a;
    assert_ok(ctx, nb_relation_ask(r, sql, &a, ctx));
    assert_int_equal(a.count, 1);
    return (int)nb_grid_at(&a, 0, 0)->integer;
}

static bool same_source(nb_ctx *ctx, const nb_relation *r, int a, int b)
{
    const char *sql = nb_format(ctx, "SELECT count(DISTINCT source_id) FROM run WHERE number IN (%d, %d)", a, b);
    return asked(ctx, r, sql) == 1;
}

/* The data of a generated problem's trial are a source; a name of no problem is one of a file. */
static void test_sources(void **state)
{
    static bakery b;
    nb_grid name;
    bake(&b, 3, 0.5);
    for (int i = 0; i < b.count; i++) b.rows[i].model = b.rows[i].source = NULL;
    for (int i = 0; i < 16; i++) b.rows[i].problem = "gaussian(n=8, d=2)"; /* 2 heads, 4 trials */
    nb_relation *r = relation_of(&(test_rows){columns, b.rows, sizeof *b.rows, b.count, NULL, false}, *state);
    assert_int_equal(asked(*state, r, "SELECT count(*) FROM stratum"), 2);
    assert_int_equal(asked(*state, r, "SELECT count(*) FROM source"), TRIALS + 2);
    assert_ok(*state, nb_relation_ask(r, "SELECT name FROM stratum WHERE id = 0", &name, *state));
    assert_string_equal(nb_grid_at(&name, 0, 0)->text, "gaussian(n=8, d=2)");
    assert_true(same_source(*state, r, 0, 1));
    assert_false(same_source(*state, r, 0, 2)); /* the other trial */
    assert_true(same_source(*state, r, 0, 8));  /* the other head */
    assert_true(same_source(*state, r, 16, 31));
    assert_false(same_source(*state, r, 16, 32));
}

static void test_failures(void **state)
{
    static bakery b;
    nb_compare_terms terms = terms_of("recipe");
    bake(&b, SOURCES, 0.5);
    b.rows[1].status = "failed";
    b.rows[1].error = NAN;
    for (int i = 2; i < 2 * TRIALS; i++) b.rows[i].status = "skipped";
    nb_comparison c = compare(*state, &b, &terms);
    const nb_pair_counts *k = c.items[0].pairs;
    assert_int_equal(k->missing, 1);
    assert_int_equal(k->missing_baseline, 0);
    assert_int_equal(k->skipped, 0);
    assert_int_equal(k->neither, TRIALS - 1);
    assert_int_equal(k->pairs, b.count / 2 - TRIALS);
    assert_int_equal(c.items[0].verdict, NB_BETTER); /* 1 of 61 is less than 5 % */
    assert_int_equal(c.items[0].estimate.units, SOURCES * HEADS - 1);
    terms.contrast.failures = NB_FAILURES_WORST;
    c = compare(*state, &b, &terms);
    assert_int_equal(c.items[0].estimate.units, SOURCES * HEADS);
    double most = 0, mean = 0;
    for (int i = 2 * TRIALS + 1; i < b.count; i += 2) most = fmax(most, fabs(log(b.rows[i].error)));
    for (int s = 0; s < SOURCES; s++) mean += (log(0.5) + 0.01 * (2 * s - SOURCES + 1)) / SOURCES;
    double head = log(0.5) - 0.07 + log(0.8); /* the first: the mean of its trials before */
    mean += (most - head) / HEADS / SOURCES;
    assert_close(c.items[0].estimate.mean, mean, 1e-14);
    for (int i = 1; i < b.count; i += 16) b.rows[i].status = "failed";
    terms.contrast.failures = NB_FAILURES_DROP;
    c = compare(*state, &b, &terms);
    assert_int_equal(c.items[0].verdict, NB_NO_VERDICT);
    tell("some failed", c.items[0].why);
    for (int i = 1; i < b.count; i += 2) b.rows[i].status = "diverged";
    c = compare(*state, &b, &terms);
    assert_int_equal(c.items[0].verdict, NB_NO_VERDICT);
    tell("all diverged", c.items[0].why);
    assert_true(isnan(c.items[0].estimate.mean));
}

/* Two that are noise say nothing, differences within rounding are none, and no error is less than its rounding: no
 * ratio of 0. */
static void test_noise(void **state)
{
    static bakery b;
    const nb_compare_terms terms = terms_of("recipe");
    bake(&b, SOURCES, 0.5);
    for (int i = 0; i < b.count; i++) {
        b.rows[i].error = b.rows[i].error_unseen = i % 2 ? 0 : 1e-16;
        b.rows[i].error_noise = 1e-15;
    }
    nb_comparison c = compare(*state, &b, &terms);
    assert_int_equal(c.items[0].pairs->noise, b.count / 2);
    assert_int_equal(c.items[0].pairs->pairs, 0);
    tell("noise alone", c.items[0].why);
    for (int i = 0; i < b.count; i++) b.rows[i].error = b.rows[i].error_unseen = i % 2 ? 1e-14 : 0.95e-14;
    c = compare(*state, &b, &terms);
    assert_int_equal(c.items[0].pairs->ties, b.count / 2);
    assert_true(c.items[0].estimate.mean == 0 && c.items[0].estimate.wilcoxon_p == 1);
    assert_int_equal(c.items[0].verdict, NB_EQUIVALENT);
    for (int i = 1; i < b.count; i += 2) b.rows[i].error = b.rows[i].error_unseen = 0;
    for (int i = 0; i < b.count; i += 2) b.rows[i].error = b.rows[i].error_unseen = 1e-12;
    c = compare(*state, &b, &terms);
    assert_close(c.items[0].estimate.mean, log(1e-15 / 1e-12), 1e-12);
    for (int i = 0; i < b.count; i++) b.rows[i].error_noise = 0;
    c = compare(*state, &b, &terms);
    assert_int_equal(c.items[0].estimate.infinite, SOURCES * HEADS);
    assert_int_equal(c.items[0].verdict, NB_NO_VERDICT);
    assert_int_equal(c.items[0].estimate.below, SOURCES);
    b.rows[0].error = -1;
    nb_relation *r = relation(&b, *state);
    assert_error(*state, nb_compare(r, &terms, &c, *state), NB_EINVAL);
}

/* A trial in which all sources are lucky is worth one observation: of four trials, three degrees of freedom. Half of
 * them leave no verdict. */
static void test_trials(void **state)
{
    static bakery b;
    const nb_compare_terms terms = terms_of("recipe");
    bake(&b, SOURCES, 0.5);
    nb_estimate before = compare(*state, &b, &terms).items[0].estimate;
    assert_true(before.common_se == 0);
    for (int i = 1; i < b.count; i += 2) scale(&b.rows[i], exp(b.rows[i].trial % 2 ? 0.1 : -0.1));
    nb_comparison c = compare(*state, &b, &terms);
    const nb_estimate *e = &c.items[0].estimate;
    double square = 0.1 * 0.1 / (TRIALS - 1), own = before.se * before.se;
    double common = square - pow(log(1.1), 2) / (SOURCES - 1) / (TRIALS - 1);
    assert_true(common > 0);
    assert_int_equal(c.items[0].trials, TRIALS);
    assert_close(e->mean, before.mean, 1e-14);
    assert_close(e->common_se * e->common_se, common, 1e-15);
    assert_close(e->se * e->se, own + common, 1e-15);
    assert_close(e->common_square, square, 1e-15);
    assert_close(e->df, TRIALS - 1, 1e-9); /* Satterthwaite's would be 2.8 */
    assert_int_equal(c.items[0].verdict, NB_BETTER);
    int kept = 0;
    for (int i = 0; i < b.count; i++)
        if (b.rows[i].trial < NB_LEAST_TRIALS - 1) b.rows[kept++] = b.rows[i];
    b.count = kept;
    c = compare(*state, &b, &terms);
    assert_int_equal(c.items[0].verdict, NB_NO_VERDICT);
    tell("two trials", c.items[0].why);
    for (int i = kept = 0; i < b.count; i++)
        if (b.rows[i].trial == 0) b.rows[kept++] = b.rows[i];
    b.count = kept; /* of no component that is known to draw: not drawn */
    assert_int_equal(compare(*state, &b, &terms).items[0].verdict, NB_BETTER);
}

/* Sampled rows: their standard errors widen the interval, by the variance of a mean over trials, heads, sources. */
static void test_sampling_error(void **state)
{
    static bakery b;
    const nb_compare_terms terms = terms_of("recipe");
    bake(&b, SOURCES, 0.5);
    double se = compare(*state, &b, &terms).items[0].estimate.se;
    for (int i = 0; i < b.count; i++) b.rows[i].error_se = 0.03 * b.rows[i].error;
    double wide = compare(*state, &b, &terms).items[0].estimate.se;
    double own = 2 * 0.03 * 0.03 / (TRIALS * HEADS * SOURCES); /* of log a - log b */
    assert_close(wide * wide - se * se, own, 1e-15);
    nb_compare_terms differences = terms;
    differences.contrast.difference = true;
    bake(&b, SOURCES, 0.5);
    se = compare(*state, &b, &differences).items[0].estimate.se;
    for (int i = 0; i < b.count; i++) b.rows[i].error_se = i % 2 ? 0.05 : 0.02;
    wide = compare(*state, &b, &differences).items[0].estimate.se;
    own = (0.05 * 0.05 + 0.02 * 0.02) / (TRIALS * HEADS * SOURCES); /* of a - b */
    assert_close(wide * wide - se * se, own, 1e-15);
}

/* No number of sources decides between two whose difference is 0 on average, where any difference matters. */
static void test_undecided_for_good(void **state)
{
    static bakery b;
    nb_ctx *ctx = *state;
    nb_comparison c;
    nb_page page;
    nb_compare_terms terms = terms_of("recipe");
    terms.contrast.difference = true;
    terms.margin = 0;
    bake(&b, SOURCES, 0.5);
    for (int i = 1; i < b.count; i += 2)
        b.rows[i].error = b.rows[i].error_unseen = b.rows[i].problem[5] % 2 ? 1.25 : 0.75;
    nb_relation *r = relation(&b, ctx);
    assert_ok(ctx, nb_compare(r, &terms, &c, ctx));
    assert_int_equal(c.items[0].verdict, NB_UNDECIDED);
    nb_page_make(&page, ctx);
    assert_ok(ctx, nb_compare_show(&page, &c, &(nb_compare_view){true, true}, ctx));
    const char *text = page_text(&page, NB_PAGE_TEXT, 0, ctx);
    assert_non_null(strstr(text, "undecided"));
    assert_null(strstr(text, "undecided, ")); /* after how many sources */
}

/* Every allocation of what prints a comparison fails in turn: that is told, and nothing is printed in part. */
static void test_memory_that_runs_out(void **state)
{
    static bakery b;
    nb_ctx *ctx = *state;
    const nb_compare_terms terms = terms_of("recipe");
    bake(&b, SOURCES, 0.5);
    nb_comparison c = compare(ctx, &b, &terms);
    for (int form = 0; form < 3; form++) { /* brief, all numbers, for programs */
        for (long k = 1, left = 0; left == 0; k++) {
            nb_mark mark = nb_ctx_mark(ctx);
            nb_page page;
            nb_grid grid;
            nb_page_make(&page, ctx);
            nb_ctx_fail_alloc(ctx, k);
            nb_status status = form < 2 ? nb_compare_show(&page, &c, &(nb_compare_view){form, form}, ctx)
                                        : nb_compare_fill(&grid, &c, ctx);
            left = nb_ctx_fail_alloc(ctx, 0);
            assert_int_equal(status, left ? NB_OK : NB_ENOMEM);
            if (left) assert_true(k > 20);
            nb_error_clear(ctx);
            nb_ctx_forget_exhausted(ctx);
            nb_ctx_release(ctx, mark);
        }
    }
}

static void test_refusals(void **state)
{
    static bakery b;
    nb_compare_terms terms = terms_of("recipe");
    bake(&b, SOURCES, 0.5);
    for (int i = 1; i < b.count; i += 2) b.rows[i].oven = "coal";
    nb_comparison c = compare(*state, &b, &terms);
    assert_int_equal(c.count, 1);
    assert_int_equal(c.items[0].verdict, NB_REFUSED);
    tell("another oven", c.items[0].why);
    assert_int_equal(c.items[0].estimate.units, 0);
    assert_int_equal(c.contrasts->unpaired[1], b.count / 2);
    terms.contrast.confounded = (const char *const[]){"oven", NULL};
    c = compare(*state, &b, &terms);
    assert_int_equal(c.items[0].verdict, NB_BETTER);
    b.rows[b.count] = b.rows[1]; /* sweet in a second oven: which one? */
    b.rows[b.count++].oven = "wood";
    nb_relation *r = relation(&b, *state);
    assert_error(*state, nb_compare(r, &terms, &c, *state), NB_EINVAL);
    bake(&b, SOURCES, 0.5);
    b.rows[1].error_unseen = 0.7; /* sweet has looked */
    terms.contrast.confounded = NULL;
    c = compare(*state, &b, &terms);
    assert_int_equal(c.items[0].verdict, NB_REFUSED);
    assert_non_null(strstr(c.items[0].why, "error_unseen"));
    tell("rows that one has seen", c.items[0].why);
    terms.contrast.confounded = (const char *const[]){NB_ROWS_SEEN, NULL};
    assert_int_equal(compare(*state, &b, &terms).items[0].verdict, NB_BETTER);
    for (int i = 0; i < b.count; i++)
        b.rows[i].trial = 2 * b.rows[i].trial + 1 + i % 2; /* alike, but never in the same trial */
    c = compare(*state, &b, &terms);
    tell("no trial in common", c.items[0].why);
    for (int i = 1; i < b.count; i += 2) b.rows[i].head += b.count;
    c = compare(*state, &b, &terms);
    tell("no head in common", c.items[0].why);
}

/* Pairs of rows of different programs are none. */
static void test_builds(void **state)
{
    static bakery b;
    nb_compare_terms terms = terms_of("recipe");
    nb_comparison c;
    int build[MOST];
    bake(&b, SOURCES, 0.5);
    for (int i = 0; i < b.count; i++) build[i] = i % 2;
    nb_relation *r = relation_of(&(test_rows){columns, b.rows, sizeof *b.rows, b.count, build, true}, *state);
    assert_ok(*state, nb_compare(r, &terms, &c, *state));
    assert_int_equal(c.items[0].verdict, NB_REFUSED);
    tell("another build", c.items[0].why);
    terms.contrast.confounded = (const char *const[]){NB_BUILD, NULL};
    assert_ok(*state, nb_compare(r, &terms, &c, *state));
    assert_int_equal(c.items[0].verdict, NB_BETTER);
}

/* Two settings: the family has both; pooled, an effect that changes sign is told. */
static void test_settings(void **state)
{
    static bakery b;
    nb_compare_terms terms = terms_of("recipe");
    bake(&b, SOURCES, 0.5);
    int half = b.count;
    for (int i = 0; i < half; i++) {
        b.rows[b.count] = b.rows[i];
        b.rows[b.count].eggs = 4;
        if (i % 2) scale(&b.rows[b.count], 4);
        b.count++;
    }
    nb_comparison c = compare(*state, &b, &terms);
    assert_int_equal(c.count, 2);
    assert_int_equal(c.items[0].verdict, NB_BETTER);
    assert_int_equal(c.items[1].verdict, NB_WORSE);
    assert_int_equal(c.items[0].family, 2);
    terms.contrast.pool = "eggs";
    c = compare(*state, &b, &terms);
    assert_int_equal(c.count, 1);
    assert_close(c.items[0].estimate.mean, 0, 1e-14);
    tell("eggs", c.items[0].change);
    /* with four eggs an interval of its own says worse, but none that holds with that of three */
    terms.contrast.pool = NULL;
    c = compare(*state, &b, &terms);
    double shift = (c.items[1].estimate.low + c.items[1].joint.low) / 2;
    assert_true(c.items[1].joint.low < shift && shift < c.items[1].estimate.low);
    for (int i = half + 1; i < b.count; i += 2) scale(&b.rows[i], exp(-shift));
    terms.contrast.pool = "eggs";
    c = compare(*state, &b, &terms);
    assert_null(c.items[0].change);
    for (int i = 0; i < b.count; i++) b.rows[i].recipe = i % 2 ? "sweet" : "plain";
    terms.contrast.pool = NULL;
    terms.contrast.all_pairs = true;
    c = compare(*state, &b, &terms);
    assert_int_equal(c.count, 2);
    assert_int_equal(c.items[0].contrast->baseline, 0);
    assert_int_equal(c.items[0].contrast->value, 1);
}

/* Models are strata with equal weights, and all are shown. */
static void test_strata(void **state)
{
    static bakery b;
    const nb_compare_terms terms = terms_of("recipe");
    bake(&b, SOURCES, 0.5);
    for (int i = 0; i < b.count; i++)
        if (b.rows[i].problem[5] >= '6') { /* 2 of 8 sources */
            b.rows[i].model = "other";
            if (i % 2) scale(&b.rows[i], 4);
        }
    nb_comparison c = compare(*state, &b, &terms);
    assert_int_equal(c.count, 3);
    assert_int_equal(c.items[0].stratum, NB_OVER_STRATA);
    assert_int_equal(c.items[1].estimate.sources, 6);
    assert_int_equal(c.items[2].estimate.sources, 2);
    assert_close(c.items[0].estimate.mean, (c.items[1].estimate.mean + c.items[2].estimate.mean) / 2, 1e-14);
    assert_int_equal(c.items[2].verdict, NB_NO_VERDICT);
    assert_int_equal(c.items[1].family, 1); /* a stratum is a family by itself */
    assert_true(c.items[1].joint.low == c.items[1].estimate.low);
}

/* A text that two models have read is a source of each. */
static void test_shared_source(void **state)
{
    static bakery b;
    bake(&b, 2, 0.5);
    for (int i = 0; i < b.count; i++) {
        b.rows[i].model = i < b.count / 2 ? "M" : "N";
        b.rows[i].source = "text";
    }
    nb_relation *r = relation_of(&(test_rows){columns, b.rows, sizeof *b.rows, b.count, NULL, false}, *state);
    assert_int_equal(asked(*state, r, "SELECT count(*) FROM source"), 2);
    assert_int_equal(asked(*state, r, "SELECT count(*) FROM source WHERE stratum_id = id"), 2);
}

/* Models are called by the first word of their names, where that tells them apart. */
static void test_labels(void **state)
{
    static bakery b;
    nb_ctx *ctx = *state;
    nb_comparison c;
    const nb_compare_terms terms = terms_of("recipe");
    bake(&b, SOURCES, 0.5);
    for (int i = 0; i < b.count; i++)
        b.rows[i].model = b.rows[i].problem[5] < '3'   ? "stone oven"
                          : b.rows[i].problem[5] < '6' ? "clay oven"
                                                       : "clay pit";
    nb_relation *r = relation(&b, ctx);
    assert_ok(ctx, nb_compare(r, &terms, &c, ctx));
    nb_page page;
    nb_page_make(&page, ctx);
    assert_ok(ctx, nb_compare_show(&page, &c, &(nb_compare_view){true, true}, ctx));
    const char *text = page_text(&page, NB_PAGE_TEXT, 0, ctx);
    /* NOLINT(wording): the names are the test's */
    assert_true(strstr(text, " stone ") && strstr(text, " clay oven ") && strstr(text, " clay pit "));
}

/* A condition with many values chooses the rows that have them, and takes memory in proportion to them. */
static void test_many_values(void **state)
{
    enum { COUNT = 4000, MOST_BYTES = 1 << 22 };
    nb_grid chosen;
    cake *rows = nb_alloc(*state, COUNT, sizeof *rows);
    assert_non_null(rows);
    for (int i = 0; i < COUNT; i++)
        rows[i] = (cake){.problem = "p", .recipe = "plain", .oven = "o", .eggs = i, .status = "ok", .error = 1};
    nb_relation *r = relation_of(&(test_rows){columns, rows, sizeof *rows, COUNT, NULL, false}, *state);
    nb_ctx_watch(*state);
    size_t before = nb_ctx_most(*state);
    const nb_condition_text conditions[] = {{"eggs", "1..3990"}, {"eggs", "3999"}, {"recipe", "plain"}, {NULL, NULL}},
                            few[] = {{"eggs", "3980..3999"}, {NULL, NULL}};
    assert_ok(*state, nb_where(r, NULL, conditions, "eggs", *state));
    assert_true(nb_ctx_most(*state) - before < MOST_BYTES);
    assert_ok(*state, nb_relation_ask(r, "SELECT eggs FROM run WHERE id IN (SELECT id FROM eggs) ORDER BY eggs",
                                      &chosen, *state));
    assert_int_equal(chosen.count, 3991);
    assert_int_equal(nb_grid_at(&chosen, 0, 0)->integer, 1); /* not 0, which `plain` is among recipes */
    assert_int_equal(nb_grid_at(&chosen, 3990, 0)->integer, 3999);
    assert_ok(*state, nb_where(r, "eggs", few, "few", *state));
    assert_ok(*state, nb_relation_ask(r, "SELECT count(*) FROM few", &chosen, *state));
    assert_int_equal(nb_grid_at(&chosen, 0, 0)->integer, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_many_values),
        test_with_ctx(test_ratio),
        test_with_ctx(test_verdicts),
        test_with_ctx(test_far_trial),
        test_with_ctx(test_heads_that_differ),
        test_with_ctx(test_sources),
        test_with_ctx(test_failures),
        test_with_ctx(test_noise),
        test_with_ctx(test_sampling_error),
        test_with_ctx(test_memory_that_runs_out),
        test_with_ctx(test_refusals),
        test_with_ctx(test_builds),
        test_with_ctx(test_settings),
        test_with_ctx(test_strata),
        test_with_ctx(test_labels),
        test_with_ctx(test_shared_source),
        test_with_ctx(test_among_others),
        test_with_ctx(test_trials),
        test_with_ctx(test_undecided_for_good),
    };
    return run_all(tests);
}
