/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics against values from SciPy 1.17, or by enumeration where that is exact: four samples of one value a source
 * (B and C have ties of |value|, C has zeros), and two-level data. */
#include "testing.h"

#include "statistics/bootstrap.h"
#include "statistics/estimate.h"
#include "statistics/intervals.h"
#include "statistics/multiple.h"
#include "statistics/nested.h"
#include "statistics/ranks.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

enum { MOST = 12, RESAMPLES = 20000 };

static const double d_ratios[] = {0.82, 0.79, 0.91, 1.04, 0.66, 0.88, 0.95, 0.73, 1.12, 0.84, 0.90, 0.77};

typedef struct {
    double w, p;
} signed_rank;

static const struct sample {
    const char *name;
    int n;
    double values[MOST];
    signed_rank dropped, pratt;
    double shift;
    nb_interval shift_interval;
    double sign_p;
    int below;
    nb_interval clopper_pearson, wilson;
    double mean;
    nb_interval t;
    double ratio, flip_p, acceleration, se;
} samples[] = {{"A",
                5,
                {-0.31, -0.12, -0.45, -0.08, -0.27},
                {0, 0.0625},
                {0, 0.0625},
                -0.265,
                {NAN, NAN},
                0.0625,
                5,
                {0.478176249895019, 1},
                {0.565517535216825, 1},
                -0.246,
                {-0.431959652440751, -0.0600403475592486},
                0.781922224925477,
                0.0625,
                -0.0135878048561382,
                0.0669776081985614},
               {"B",
                10,
                {-0.31, -0.12, 0.05, -0.45, -0.08, -0.27, -0.02, 0.11, -0.36, -0.19},
                {6, 0.02734375},
                {6, 0.02734375},
                -0.165,
                {-0.31, -0.02},
                0.109375,
                8,
                {0.443904537692358, 0.974789273673166},
                {0.490162471536642, 0.943317848545625},
                -0.164,
                {-0.295482175516841, -0.0325178244831587},
                0.848742021880207,
                0.025390625,
                -0.00120181011908338,
                0.0581224760503389},
               {"C",
                12,
                {0.2, -0.1, 0.1, 0, -0.3, -0.2, -0.4, 0, -0.1, -0.5, 0.3, -0.6},
                {13, 0.1640625},
                {19, 0.166015625},
                -0.125,
                {-0.3, 0.05},
                0.34375,
                7,
                {0.347547149939992, 0.933260488822266},
                {0.396778147461145, 0.892208732593699},
                -0.13333333333333333,
                {-0.309606570316883, 0.0429399036502160},
                0.875173319042947,
                0.15234375,
                -0.00831966025593105,
                0.0800883350691061},
               {"D",
                12,
                {0},
                {6, 0.0068359375},
                {6, 0.0068359375},
                -0.15149955325908182,
                {-0.25491306171645356, -0.051293294387550578},
                0.03857421875,
                10,
                {0.515862251313923, 0.979137474540338},
                {0.551969137747027, 0.953034857816146},
                -0.15219717290763982,
                {-0.246191287508555, -0.0582030583067250},
                0.858818928220594,
                0.005859375,
                0.00356943259011923,
                0.0427054740328196}};

enum { SAMPLES = sizeof samples / sizeof *samples };

static const nb_estimate_terms terms = {.confidence = 0.95, .resamples = 2000, .seed = 7, .margin = 0.048790164169432};

static void values_of(const struct sample *s, double *values)
{
    for (int i = 0; i < s->n; i++) values[i] = *s->name == 'D' ? log(d_ratios[i]) : s->values[i];
}

/* One unit a source, one stratum. */
static void units_of(int n, const double *values, nb_unit_value *units)
{
    for (int i = 0; i < n; i++) units[i] = (nb_unit_value){.source = i, .value = values[i]};
}

static nb_estimate estimate_values(int n, const double *values, nb_ctx *ctx)
{
    nb_unit_value units[32];
    nb_estimate e[2];
    units_of(n, values, units);
    assert_ok(ctx, nb_estimate_units(n, units, 1, &terms, e, ctx));
    assert_int_equal(e[0].sources, e[1].sources);
    assert_true(e[0].mean == e[1].mean && e[0].shift == e[1].shift);
    return e[0];
}

/* Equal, or both NaN. */
#define assert_near(a, b) \
    do { \
        double near_a = (a), near_b = (b); \
        if (!isnan(near_a) || !isnan(near_b)) assert_close(near_a, near_b, 1e-12); \
    } while (0)

#define assert_interval(interval, expected) \
    do { \
        nb_interval of_ = (interval), expected_ = (expected); \
        assert_near(of_.low, expected_.low); \
        assert_near(of_.high, expected_.high); \
    } while (0)

static void test_estimates(void **state)
{
    for (int i = 0; i < SAMPLES; i++) {
        const struct sample *s = &samples[i];
        double values[MOST];
        values_of(s, values);
        nb_estimate e = estimate_values(s->n, values, *state);
        assert_int_equal(e.sources, s->n);
        assert_int_equal(e.units, s->n);
        assert_int_equal(e.infinite, 0);
        assert_int_equal(e.below, s->below);
        assert_near(e.wilcoxon_w, s->pratt.w);
        assert_near(e.wilcoxon_p, s->pratt.p);
        assert_near(e.shift, s->shift);
        assert_interval(((nb_interval){e.shift_low, e.shift_high}), s->shift_interval);
        assert_near(e.sign_p, s->sign_p);
        assert_interval(((nb_interval){e.below_low, e.below_high}), s->clopper_pearson);
        assert_near(e.mean, s->mean);
        assert_near(e.se, s->se);
        assert_near(e.sd, s->se * sqrt(s->n));
        assert_near(e.df, s->n - 1);
        assert_interval(((nb_interval){e.low, e.high}), s->t);
        assert_near(exp(e.mean), s->ratio);
        assert_true(isnan(e.icc) && isnan(e.design_effect) && isnan(e.effective));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_estimates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
