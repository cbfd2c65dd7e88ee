/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_study.h - what plan and workers ask of a study. */
#ifndef NB_RUN_STUDY_H
#define NB_RUN_STUDY_H

#include "config/config_study.h"

typedef struct nb_plan nb_plan;                   /* run/plan.h */
typedef struct nb_planned_scene nb_planned_scene; /* run/plan.h */
typedef struct nb_method nb_method;               /* run/plan.h */
typedef struct nb_unit nb_unit;                   /* run/plan.h */
typedef struct nb_sink nb_sink;                   /* run/sink.h */
typedef struct nb_cost nb_cost;                   /* run/prediction.h */

typedef struct {
    nb_config_study config;

    /* Functions for the plan. NULL: methods are the product of the axes, and rows are random if the data are. */

    /* Replaces a combination of a block's values (indices into the config's lists, by axis) by that of the method which
     * it means and by which methods are sorted, and sets the method's values. Returns why there is no such method, or
     * NULL. */
    const char *(*settle)(const nb_config *config, int *places, nb_method *method);
    /* Returns a method's value of a `resolved` axis under a scene. Of methods that become equal by that, the first
     * stands for all. */
    int (*value_under)(const nb_config *config, int axis, const nb_planned_scene *scene, const nb_method *method);
    /* Sets the reason for which all rows of the scene are skipped, if there is one. */
    void (*prepare_scene)(const nb_config *config, nb_planned_scene *scene);
    /* True if another trial may give a different result. */
    bool (*random)(const nb_plan *plan, const nb_planned_scene *scene, const nb_method *method);
    /* Sets the columns of a planned row that follow from scene and method, beside those of the axes. */
    void (*fill_row)(const nb_plan *plan, const nb_planned_scene *scene, const nb_method *method, void *row);
    /* Sets plan->own. */
    nb_status (*prepare)(nb_plan *plan, nb_ctx *ctx);
    /* Checks a scene before anything runs. */
    nb_status (*check_scene)(const nb_plan *plan, const nb_planned_scene *scene, nb_ctx *ctx);
    nb_status (*warn)(const nb_plan *plan, nb_mistakes *warnings);

    /* Functions for the work. */

    /* Measures the rows of one scene for which pending[] is set; a row that fails is a result like any other. */
    nb_status (*run)(const nb_plan *plan, int scene, const bool *pending, const nb_sink *sink, nb_ctx *ctx);
    /* Predicts the cost of the unit's pending rows (NULL: all), from the plan alone. */
    nb_cost (*cost)(const nb_plan *plan, const nb_unit *unit, const bool *pending);
} nb_run_study;

static inline const nb_run_study *nb_run_study_of(const nb_study *study)
{
    return (const nb_run_study *)study;
}

/* Returns the name of a missing member of a plug-in's study, or NULL. */
const char *nb_run_study_lacks(const nb_component *component);

#endif
