/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_claims.c - claims about rows made by hand, whose estimates are known in closed form.
 *
 * RATIOS are twelve ratios whose mean logarithm, t interval, share below 1 and geometric mean were computed with SciPy
 * 1.17 (0.858818928220594, log scale -0.246191287508555 ... -0.0582030583067250, 10 of 12: 0.515862251313923 ...
 * 0.979137474540338); their order statistics can be read off. Spearman's coefficient of 1 ... 7 against 2 1 4 3 7 5 6
 * is 1 - 6 * 10 / (7 * 48), of 1 2 2 4 5 against 1 3 2 2 5, with ties, 0.763157894736842 (SciPy). */
#include "relations.h"

#include "base/builder.h"
#include "config/keys.h"
#include "answers/claims.h"
#include "studies/error/study.h"

#include <gsl/gsl_cdf.h>

enum { MOST = 4096, COUNT = 12 };

static const double RATIOS[COUNT] = {0.82, 0.79, 0.91, 1.04, 0.66, 0.88, 0.95, 0.73, 1.12, 0.84, 0.90, 0.77};
static const double MEAN = -0.15219717290763982, LOW = -0.246191287508555, HIGH = -0.0582030583067250;
static const char *const sources[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};

typedef struct {
    int count;
    nb_error_row rows[MOST];
} table;

static void set_error(nb_error_row *r, double error)
{
    r->measures.error = r->measures.error_unseen = error;
}

