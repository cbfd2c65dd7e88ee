/* SPDX-License-Identifier: GPL-3.0-or-later */
/* crossed.c - see crossed.h */
#include "statistics/crossed.h"

#include "statistics/ranks.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct { /* of one stratum: sources x trials, those trials alone that all sources have */
    int sources, trials;
    int *trial;        /* their numbers, ascending */
    double *mean;      /* by trial, over sources */
    double residual_s; /* s_e^2 / (k T) */
} layout;

static int compare_values(const void *a, const void *b)
{
    const nb_crossed_value *x = a, *y = b;
    if (x->stratum != y->stratum) return x->stratum < y->stratum ? -1 : 1;
    if (x->trial != y->trial) return x->trial < y->trial ? -1 : 1;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value); /* the same sum in any order */
}

/* One value a source and trial. */
static int average(int count, nb_crossed_value *values)
{
    int kept = 0;
    for (int i = 0, next; i < count; i = next) {
        nb_crossed_value sum = values[i];
        for (next = i + 1; next < count && values[next].stratum == sum.stratum && values[next].trial == sum.trial &&
                           values[next].source == sum.source;
             next++)
            sum.value += values[next].value;
        sum.value /= next - i;
        values[kept++] = sum;
    }
    return kept;
}

static int compare_numbers(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

/* Different ones. */
static nb_status count_sources(int count, const nb_crossed_value *values, int *sources, nb_ctx *ctx)
{
    int *numbers;
    *sources = count > 0;
    NB_NEED(numbers, nb_alloc(ctx, (size_t)count + 1, sizeof *numbers));
    for (int i = 0; i < count; i++) numbers[i] = values[i].source;
    qsort(numbers, (size_t)count, sizeof *numbers, compare_numbers);
    for (int i = 1; i < count; i++) *sources += numbers[i] != numbers[i - 1];
    return NB_OK;
}

/* In a trial that has all sources, they stand in the same order. */
static nb_status lay_out(int count, const nb_crossed_value *values, layout *l, nb_ctx *ctx)
{
    double *sums, grand = 0, squares = 0;
    NB_TRY(ctx, count_sources(count, values, &l->sources, ctx));
    NB_NEED(l->trial, nb_alloc(ctx, (size_t)count + 1, sizeof *l->trial));
    NB_NEED(l->mean, nb_alloc_reals(ctx, (size_t)count + 1, 1));
    NB_NEED(sums, nb_alloc_reals(ctx, (size_t)l->sources + 1, 1));
    /* y_t, the mean of each trial that has all k sources, and the sums of each source over these trials. */
    for (int i = 0, next; i < count; i = next) {
        for (next = i; next < count && values[next].trial == values[i].trial; next++) continue;
        if (next - i < l->sources) continue;
        for (int s = 0; s < l->sources; s++) {
            l->mean[l->trials] += values[i + s].value / l->sources;
            sums[s] += values[i + s].value;
        }
        l->trial[l->trials++] = values[i].trial;
    }
    /* The residuals of source + trial: e_ct = y_ct - y_c - y_t + y. */
    for (int t = 0; t < l->trials; t++) grand += l->mean[t] / l->trials;
    for (int i = 0, t = 0; i < count && t < l->trials; i++) {
        if (values[i].trial != l->trial[t]) continue;
        for (int s = 0; s < l->sources; s++)
            squares += pow(values[i + s].value - sums[s] / l->trials - l->mean[t] + grand, 2);
        i += l->sources - 1;
        t++;
    }
    /* s_e^2 / (k T), s_e^2 their sum of squares over (k - 1) (T - 1). */
    double freedom = (l->sources - 1.0) * (l->trials - 1.0);
    l->residual_s = freedom > 0 ? squares / freedom / l->sources / l->trials : 0;
    return NB_OK;
}

/* Finds the trials that are far from the others. */
static nb_status find_far(int count, const double *means, const int *trials, nb_common_error *e, nb_ctx *ctx)
{
    double *sorted, most = -1;
    if (count < NB_FAR_TRIALS) return NB_OK;
    NB_NEED(sorted, nb_alloc_reals(ctx, (size_t)count, 1));
    memcpy(sorted, means, (size_t)count * sizeof *sorted);
    gsl_sort(sorted, 1, (size_t)count);
    e->median = nb_median_sorted(count, sorted);
    for (int t = 0; t < count; t++) sorted[t] = fabs(means[t] - e->median);
    gsl_sort(sorted, 1, (size_t)count);
    double limit = NB_FAR * nb_median_sorted(count, sorted);
    for (int t = 0; t < count; t++) {
        double distance = fabs(means[t] - e->median);
        if (distance <= limit) continue;
        e->far_count++;
        if (distance <= most) continue;
        most = distance;
        e->far = trials[t];
        e->far_mean = means[t];
    }
    return NB_OK;
}

/* Estimates the error of weighted means of layouts over the trials that all of them have. */
static nb_status estimate(int count, const layout *const *layouts, double weight, nb_common_error *e, nb_ctx *ctx)
{
    double *means, sum = 0, squares = 0, residual_s = 0;
    int *numbers, trials = 0;
    NB_NEED(means, nb_alloc_reals(ctx, (size_t)layouts[0]->trials + 1, 1));
    NB_NEED(numbers, nb_alloc(ctx, (size_t)layouts[0]->trials + 1, sizeof *numbers));
    /* y_t, the weighted mean over layouts, of the T trials that are in all of them. */
    for (int t = 0; t < layouts[0]->trials; t++) {
        double mean = 0;
        int in = 0;
        for (int g = 0; g < count; g++) {
            const layout *l = layouts[g];
            const int *found =
                bsearch(&layouts[0]->trial[t], l->trial, (size_t)l->trials, sizeof *l->trial, compare_numbers);
            if (!found) continue;
            mean += weight * l->mean[found - l->trial];
            in++;
        }
        if (in < count) continue;
        sum += means[trials] = mean;
        numbers[trials++] = layouts[0]->trial[t];
    }
    /* square = sum_t (y_t - y)^2 / (T - 1) / T; variance = max(0, square - s_e^2 / (k T)). */
    for (int t = 0; t < trials; t++) squares += (means[t] - sum / trials) * (means[t] - sum / trials);
    for (int g = 0; g < count; g++) residual_s += weight * weight * layouts[g]->residual_s;
    *e = (nb_common_error){.df = NAN, .trials = trials};
    double square = squares / (trials - 1) / trials;
    if (trials < 2 || !(square > 1e-30 * (1 + sum * sum))) return NB_OK; /* no more than rounding of the means: none */
    e->square = square;
    e->variance = fmax(0, square - residual_s);
    e->df = trials - 1;
    return find_far(trials, means, numbers, e, ctx);
}

nb_status nb_crossed_errors(int count, const nb_crossed_value *values, int strata, const bool *shares,
                            nb_common_error *errors, nb_ctx *ctx)
{
    nb_crossed_value *own;
    layout *layouts;
    const layout **used;
    int used_count = 0, with_values = 0, most = 0;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(own, nb_alloc(ctx, (size_t)count + 1, sizeof *own));
    NB_NEED(layouts, nb_alloc(ctx, (size_t)strata + 1, sizeof *layouts));
    NB_NEED(used, nb_alloc(ctx, (size_t)strata + 1, sizeof *used));
    /* The values by stratum, trial and source, one of each. */
    if (count > 0) memcpy(own, values, (size_t)count * sizeof *own);
    for (int i = 0; i < count; i++)
        NB_REQUIRE(ctx, own[i].stratum >= 0 && own[i].stratum < strata, NB_EINVAL, "stratum %d of %d", own[i].stratum,
                   strata);
    qsort(own, (size_t)count, sizeof *own, compare_values);
    count = average(count, own);
    /* Each stratum by itself. */
    for (int g = 0, first = 0, end; g < strata; g++, first = end) {
        const layout *one = &layouts[g];
        for (end = first; end < count && own[end].stratum == g; end++) continue;
        NB_TRY(ctx, lay_out(end - first, own + first, &layouts[g], ctx));
        errors[g] = (nb_common_error){.df = NAN, .trials = one->trials};
        if (shares[g]) NB_TRY(ctx, estimate(1, &one, 1, &errors[g], ctx));
        with_values += end > first;
        if (layouts[g].trials > most) most = layouts[g].trials;
        if (layouts[g].trials > 1) used[used_count++] = one;
    }
    /* The mean over strata with equal weights; one with a single trial has no spread to add. */
    errors[strata] = (nb_common_error){.df = NAN, .trials = most};
    if (used_count > 0 && shares[strata])
        NB_TRY(ctx, estimate(used_count, used, 1.0 / with_values, &errors[strata], ctx));
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

int nb_drawn_trials(int strata, const nb_common_error *common, const bool *shares)
{
    int fewest = -1;
    for (int s = 0; s < strata; s++)
        if (shares[s] && (fewest < 0 || common[s].trials < fewest)) fewest = common[s].trials;
    return fewest;
}
