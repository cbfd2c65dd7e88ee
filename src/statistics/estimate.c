/* SPDX-License-Identifier: GPL-3.0-or-later */
/* estimate.c - over sources, of which stratum g of G has k_g with the means m_i:
 *
 *     mean   sum_g w_g mean_g,  w_g = 1/G
 *     se^2   sum_g w_g^2 (sd_g^2 / k_g + sum_i error_i / k_g^2)  =  sum_g v_g
 *     df     (sum_g v_g)^2 / sum_g v_g^2 / (k_g - 1)             (Satterthwaite, Biometrics Bull. 2, 1946)
 *
 * with error_i the variance of m_i by its units' own. What all sources have in common is one more v, c, estimated from
 * a square b of its own df: v = c in se^2, but b in the sum below df. For where c is 0 or nearly, as it often is of few
 * trials, it is no better known than b is. Then df may fall below that of each part, and is the least of these. How t
 * is then taken from se and df, and from the parts: see spread.h. */
#include "statistics/estimate.h"

#include "statistics/bootstrap.h"
#include "statistics/nested.h"
#include "statistics/ranks.h"
#include "statistics/spread.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>

enum { MOST_MORE = 1000000000 }; /* sources */

static const nb_estimate unknown = {.confidence = NAN,
                                    .mean = NAN,
                                    .sd = NAN,
                                    .se = NAN,
                                    .df = NAN,
                                    .own_df = NAN,
                                    .common_se = NAN,
                                    .common_square = NAN,
                                    .common_df = NAN,
                                    .low = NAN,
                                    .high = NAN,
                                    .t_p = NAN,
                                    .boot_low = NAN,
                                    .boot_high = NAN,
                                    .median = NAN,
                                    .below_share = NAN,
                                    .below_low = NAN,
                                    .below_high = NAN,
                                    .wilcoxon_w = NAN,
                                    .wilcoxon_p = NAN,
                                    .sign_p = NAN,
                                    .shift = NAN,
                                    .shift_low = NAN,
                                    .shift_high = NAN,
                                    .icc = NAN,
                                    .design_effect = NAN,
                                    .effective = NAN};

typedef struct {
    double mean, variance, df_sum; /* of the mean; sum of v_g^2 / (k_g - 1) */
    double squares;                /* of sources about their stratum's mean */
} moments;

/* Adds stratum g, of weight w. */
static void add_stratum(int k, const nb_source *sources, double w, moments *m)
{
    double mean = nb_sources_mean(k, sources), squares = 0, error = 0;
    for (int i = 0; i < k; i++) {
        squares += (sources[i].mean - mean) * (sources[i].mean - mean);
        error += sources[i].error;
    }
    double v = k < 2 ? NAN : w * w * (squares / (k - 1) + error / k) / k;
    m->mean += w * mean;
    m->variance += v;
    m->df_sum += v * v / (k - 1);
    m->squares += squares;
}

/* Returns the spread of a mean with the variance `own`, of `df` degrees of freedom, and a common error. */
static nb_spread spread_of(double own, double df, double common, double square, double common_df)
{
    double all = own + common;
    nb_spread s = {sqrt(all), df, own, df, square, common_df};
    if (square > 0) s.df = fmax(fmin(df, common_df), all * all / (own * own / df + square * square / common_df));
    return s;
}

static void set_mean(int count, const nb_source *sources, const nb_estimate_terms *terms, const nb_common_error *common,
                     nb_estimate *e)
{
    int strata = nb_sources_strata(count, sources);
    moments m = {.mean = 0};
    for (int i = 0, end; i < count; i = end) {
        end = nb_sources_end(count, sources, i);
        add_stratum(end - i, sources + i, 1.0 / strata, &m);
    }
    const nb_common_error shared = common ? *common : (nb_common_error){.df = NAN};
    e->common_se = sqrt(shared.variance);
    e->common_square = shared.square;
    e->common_df = shared.df;
    e->mean = m.mean;
    e->se = sqrt(m.variance + shared.variance);
    if (isnan(e->se)) return;
    e->sd = sqrt(m.squares / (count - strata));
    e->own_df = strata > 1 && m.variance > 0 ? m.variance * m.variance / m.df_sum : count - strata;
    const nb_spread spread = spread_of(m.variance, e->own_df, shared.variance, shared.square, shared.df);
    e->df = spread.df;
    e->t_p = nb_spread_p(e->mean, &spread);
    double half = nb_spread_half(&spread, terms->confidence);
    e->low = e->mean - half;
    e->high = e->mean + half;
}

static void set_nested(int count, const nb_source *sources, nb_estimate *e)
{
    nb_nested nested = nb_nested_anova(count, sources);
    e->icc = nested.icc;
    e->design_effect = nested.design_effect;
    e->effective = nested.effective;
}

static nb_status set_bootstrap(int count, const nb_source *sources, const nb_estimate_terms *terms, nb_estimate *e,
                               nb_ctx *ctx)
{
    nb_interval boot;
    NB_TRY(ctx, nb_bootstrap_interval(count, sources, e->mean, terms->confidence, terms->resamples, terms->seed, &boot,
                                      ctx));
    e->boot_low = boot.low;
    e->boot_high = boot.high;
    return NB_OK;
}

