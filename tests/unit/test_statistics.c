/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics against values from SciPy 1.17, or by enumeration where that is exact: four samples of one unit a source
 * (C has ties of |value| and zeros), two-level data, tables of ranks. What is known by hand is derived beside it. */
#include "testing.h"

#include "statistics/agreement.h"
#include "statistics/bootstrap.h"
#include "statistics/crossed.h"
#include "statistics/estimate.h"
#include "statistics/friedman.h"
#include "statistics/intervals.h"
#include "statistics/multiple.h"
#include "statistics/nested.h"
#include "statistics/ranks.h"
#include "statistics/spread.h"
#include "statistics/verdict.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>

enum { MOST = 12 };

static const double d_ratios[] = {0.82, 0.79, 0.91, 1.04, 0.66, 0.88, 0.95, 0.73, 1.12, 0.84, 0.90, 0.77};

typedef struct {
    double w, p;
} signed_rank;

static const struct sample {
    int n;
    double values[MOST];
    signed_rank dropped, pratt;
    double shift;
    nb_interval shift_interval;
    double sign_p;
    int below, above;
    nb_interval clopper_pearson;
    double mean;
    nb_interval t;
    double ratio, acceleration, se;
} samples[] = {
    {
        .n = 5,
        .values = {-0.31, -0.12, -0.45, -0.08, -0.27},
        .dropped = {0, 0.0625},
        .pratt = {0, 0.0625},
        .shift = -0.265,
        .shift_interval = {NAN, NAN},
        .sign_p = 0.0625,
        .below = 5,
        .above = 0,
        .clopper_pearson = {0.478176249895019, 1},
        .mean = -0.246,
        .t = {-0.431959652440751, -0.0600403475592486},
        .ratio = 0.781922224925477,
        .acceleration = -0.0135878048561382,
        .se = 0.0669776081985614,
    },
    {
        .n = 10,
        .values = {-0.31, -0.12, 0.05, -0.45, -0.08, -0.27, -0.02, 0.11, -0.36, -0.19},
        .dropped = {6, 0.02734375},
        .pratt = {6, 0.02734375},
        .shift = -0.165,
        .shift_interval = {-0.31, -0.02},
        .sign_p = 0.109375,
        .below = 8,
        .above = 2,
        .clopper_pearson = {0.443904537692358, 0.974789273673166},
        .mean = -0.164,
        .t = {-0.295482175516841, -0.0325178244831587},
        .ratio = 0.848742021880207,
        .acceleration = -0.00120181011908338,
        .se = 0.0581224760503389,
    },
    {
        .n = 12,
        .values = {0.2, -0.1, 0.1, 0, -0.3, -0.2, -0.4, 0, -0.1, -0.5, 0.3, -0.6},
        .dropped = {13, 0.1640625},
        .pratt = {19, 0.166015625},
        .shift = -0.125,
        .shift_interval = {-0.3, 0.05},
        .sign_p = 0.34375,
        .below = 7,
        .above = 3,
        .clopper_pearson = {0.347547149939992, 0.933260488822266},
        .mean = -0.13333333333333333,
        .t = {-0.309606570316883, 0.0429399036502160},
        .ratio = 0.875173319042947,
        .acceleration = -0.00831966025593105,
        .se = 0.0800883350691061,
    },
    {
        .n = 12, /* the logarithms of d_ratios */
        .dropped = {6, 0.0068359375},
        .pratt = {6, 0.0068359375},
        .shift = -0.15149955325908182,
        .shift_interval = {-0.25491306171645356, -0.051293294387550578},
        .sign_p = 0.03857421875,
        .below = 10,
        .above = 2,
        .clopper_pearson = {0.515862251313923, 0.979137474540338},
        .mean = -0.15219717290763982,
        .t = {-0.246191287508555, -0.0582030583067250},
        .ratio = 0.858818928220594,
        .acceleration = 0.00356943259011923,
        .se = 0.0427054740328196,
    },
};

enum { A, B, C, D, SAMPLES };

/* Of two-level data: four sources of three units. */
static const double g_values[4][3] = {{.10, .12, .08}, {.25, .21, .29}, {.15, .18, .12}, {.40, .36, .38}};

static const nb_estimate_terms terms = {.confidence = 0.95, .resamples = 2000, .seed = 7};

#define AT(field) offsetof(nb_estimate, field)
static const size_t reals[] = {AT(confidence), AT(mean),          AT(sd),        AT(se),         AT(df),
                               AT(low),        AT(high),          AT(t_p),       AT(boot_low),   AT(boot_high),
                               AT(median),     AT(below_share),   AT(below_low), AT(below_high), AT(wilcoxon_w),
                               AT(wilcoxon_p), AT(sign_p),        AT(shift),     AT(shift_low),  AT(shift_high),
                               AT(icc),        AT(design_effect), AT(effective)};

