/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan.h - the rows of an experiment: scenes x trials x methods that any of its blocks has and no rule excludes. */
#ifndef NB_PLAN_H
#define NB_PLAN_H

#include "base/random.h"
#include "config/config.h"

/* One head, or one layer of heads (nb_study.layers), under one value of each scene axis; the trials may share it. */
typedef struct nb_planned_scene {
    const nb_choice *problem;
    const char *drawn;             /* what seeds the problem's draws (nb_choice_drawn) */
    const nb_problem_shape *shape; /* of the problem */
    int head, n, d;                /* head: the first of a layer */
    const char *source;            /* as in nb_head_origins; NULL: unknown */
    bool random, causal;
    int value[NB_MOST_AXES]; /* by axis marked `scene` */
    const char *refusal;     /* why it is impossible and its rows are skipped; NULL: it is possible */
} nb_planned_scene;

typedef struct nb_method {
    int value[NB_MOST_AXES]; /* by axis not marked `scene` */
} nb_method;

typedef struct {
    int scene, trial, method;
} nb_planned_row;

enum { NB_MOST_SETTINGS = 16 };

typedef struct nb_inputs nb_inputs; /* inputs.h */

typedef struct nb_plan {
    const nb_config *config;
    int scene_count, method_count, row_count;
    nb_planned_scene *scenes;
    nb_method *methods;                          /* in the study's order */
    nb_planned_row *rows;                        /* scene by scene, trial by trial; each row once */
    nb_inputs *inputs;                           /* the files of these rows */
    int excluded_count;                          /* rows that rules remove from the blocks */
    int *excluded_by;                            /* number of removed rows that each rule matches */
    const void *own;                             /* the study's own */
    const nb_column *axis_columns[NB_MOST_AXES]; /* column of a row that shows the value of an axis */
    int setting_count;                           /* settings that rows show */
    const nb_column *setting_columns[NB_MOST_SETTINGS];
    const char *setting_texts[NB_MOST_SETTINGS];
} nb_plan;

/* Returns the value of an axis that rows of this scene and method show. */
int nb_value_under(const nb_config *config, int axis, const nb_planned_scene *scene, const nb_method *method);

/* Fills in a row's identity, with status "planned" and nothing measured; `row` is the study's. */
void nb_plan_row(const nb_plan *plan, int index, void *row);

/* Returns the first row of a scene, or of the next scenes if it has none; in log(rows) steps. */
int nb_plan_first_row(const nb_plan *plan, int scene);

/* Returns the value of an axis that a row has. */
int nb_plan_value(const nb_plan *plan, int row, int axis);

/* Returns the component of an axis that a row has. */
const nb_choice *nb_plan_choice(const nb_plan *plan, int row, int axis);

/* Describe a row, "PROBLEM head 0, trial 2, uniform, landmarks 8, ...", and the scene of a planned row, by labels. ctx
 * owns the texts. */
nb_status nb_row_text(const nb_study *study, const void *row, const char **text, nb_ctx *ctx);
nb_status nb_plan_scene_text(const nb_plan *plan, int row, const char **text, nb_ctx *ctx);

/* Returns the seed of all that is drawn for a scene: its source's own, or the experiment's where sources share their
 * draws, or where the data themselves are drawn. */
uint64_t nb_plan_seed(const nb_plan *plan, int scene);

/* Returns the random stream of a component in a trial. */
nb_stream nb_plan_stream(const nb_plan *plan, int scene, int trial, const nb_choice *component);

/* Make the head of a scene in a trial; for a layer, one of its heads, from 0. */
nb_status nb_plan_layer_head(const nb_plan *plan, int scene, int trial, int of_layer, gsl_rng *rng, nb_head *head,
                             nb_ctx *ctx);
nb_status nb_plan_head(const nb_plan *plan, int scene, int trial, gsl_rng *rng, nb_head *head, nb_ctx *ctx);

/* Makes the plan, without scenes and methods that have no rows. NB_EIO if a file that an option names cannot be
 * read. */
nb_status nb_plan_make(const nb_config *config, nb_plan *plan, nb_ctx *ctx);

/* Makes each head of the plan that is not drawn, mostly heads from files, and checks all its numbers: NB_ENUMERIC with
 * file, tensor, head and place of a NaN or Inf, or any error in making it. Then runs the study's own checks: NB_ENOMEM
 * if a scene is larger than the machine's memory. */
nb_status nb_plan_check(const nb_plan *plan, nb_ctx *ctx);

typedef struct nb_unit {
    int first, end; /* rows of the plan */
} nb_unit;

/* Lists the units that have pending rows (NULL: all are), in the plan's order. */
nb_status nb_units_find(const nb_plan *plan, const bool *pending, nb_unit **units, int *count, nb_ctx *ctx);

#endif