static void set_signs(int count, const double *means, double confidence, nb_estimate *e)
{
    for (int i = 0; i < count; i++) {
        e->below += means[i] < 0;
        e->above += means[i] > 0;
    }
    e->ties = count - e->below - e->above;
    nb_interval share = nb_clopper_pearson(e->below, e->below + e->above, confidence);
    e->below_share = e->below + e->above > 0 ? (double)e->below / (e->below + e->above) : NAN;
    e->below_low = share.low;
    e->below_high = share.high;
    e->sign_p = nb_sign_p(e->below, e->above);
}

/* Sets the statistics of ranks, over all sources whatever their stratum. */
static nb_status set_ranks(int count, const nb_source *sources, double confidence, nb_estimate *e, nb_ctx *ctx)
{
    double *means;
    nb_interval shift;
    NB_NEED(means, nb_alloc_reals(ctx, (size_t)count, 1));
    for (int i = 0; i < count; i++) means[i] = sources[i].mean;
    gsl_sort(means, 1, (size_t)count);
    e->median = nb_median_sorted(count, means);
    set_signs(count, means, confidence, e);
    NB_TRY(ctx, nb_wilcoxon(count, means, NB_ZEROS_PRATT, &e->wilcoxon_w, &e->wilcoxon_p, ctx));
    NB_TRY(ctx, nb_hodges_lehmann(count, means, confidence, &e->shift, &shift, ctx));
    e->shift_low = shift.low;
    e->shift_high = shift.high;
    return NB_OK;
}

static nb_status estimate(int count, const nb_source *sources, const nb_estimate_terms *terms,
                          const nb_common_error *common, nb_estimate *e, nb_ctx *ctx)
{
    int plus = 0, minus = 0;
    *e = unknown;
    e->confidence = terms->confidence;
    if (count == 0) return NB_OK;
    e->sources = count;
    for (int i = 0; i < count; i++) {
        e->units += sources[i].units;
        plus += sources[i].plus;
        minus += sources[i].minus;
    }
    e->infinite = plus + minus;
    if (e->infinite > 0) {
        e->mean = minus == 0 ? INFINITY : plus == 0 ? -INFINITY : NAN;
    } else {
        set_mean(count, sources, terms, common, e);
        set_nested(count, sources, e);
        NB_TRY(ctx, set_bootstrap(count, sources, terms, e, ctx));
    }
    return terms->mean_alone ? NB_OK : set_ranks(count, sources, terms->confidence, e, ctx);
}

static bool same_error(const nb_common_error *a, const nb_common_error *b)
{
    return a->variance == b->variance && a->square == b->square && a->trials == b->trials;
}

nb_status nb_estimate_units(int count, const nb_unit_value *units, int strata, const nb_estimate_terms *terms,
                            nb_estimate *estimates, nb_ctx *ctx)
{
    nb_source *sources;
    int source_count, first = 0;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_REQUIRE(ctx, terms->confidence >= 0.5 && terms->confidence < 1, NB_EINVAL,
               "a confidence of %g; allowed: at least 0.5, below 1", terms->confidence);
    NB_TRY(ctx, nb_sources_gather(count, units, strata, &source_count, &sources, ctx));
    for (int g = 0; g < strata; g++) {
        int end =
            first < source_count && sources[first].stratum == g ? nb_sources_end(source_count, sources, first) : first;
        const nb_common_error *common = terms->common ? &terms->common[g] : NULL;
        NB_TRY(ctx, estimate(end - first, sources + first, terms, common, &estimates[g], ctx));
        first = end;
    }
    const nb_common_error *common = terms->common ? &terms->common[strata] : NULL;
    if (strata == 1 && (!common || same_error(common, terms->common)))
        estimates[1] = estimates[0];
    else
        NB_TRY(ctx, estimate(source_count, sources, terms, common, &estimates[strata], ctx));
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

nb_interval nb_estimate_interval(const nb_estimate *e, double confidence)
{
    double common = e->common_se * e->common_se;
    const nb_spread s = {e->se, e->df, e->se * e->se - common, e->own_df, e->common_square, e->common_df};
    double half = nb_spread_half(&s, confidence);
    return (nb_interval){e->mean - half, e->mean + half};
}

/* True if so many more sources would show this distance with power 0.8. */
static bool would_show(const nb_estimate *e, double confidence, double distance, long long more)
{
    double less = e->sources / (e->sources + (double)more), common = e->common_se * e->common_se;
    double own = (e->se * e->se - common) * less, square = common + (e->common_square - common) * less;
    const nb_spread s = spread_of(own, e->own_df + (double)more, common, square, e->common_df);
    return nb_spread_half(&s, confidence) + gsl_cdf_tdist_Pinv(0.8, s.df) * s.se <= distance;
}

double nb_estimate_more(const nb_estimate *e, double confidence, double edge, double margin)
{
    double distance = fmax(fabs(e->mean - edge), margin - fabs(e->mean));
    long long low = -1, high = 0;
    if (!(distance > 0 && isfinite(e->se) && e->df > 0)) return NAN;
    while (high < MOST_MORE && !would_show(e, confidence, distance, high)) {
        low = high;
        high += high / 8 + 1; /* df may fall at first: not by doubling */
    }
    if (high >= MOST_MORE) return NAN;
    while (high - low > 1) {
        long long middle = low + (high - low) / 2;
        *(would_show(e, confidence, distance, middle) ? &high : &low) = middle;
    }
    return (double)high;
}