/* Equal, or both NaN. */
#define assert_near(a, b) \
    do { \
        double near_a = (a), near_b = (b); \
        if (isnan(near_a) != isnan(near_b) || fabs(near_a - near_b) > 1e-12) \
            fail_msg("%s = %.17g, expected %s = %.17g", #a, near_a, #b, near_b); \
    } while (0)

#define assert_interval(of_low, of_high, expected) \
    do { \
        assert_near((of_low), (expected).low); \
        assert_near((of_high), (expected).high); \
    } while (0)

static void assert_same(const nb_estimate *a, const nb_estimate *b)
{
    assert_int_equal(a->sources, b->sources);
    assert_int_equal(a->units, b->units);
    assert_int_equal(a->infinite, b->infinite);
    assert_int_equal(a->below, b->below);
    assert_int_equal(a->above, b->above);
    assert_int_equal(a->ties, b->ties);
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        assert_memory_equal((const char *)a + reals[i], (const char *)b + reals[i], sizeof(double));
}

static void values_of(const struct sample *s, double *values)
{
    for (int i = 0; i < s->n; i++) values[i] = s == &samples[D] ? log(d_ratios[i]) : s->values[i];
}

/* One unit a source, one stratum. */
static nb_estimate estimate_values(int n, const double *values, nb_ctx *ctx)
{
    nb_unit_value units[32];
    nb_estimate e[2];
    for (int i = 0; i < n; i++) units[i] = (nb_unit_value){.source = i, .value = values[i]};
    assert_ok(ctx, nb_estimate_units(n, units, 1, &terms, e, ctx));
    assert_same(&e[0], &e[1]);
    return e[0];
}

static int two_level_units(int stratum, nb_unit_value *units)
{
    for (int i = 0; i < 12; i++)
        units[i] =
            (nb_unit_value){.stratum = stratum, .source = 100 * stratum + i / 3, .value = g_values[i / 3][i % 3]};
    return 12;
}

static void test_estimates(void **state)
{
    for (const struct sample *s = samples; s < samples + SAMPLES; s++) {
        double values[MOST];
        values_of(s, values);
        nb_estimate e = estimate_values(s->n, values, *state);
        assert_int_equal(e.sources, s->n);
        assert_int_equal(e.units, s->n);
        assert_int_equal(e.infinite, 0);
        assert_int_equal(e.below, s->below);
        assert_int_equal(e.above, s->above);
        assert_int_equal(e.ties, s->n - s->below - s->above);
        assert_near(e.wilcoxon_w, s->pratt.w);
        assert_near(e.wilcoxon_p, s->pratt.p);
        assert_near(e.shift, s->shift);
        assert_interval(e.shift_low, e.shift_high, s->shift_interval);
        assert_near(e.sign_p, s->sign_p);
        assert_near(e.below_share, (double)s->below / (s->below + s->above));
        assert_interval(e.below_low, e.below_high, s->clopper_pearson);
        assert_near(e.mean, s->mean);
        assert_near(e.se, s->se);
        assert_near(e.sd, s->se * sqrt(s->n));
        assert_true(e.df == s->n - 1);
        assert_interval(e.low, e.high, s->t);
        assert_near(exp(e.mean), s->ratio);
        assert_near(e.t_p, 2 * gsl_cdf_tdist_P(e.mean / e.se, s->n - 1));
        assert_true(isnan(e.icc) && isnan(e.design_effect) && isnan(e.effective));
    }
}

static void test_of_values(void **state)
{
    for (const struct sample *s = samples; s < samples + SAMPLES; s++) {
        double values[MOST], w, p;
        values_of(s, values);
        assert_ok(*state, nb_wilcoxon(s->n, values, NB_ZEROS_DROPPED, &w, &p, *state));
        assert_near(w, s->dropped.w);
        assert_near(p, s->dropped.p);
    }
}

/* Four intervals that hold together at 0.96 have 0.99 each; t(11) is 3.1058 there. */
static void test_joint(void **state)
{
    double values[MOST];
    values_of(&samples[D], values);
    nb_estimate e = estimate_values(12, values, *state);
    const nb_interval wide = nb_estimate_interval(&e, nb_joint_confidence(0.96, 4)),
                      same = nb_estimate_interval(&e, nb_joint_confidence(0.95, 1));
    assert_close((wide.high - e.mean) / e.se, 3.10580651553928, 1e-9);
    assert_near(wide.low + wide.high, 2 * e.mean);
    assert_true(same.low == e.low && same.high == e.high);
}

static nb_verdict judge(double low, double high, double margin, bool more, nb_ctx *ctx)
{
    const nb_evidence evidence = {.found = 9, .sources = 9, .drawn_trials = -1, .has_interval = true};
    nb_verdict verdict;
    const char *why;
    assert_ok(ctx, nb_judge((nb_interval){low, high}, margin, &evidence, more, &verdict, &why, ctx));
    assert_null(why);
    return verdict;
}

/* One interval decides; what excludes 0 is no equivalence, however small. */
static void test_one_interval(void **state)
{
    assert_int_equal(judge(-0.5, -1e-9, 0.1, false, *state), NB_BETTER);
    assert_int_equal(judge(-0.5, -1e-9, 0.1, true, *state), NB_WORSE);
    assert_int_equal(judge(1e-9, 0.5, 0.1, false, *state), NB_WORSE);
    assert_int_equal(judge(-0.05, -0.04, 0.1, false, *state), NB_BETTER);
    assert_int_equal(judge(-0.1, 0.1, 0.1, false, *state), NB_EQUIVALENT);
    assert_int_equal(judge(-0.5, 0, 0.1, false, *state), NB_UNDECIDED);
    assert_int_equal(judge(-0.1, 0.11, 0.1, false, *state), NB_UNDECIDED);
    assert_int_equal(judge(-0.11, 0.05, 0.1, false, *state), NB_UNDECIDED);
}

/* Sources (1 2 6) and (3 2 7) in three trials: the trials' means 2 2 6.5, variance of their mean 13.5 / 2 / 3, and
 * residuals 1/2 -1/2 0 and so on, s_e^2 = 1/2. What the first has in a trial of its own does not count. The other
 * stratum's sources are trials, and share none; each stratum counts half. Sources with draws of their own have nothing
 * in common, and the trials are counted all the same. */
static void test_common_error(void **state)
{
    static const nb_crossed_value values[] = {{0, 0, 0, 1}, {0, 0, 1, 2},  {0, 0, 2, 6}, {0, 1, 0, 3}, {0, 1, 1, 2},
                                              {0, 1, 2, 7}, {0, 0, 3, 99}, {1, 2, 0, 5}, {1, 3, 1, 8}, {1, 4, 2, 1}};
    static const bool shares[] = {true, true, true}, apart[] = {false, true, false};
    nb_common_error e[3];
    assert_ok(*state, nb_crossed_errors(10, values, 2, shares, e, *state));
    assert_close(e[0].square, 13.5 / 6, 1e-14);
    assert_close(e[0].variance, 13.5 / 6 - 0.5 / 6, 1e-14);
    assert_close(e[0].df, 2, 0);
    assert_int_equal(e[0].trials, 3);
    assert_true(e[1].variance == 0 && e[1].square == 0 && e[1].trials == 0);
    assert_close(e[2].square, e[0].square / 4, 1e-14);
    assert_close(e[2].variance, e[0].variance / 4, 1e-14);
    assert_close(e[2].df, 2, 0);
    assert_int_equal(e[2].trials, 3);
    assert_ok(*state, nb_crossed_errors(3, values + 7, 2, shares, e, *state));
    assert_int_equal(e[2].trials, 0);
    assert_ok(*state, nb_crossed_errors(10, values, 2, apart, e, *state));
    for (int i = 0; i < 3; i++) assert_true(e[i].variance == 0 && e[i].square == 0 && isnan(e[i].df));
    assert_true(e[0].trials == 3 && e[2].trials == 3);
}

/* Two sources, whose mean in a trial is its value: these have the median 0.5 and the median absolute deviation 1.5, of
 * which 18.5 is twelve from the median, and no more. Of five trials it is not told. */
static void test_far_trials(void **state)
{
    static const double lucky[][8] = {
        {0, 1, -1, 2, -2, 50, 0.5}, {0, 1, -1, 2, -2, 18.5, 0.5}, {0, 1, 0, 1, -50, -99, 0.5}};
    static const int count[] = {1, 0, 2}, far[] = {105, 0, 105};
    for (int i = 0; i < 3; i++) {
        nb_crossed_value values[14];
        nb_common_error e[2];
        for (int v = 0; v < 14; v++)
            values[v] = (nb_crossed_value){0, v % 2, 100 + v / 2, lucky[i][v / 2] + (v % 2 ? 3 : -3) * (1 + v / 4)};
        assert_ok(*state, nb_crossed_errors(14, values, 1, (bool[]){true, true}, e, *state));
        assert_int_equal(e[1].far_count, count[i]);
        assert_int_equal(e[1].far, far[i]);
        assert_close(e[1].far_mean, count[i] ? lucky[i][5] : 0, 1e-14);
        assert_close(e[0].median, i < 2 ? 0.5 : 0, 1e-14);
        assert_ok(*state, nb_crossed_errors(10, values + 4, 1, (bool[]){true, true}, e, *state));
        assert_true(e[1].far_count == 0 && e[1].trials == 5);
    }
}

/* Of five sources with the variance `own` of their mean, in three trials that seem to have nothing in common: as their
 * means vary not at all, by 0.3 or by 2 of it, t has 4, 1 / (1/4 + 0.09/2) or 2 degrees of freedom, the least of both
 * parts, where Satterthwaite would have 0.44. For one of 24 intervals each part has its own t. */
static void test_trials_that_show_nothing(void **state)
{
    const nb_unit_value units[] = {{0, 0, -1, 0}, {0, 1, 0, 0}, {0, 2, 1, 0}, {0, 3, 0.385, 0}, {0, 4, -0.385, 0}};
    const double own = (2 + 2 * 0.385 * 0.385) / 4 / 5, squares[] = {0, 0.3 * own, 2 * own};
    const double df[] = {4, own * own / (own * own / 4 + 0.09 * own * own / 2), 2};
    for (int i = 0; i < 3; i++) {
        nb_common_error common = {.variance = 0, .square = squares[i], .df = i ? 2 : NAN, .trials = 3};
        nb_estimate e[2];
        const nb_estimate_terms of = {.confidence = 0.95, .common = (nb_common_error[]){common, common}};
        assert_ok(*state, nb_estimate_units(5, units, 1, &of, e, *state));
        assert_close(e->se * e->se, own, 1e-15);
        assert_close(e->df, df[i], 1e-12);
        assert_close(e->own_df, 4, 0);
        assert_close(e->high, sqrt(own) * gsl_cdf_tdist_Qinv(0.025, df[i]), 1e-7);
        const nb_estimate_terms far = {.confidence = 1 - 0.05 / 24, .common = of.common};
        assert_ok(*state, nb_estimate_units(5, units, 1, &far, e, *state));
        double t4 = gsl_cdf_tdist_Qinv(0.025 / 24, 4), t2 = gsl_cdf_tdist_Qinv(0.025 / 24, 2);
        assert_close(e->high, sqrt(t4 * t4 * own + t2 * t2 * squares[i]), 1e-7);
    }
}

/* The quantiles of Student's t with one and two degrees of freedom are tan(pi c / 2) and c sqrt(2 / (1 - c^2)) for the
 * confidence c: that of both parts together is what the bound has at 0.99, and beside 0.05 Satterthwaite's. */
static void test_spread(void **state)
{
    const double t1 = tan(0.99 * M_PI / 2), t2 = 0.99 * sqrt(2 / (1 - 0.99 * 0.99));
    const nb_spread s = {1, 1 / (0.3 * 0.3 / 2 + 0.7 * 0.7), 0.3, 2, 0.7, 1}, alone = {1, 3, 1, 3, 0, NAN};
    const double mean = sqrt(0.3 * t2 * t2 + 0.7 * t1 * t1), usual = nb_t_interval(0, 1, s.df, 0.95).high;
    (void)state;
    assert_close(nb_spread_half(&s, 0.99), mean, 1e-6);
    assert_close(nb_spread_p(mean, &s), 0.01, 1e-12);
    assert_true(nb_t_p(mean, 1, s.df) < 0.001);
    assert_close(nb_spread_half(&s, 0.95), usual, 0);
    assert_close(nb_spread_p(1.001 * usual, &s), 0.05, 0);
    assert_close(nb_spread_p(0.999 * usual, &s), nb_t_p(0.999 * usual, 1, s.df), 0);
    assert_close(nb_spread_p(mean, &alone), nb_t_p(mean, 1, 3), 0);
    assert_close(nb_spread_half(&alone, 0.99), nb_t_interval(0, 1, 3, 0.99).high, 1e-9);
    assert_close(nb_spread_p(5, &(nb_spread){0.5, 2, 0, 4, 1, 2}), nb_t_p(5, 1, 2), 1e-12);
    assert_true(isnan(nb_spread_p(1, &(nb_spread){NAN, 2, NAN, 4, 1, 2})));
}

/* How many more: by a search with SciPy's quantiles of t, from one source more to the next. */
static void test_more_sources(void **state)
{
    nb_estimate e = {.sources = 4, .se = 0.1, .df = 3, .own_df = 3, .mean = 0.3, .confidence = 0.95}; /* sd 0.2 */
    (void)state;
    assert_close(nb_units_for_power(0.2, 0.1, 0.05, 0.8), 31.3955189373964, 1e-12);
    assert_close(nb_units_for_power(0.35, 0.05, 0.05, 0.8), 384.595106983105, 1e-11);
    assert_true(nb_estimate_more(&e, 0.95, 0.2, 0) == 30 && nb_estimate_more(&e, 0.95, 0.4, 0) == 30);
    assert_true(nb_estimate_more(&e, 0.95, 5, 0) == 0);
    assert_true(isnan(nb_estimate_more(&e, 0.95, 0.3, 0)));
    e.se = NAN;
    assert_true(isnan(nb_estimate_more(&e, 0.95, 0.2, 0)));
}

/* Of sources with sd 0.5, mean 0, with a part of the variance in common: what there is in common of two trials, with
 * one degree of freedom, no number of sources makes up for, though their own part alone would do. */
static void test_more_sources_of_few_trials(void **state)
{
    static const struct {
        double common, df, distance, more;
    } cases[] = {{0.001, 9, 0.2, 56}, {0.0002, 4, 0.2, 45}, {0.01, 1, 0.3, NAN}, {0.002, 1, 0.5, 3}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double own = 0.5 * 0.5 / 8, common = cases[i].common, all = own + common;
        nb_estimate e = {.sources = 8,
                         .mean = 0,
                         .se = sqrt(all),
                         .df = all * all / (own * own / 7 + common * common / cases[i].df),
                         .own_df = 7,
                         .common_se = sqrt(common),
                         .common_square = common,
                         .common_df = cases[i].df,
                         .confidence = 0.95};
        double more = nb_estimate_more(&e, 0.95, cases[i].distance, 0);
        assert_true(isnan(cases[i].more) ? isnan(more) : more == cases[i].more);
    }
}

/* P(W <= w) for n = 10, and the index of the interval with its coverage. */
static void test_signed_rank_distribution(void **state)
{
    static const int at_most[] = {1, 2, 3, 5, 7, 10, 14, 19, 25, 33, 43};
    static const struct {
        int n, k;
    } index[] = {{1, 0}, {2, 0},  {5, 0},   {6, 1},   {7, 3},   {8, 4},
                 {9, 6}, {10, 9}, {12, 14}, {15, 26}, {20, 53}, {25, 90}};
    for (int w = 0; w <= 10; w++) {
        double values[10], sum, p;
        int left = w;
        for (int i = 9; i >= 0; i--) { /* |value| is the rank; those above 0 add up to w */
            values[i] = i < left ? i + 1 : -(i + 1);
            left -= i < left ? i + 1 : 0;
        }
        assert_ok(*state, nb_wilcoxon(10, values, NB_ZEROS_PRATT, &sum, &p, *state));
        assert_true(sum == w && p == 2 * at_most[w] / 1024.0);
    }
    for (size_t i = 0; i < sizeof index / sizeof *index; i++) {
        long long k;
        assert_ok(*state, nb_walsh_index(index[i].n, 0.95, &k, *state));
        assert_int_equal(k, index[i].k);
    }
}

/* All signs, one after the other, beside the recursion: ties and zeros by both rules. */
static void test_signed_rank_by_enumeration(void **state)
{
    static const double values[] = {0.3, -0.3, 0, 1.5, -0.3, 2.385, 0, -7.1, 1.5};
    static const double pratt[] = {4, -4, 0, 6.5, -4, 8, 0, -9, 6.5}, dropped[] = {2, -2, 0, 4.5, -2, 6, 0, -7, 4.5};
    for (int zeros = NB_ZEROS_PRATT; zeros <= NB_ZEROS_DROPPED; zeros++) {
        const double *ranks = zeros == NB_ZEROS_PRATT ? pratt : dropped;
        double w, p, positive = 0, mean = 0;
        int extreme = 0;
        for (int i = 0; i < 9; i++) {
            positive += ranks[i] > 0 ? ranks[i] : 0;
            mean += fabs(ranks[i]) / 2;
        }
        for (int signs = 0; signs < 512; signs++) {
            double sum = 0;
            for (int i = 0; i < 9; i++) sum += signs >> i & 1 ? fabs(ranks[i]) : 0;
            extreme += fabs(sum - mean) >= fabs(positive - mean);
        }
        assert_ok(*state, nb_wilcoxon(9, values, (nb_zeros)zeros, &w, &p, *state));
        assert_near(w, positive);
        assert_near(p, extreme / 512.0);
    }
}

/* Values with little order, of either sign and with ties. */
static void many_values(int n, double *values)
{
    for (int i = 0; i < n; i++) values[i] = (double)((i * 7919 + 13) % 1009) / 64 - 7.5;
}

/* Above the limit the test is normal: near to what is exact at the limit. */
static void test_signed_rank_of_many(void **state)
{
    double values[NB_EXACT_RANKS + 1], w, exact, normal;
    long long k, next;
    many_values(NB_EXACT_RANKS + 1, values);
    values[NB_EXACT_RANKS] = 0;
    assert_ok(*state, nb_wilcoxon(NB_EXACT_RANKS, values, NB_ZEROS_DROPPED, &w, &exact, *state));
    assert_ok(*state, nb_wilcoxon(NB_EXACT_RANKS + 1, values, NB_ZEROS_PRATT, &w, &normal, *state));
    assert_true(exact > 1e-6 && exact < 0.5);
    assert_close(normal / exact, 1, 0.01);
    assert_ok(*state, nb_walsh_index(NB_EXACT_RANKS, 0.95, &k, *state));
    assert_ok(*state, nb_walsh_index(NB_EXACT_RANKS + 1, 0.95, &next, *state));
    assert_close((double)next / (double)k, 1, 0.006); /* it grows like n^2 / 2 */
}

static void test_walsh_averages(void **state)
{
    enum { N = 37 };
    double values[N], all[N * (N + 1) / 2];
    int count = 0;
    (void)state;
    many_values(N, values);
    values[3] = -0.0;
    values[5] = 1e-320;
    gsl_sort(values, 1, N);
    for (int i = 0; i < N; i++)
        for (int j = i; j < N; j++) all[count++] = (values[i] + values[j]) / 2;
    gsl_sort(all, 1, (size_t)count);
    for (int k = 1; k <= count; k++) assert_true(nb_walsh(N, values, k) == all[k - 1]);
}

/* Infinite values have the largest ranks; where two of opposite sign cancel, they stand for 0. */
static void test_infinite_ranks(void **state)
{
    static const double values[] = {-INFINITY, -0.3, INFINITY, 0.2, INFINITY, 0.7, 1.1};
    static const double same[] = {-50, -0.3, 50, 0.2, 50, 0.7, 1.1}, pair[] = {-INFINITY, INFINITY};
    double w, p, w_same, p_same, shift, shift_same;
    nb_interval interval, interval_same;
    assert_ok(*state, nb_wilcoxon(7, values, NB_ZEROS_PRATT, &w, &p, *state));
    assert_ok(*state, nb_wilcoxon(7, same, NB_ZEROS_PRATT, &w_same, &p_same, *state));
    assert_true(w == w_same && p == p_same);
    assert_ok(*state, nb_hodges_lehmann(7, values, 0.95, &shift, &interval, *state));
    assert_ok(*state, nb_hodges_lehmann(7, same, 0.95, &shift_same, &interval_same, *state));
    assert_near(shift, 0.675);
    assert_true(shift == shift_same);
    assert_true(interval.low == -INFINITY && interval.high == INFINITY);
    assert_ok(*state, nb_hodges_lehmann(2, pair, 0.95, &shift, &interval, *state));
    assert_true(shift == 0 && isnan(interval.low) && nb_median_sorted(2, pair) == 0);
    assert_true(isnan(nb_median_sorted(0, pair)) && nb_median_sorted(3, same) == -0.3);
}

/* All resamples of A, 5^5. Its golden values are those of the bootstrap that is not widened. */
static void test_bootstrap_of_all_resamples(void **state)
{
    static double deviations[3125];
    nb_source sources[5] = {{0}};
    for (int i = 0; i < 5; i++) sources[i] = (nb_source){.units = 1, .mean = samples[A].values[i]};
    double mean = nb_sources_mean(5, sources), a = nb_acceleration(5, sources);
    for (int b = 0; b < 3125; b++) {
        deviations[b] = 0;
        for (int i = 0, digits = b; i < 5; i++, digits /= 5) deviations[b] += (sources[digits % 5].mean - mean) / 5;
    }
    gsl_sort(deviations, 1, 3125);
    nb_interval bca = nb_bca(3125, deviations, a, 0.95);
    double z0 = nb_bias_correction(3125, deviations);
    assert_near(z0, -0.00762022370251862);
    assert_near(a, samples[A].acceleration);
    assert_near(nb_bca_level(z0, a, 0.025), 0.0212162592919394);
    assert_near(nb_bca_level(z0, a, 0.975), 0.970905413926567);
    assert_interval(mean + bca.low, mean + bca.high, ((nb_interval){-0.366, -0.134}));
    (void)state;
}

/* The same as GSL draws, one by one, and the generator is left at the same place. */
static void test_indices(void **state)
{
    enum { MANY = 1000 };
    static const int below[] = {1, 2, 3, 1000, 65537, INT_MAX};
    const nb_stream stream = {.seed = 11, .role = "test", .component = "indices"};
    gsl_rng *rng, *same;
    int drawn[MANY];
    assert_ok(*state, nb_random_new(&rng, *state));
    assert_ok(*state, nb_random_new(&same, *state));
    nb_random_seed(rng, &stream);
    nb_random_seed(same, &stream);
    for (size_t k = 0; k < sizeof below / sizeof *below; k++) {
        nb_draw_indices(rng, below[k], MANY, drawn);
        for (int i = 0; i < MANY; i++)
            assert_int_equal(drawn[i], (int)gsl_rng_uniform_int(same, (unsigned long)below[k]));
    }
}

static void test_bootstrap_by_chance(void **state)
{
    enum { RESAMPLES = 20000 };
    static double plain[RESAMPLES], widened[RESAMPLES];
    const nb_stream stream = {.seed = 11, .role = "test", .component = "bootstrap"};
    nb_source sources[5] = {{0}};
    gsl_rng *rng;
    for (int i = 0; i < 5; i++) sources[i] = (nb_source){.units = 1, .mean = samples[A].values[i]};
    assert_ok(*state, nb_random_new(&rng, *state));
    nb_random_seed(rng, &stream);
    assert_ok(*state, nb_bootstrap_mean(5, sources, false, rng, RESAMPLES, plain, *state));
    nb_random_seed(rng, &stream);
    assert_ok(*state, nb_bootstrap_mean(5, sources, true, rng, RESAMPLES, widened, *state));
    for (int b = 0; b < RESAMPLES; b++) assert_near(widened[b], sqrt(1.25) * plain[b]);
    gsl_sort(plain, 1, RESAMPLES);
    nb_interval bca = nb_bca(RESAMPLES, plain, nb_acceleration(5, sources), 0.95);
    assert_close(-0.246 + bca.low, -0.366, 0.005);
    assert_close(-0.246 + bca.high, -0.134, 0.005);
}

/* The jackknife's acceleration of the mean. */
static void test_acceleration(void **state)
{
    (void)state;
    for (const struct sample *s = samples; s < samples + SAMPLES; s++) {
        nb_source sources[MOST] = {{0}};
        double values[MOST];
        values_of(s, values);
        for (int i = 0; i < s->n; i++) sources[i] = (nb_source){.units = 1, .mean = values[i]};
        assert_near(nb_acceleration(s->n, sources), s->acceleration);
    }
}

/* Over strata: every source is left out in turn, and the mean of the strata's means formed again. */
static void test_acceleration_over_strata(void **state)
{
    static const nb_source equal[] = {{.mean = 0.1}, {.mean = 0.1}, {.mean = 0.1}};
    nb_source sources[17] = {{0}};
    double squares = 0, cubes = 0;
    (void)state;
    for (int i = 0; i < 17; i++)
        sources[i] = (nb_source){.stratum = i / 5 > 0, .mean = i < 5 ? samples[A].values[i] : log(d_ratios[i - 5])};
    for (int i = 0; i < 17; i++) {
        int first = i < 5 ? 0 : 5, end = i < 5 ? 5 : 17;
        double without = 0;
        for (int j = first; j < end; j++) without += j == i ? 0 : sources[j].mean / (end - first - 1);
        double d = (nb_sources_mean(end - first, sources + first) - without) / 2;
        squares += d * d;
        cubes += d * d * d;
    }
    assert_near(nb_acceleration(17, sources), cubes / (6 * pow(squares, 1.5)));
    assert_true(nb_acceleration(3, equal) == 0);
}

static void test_levels(void **state)
{
    static const double sorted[] = {1, 2, 4, 7, 11}, even[] = {-9, -2, 0, 3, 7}; /* as many below 0 as above */
    (void)state;
    nb_interval of = nb_bca(5, even, 0, 0.8), middle = nb_bca(5, even, 0, 0);
    assert_interval(of.low, of.high, ((nb_interval){-6.2, 5.4}));
    assert_interval(middle.low, middle.high, ((nb_interval){0, 0}));
    assert_near(nb_bca_level(0, 0, 0.025), 0.025);
    assert_true(nb_bca_level(0, 0.5, 0.999) == 1 && nb_bca_level(0, -0.5, 0.001) == 0); /* beyond the pole */
    assert_true(isfinite(nb_bias_correction(5, sorted)));
}

/* The variance of the cluster bootstrap of G before it is widened, in the limit of many resamples; the same bits for
 * the same seed, others for another. */
static void test_bootstrap_of_sources(void **state)
{
    enum { RESAMPLES = 200000 };
    nb_unit_value units[12];
    nb_source *sources;
    nb_estimate e[2], again[2], other[2];
    nb_estimate_terms seed = terms;
    gsl_rng *rng;
    double *deviations, variance = 0;
    int count;
    two_level_units(0, units);
    assert_ok(*state, nb_sources_gather(12, units, 1, &count, &sources, *state));
    assert_int_equal(count, 4);
    assert_ok(*state, nb_random_new(&rng, *state));
    assert_non_null(deviations = nb_alloc_reals(*state, RESAMPLES, 1));
    assert_ok(*state, nb_bootstrap_mean(4, sources, false, rng, RESAMPLES, deviations, *state));
    for (int b = 0; b < RESAMPLES; b++) variance += deviations[b] * deviations[b] / RESAMPLES;
    assert_close(variance, 0.0028625, 0.00004);
    assert_ok(*state, nb_estimate_units(12, units, 1, &terms, e, *state));
    assert_ok(*state, nb_estimate_units(12, units, 1, &terms, again, *state));
    seed.seed++;
    assert_ok(*state, nb_estimate_units(12, units, 1, &seed, other, *state));
    assert_same(e, again);
    assert_same(e, e + 1);
    assert_true(e->boot_low < e->mean && e->mean < e->boot_high);
    assert_true(e->boot_low != other->boot_low && e->low == other->low);
    seed.resamples = 0;
    assert_ok(*state, nb_estimate_units(12, units, 1, &seed, other, *state));
    assert_true(isnan(other->boot_low) && isnan(other->boot_high) && e->low == other->low);
}

static void test_nested(void **state)
{
    nb_unit_value units[12];
    nb_source *sources;
    nb_estimate e[2];
    int count;
    two_level_units(0, units);
    assert_ok(*state, nb_sources_gather(12, units, 1, &count, &sources, *state));
    nb_nested n = nb_nested_anova(count, sources);
    assert_near(n.between, 0.0458);
    assert_near(n.within, 0.000825);
    assert_near(n.size, 3);
    assert_ok(*state, nb_estimate_units(12, units, 1, &terms, e, *state));
    assert_near(e->icc, 0.947839831401475);
    assert_near(e->design_effect, 2.89567966280295);
    assert_near(e->effective, 4.14410480349345);
    assert_near(e->se * e->se, 0.00381666666666667);
    assert_interval(e->low, e->high, ((nb_interval){0.0233910875495387, 0.416608912450461}));
}

/* (1 2 3)(4 6)(5): means 2, 5, 5 about 3.5; 13.5 = 3 x 1.5^2 + 2 x 1.5^2 + 1.5^2 with 2 degrees of freedom, 2 + 2 with
 * 3; r0 = (6 - 14/6) / 2; ICC = (6.75 - 4/3) / (6.75 + 5/6 x 4/3). */
static void test_unequal_sources(void **state)
{
    static const nb_unit_value units[] = {{0, 4, 1, 0}, {0, 4, 2, 0}, {0, 4, 3, 0},
                                          {0, 5, 4, 0}, {0, 5, 6, 0}, {0, 9, 5, 0}};
    nb_estimate e[2];
    assert_ok(*state, nb_estimate_units(6, units, 1, &terms, e, *state));
    assert_int_equal(e->sources, 3);
    assert_near(e->icc, 195.0 / 283);
    assert_near(e->design_effect, 1 + 5.0 / 6 * 195 / 283);
    assert_near(e->effective, 6 / e->design_effect);
    assert_near(e->mean, 4); /* of sources, not of units */
    assert_near(e->se, 1);
}

/* Units differ more than sources: (1 3)(3 1) has an ICC of -1, which no design makes use of. */
static void test_negative_correlation(void **state)
{
    static const nb_unit_value units[] = {{0, 0, 1, 0}, {0, 0, 3, 0}, {0, 1, 3, 0}, {0, 1, 1, 0}};
    nb_estimate e[2];
    assert_ok(*state, nb_estimate_units(4, units, 1, &terms, e, *state));
    assert_near(e->icc, -1);
    assert_near(e->design_effect, 1);
    assert_near(e->effective, 4);
}

/* Seven sources of one unit and one of two: r0 - 1 = 1 / 9, so that (B - W) / (B + W / 9) goes down to -9, where two
 * units have no correlation below -1. */
static void test_correlation_out_of_bounds(void **state)
{
    static const nb_unit_value units[] = {{0, 0, 0.1, 0},  {0, 1, 0, 0},    {0, 2, -0.1, 0},
                                          {0, 3, 0.1, 0},  {0, 4, -0.1, 0}, {0, 5, 0, 0},
                                          {0, 6, 0.01, 0}, {0, 7, 1, 0},    {0, 7, -1, 0}};
    nb_estimate e[2];
    assert_ok(*state, nb_estimate_units(9, units, 1, &terms, e, *state));
    assert_true(isnan(e->icc) && isnan(e->design_effect) && isnan(e->effective));
}

/* G as stratum 0, D as stratum 2, none in 1: equal weights; Satterthwaite. */
static void test_strata(void **state)
{
    nb_unit_value units[24];
    nb_estimate e[4];
    int count = two_level_units(0, units);
    for (int i = 0; i < 12; i++)
        units[count++] = (nb_unit_value){.stratum = 2, .source = 50 + i, .value = log(d_ratios[i])};
    assert_ok(*state, nb_estimate_units(count, units, 3, &terms, e, *state));
    double v0 = 0.00381666666666667 / 4, v2 = samples[D].se * samples[D].se / 4;
    assert_int_equal(e[1].sources, 0);
    assert_true(isnan(e[1].mean) && isnan(e[1].wilcoxon_p) && isnan(e[1].shift) && isnan(e[1].boot_low));
    assert_near(e[2].mean, samples[D].mean);
    assert_int_equal(e[3].sources, 16);
    assert_int_equal(e[3].units, 24);
    assert_near(e[3].mean, (0.22 + samples[D].mean) / 2);
    assert_near(e[3].se * e[3].se, v0 + v2);
    assert_near(e[3].df, (v0 + v2) * (v0 + v2) / (v0 * v0 / 3 + v2 * v2 / 11));
    assert_near(e[3].sd, sqrt((3 * 4 * 4 * v0 + 11 * 12 * 4 * v2) / 14));
    assert_near(e[3].high, e[3].mean + gsl_cdf_tdist_Pinv(0.975, e[3].df) * e[3].se);
    assert_true(e[3].boot_low < e[3].mean && e[3].mean < e[3].boot_high);
    assert_close(e[3].boot_high - e[3].boot_low, e[3].high - e[3].low, 0.25 * (e[3].high - e[3].low));
    assert_int_equal(e[3].below + e[3].above, 16);
}

/* Where two strata are far apart the spread within them alone counts, also for the ICC. */
static void test_strata_far_apart(void **state)
{
    nb_unit_value units[24];
    nb_estimate e[3];
    two_level_units(0, units);
    two_level_units(1, units + 12);
    for (int i = 12; i < 24; i++) units[i].value += 2.385;
    assert_ok(*state, nb_estimate_units(24, units, 2, &terms, e, *state));
    assert_near(e[2].mean, 0.22 + 2.385 / 2);
    assert_near(e[2].se, e[0].se / sqrt(2));
    assert_near(e[2].df, 6);
    assert_near(e[2].sd, e[0].sd);
    assert_near(e[2].icc, e[0].icc);
    assert_near(e[2].effective, 2 * e[0].effective);
    assert_near(e[1].boot_high, e[0].boot_high + 2.385); /* one stream for all */
}

/* Units with errors of their own: se^2 grows by what the mean has of them, sum variance / (r_c k)^2. */
static void test_errors_of_measurement(void **state)
{
    nb_unit_value units[12];
    nb_estimate e[2], exact[2];
    two_level_units(0, units);
    assert_ok(*state, nb_estimate_units(12, units, 1, &terms, exact, *state));
    for (int i = 0; i < 12; i++) units[i].variance = 0.001 * (i + 1);
    assert_ok(*state, nb_estimate_units(12, units, 1, &terms, e, *state));
    assert_near(e->se * e->se, exact->se * exact->se + 0.078 / 144);
    assert_true(e->sd == exact->sd && e->df == 3 && e->boot_low == exact->boot_low);
}

static void test_any_order_of_units(void **state)
{
    nb_unit_value units[24], shuffled[24];
    nb_estimate e[3], other[3];
    two_level_units(0, units);
    for (int i = 0; i < 12; i++) units[i].variance = 1.0 / (3 + i);
    for (int i = 12; i < 24; i++) units[i] = (nb_unit_value){1, 100 + i / 23, 0.1, i == 12 ? 1 : 1e-16};
    for (int i = 0; i < 24; i++) shuffled[i] = units[23 - i];
    assert_ok(*state, nb_estimate_units(24, units, 2, &terms, e, *state));
    assert_ok(*state, nb_estimate_units(24, shuffled, 2, &terms, other, *state));
    for (int g = 0; g < 3; g++) assert_same(&e[g], &other[g]);
}

static void test_one_source(void **state)
{
    static const nb_unit_value units[] = {{0, 3, 0.7, 0}, {0, 3, 0.9, 0}};
    nb_estimate e[2];
    assert_ok(*state, nb_estimate_units(2, units, 1, &terms, e, *state));
    assert_near(e->mean, 0.8);
    assert_near(e->median, 0.8);
    assert_true(isnan(e->sd) && isnan(e->se) && isnan(e->df) && isnan(e->low) && isnan(e->t_p));
    assert_true(isnan(e->boot_low) && isnan(e->icc) && isnan(e->effective) && isnan(e->shift_low));
    assert_true(e->wilcoxon_p == 1 && e->sign_p == 1 && e->shift == e->mean);
    assert_ok(*state, nb_estimate_units(0, NULL, 1, &terms, e, *state));
    assert_int_equal(e->sources + e[1].sources, 0);
    assert_true(isnan(e->mean) && isnan(e->sign_p) && isnan(e->below_share) && isnan(e[1].median));
}

/* No spread: intervals without width, p of 0 or 1. 0.1 is the mean of any number of itself. */
static void test_equal_sources(void **state)
{
    static const double values[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, zeros[7] = {0};
    nb_estimate e = estimate_values(7, values, *state), none = estimate_values(7, zeros, *state);
    assert_true(e.mean == 0.1 && e.sd == 0 && e.se == 0 && e.low == 0.1 && e.high == 0.1 && e.t_p == 0);
    assert_true(e.df == 6 && nb_estimate_interval(&e, 0.99).low == 0.1 && e.boot_low == 0.1 && e.boot_high == 0.1);
    assert_true(e.wilcoxon_p == 0.015625 && e.shift == 0.1 && e.shift_low == 0.1 && e.shift_high == 0.1);
    assert_true(none.mean == 0 && none.t_p == 1 && none.low == 0 && none.boot_high == 0);
    assert_true(none.wilcoxon_p == 1 && none.wilcoxon_w == 0 && none.sign_p == 1 && none.shift == 0);
    assert_true(none.ties == 7 && isnan(none.below_share) && isnan(none.below_low));
    nb_unit_value units[12];
    nb_estimate constant[2];
    two_level_units(0, units);
    for (int i = 0; i < 12; i++) units[i].value = 0.1;
    assert_ok(*state, nb_estimate_units(12, units, 1, &terms, constant, *state));
    assert_true(isnan(constant->icc) && isnan(constant->design_effect) && isnan(constant->effective));
    assert_true(constant->se == 0 && constant->mean == 0.1);
}

static void test_infinite_units(void **state)
{
    static const double ratios[] = {0.3, INFINITY, -0.2, 0.8, 1.1, 0.9}, both[] = {0.3, INFINITY, -INFINITY, 0.8};
    nb_estimate e = estimate_values(6, ratios, *state);
    assert_true(e.mean == INFINITY && e.infinite == 1 && isnan(e.se) && isnan(e.low) && isnan(e.t_p));
    assert_true(isnan(e.boot_low) && isnan(e.icc) && isnan(e.effective));
    assert_near(e.median, 0.85);
    assert_true(e.above == 5 && e.below == 1 && e.wilcoxon_w == 20 && e.wilcoxon_p == 0.0625);
    e = estimate_values(4, both, *state);
    assert_true(isnan(e.mean) && e.infinite == 2 && e.above == 3);
    assert_near(e.median, 0.55);
    /* within a source: as many of either sign cancel */
    static const nb_unit_value units[] = {{0, 0, INFINITY, NAN},  {0, 0, -INFINITY, 0}, {0, 0, 0.6, 0},
                                          {0, 1, -INFINITY, NAN}, {0, 1, 7, 0},         {0, 2, 0.4, 0}};
    nb_source *sources;
    int count;
    assert_ok(*state, nb_sources_gather(6, units, 1, &count, &sources, *state));
    assert_int_equal(count, 3);
    assert_near(sources[0].mean, 0.2);
    assert_true(sources[1].mean == -INFINITY && isnan(sources[0].squares) && isnan(sources[1].error));
}

static void test_bad_units(void **state)
{
    static const nb_unit_value nan = {0, 0, NAN, 0}, stratum = {2, 0, 1, 0}, source = {0, -1, 1, 0},
                               variance = {0, 0, 1, -0.5}, unknown = {0, 0, 1, NAN};
    static const double nothing[] = {0.3, NAN};
    nb_estimate_terms bad = terms;
    nb_estimate e[3];
    double w, p;
    assert_error(*state, nb_estimate_units(1, &nan, 2, &terms, e, *state), NB_ENUMERIC);
    assert_error(*state, nb_estimate_units(1, &stratum, 2, &terms, e, *state), NB_EINVAL);
    assert_error(*state, nb_estimate_units(1, &source, 2, &terms, e, *state), NB_EINVAL);
    assert_error(*state, nb_estimate_units(1, &variance, 2, &terms, e, *state), NB_EINVAL);
    assert_error(*state, nb_estimate_units(1, &unknown, 2, &terms, e, *state), NB_EINVAL);
    bad.confidence = 1;
    assert_error(*state, nb_estimate_units(0, NULL, 2, &bad, e, *state), NB_EINVAL);
    assert_error(*state, nb_wilcoxon(2, nothing, NB_ZEROS_PRATT, &w, &p, *state), NB_ENUMERIC);
}

/* Everything that allocates; the first status that is not well. */
static nb_status everything(nb_ctx *ctx)
{
    nb_unit_value units[12];
    nb_estimate e[2];
    nb_agreement a;
    nb_friedman t;
    double mean_ranks[4];
    int count = two_level_units(0, units);
    NB_TRY(ctx, nb_estimate_units(count, units, 1, &terms, e, ctx));
    NB_TRY(ctx, nb_spearman(3, g_values[0], g_values[1], &a, ctx));
    return nb_friedman_test(3, 4, g_values[0], mean_ranks, &t, ctx);
}

/* Each allocation fails in turn: an error; nothing is left where none does. */
static void test_out_of_memory(void **state)
{
    nb_status status = NB_ENOMEM;
    nb_mark mark = nb_ctx_mark(*state);
    int failures = 0;
    for (long k = 1; status != NB_OK; k++) {
        nb_ctx_fail_alloc(*state, k);
        status = everything(*state);
        failures += status == NB_ENOMEM;
        assert_true(status == NB_OK || status == NB_ENOMEM);
        if (status == NB_OK) assert_int_equal(nb_ctx_blocks(*state), mark);
        nb_ctx_release(*state, mark);
        nb_error_clear(*state);
    }
    nb_ctx_fail_alloc(*state, 0);
    assert_true(failures > 20);
    assert_false(nb_ctx_overrun(*state));
}

static void test_friedman(void **state)
{
    static const double table[] = {.50, .42, .47, .61, .71, .66, .66, .80, .33, .35, .30, .41,
                                   .90, .72, .81, .88, .55, .49, .52, .55, .62, .58, .60, .70};
    static const double ranks[] = {3.0833333333333335, 1.4166666666666667, 1.75, 3.75};
    double mean_ranks[4];
    nb_friedman t;
    assert_ok(*state, nb_friedman_test(6, 4, table, mean_ranks, &t, *state));
    for (int j = 0; j < 4; j++) assert_near(mean_ranks[j], ranks[j]);
    assert_close(t.chi2, 13.551724137931, 1e-12);
    assert_near(t.p, 0.0035834130496981);
    assert_near(t.w, 0.752873563218391);
    assert_near(t.f, 15.2325581395349 + 0); /* all digits */
    assert_near(t.f_p, 8.02058983308757e-05);
    assert_close(nb_nemenyi_difference(6, 4, 0.05), 1.914843227, 5e-10);
    assert_close(nb_range_p(4, nb_nemenyi_difference(6, 4, 0.013) * sqrt(12 * 6 / (4 * 5.0))), 0.013, 1e-12);
}

static void test_friedman_at_its_ends(void **state)
{
    static const double equal[6] = {0}, agreed[] = {1, 2, 3, 4, 9, INFINITY, -INFINITY, 0, 2}, nan[] = {1, NAN};
    double mean_ranks[3];
    nb_friedman t;
    assert_ok(*state, nb_friedman_test(2, 3, equal, mean_ranks, &t, *state));
    assert_true(t.chi2 == 0 && t.p == 1 && t.w == 0 && t.f == 0 && t.f_p == 1 && mean_ranks[1] == 2);
    assert_ok(*state, nb_friedman_test(3, 3, agreed, mean_ranks, &t, *state));
    assert_true(t.chi2 == 6 && t.w == 1 && t.f == INFINITY && t.f_p == 0 && mean_ranks[0] == 1);
    assert_ok(*state, nb_friedman_test(1, 3, agreed, mean_ranks, &t, *state));
    assert_true(isnan(t.chi2) && isnan(t.p) && isnan(t.f) && mean_ranks[2] == 3);
    assert_error(*state, nb_friedman_test(1, 2, nan, mean_ranks, &t, *state), NB_ENUMERIC);
    assert_true(isnan(nb_nemenyi_difference(3, 1, 0.05)) && isnan(nb_nemenyi_difference(0, 3, 0.05)));
}

/* Nemenyi's q: of infinitely many degrees of freedom, over sqrt(2). For two the range is |N(0, 2)|. */
static void test_range(void **state)
{
    static const double q[] = {1.959964, 2.343701, 2.569032, 2.727774, 2.849705,
                               2.948320, 3.030878, 3.101730, 3.163684};
    (void)state;
    for (int k = 2; k <= 10; k++)
        assert_close(nb_nemenyi_difference(60, k, 0.05) / sqrt(k * (k + 1) / 360.0), q[k - 2], 5.1e-7);
    assert_near(nb_range_p(2, 1.7), 2 * gsl_cdf_ugaussian_Q(1.7 / sqrt(2)));
    assert_true(nb_range_p(50, 0) == 1 && isnan(nb_range_p(1, 1)));
    assert_near(nb_range_p(7, 40), 0);
}

static void test_agreement(void **state)
{
    static const double x[] = {1, 2, 3, 4, 5, 6, 7}, y[] = {2, 1, 4, 3, 7, 5, 6};
    static const double tied[] = {1, 2, 2, 4, 5}, ties[] = {1, 3, 2, 2, 5};
    nb_agreement a;
    assert_ok(*state, nb_spearman(7, x, y, &a, *state));
    assert_near(a.value, 0.821428571428572);
    assert_ok(*state, nb_spearman(5, tied, ties, &a, *state));
    assert_near(a.value, 0.763157894736842);
}

static void test_agreement_at_its_ends(void **state)
{
    static const double x[] = {-INFINITY, 2, 3, INFINITY}, down[] = {7, 6, 5, -4}, equal[] = {1, 1, 1, 1};
    static const double nan[] = {1, NAN};
    nb_agreement a;
    assert_ok(*state, nb_spearman(4, x, down, &a, *state));
    assert_true(a.value == -1 && a.p == 0);
    assert_ok(*state, nb_spearman(4, x, equal, &a, *state));
    assert_true(isnan(a.value) && isnan(a.p));
    assert_error(*state, nb_spearman(2, nan, x, &a, *state), NB_ENUMERIC);
}

static void test_signs_and_shares(void **state)
{
    (void)state;
    assert_true(nb_sign_p(0, 0) == 1 && nb_sign_p(3, 3) == 1 && nb_sign_p(1, 0) == 1);
    assert_near(nb_sign_p(0, 6), 0.03125);
    assert_true(isnan(nb_clopper_pearson(0, 0, 0.95).low) && isnan(nb_clopper_pearson(0, 0, 0.95).high));
    assert_true(nb_clopper_pearson(0, 5, 0.95).low == 0);
    assert_near(nb_clopper_pearson(0, 5, 0.95).high, 1 - samples[A].clopper_pearson.low);
    assert_true(isnan(nb_t_p(1, 1, 0)) && nb_t_p(0, 0, 3) == 1 && nb_t_p(1e-9, 0, 3) == 0);
    assert_true(isnan(nb_t_interval(1, NAN, 3, 0.95).low) && isnan(nb_t_interval(1, 1, 0, 0.95).high));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_estimates),
        test_with_ctx(test_of_values),
        test_with_ctx(test_joint),
        test_with_ctx(test_one_interval),
        cmocka_unit_test(test_more_sources),
        cmocka_unit_test(test_more_sources_of_few_trials),
        test_with_ctx(test_common_error),
        test_with_ctx(test_far_trials),
        test_with_ctx(test_spread),
        test_with_ctx(test_trials_that_show_nothing),
        test_with_ctx(test_signed_rank_distribution),
        test_with_ctx(test_signed_rank_by_enumeration),
        test_with_ctx(test_signed_rank_of_many),
        cmocka_unit_test(test_walsh_averages),
        test_with_ctx(test_infinite_ranks),
        cmocka_unit_test(test_bootstrap_of_all_resamples),
        test_with_ctx(test_indices),
        test_with_ctx(test_bootstrap_by_chance),
        cmocka_unit_test(test_acceleration),
        cmocka_unit_test(test_acceleration_over_strata),
        cmocka_unit_test(test_levels),
        test_with_ctx(test_bootstrap_of_sources),
        test_with_ctx(test_nested),
        test_with_ctx(test_unequal_sources),
        test_with_ctx(test_negative_correlation),
        test_with_ctx(test_correlation_out_of_bounds),
        test_with_ctx(test_strata),
        test_with_ctx(test_strata_far_apart),
        test_with_ctx(test_errors_of_measurement),
        test_with_ctx(test_any_order_of_units),
        test_with_ctx(test_one_source),
        test_with_ctx(test_equal_sources),
        test_with_ctx(test_infinite_units),
        test_with_ctx(test_bad_units),
        test_with_ctx(test_out_of_memory),
        test_with_ctx(test_friedman),
        test_with_ctx(test_friedman_at_its_ends),
        cmocka_unit_test(test_range),
        test_with_ctx(test_agreement),
        test_with_ctx(test_agreement_at_its_ends),
        cmocka_unit_test(test_signs_and_shares),
    };
    return run_all(tests);
}
