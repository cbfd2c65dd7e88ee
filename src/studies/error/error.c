/* SPDX-License-Identifier: GPL-3.0-or-later */
/* error.c - the record of the error study. */
#include "calls/early.h"
#include "components/registry.h"
#include "cores/core.h"
#include "kernels/kernel.h"
#include "studies/error/study.h"
#include "studies/error/runner.h"

#include <stdio.h>
#include <string.h>

static const nb_option options[] = {
    NB_TEXT(nb_error_settings, rows, "all", "rows of S that are measured: all, or sample(k), k random ones"),
    NB_ENUM(nb_error_settings, engine, "streamed", nb_engine_names,
            "streamed (one pass over S for all methods) or direct (S and F X B formed)"),
    NB_ENUM(nb_error_settings, precision, "double", nb_precision_names,
            "double, or mixed (single where the result is large enough)"),
    NB_OPTION_END};

static const nb_axis axes[] = {[NB_ERROR_PROBLEM] = NB_AXIS_PROBLEMS,
                               [NB_ERROR_KERNEL] = {.key = "kernels",
                                                    .column = "kernel",
                                                    .type = NB_AXIS_COMPONENT,
                                                    .scene = true,
                                                    .registry = &nb_kernels,
                                                    .standard = nb_standard_kernel},
                               [NB_ERROR_STRATEGY] = {.key = "strategies",
                                                      .column = "strategy",
                                                      .type = NB_AXIS_COMPONENT,
                                                      .registry = &nb_strategies,
                                                      .check = nb_strategy_check,
                                                      .ready = nb_strategy_ready},
                               [NB_ERROR_PAIRING] = {.key = "pairing",
                                                     .column = "pairing",
                                                     .type = NB_AXIS_WORD,
                                                     .resolved = true,
                                                     .words = nb_pairing_names,
                                                     .extra = "default",
                                                     .initial = "default"},
                               [NB_ERROR_LANDMARKS] = {.key = "landmarks",
                                                       .column = "landmarks",
                                                       .type = NB_AXIS_INTEGER,
                                                       .lo = 1,
                                                       .hi = 1000000,
                                                       .initial = "8..64 step 8"},
                               [NB_ERROR_FACTORS] = {.key = "factors",
                                                     .column = "factors",
                                                     .type = NB_AXIS_WORD,
                                                     .words = nb_factors_names,
                                                     .initial = "nystromformer"},
                               [NB_ERROR_CORE] = {.key = "cores",
                                                  .column = "core",
                                                  .type = NB_AXIS_COMPONENT,
                                                  .registry = &nb_cores,
                                                  .check = nb_core_check,
                                                  .ready = nb_core_ready},
                               {.key = NULL}};

/* The phases, by nb_error_phase. */
static const nb_phase phases[] = {{"the problem's data", -1, 0, false},
                                  {"the strategy's pick", NB_ERROR_STRATEGY, 2, false},
                                  {"the core", NB_ERROR_CORE, 3, false},
                                  {"the measurement", -1, 3, true},
                                  {NULL, 0, 0, false}};

/* The axes that agree where rows share the picks of a nested strategy, and where they share picks. */
static const unsigned levels[] = {1u << NB_ERROR_STRATEGY | 1u << NB_ERROR_PAIRING,
                                  1u << NB_ERROR_STRATEGY | 1u << NB_ERROR_PAIRING | 1u << NB_ERROR_LANDMARKS, 0};

/* Returns the k of sample(k); 0: it is something else. */
static int read_sample(const char *text)
{
    int k = 0, end = 0;
    return sscanf(text, " sample ( %9d )%n", &k, &end) == 1 && end > 0 && !text[end] && k > 1 ? k : 0;
}

/* rows: all, or sample(k). */
static nb_status read_setting(const nb_option *option, void *settings, nb_place place, nb_mistakes *mistakes)
{
    nb_error_settings *s = settings;
    if (option->offset != offsetof(nb_error_settings, rows)) return NB_OK;
    const char *text = s->rows;
    s->sample = 0;
    s->rows = "all";
    if (strcmp(text, "all") == 0) return NB_OK;
    s->sample = read_sample(text);
    if (s->sample) {
        NB_NEED(s->rows, nb_format(mistakes->ctx, "sample(%d)", s->sample));
        return NB_OK;
    }
    return nb_mistakes_add(
        mistakes, place, "rows: '%s' is unknown; allowed: all, or sample(k) for k = 2 to 999999999 random rows", text);
}

/* Mistakes that one key alone does not show. */
static nb_status check(const nb_config *config, nb_place place, nb_mistakes *mistakes)
{
    const nb_error_settings *s = nb_error_settings_of(config);
    if (s->sample && s->engine == NB_DIRECT)
        NB_TRY(mistakes->ctx,
               nb_mistakes_add(mistakes, place, "rows: %s needs engine: streamed; direct measures all rows", s->rows));
    if (s->precision == NB_MIXED && s->engine == NB_DIRECT)
        NB_TRY(mistakes->ctx,
               nb_mistakes_add(mistakes, place, "precision: mixed needs engine: streamed; direct measures in double"));
    if (s->precision == NB_MIXED && s->sample)
        NB_TRY(mistakes->ctx, nb_mistakes_add(mistakes, place,
                                              "precision: mixed needs rows: all; sampled rows are measured in double"));
    for (int i = 0; i < config->metric_count && s->sample; i++) {
        const nb_column *column = nb_column_find(nb_error_columns, config->metrics[i]);
        if (column && column->whole)
            NB_TRY(mistakes->ctx, nb_mistakes_add(mistakes, place, "metrics: %s needs rows: all; %s does not give it",
                                                  config->metrics[i], s->rows));
    }
    return NB_OK;
}

static const char *const references[] = {
    "Xiong et al., Nystromformer: A Nystrom-based algorithm for approximating self-attention, AAAI 2021", NULL};

const nb_study nb_study_error = {
    .component = {"error", "how far attention from landmarks, F X B, is from the exact S", references, options,
                  sizeof(nb_error_settings)},
    .standard = true,
    .axes = axes,
    .baseline = NB_ERROR_STRATEGY,
    .columns = nb_error_columns,
    .row_size = sizeof(nb_error_row),
    .result_offset = offsetof(nb_error_row, measures),
    .result_size = sizeof(nb_measures),
    .phases = phases,
    .levels = levels,
    .read_setting = read_setting,
    .check_block = nb_error_check_block,
    .complete = nb_error_complete,
    .check = check,
    .default_baseline = nb_error_default_baseline,
    .settle = nb_error_settle,
    .prepare_scene = nb_error_prepare_scene,
    .value_under = nb_error_value_under,
    .random = nb_error_random,
    .prepare = nb_error_prepare,
    .check_scene = nb_error_check_scene,
    .warn = nb_error_warn,
    .run = nb_run_scene,
    .cost = nb_error_cost,
    .add_functions = nb_flops_add_functions,
};
