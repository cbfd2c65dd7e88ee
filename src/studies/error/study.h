/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study.h - the error study, which measures how far F X B, built from landmarks, is from S. A row is one (strategy,
 * pairing, m, factors, core) on one head under one kernel in one trial. */
#ifndef NB_ERROR_STUDY_H
#define NB_ERROR_STUDY_H

#include "components/component.h"
#include "nystrom/engine.h"
#include "run/plan.h"
#include "run/prediction.h"
#include "show/full_study.h"
#include "strategies/strategy.h"

#include <sqlite3.h>

/* The study's axes, in the order of its table. */
typedef enum {
    NB_ERROR_PROBLEM,
    NB_ERROR_KERNEL,
    NB_ERROR_STRATEGY,
    NB_ERROR_PAIRING,
    NB_ERROR_LANDMARKS,
    NB_ERROR_FACTORS,
    NB_ERROR_CORE,
    NB_ERROR_AXES
} nb_error_axis;

/* The columns of a row, in the order of their declaration in columns.c. */
typedef struct {
    NB_ROW_FIRST
    const char *kernel, *strategy, *pairing, *factors, *core, *rows, *engine, *precision;
    int landmarks;
    nb_measures measures;
} nb_error_row;

extern const nb_column nb_error_columns[];
extern const nb_full_study nb_study_error;

typedef struct {      /* settings for the whole experiment */
    int engine;       /* nb_engine_kind */
    int precision;    /* nb_precision */
    const char *rows; /* "all" or "sample(k)" */
    int sample;       /* k; 0: all */
} nb_error_settings;

typedef struct {
    const nb_choice *strategy, *core;
    int m;
    nb_pairing pairing;
    nb_factors_kind factors;
} nb_error_method;

const nb_error_settings *nb_error_settings_of(const nb_config *config);

/* Returns the methods of a plan, by number: sorted so that equal picks, and among them equal factors, are adjacent. */
const nb_error_method *nb_error_methods(const nb_plan *plan);

bool nb_error_same_strategy(const nb_error_method *a, const nb_error_method *b); /* and pairing */
bool nb_error_same_picks(const nb_error_method *a, const nb_error_method *b);

/* Returns the method of a row. */
const nb_error_method *nb_error_method_of(const nb_plan *plan, int row);

bool nb_error_has_oracle(const nb_plan *plan); /* true if a strategy asks for singular vectors of S */

const nb_choice *nb_error_kernel(const nb_plan *plan, const nb_planned_scene *scene);

/* Returns the pairing that a config's word means for this strategy; -1: the strategy's own. */
nb_pairing nb_pairing_meant(int word, const nb_choice *strategy);

nb_cost nb_error_cost(const nb_plan *plan, const nb_unit *unit, const bool *pending);

/* NB_EINVAL for a kernel that reads keys if there are none: `keyless` (nb_problem_shape) is not NULL. */
nb_status nb_error_check_keys(const nb_choice *kernel, const char *keyless, nb_ctx *ctx);

/* Returns the multiplications for n tokens of dimension d, also of V, given m landmarks: F, B, B V and F (X B V), n m d
 * each; A and X (B V), m^2 d each, if there is a middle; X, as its core says; n d for each row of S that the core
 * reads, and again for each that it keeps, which is multiplied by V; with the factors kernel_ridge, what their B takes
 * beside its exact rows. NaN if the core does not say. A mask and the kernel's exponentials are not counted. */
double nb_forward_multiplications(nb_factors_kind factors, const nb_choice *core, int n, int d, int m);

/* True if these counts apply: not for cur of a kernel whose rows sum to 1, which divides by sums that need all of S. */
bool nb_forward_is_linear(nb_factors_kind factors, const nb_choice *kernel);

/* Adds the SQL function multiplications(core, n, d, m): nb_forward_multiplications of a core named as in rows, with
 * other factors than kernel_ridge. */
nb_status nb_flops_add_functions(sqlite3 *db, nb_ctx *ctx);

#endif
