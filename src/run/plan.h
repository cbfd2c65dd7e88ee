/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan.h - the rows that an experiment stands for: of scenes x trials x cells what
 * any of its blocks holds, but for what its rules exclude. */
#ifndef NB_PLAN_H
#define NB_PLAN_H

#include "config/config.h"
#include "strategies/strategy.h"
#include "studies/error/row.h"

typedef struct { /* one head under one kernel; the trials may share it */
    const nb_choice *problem, *kernel;
    int head, n, d;
    bool random, causal;
    const char *refusal; /* why the kernel cannot be had on this head: its rows are skipped; NULL: it can */
} nb_planned_scene;

typedef struct {
    const nb_choice *strategy, *core;
    int m;
    nb_pairing pairing;
    nb_factors_kind factors;
} nb_cell;

typedef struct {
    int scene, trial, cell;
} nb_planned_row;

typedef struct nb_inputs nb_inputs; /* inputs.h */

typedef struct {
    const nb_config *config;
    bool oracle; /* some strategy asks for singular vectors of S */
    int scene_count, cell_count, row_count;
    nb_planned_scene *scenes;
    nb_cell *cells;       /* cells of the same picks, then of the same factors, stand together */
    nb_planned_row *rows; /* scene by scene, trial by trial; each row once */
    nb_inputs *inputs;    /* the files that they are made from */
    int excluded_count;   /* rows that the blocks hold, but for the rules */
    int *excluded_by;     /* how many of them each rule matches */
} nb_plan;

/* Scenes and cells without rows are left out. NB_EIO where a file that an option names cannot be read. */
nb_status nb_plan_make(const nb_config *config, nb_plan *plan, nb_ctx *ctx);

/* A row with its identity filled in, status "planned", nothing measured. */
void nb_plan_row(const nb_plan *plan, int index, nb_row *row);

/* The place of a row in the plan, from `from` on; row_count: it is not there. */
int nb_plan_find(const nb_plan *plan, int from, const nb_row *row);

#endif