/* What a strategy is called that draws nothing, so that one trial says all. */
static const char *without_draws(const char *strategy)
{
    static const char *const names[][2] = {{"uniform", "uniform(strided=true)"},
                                           {"farthest_point", "farthest_point(start=central)"},
                                           {"leverage", "leverage(of=kernel, take=top)"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(strategy, names[i][0]) == 0) return names[i][1];
    return strategy;
}

/* A row of head 0 of a source that is ok, for the caller to change. */
static nb_error_row *add(table *t, int source, const char *strategy, int m, double error)
{
    nb_error_row *r = &t->rows[t->count++];
    *r = (nb_error_row){.experiment = "e",
                        .problem = "heads(file=x.safetensors)",
                        .model = "minilm",
                        .source = sources[source],
                        .status = "ok",
                        .reason = "",
                        .seed = 1,
                        .n = 64,
                        .d = 8,
                        .kernel = "softmax",
                        .strategy = without_draws(strategy),
                        .landmarks = m,
                        .pairing = "joint",
                        .factors = "nystromformer",
                        .core = "svd",
                        .rows = "all",
                        .engine = "streamed",
                        .precision = "double",
                        .head = source}; /* heads of one file, from different sources */
    nb_measures_clear(&r->measures);
    set_error(r, error);
    return r;
}

static nb_relation *relation(const table *t, nb_ctx *ctx)
{
    return relation_of(&(test_rows){nb_error_columns, t->rows, sizeof *t->rows, t->count, NULL, false}, ctx);
}

/* The answer to one claim, written as in an experiment's file. */
static nb_claim_results ask_all(const table *t, const char *text, nb_ctx *ctx)
{
    nb_yaml value;
    nb_mistakes mistakes = {.ctx = ctx};
    nb_claim *claims;
    nb_claim_results results;
    int count;
    assert_ok(ctx, nb_yaml_text(text, "test", &value, &mistakes));
    assert_ok(ctx, nb_claims_read(value, &nb_study_error.run.config.study, NULL, &count, &claims, &mistakes));
    if (mistakes.count > 0) fail_msg("%s", mistakes.texts[0]);
    assert_ok(ctx, nb_claims_ask(relation(t, ctx), count, claims, &results, ctx));
    return results;
}

static nb_claim_result ask(const table *t, const char *text, nb_ctx *ctx)
{
    nb_claim_results results = ask_all(t, text, ctx);
    assert_int_equal(results.count, 1);
    return results.results[0];
}

static void expect_verdict(const nb_claim_answer *a, nb_claim_verdict verdict)
{
    if (a->verdict != verdict)
        fail_msg("%s: %.17g [%.17g, %.17g], %s; expected %s", nb_claim_verdicts[a->verdict], a->estimate, a->low,
                 a->high, a->why ? a->why : "", nb_claim_verdicts[verdict]);
}

static void expect_numbers(const nb_claim_answer *a, double estimate, double low, double high, int count, int heads)
{
    assert_close(a->estimate, estimate, 1e-13);
    assert_close(a->low, low, 2e-12); /* GSL's quantiles */
    assert_close(a->high, high, 2e-12);
    assert_int_equal(a->sources, count);
    assert_int_equal(a->heads, heads);
}

static void expect_void(const table *t, const char *claim, nb_ctx *ctx)
{
    nb_claim_result r = ask(t, claim, ctx);
    expect_verdict(&r.answer, NB_CLAIM_IS_VOID);
    tell(claim, r.answer.why);
}

/* segment_means has RATIOS of what uniform has, by source. */
static void add_pairs(table *t, int m, double scale)
{
    for (int i = 0; i < COUNT; i++) {
        add(t, i, "segment_means", m, scale * (i + 1) * RATIOS[i]);
        add(t, i, "uniform", m, scale * (i + 1));
    }
}

#define COMPARE_WITH_OPEN(expect) \
    "{says: x, compare: {strategy: [segment_means, uniform], metric: error}, expect: {" expect "}, "
#define COMPARE_WITH(expect, options) COMPARE_WITH_OPEN(expect) options "}"
#define COMPARE(expect) COMPARE_WITH(expect, "id: x")

/* A head in two windows is one head: both are settings, and averaged. */
static void test_windows(void **state)
{
    static table t;
    t.count = 0;
    add_pairs(&t, 8, 1);
    int half = t.count;
    for (int i = 0; i < half; i++) {
        t.rows[t.count] = t.rows[i];
        t.rows[t.count++].problem = "heads(file=x.safetensors, max_n=12)";
    }
    nb_claim_result r = ask(&t, COMPARE("ratio: [0, 1]"), *state);
    expect_numbers(&r.answer, exp(MEAN), exp(LOW), exp(HIGH), COUNT, COUNT);
    r = ask(&t,
            "{says: x, measure: {metric: error, statistic: geometric_mean, where: {strategy: uniform}}, "
            "expect: {value: [0, 99]}}",
            *state);
    assert_int_equal(r.answer.heads, COUNT);
}

static void test_ratio(void **state)
{
    static table t;
    t.count = 0;
    add_pairs(&t, 8, 0.01);
    nb_claim_result r = ask(&t, COMPARE("ratio: [null, 0.95]"), *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REPRODUCED);
    expect_numbers(&r.answer, exp(MEAN), exp(LOW), exp(HIGH), COUNT, COUNT);
    assert_int_equal(r.answer.model_count, 1);
    assert_string_equal(r.answer.models[0].name, "minilm");
    expect_numbers(&r.answer.models[0], exp(MEAN), exp(LOW), exp(HIGH), COUNT, COUNT);
    assert_int_equal(r.part_count, 0);
    r = ask(&t, COMPARE("ratio: [0.95, null]"), *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REFUTED);
    r = ask(&t, COMPARE("ratio: [0, 0.78]"), *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REFUTED);
    r = ask(&t, COMPARE("ratio: [0.7, 0.9]"), *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_UNDECIDED);
    /* of 81 sources in all, (t_0.975 + t_0.8) 0.1479370 / 9 is below |log 0.8588189 - log 0.9| with 80 degrees of
     * freedom, of 80 not with 79 */
    assert_true(r.answer.more == 69);
    r = ask(&t, COMPARE("wins: [0.5, 1]"), *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REPRODUCED);
    expect_numbers(&r.answer, 10.0 / 12, 0.515862251313923, 0.979137474540338, COUNT, COUNT);
}

static void test_difference(void **state)
{
    static table t;
    t.count = 0;
    for (int i = 0; i < COUNT; i++) {
        add(&t, i, "segment_means", 8, 5 + log(RATIOS[i]));
        add(&t, i, "uniform", 8, 5);
    }
    nb_claim_result r = ask(&t, COMPARE("difference: [null, 0]"), *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REPRODUCED);
    expect_numbers(&r.answer, MEAN, LOW, HIGH, COUNT, COUNT);
    r = ask(&t, COMPARE("equal_difference: 0.25"), *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REPRODUCED);
    r = ask(&t, COMPARE("equal_difference: 0.05"), *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REFUTED);
}

/* Ratios within a percent: the same for whoever does not care for 2 %. */
static void test_equivalence(void **state)
{
    static table t;
    t.count = 0;
    for (int i = 0; i < COUNT; i++) {
        add(&t, i, "segment_means", 8, 0.3 * pow(RATIOS[i], 0.02));
        add(&t, i, "uniform", 8, 0.3);
    }
    nb_claim_result r = ask(&t, COMPARE("ratio: [0.997, 1.5]"), *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_EQUIVALENT);
    expect_numbers(&r.answer, exp(0.02 * MEAN), exp(0.02 * LOW), exp(0.02 * HIGH), COUNT, COUNT);
    /* not by an interval of 90 %, which would end within the margin: by the one that is shown */
    assert_true(0.02 * LOW < -log(1.00476));
    r = ask(&t, COMPARE_WITH("ratio: [0.997, 1.5]", "smallest: 1.00476"), *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_UNDECIDED);
    r = ask(&t, COMPARE_WITH("ratio: [0.997, 1.5]", "smallest: 1.001"), *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_UNDECIDED);
    r = ask(&t, COMPARE("equal: 1.006"), *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REPRODUCED);
    r = ask(&t, COMPARE("equal: 1.004"), *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_UNDECIDED);
}

/* Whatever differs within a head is averaged there: m, and trials, of which trial 0 alone stands for all. */
static void test_pooling(void **state)
{
    static table t;
    t.count = 0;
    for (int i = 0; i < COUNT; i++)
        for (int m = 8; m <= 32; m *= 2) {
            double spread = m == 8 ? 0.3 : m == 16 ? -0.1 : -0.2;
            add(&t, i, "uniform", m, 0.5);
            for (int trial = 0; trial < 4; trial++) {
                double draw = (i % 2 ? 1 : -1) * (0.1 * trial - 0.15); /* not the same for all sources */
                add(&t, i, "segment_means", m, 0.5 * RATIOS[i] * exp(spread + draw))->trial = trial;
            }
        }
    nb_claim_result r = ask(&t, COMPARE("ratio: [null, 0.95]"), *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REPRODUCED);
    expect_numbers(&r.answer, exp(MEAN), exp(LOW), exp(HIGH), COUNT, COUNT);
    r = ask(&t,
            "{says: x, measure: {metric: error, statistic: geometric_mean, where: {strategy: segment_means}}, "
            "expect: {value: [0, "
            "1]}}",
            *state);
    expect_numbers(&r.answer, 0.5 * exp(MEAN), 0.5 * exp(LOW), 0.5 * exp(HIGH), COUNT, COUNT);
}

/* Four trials draw the same for all sources: to the variance of the mean of RATIOS' logarithms, of 11 degrees of
 * freedom, comes that of four numbers 0.1 apart, (0.15^2 + 0.05^2) 2 / 3 / 4, of 3. The standard error is SciPy's. */
static void test_trials(void **state)
{
    static table t;
    double own = pow(0.0427054740328196, 2), common = (0.15 * 0.15 + 0.05 * 0.05) / 6, half;
    half =
        gsl_cdf_tdist_Pinv(0.975, pow(own + common, 2) / (own * own / 11 + common * common / 3)) * sqrt(own + common);
    static const char *const of_trials[] = {
        COMPARE("ratio: [0, 2]"),
        "{says: x, measure: {metric: error, statistic: geometric_mean, where: {strategy: segment_means}}, "
        "expect: {value: [0, 2]}}",
        "{says: x, measure: {query: slope.sql, metric: error, over: landmarks, "
        "where: {strategy: segment_means, landmarks: [1, 4]}}, "
        "expect: {value: [-2, 2]}}"};
    t.count = 0;
    for (int i = 0; i < COUNT; i++) {
        add(&t, i, "uniform", 8, 1);
        for (int trial = 0; trial < 4; trial++)
            add(&t, i, "segment_means", 8, RATIOS[i] * exp(0.1 * trial - 0.15))->trial = trial;
    }
    for (int c = 0; c < 2; c++) {
        nb_claim_result r = ask(&t, of_trials[c], *state);
        assert_close(r.answer.low, exp(MEAN - half), 1e-9);
        assert_close(r.answer.high, exp(MEAN + half), 1e-9);
    }
    nb_claim_result open = ask(&t, COMPARE("ratio: [0, 0.9]"), *state);
    expect_verdict(&open.answer, NB_CLAIM_IS_UNDECIDED);
    assert_true(isnan(open.answer.more));
    tell("four trials", open.answer.why);
    for (int i = 0; i < COUNT; i++)
        for (int trial = 0; trial < 4; trial++) {
            add(&t, i, "segment_means", 1, 1)->trial = trial;
            add(&t, i, "segment_means", 4, pow(RATIOS[i] * exp(0.1 * trial - 0.15), log(4)))->trial = trial;
        }
    nb_claim_result r = ask(&t, of_trials[2], *state);
    assert_close(r.answer.low, MEAN - half, 1e-9);
    assert_close(r.answer.high, MEAN + half, 1e-9);
    /* beside m = 16, where nothing is drawn and trial 0 stands for all four: half of what they have in common */
    t.count = 5 * COUNT;
    for (int i = 0; i < COUNT; i++) {
        add(&t, i, "uniform", 16, 1);
        add(&t, i, "segment_means", 16, RATIOS[i]);
    }
    common /= 4;
    half =
        gsl_cdf_tdist_Pinv(0.975, pow(own + common, 2) / (own * own / 11 + common * common / 3)) * sqrt(own + common);
    r = ask(&t, of_trials[0], *state);
    assert_close(r.answer.low, exp(MEAN - half), 1e-9);
    assert_close(r.answer.high, exp(MEAN + half), 1e-9);
}

/* Heads of one source are one replicate, and a head with fewer settings counts no less. */
static void test_heads_of_a_source(void **state)
{
    static table t;
    t.count = 0;
    for (int i = 0; i < COUNT; i++)
        for (int h = 0; h < 2; h++)
            for (int m = 8; m <= (h ? 8 : 32); m *= 2)
                add(&t, i, "segment_means", m, RATIOS[i] + (h ? 0.05 : -0.05))->head = 2 * i + h;
    nb_claim_result r = ask(&t, "{says: x, measure: {metric: error}, expect: {value: 0.87, within: 0.1}}", *state);
    double mean = 0, squares = 0;
    for (int i = 0; i < COUNT; i++) mean += RATIOS[i] / COUNT;
    for (int i = 0; i < COUNT; i++) squares += (RATIOS[i] - mean) * (RATIOS[i] - mean);
    double half = 2.2009851600829505 * sqrt(squares / (COUNT - 1) / COUNT); /* t of 11 degrees, 0.975 */
    expect_numbers(&r.answer, mean, mean - half, mean + half, COUNT, 2 * COUNT);
    expect_verdict(&r.answer, NB_CLAIM_IS_REPRODUCED);
}

/* Of 12 values, 2 P(Binomial(12, 1/2) <= 2) = 158 / 4096 is at most 0.05, and of <= 3 is not: the 3rd and the 10th. */
static void test_median(void **state)
{
    static table t;
    t.count = 0;
    add_pairs(&t, 8, 1);
    for (int i = 0; i < COUNT; i++) t.rows[2 * i].measures.error = RATIOS[i];
    nb_claim_result r = ask(&t,
                            "{says: x, measure: {metric: error, statistic: median, "
                            "where: {strategy: segment_means}}, "
                            "expect: {value: [0.7, 1]}}",
                            *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REPRODUCED);
    expect_numbers(&r.answer, 0.86, 0.77, 0.95, COUNT, COUNT);
    r = ask(&t,
            "{says: x, measure: {metric: error, statistic: median, where: {strategy: segment_means}}, "
            "expect: {value: 0.86, within: 0.01}, confidence: 0.9}",
            *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_UNDECIDED);
    expect_numbers(&r.answer, 0.86, 0.77, 0.95, COUNT, COUNT); /* 2 P(<= 3) = 598 / 4096 */
}

static void test_slope(void **state)
{
    static table t;
    t.count = 0;
    for (int i = 0; i < COUNT; i++)
        for (int m = 8; m <= 64; m *= 2) add(&t, i, "segment_means", m, (i + 1) * pow(m, log(RATIOS[i])));
    nb_claim_result r =
        ask(&t, "{says: x, measure: {query: slope.sql, metric: error, over: landmarks}, expect: {value: [-0.3, 0]}}",
            *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REPRODUCED);
    expect_numbers(&r.answer, MEAN, LOW, HIGH, COUNT, COUNT);
    expect_void(&t,
                "{says: x, measure: {query: slope.sql, metric: error, over: landmarks, where: {landmarks: 8}}, "
                "expect: {value: [-1, 0]}}",
                *state);
    t.rows[5].measures.error = 0;
    expect_void(&t,
                "{says: x, measure: {query: slope.sql, metric: error, over: landmarks}, "
                "expect: {value: [-1, 0]}}",
                *state);
}

static const char *const strategies[] = {"uniform",
                                         "segment_means",
                                         "farthest_point",
                                         "leverage",
                                         "cpqr",
                                         "leverage(of=gram, take=top)",
                                         "leverage(of=points, take=top)"};

static void add_ranks(table *t, int source, int count, const double *x, const double *y)
{
    for (int s = 0; s < count; s++)
        for (int trial = 0; trial < 3; trial++) {
            nb_error_row *r = add(t, source, strategies[s], 8, x[s] + 10 * (trial - 1));
            r->trial = trial;
            r->measures.mse = exp(y[s]) + 1 - trial;
        }
}

static void test_correlate(void **state)
{
    static const double one[] = {1, 2, 3, 4, 5, 6, 7}, other[] = {2, 1, 4, 3, 7, 5, 6};
    static const double x[] = {1, 2, 2, 4, 5}, y[] = {1, 3, 2, 2, 5};
    static table t;
    t.count = 0;
    for (int i = 0; i < 6; i++) add_ranks(&t, i, 7, one, other);
    nb_claim_result r = ask(&t,
                            "{says: x, measure: {query: correlation.sql, over: strategy, metrics: [error, mse]}, "
                            "expect: {value: [0.8, 1]}}",
                            *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REPRODUCED);
    expect_numbers(&r.answer, 1 - 60.0 / 336, 1 - 60.0 / 336, 1 - 60.0 / 336, 6, 6);
    t.count = 0;
    for (int i = 0; i < 6; i++) add_ranks(&t, i, 5, x, y);
    r = ask(&t,
            "{says: x, measure: {query: correlation.sql, over: strategy, metrics: [error, mse]}, "
            "expect: {value: [0.8, 1]}}",
            *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REFUTED);
    assert_close(r.answer.estimate, 0.763157894736842, 1e-14);
    t.count = 0;
    for (int i = 0; i < 6; i++) add_ranks(&t, i, 5, x, one);
    r = ask(&t,
            "{says: x, measure: {query: correlation.sql, over: strategy, metrics: [error, mse]}, "
            "expect: {value: [0.8, 1]}}",
            *state);
    assert_close(r.answer.estimate, 9.5 / sqrt(9.5 * 10), 1e-14); /* sums of squares of 1 2.5 2.5 4 5 and of 1 ... 5 */
    expect_void(&t,
                "{says: x, measure: {query: correlation.sql, over: strategy, metrics: [error, mse], "
                "where: {strategy: [uniform, leverage]}}, "
                "expect: {value: [0.8, 1]}}",
                *state);
}

/* One strategy that can have no other pairing than its own makes no line with the rest, and is not missing in it. Seven
 * strategies of which one has no result are a line of six; lines that have too few results are missing. */
static void test_correlate_with_one_apart(void **state)
{
    static const double one[] = {1, 2, 3, 4, 5, 6, 7}, other[] = {2, 1, 4, 3, 6, 5, 7};
    static const char claim[] = "{says: x, measure: {query: correlation.sql, over: strategy, metrics: [error, mse]}, "
                                "expect: {value: [0.8, 1]}}";
    static table t;
    t.count = 0;
    for (int i = 0; i < 6; i++) add_ranks(&t, i, 7, one, other);
    for (int i = 0; i < t.count; i++)
        if (strcmp(t.rows[i].strategy, strategies[6]) == 0) t.rows[i].pairing = "both";
    nb_claim_result r = ask(&t, claim, *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REPRODUCED);
    expect_numbers(&r.answer, 1 - 36.0 / 210, 1 - 36.0 / 210, 1 - 36.0 / 210, 6, 6);
    for (int i = 0; i < t.count; i++)
        if (t.rows[i].head == 0 && strcmp(t.rows[i].pairing, "joint") == 0) {
            t.rows[i].status = "failed";
            set_error(&t.rows[i], NAN);
        }
    expect_void(&t, claim, *state);
    for (int i = 0; i < 3; i++) add_ranks(&t, 6 + i, 7, one, other);
    expect_void(&t, claim, *state);
}

/* The error under one kernel against the error under another, whose pairing is another too. */
static void test_correlate_two_kernels(void **state)
{
    static const double one[] = {1, 2, 3, 4, 5, 6, 7}, other[] = {2, 1, 4, 3, 7, 5, 6};
    static table t;
    t.count = 0;
    for (int i = 0; i < 6; i++)
        for (int s = 0; s < 7; s++) {
            nb_error_row *r = add(&t, i, strategies[s], 8, one[s]);
            r->kernel = "gram(of=queries)";
            r->pairing = "queries";
            add(&t, i, strategies[s], 8, other[s]);
        }
    const char *between = "{says: x, measure: {query: correlation.sql, over: strategy, x: {metric: error, "
                          "where: {kernel: gram}}, y: {metric: error, "
                          "where: {kernel: softmax}}}, expect: {value: [0.8, 1]}";
    char text[512];
    snprintf(text, sizeof text, "%s}", between);
    expect_void(&t, text, *state);
    snprintf(text, sizeof text, "%s, confounded: [pairing]}", between);
    nb_claim_result r = ask(&t, text, *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REPRODUCED);
    expect_numbers(&r.answer, 1 - 60.0 / 336, 1 - 60.0 / 336, 1 - 60.0 / 336, 6, 6);
}

/* The interval of RATIOS at 97.5 %, as of one of two parts: t of 11 degrees is 2.593093 at 0.9875, 2.200985 at 0.975.
 */
static void expect_half(const nb_claim_answer *a)
{
    double half = (HIGH - MEAN) * gsl_cdf_tdist_Pinv(0.9875, 11) / gsl_cdf_tdist_Pinv(0.975, 11);
    expect_numbers(a, exp(MEAN), exp(MEAN - half), exp(MEAN + half), COUNT, COUNT);
}

/* Two parts, each with RATIOS: [0, 0.78] is outside at 95 %, but not at 97.5 %, which each of two parts takes; [0,
 * 0.95] is around it at 95 %, and not then. */
static void test_each(void **state)
{
    static table t;
    t.count = 0;
    add_pairs(&t, 8, 0.01);
    add_pairs(&t, 16, 0.02);
    nb_claim_result r = ask(&t, COMPARE("ratio: [0, 0.78]"), *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REFUTED);
    r = ask(&t, COMPARE_WITH("ratio: [0, 0.78]", "each: landmarks"), *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_UNDECIDED);
    assert_int_equal(r.part_count, 2);
    assert_string_equal(r.parts[1].name, "landmarks 16");
    assert_string_equal(r.answer.name, "landmarks 8");
    expect_half(&r.parts[1]);
    r = ask(&t, COMPARE_WITH("ratio: [0, 0.76]", "each: landmarks"), *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REFUTED);
    r = ask(&t, COMPARE("ratio: [0, 0.95]"), *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REPRODUCED);
    r = ask(&t, COMPARE_WITH("ratio: [0, 0.95]", "each: landmarks"), *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_UNDECIDED);
    r = ask(&t, COMPARE_WITH("ratio: [0, 0.97]", "each: landmarks"), *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REPRODUCED);
    for (int i = 24; i < 48; i++) set_error(&t.rows[i], i % 2 ? 0.5 : 0.5 * 0.99);
    r = ask(&t, COMPARE_WITH("ratio: [0, 0.992]", "each: landmarks"), *state);
    expect_verdict(&r.parts[1], NB_CLAIM_IS_REPRODUCED);
    set_error(&t.rows[24], 0.499);
    r = ask(&t, COMPARE_WITH("ratio: [0, 0.992]", "each: landmarks"), *state);
    expect_verdict(&r.parts[1], NB_CLAIM_IS_EQUIVALENT);
    expect_verdict(&r.answer, NB_CLAIM_IS_UNDECIDED); /* one part alone is equivalent */
    assert_string_equal(r.answer.name, "landmarks 16");
}

/* Claims of one family hold together: two of one part each have the interval of one of two parts. One without rows has
 * none, and one that names another family, or no family, is a family by itself. */
static void test_family(void **state)
{
    static const char *const options[] = {"id: a, family: both", "id: b, family: both", "id: c, family: other", "id: d",
                                          "id: e, family: both, each: landmarks"};
    static table t;
    nb_string claims = NB_NO_TEXT;
    const char *gone = "{says: x, id: f, family: both, measure: {metric: error, where: {strategy: kmeans}}, "
                       "expect: {value: [0, 1]}}";
    for (int i = 0; i < 5; i++)
        assert_ok(*state, nb_append(&claims, *state, "- %s%s}\n", COMPARE_WITH_OPEN("ratio: [0, 0.78]"), options[i]));
    assert_ok(*state, nb_append(&claims, *state, "- %s\n", gone));
    t.count = 0;
    add_pairs(&t, 8, 0.01);
    nb_claim_results all = ask_all(&t, claims.text, *state);
    for (int i = 2; i < 4; i++) {
        expect_verdict(&all.results[i].answer, NB_CLAIM_IS_REFUTED);
        assert_int_equal(all.results[i].answer.family, 1);
    }
    const nb_claim_answer *a = &all.results[0].answer;
    double half = (HIGH - MEAN) * gsl_cdf_tdist_Pinv(1 - 0.025 / 3, 11) / gsl_cdf_tdist_Pinv(0.975, 11);
    assert_int_equal(a->family, 3);
    expect_verdict(a, NB_CLAIM_IS_UNDECIDED);
    expect_numbers(a, exp(MEAN), exp(MEAN - half), exp(MEAN + half), COUNT, COUNT);
    add_pairs(&t, 16, 0.02);
    assert_int_equal(ask_all(&t, claims.text, *state).results[1].answer.family, 4);
}

static void test_order(void **state)
{
    static table t;
    t.count = 0;
    for (int i = 0; i < COUNT; i++) {
        add(&t, i, "segment_means", 8, 0.1 * RATIOS[i] * RATIOS[i]);
        add(&t, i, "farthest_point", 8, 0.1 * RATIOS[i]);
        add(&t, i, "uniform", 8, 0.1);
    }
    nb_claim_result r =
        ask(&t, "{says: x, order: {strategy: [segment_means, farthest_point, uniform], metric: error}}", *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REPRODUCED);
    assert_int_equal(r.part_count, 2);
    assert_string_equal(r.parts[0].name, "segment_means < farthest_point(start=central)"); /* as tables call them */
    for (int i = 0; i < 2; i++) expect_half(&r.parts[i]);
    r = ask(&t, "{says: x, order: {strategy: [segment_means, uniform, farthest_point], metric: error}}", *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REFUTED);
    assert_string_equal(r.answer.name, "uniform(strided=true) < farthest_point(start=central)");
    r = ask(&t, "{says: x, order: {strategy: [segment_means, uniform], metric: error}, each: landmarks}", *state);
    assert_int_equal(r.part_count, 1);
    assert_string_equal(r.parts[0].name, "landmarks 8");
}

/* Models count the same: means of 0.2 over six sources and 0.6 over two are 0.4 together. */
static void test_models(void **state)
{
    static table t;
    t.count = 0;
    for (int i = 0; i < 8; i++) {
        nb_error_row *r =
            add(&t, i, "segment_means", 8, i < 6 ? 0.2 + 0.01 * (i % 2 ? 1 : -1) : 0.6 + 0.01 * (i % 2 ? 1 : -1));
        if (i >= 6) r->model = "vit", r->problem = "heads(file=y.safetensors)";
    }
    static const char claim[] = "{says: x, measure: {metric: error}, expect: {value: 0.4, within: 0.1}}";
    nb_claim_result r = ask(&t, claim, *state);
    assert_close(r.answer.estimate, 0.4, 1e-15);
    assert_int_equal(r.answer.model_count, 2);
    assert_close(r.answer.models[0].estimate, 0.2, 1e-15);
    assert_close(r.answer.models[1].estimate, 0.6, 1e-15);
    expect_verdict(&r.answer, NB_CLAIM_IS_REPRODUCED);
    r = ask(&t, "{says: x, measure: {metric: error}, each: model, expect: {value: 0.4, within: 0.1}}", *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REFUTED);
    expect_verdict(&r.parts[0], NB_CLAIM_IS_REFUTED);
    expect_verdict(&r.parts[1], NB_CLAIM_IS_VOID); /* two sources */
    t.rows[7].source = t.rows[6].source;
    expect_void(&t, claim, *state);
}

static void test_void(void **state)
{
    static table t;
    t.count = 0;
    add_pairs(&t, 8, 0.01);
    static const char claim[] = COMPARE("ratio: [null, 0.95]"),
                      worst[] = COMPARE_WITH("ratio: [null, 0.95]", "failures: worst");
    t.rows[0].status = "failed";
    expect_void(&t, claim, *state);
    nb_claim_result r = ask(&t, worst, *state);
    assert_true(r.answer.verdict != NB_CLAIM_IS_VOID && r.answer.sources == COUNT);
    t.rows[1].status = "failed";
    r = ask(&t, worst, *state); /* neither has a result: it is no pair, as in a comparison */
    assert_true(r.answer.verdict != NB_CLAIM_IS_VOID && r.answer.sources == COUNT - 1);
    t.rows[0].status = t.rows[1].status = "ok";
    set_error(&t.rows[1], 0);
    expect_void(&t, claim, *state);
    r = ask(&t, COMPARE("wins: [0.1, 1]"), *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REPRODUCED);
    assert_close(r.answer.estimate, 9.0 / 12, 1e-15); /* one more has lost */
    set_error(&t.rows[1], -1);
    expect_void(&t, claim, *state);
    set_error(&t.rows[1], 1);
    expect_void(&t, COMPARE_WITH("ratio: [null, 0.95]", "confidence: 0.9, each: head"), *state);
    expect_void(&t,
                "{says: x, compare: {strategy: [leverage, uniform], metric: error}, expect: {ratio: [0, "
                "1]}}",
                *state);
    expect_void(&t, "{says: x, measure: {metric: error, where: {landmarks: 16..32}}, expect: {value: [0, 1]}}", *state);
    expect_void(&t, "{says: x, measure: {metric: mse}, expect: {value: [0, 1]}}", *state);
    set_error(&t.rows[1], 0.1);
    t.rows[0].strategy = "kmeans(restarts=4)";
    for (int i = 0; i < COUNT; i++) t.rows[2 * i].strategy = "kmeans(restarts=4)";
    expect_void(&t, "{says: x, compare: {strategy: [kmeans, uniform], metric: error}, expect: {ratio: [0, 1]}}",
                *state);
    expect_void(&t, "{says: x, measure: {metric: error, where: {strategy: kmeans}}, expect: {value: [0, 1]}}", *state);
    t.count = 10;
    expect_void(&t, "{says: x, measure: {metric: error}, expect: {value: [0, 1]}}", *state);
}

/* Errors at m = 64 that are rounding, as of a matrix of rank 48: a ratio, a slope or an order of them says nothing. */
static void test_noise(void **state)
{
    static table t;
    t.count = 0;
    for (int i = 0; i < COUNT; i++)
        for (int m = 8; m <= 64; m *= 2)
            for (int a = 0; a < 2; a++) {
                double error = m < 64 ? (i + 1) * pow(m, log(RATIOS[i])) : 1e-16 * (i + 2 * a + 1);
                add(&t, i, a ? "segment_means" : "uniform", m, error * (a && m < 64 ? RATIOS[i] : 1))
                    ->measures.error_noise = 1e-14;
            }
    nb_claim_result r = ask(&t, COMPARE("ratio: [0, 1]"), *state);
    expect_numbers(&r.answer, exp(MEAN), exp(LOW), exp(HIGH), COUNT, COUNT);
    r = ask(&t, "{says: x, measure: {query: slope.sql, metric: error, over: landmarks}, expect: {value: [-1, 0]}}",
            *state);
    expect_numbers(&r.answer, MEAN, LOW, HIGH, COUNT, COUNT);
    expect_void(&t, COMPARE_WITH("ratio: [0, 1]", "each: landmarks"), *state);
    r = ask(&t, "{says: x, measure: {metric: error, where: {landmarks: 64}}, expect: {value: [0, 1e-9]}}", *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REPRODUCED);
}

/* What has no result because it was refused is told apart from what failed, as in a comparison. */
static void test_skipped(void **state)
{
    static table t;
    t.count = 0;
    add_pairs(&t, 8, 0.01);
    for (int i = 0; i < t.count; i += 2) {
        t.rows[i].measures.error = t.rows[i].measures.error_unseen = NAN;
        t.rows[i].status = "failed";
    }
    expect_void(&t, COMPARE("ratio: [null, 0.95]"), *state);
    for (int i = 0; i < t.count; i += 2) t.rows[i].status = "skipped";
    expect_void(&t, COMPARE("ratio: [null, 0.95]"), *state);
}

/* What differs beside what is compared must be named, and rows that are planned for one alone are told. */
static void test_confounded(void **state)
{
    static table t;
    t.count = 0;
    add_pairs(&t, 8, 0.01);
    for (int i = 0; i < t.count; i += 2) t.rows[i].pairing = "keys";
    expect_void(&t, COMPARE("ratio: [null, 0.95]"), *state);
    nb_claim_result r = ask(&t, COMPARE_WITH("ratio: [null, 0.95]", "confounded: [pairing]"), *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REPRODUCED);
    for (int i = 0; i < t.count; i += 2) t.rows[i].pairing = "joint";
    for (int i = 0; i < t.count; i += 2) t.rows[i].measures.error_unseen = 2;
    expect_void(&t, COMPARE("ratio: [null, 0.95]"), *state);
    r = ask(&t, COMPARE_WITH("ratio: [null, 0.95]", "confounded: [rows_seen]"), *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REPRODUCED);
    for (int i = 0; i < t.count; i += 2) t.rows[i].measures.error_unseen = t.rows[i].measures.error;
    add(&t, 0, "uniform", 16, 0.1);
    expect_void(&t, COMPARE("ratio: [null, 0.95]"), *state);
    r = ask(&t,
            "{says: x, compare: {strategy: [segment_means, uniform], metric: error, where: {landmarks: 8}}, "
            "expect: {ratio: [0, 1]}}",
            *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_REPRODUCED);
}

/* Rows of another build are no pair; of times, rows of another call. */
static void test_builds(void **state)
{
    static table t;
    nb_claim *claims;
    nb_claim_results results;
    nb_yaml value;
    nb_mistakes mistakes = {.ctx = *state};
    int count, other[2 * COUNT];
    t.count = 0;
    add_pairs(&t, 8, 0.01);
    for (int i = 0; i < t.count; i++) {
        other[i] = i % 2;
        t.rows[i].measures.core_s = t.rows[i].measures.error;
    }
    assert_ok(
        *state,
        nb_yaml_text("[" COMPARE("ratio: [0, 1]") ", {says: y, compare: {strategy: [segment_means, uniform], metric: "
                                                  "core_s}, expect: {ratio: [0, 1]}}]",
                     "test", &value, &mistakes));
    assert_ok(*state, nb_claims_read(value, &nb_study_error.run.config.study, NULL, &count, &claims, &mistakes));
    assert_int_equal(mistakes.count, 0);
    nb_relation *r = relation_of(&(test_rows){nb_error_columns, t.rows, sizeof *t.rows, t.count, other, false}, *state);
    assert_ok(*state, nb_claims_ask(r, count, claims, &results, *state));
    expect_verdict(&results.results[0].answer, NB_CLAIM_IS_REPRODUCED);
    expect_verdict(&results.results[1].answer, NB_CLAIM_IS_VOID);
    tell("core_s of two calls", results.results[1].answer.why);
}

static void test_untested(void **state)
{
    static table t;
    t.count = 0;
    add(&t, 0, "segment_means", 8, 1);
    nb_claim_result r = ask(&t, "{says: x, untested: training}", *state);
    expect_verdict(&r.answer, NB_CLAIM_IS_UNTESTED);
    assert_string_equal(r.answer.why, "training");
    assert_true(isnan(r.answer.estimate) && r.answer.sources == 0);
}

/* Wherever memory runs out, it is told as such. */
static void test_out_of_memory(void **state)
{
    static table t;
    t.count = 0;
    add_pairs(&t, 8, 0.01);
    add_pairs(&t, 16, 0.01);
    static const char *const texts[] = {
        COMPARE_WITH("ratio: [null, 0.95]", "each: landmarks"),
        "{says: x, measure: {query: slope.sql, metric: error, over: landmarks, where: {landmarks: 8..16}}, "
        "expect: {value: [null, 0]}}",
        "{says: x, measure: {query: correlation.sql, over: strategy, x: {metric: error}, y: {metric: mse, "
        "where: {core: svd}}}, "
        "expect: {value: [0, 1]}}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        nb_status status = NB_ENOMEM;
        for (long k = 1; status == NB_ENOMEM; k++) {
            nb_yaml value;
            nb_mistakes mistakes = {.ctx = *state};
            nb_claim *claims;
            nb_claim_results results;
            int count;
            nb_mark mark = nb_ctx_mark(*state);
            assert_ok(*state, nb_yaml_text(texts[i], "test", &value, &mistakes));
            nb_relation *r = relation(&t, *state);
            nb_ctx_fail_alloc(*state, k);
            status = nb_claims_read(value, &nb_study_error.run.config.study, NULL, &count, &claims, &mistakes);
            if (status == NB_OK) status = nb_claims_ask(r, count, claims, &results, *state);
            nb_ctx_fail_alloc(*state, 0);
            nb_error_clear(*state);
            nb_ctx_release(*state, mark);
            if (status == NB_OK) assert_true(k > 100);
        }
        assert_int_equal(status, NB_OK);
    }
}

/* slope and correlate are short for measure. */
static void test_short_forms(void **state)
{
    static const char *const texts[][2] = {
        {"{says: x, slope: {metric: error, against: landmarks, where: {core: svd}}, expect: {slope: [-1, null]}}",
         "{says: x, measure: {query: slope.sql, metric: error, over: landmarks, where: {core: svd}}, expect: {value: "
         "[-1, null]}}"},
        {"{says: x, correlate: {over: core, metrics: [error, mse]}, expect: {correlation: [0.5, 1]}}",
         "{says: x, measure: {query: correlation.sql, over: core, x: {metric: error}, y: {metric: mse}}, "
         "expect: {value: "
         "[0.5, 1]}}"},
        {"{says: x, measure: {metric: error}, expect: {value: [0, 1]}}",
         "{says: x, measure: {query: value.sql, metric: error}, expect: {value: [0, 1]}}"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *read[2];
        for (int s = 0; s < 2; s++) {
            nb_yaml value;
            nb_mistakes mistakes = {.ctx = *state};
            nb_claim *claims;
            int count;
            assert_ok(*state, nb_yaml_text(texts[i][s], "test", &value, &mistakes));
            assert_ok(*state,
                      nb_claims_read(value, &nb_study_error.run.config.study, NULL, &count, &claims, &mistakes));
            if (mistakes.count > 0) fail_msg("%s: %s", texts[i][s], mistakes.texts[0]);
            read[s] = claims[0].text;
        }
        assert_string_equal(read[0], read[1]);
    }
}

#define OWN(columns) "{says: x, measure: {query: 'SELECT " columns "'}, expect: {value: [0, 2]}}"
#define OF_SOURCE "stratum_id AS stratum, source_id AS source, "

/* A query of the claim's own: as the mean of the rows, with what trials have in common; its mistakes are reasons why
 * there is no verdict, and it changes nothing. */
static void test_query(void **state)
{
    static table t;
    static const char *const wrong[] = {
        OWN("1 AS value"),
        OWN(OF_SOURCE "eror AS value FROM claim_row"),
        OWN("0 AS stratum, 99 AS source, 1 AS value"),
        OWN("0 AS stratum, NULL AS source, 1 AS value"),
        OWN(OF_SOURCE "strategy AS value FROM claim_row"),
        OWN(OF_SOURCE "1 AS value FROM claim_row WHERE n < 0"),
        OWN(OF_SOURCE "CASE WHEN source_id > 0 THEN error END AS value FROM claim_row"),
        OWN("1; DELETE FROM claim_value"),
        "{says: x, measure: {query: 'DELETE FROM results'}, expect: {value: [0, 2]}}",
        "{says: x, measure: {query: 'CREATE TEMP TABLE a (b)'}, expect: {value: [0, 2]}}"};
    t.count = 0;
    for (int i = 0; i < COUNT; i++)
        for (int trial = 0; trial < 4; trial++)
            add(&t, i, "segment_means", 8, RATIOS[i] * exp(0.1 * trial - 0.15))->trial = trial;
    nb_claim_result own = ask(&t, OWN(OF_SOURCE "avg(error) AS value FROM claim_row GROUP BY source_id"), *state);
    nb_claim_result mean = ask(&t, "{says: x, measure: {metric: error}, expect: {value: [0, 2]}}", *state);
    expect_verdict(&own.answer, NB_CLAIM_IS_REPRODUCED);
    expect_numbers(&own.answer, mean.answer.estimate, mean.answer.low, mean.answer.high, COUNT, COUNT);
    t.count = 0;
    for (int i = 0; i < COUNT; i++) add(&t, i, "segment_means", 8, RATIOS[i]);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) expect_void(&t, wrong[i], *state);
}

/* A claim's text reads back as the same claim. */
static void test_text(void **state)
{
    static const char *const texts[] = {
        COMPARE_WITH("ratio: [0.65, 0.75]",
                     "id: a.b-c, source: 'p. 3, \"x\" \\ y', each: [landmarks, model], failures: worst, "
                     "confidence: 0.9, family: f, smallest: 1.05, confounded: [pairing, rows_seen]"),
        COMPARE("wins: [0.5, null]"),
        COMPARE("equal: 1.02"),
        COMPARE("equal_difference: 1e-3"),
        "{says: a\n  b, order: {landmarks: [64, 32, 8], metric: mse, where: {core: [svd, 'svd(rcond=[0.1, 0.01])'], "
        "head: 2..5}}}",
        "{says: x, measure: {metric: error}, expect: {value: 0.22, within: 0.05}}",
        "{says: x, measure: {metric: error, statistic: median}, expect: {value: [null, 1e-9]}}",
        "{says: x, measure: {query: slope.sql, metric: error, over: landmarks}, expect: {value: [-1.5, -0.5]}}",
        "{says: x, measure: {query: correlation.sql, over: core, metrics: [error, mse], where: {trial: 0}}, "
        "expect: {value: [0.5, null]}}",
        "{says: x, measure: {query: correlation.sql, over: strategy, x: {metric: error, "
        "where: {kernel: gram}}, y: {metric: mse}}, "
        "expect: {value: [-1, 0.1]}, confounded: [pairing]}",
        "{says: x, measure: {query: \"SELECT 'a'\\n AS value\", over: core, metric: mse, statistic: median}, "
        "expect: {value: [0, null]}, confounded: [build]}",
        "{says: x, source: s, untested: 'needs: training'}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = texts[i], *before = NULL;
        for (int turn = 0; turn < 2; turn++) {
            nb_yaml value;
            nb_mistakes mistakes = {.ctx = *state};
            nb_claim *claims;
            int count;
            assert_ok(*state, nb_yaml_text(text, "test", &value, &mistakes));
            assert_ok(*state,
                      nb_claims_read(value, &nb_study_error.run.config.study, NULL, &count, &claims, &mistakes));
            if (mistakes.count > 0) fail_msg("%s: %s", text, mistakes.texts[0]);
            if (before) assert_string_equal(claims[0].text, before);
            text = before = claims[0].text;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_ratio),
        test_with_ctx(test_difference),
        test_with_ctx(test_windows),
        test_with_ctx(test_equivalence),
        test_with_ctx(test_pooling),
        test_with_ctx(test_trials),
        test_with_ctx(test_correlate_with_one_apart),
        test_with_ctx(test_noise),
        test_with_ctx(test_heads_of_a_source),
        test_with_ctx(test_median),
        test_with_ctx(test_slope),
        test_with_ctx(test_correlate),
        test_with_ctx(test_correlate_two_kernels),
        test_with_ctx(test_each),
        test_with_ctx(test_family),
        test_with_ctx(test_order),
        test_with_ctx(test_models),
        test_with_ctx(test_void),
        test_with_ctx(test_confounded),
        test_with_ctx(test_skipped),
        test_with_ctx(test_builds),
        test_with_ctx(test_untested),
        test_with_ctx(test_out_of_memory),
        test_with_ctx(test_short_forms),
        test_with_ctx(test_query),
        test_with_ctx(test_text),
    };
    return run_all(tests);
}
