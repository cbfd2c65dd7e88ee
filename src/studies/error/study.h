/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study.h - the error study, which measures how far F X B, built from landmarks, is from S. A row is one (strategy,
 * pairing, m, factors, core) on one head under one kernel in one trial. */
#ifndef NB_ERROR_STUDY_H
#define NB_ERROR_STUDY_H

#include "nystrom/engine.h"
#include "run/plan.h"
#include "run/prediction.h"
#include "strategies/strategy.h"

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
extern const nb_study nb_study_error;

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

/* Returns the method of a row. */
const nb_error_method *nb_error_method_of(const nb_plan *plan, int row);

bool nb_error_has_oracle(const nb_plan *plan); /* true if a strategy asks for singular vectors of S */

const nb_choice *nb_error_kernel(const nb_plan *plan, const nb_planned_scene *scene);

/* Returns the pairing that a config's word means for this strategy; -1: the strategy's own. */
nb_pairing nb_pairing_meant(int word, const nb_choice *strategy);

nb_cost nb_error_cost(const nb_plan *plan, const nb_unit *unit, const bool *pending);

#endif
