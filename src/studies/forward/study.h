/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study.h - the forward study, which measures how long an attention layer takes, how much memory it needs, and how far
 * its outputs are from the exact ones. A row is one (attention, threads) on one layer in one trial: all heads of an
 * input together. */
#ifndef NB_FORWARD_STUDY_H
#define NB_FORWARD_STUDY_H

#include "attentions/attention.h"
#include "run/plan.h"
#include "run/run_study.h"

/* CPUs that other programs use while rows are timed: above this their times are not to be trusted. */
static const double nb_forward_much_load = 0.2;

/* The study's axes, in the order of its table. */
typedef enum { NB_FORWARD_PROBLEM, NB_FORWARD_HEADS, NB_FORWARD_ATTENTION, NB_FORWARD_THREADS } nb_forward_axis;

/* Keys of a config; forward.c describes each. */
typedef struct {
    double seconds;
    int timed, rounds, cold, quality, quality_rows; /* rounds, quality_rows: NB_AUTO for the word */
} nb_forward_settings;

const nb_forward_settings *nb_forward_settings_of(const nb_config *config);

/* The measures; columns.c describes each. */
typedef struct {
    double landmarks, dv, key_heads, causal;
    double latency_s, latency_low_s, latency_high_s, latency_min_s, latency_p10_s, latency_p90_s, repeats, batch;
    double first_s, fresh_s, keeps, amortized_s, tokens_per_s;
    double flops, flops_formula, gflops_per_s, gemm_gflops_per_s, gemm_share;
    double workspace_bytes, workspace_formula_bytes, peak_bytes;
    double error, output_error, cosine, mse, max_error, error_p99, baseline_mean, rowsum_deviation;
    double select_s, core_s, b_s, f_s, output_s, load;
} nb_forward;

/* The columns of a row, in the order of their declaration in columns.c. */
typedef struct {
    NB_ROW_FIRST
    int heads, threads;
    const char *attention, *cold, *quality, *quality_rows, *device, *clock;
    nb_forward measures;
} nb_forward_row;

extern const nb_column nb_forward_columns[];

/* Members of nb_run_study. */
nb_status nb_forward_run(const nb_plan *plan, int scene, const bool *pending, const nb_sink *sink, nb_ctx *ctx);
nb_cost nb_forward_cost(const nb_plan *plan, const nb_unit *unit, const bool *pending);

/* Bits of nb_config's `wanted`. */
enum {
    NB_FORWARD_WANT_ERROR = 1 << 0,
    NB_FORWARD_WANT_TIMES = 1 << 1,
    NB_FORWARD_WANT_ROW_SUMS = 1 << 2 /* of attentions elsewhere too */
};

/* Numbers of the study's phases (nb_phase). */
typedef enum {
    NB_FORWARD_AT_DATA = NB_AT_START + 1,
    NB_FORWARD_AT_MEMORY,
    NB_FORWARD_AT_EXACT,
    NB_FORWARD_AT_OUTPUT,
    NB_FORWARD_AT_GEMM,
    NB_FORWARD_AT_PASS
} nb_forward_phase;

/* Returns the shape. V is assumed to have the dimension of Q and K, since its own is known only when it is read. */
nb_layer_shape nb_forward_shape(const nb_planned_scene *scene);

/* Makes the points in a trial, rounded to scalars; heads that share keys share them here too. ctx owns the memory. */
nb_status nb_forward_layer(const nb_plan *plan, int scene, int trial, gsl_rng *rng, nb_layer *layer, nb_ctx *ctx);

#endif
