/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bootstrap.c - see bootstrap.h; O(resamples * sources). */
#include "statistics/bootstrap.h"

#include "base/random.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdint.h>

/* Adds what the mean of one stratum is moved by, in each resample, times `factor`. */
static nb_status add_deviations(int count, const nb_source *sources, double factor, gsl_rng *rng, int resamples,
                                double *deviations, nb_ctx *ctx)
{
    double *own, mean = nb_sources_mean(count, sources);
    int *drawn;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(own, nb_alloc_raw(ctx, (size_t)count));
    NB_NEED(drawn, nb_alloc_unset(ctx, (size_t)count, sizeof *drawn));
    for (int i = 0; i < count; i++) own[i] = sources[i].mean - mean;
    for (int b = 0; b < resamples; b++) {
        double sum = 0;
        nb_draw_indices(rng, count, count, drawn);
        for (int i = 0; i < count; i++) sum += own[drawn[i]];
        deviations[b] += factor * (sum / count);
    }
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

nb_status nb_bootstrap_mean(int count, const nb_source *sources, bool widened, gsl_rng *rng, int resamples,
                            double *deviations, nb_ctx *ctx)
{
    int strata = nb_sources_strata(count, sources);
    for (int b = 0; b < resamples; b++) deviations[b] = 0;
    for (int i = 0, end; i < count; i = end) {
        end = nb_sources_end(count, sources, i);
        double k = end - i, factor = (widened ? sqrt(k / (k - 1)) : 1) / strata;
        NB_TRY(ctx, add_deviations(end - i, sources + i, factor, rng, resamples, deviations, ctx));
    }
    return NB_OK;
}

double nb_acceleration(int count, const nb_source *sources)
{
    double squares = 0, cubes = 0;
    for (int i = 0, end; i < count; i = end) {
        end = nb_sources_end(count, sources, i);
        double mean = nb_sources_mean(end - i, sources + i);
        for (int j = i; j < end; j++) {
            double d = (sources[j].mean - mean) / (end - i - 1);
            squares += d * d;
            cubes += d * d * d;
        }
    }
    return squares > 0 ? cubes / (6 * squares * sqrt(squares)) : 0;
}

double nb_bias_correction(int resamples, const double *deviations)
{
    double below = 0, size = 0;
    for (int b = 0; b < resamples; b++) size = fmax(size, fabs(deviations[b]));
    for (int b = 0; b < resamples; b++) below += fabs(deviations[b]) <= 1e-12 * size ? 0.5 : deviations[b] < 0;
    return gsl_cdf_ugaussian_Pinv(fmin(fmax(below, 0.5), resamples - 0.5) / resamples);
}

static double quantile(int resamples, const double *deviations, double level)
{
    return gsl_stats_quantile_from_sorted_data(deviations, 1, (size_t)resamples, level);
}

double nb_bca_level(double z0, double acceleration, double level)
{
    double z = z0 + gsl_cdf_ugaussian_Pinv(level), slack = 1 - acceleration * z;
    return slack > 0 ? gsl_cdf_ugaussian_P(z0 + z / slack) : z > 0;
}

nb_interval nb_bca(int resamples, const double *deviations, double acceleration, double confidence)
{
    double z0 = nb_bias_correction(resamples, deviations);
    return (nb_interval){quantile(resamples, deviations, nb_bca_level(z0, acceleration, (1 - confidence) / 2)),
                         quantile(resamples, deviations, nb_bca_level(z0, acceleration, (1 + confidence) / 2))};
}

static bool can_be_drawn(int count, const nb_source *sources)
{
    bool can = count > 0;
    for (int i = 0, end; i < count; i = end) {
        end = nb_sources_end(count, sources, i);
        can = can && end - i >= 2;
    }
    for (int i = 0; i < count; i++) can = can && sources[i].plus + sources[i].minus == 0;
    return can;
}

nb_status nb_bootstrap_interval(int count, const nb_source *sources, double mean, double confidence, int resamples,
                                long long seed, nb_interval *interval, nb_ctx *ctx)
{
    const nb_stream stream = {.seed = (uint64_t)seed, .role = "bootstrap", .component = "sources"};
    gsl_rng *rng;
    double *deviations;
    nb_mark mark = nb_ctx_mark(ctx);
    *interval = (nb_interval){NAN, NAN};
    if (resamples < 1 || !can_be_drawn(count, sources)) return NB_OK;
    NB_TRY(ctx, nb_random_new(&rng, ctx));
    NB_NEED(deviations, nb_alloc_reals(ctx, (size_t)resamples, 1));
    nb_random_seed(rng, &stream);
    NB_TRY(ctx, nb_bootstrap_mean(count, sources, true, rng, resamples, deviations, ctx));
    gsl_sort(deviations, 1, (size_t)resamples);
    *interval = nb_bca(resamples, deviations, nb_acceleration(count, sources), confidence);
    interval->low += mean;
    interval->high += mean;
    nb_ctx_release(ctx, mark);
    return NB_OK;
}
