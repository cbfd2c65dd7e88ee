/* SPDX-License-Identifier: GPL-3.0-or-later */
/* number.c - the number of a suite. */
#include "suite/suite.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>

/* Returns it for an input at one share; -1: the mean over all. */
static double value_of(const nb_suite_outcome outcomes[NB_SUITE_SHARES], nb_suite_value what, int share)
{
    double sum = 0;
    if (share >= 0 && what == NB_SUITE_ERROR) return log2(outcomes[share].error);
    if (share >= 0 && what == NB_SUITE_BASELINE) return log2(outcomes[share].baseline);
    if (share >= 0) return log2(outcomes[share].baseline / outcomes[share].error);
    for (int k = 0; k < NB_SUITE_SHARES; k++) sum += value_of(outcomes, what, k);
    return sum / NB_SUITE_SHARES;
}

nb_status nb_suite_nine_in_ten(const nb_suite_result *r, int track, double *value, nb_ctx *ctx)
{
    const nb_suite *s = r->suite;
    double *values;
    size_t count = 0;
    *value = NAN;
    if (r->absent[track]) return NB_OK;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(values, nb_alloc(ctx, (size_t)s->count + 1, sizeof *values));
    for (int i = 0; i < s->count; i++)
        if (s->models[s->inputs[i].model].track == track)
            values[count++] = value_of(r->outcomes[i], NB_SUITE_NUMBER, -1);
    gsl_sort(values, 1, count);
    *value = gsl_stats_quantile_from_sorted_data(values, 1, count, 0.1);
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

nb_status nb_suite_estimates(const nb_suite_result *r, int track, nb_suite_value what, int share, nb_estimate *all,
                             nb_ctx *ctx)
{
    const nb_estimate_terms terms = {.confidence = 0.95};
    const nb_suite *s = r->suite;
    nb_unit_value *units;
    int count = 0;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(units, nb_alloc(ctx, (size_t)s->count + 1, sizeof *units));
    for (int i = 0; i < s->count; i++) {
        const nb_suite_input *input = &s->inputs[i];
        if (s->models[input->model].track != track) continue;
        units[count++] = (nb_unit_value){
            .stratum = input->model, .source = input->first, .value = value_of(r->outcomes[i], what, share)};
    }
    NB_TRY(ctx, nb_estimate_units(count, units, s->model_count, &terms, all, ctx));
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

nb_status nb_suite_estimate(const nb_suite_result *r, int track, int share, nb_estimate *estimate, nb_ctx *ctx)
{
    nb_estimate *all;
    *estimate = (nb_estimate){.mean = NAN, .low = NAN, .high = NAN};
    if (r->absent[track]) return NB_OK;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(all, nb_alloc(ctx, (size_t)r->suite->model_count + 1, sizeof *all));
    NB_TRY(ctx, nb_suite_estimates(r, track, NB_SUITE_NUMBER, share, all, ctx));
    *estimate = all[r->suite->model_count];
    nb_ctx_release(ctx, mark);
    return NB_OK;
}
