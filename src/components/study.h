/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study.h - a kind of experiment: what its rows differ in, what is measured, and how results are shown. Config, plan,
 * workers and store serve all studies alike and depend on none.
 *
 * A study is a folder under src/studies/ whose NAME.c ends with the record nb_study_NAME, or a
 * plug-in. Its rows are the product of its axes, over the heads of problems and over trials; a scene is one
 * combination of the axes marked `scene`, a method one of the others. */
#ifndef NB_STUDY_H
#define NB_STUDY_H

#include "components/component.h"
#include "components/row.h"

#include <stdio.h>

typedef struct nb_config nb_config;               /* config/config.h */
typedef struct nb_key_values nb_key_values;       /* config/axes.h */
typedef struct nb_plan nb_plan;                   /* run/plan.h */
typedef struct nb_planned_scene nb_planned_scene; /* run/plan.h */
typedef struct nb_method nb_method;               /* run/plan.h */
typedef struct nb_sink nb_sink;                   /* run/sink.h */
typedef struct nb_unit nb_unit;                   /* run/units.h */
typedef struct nb_cost nb_cost;                   /* run/prediction.h */
typedef struct nb_speeds nb_speeds;               /* run/prediction.h */
typedef struct nb_prediction nb_prediction;       /* run/prediction.h */
typedef struct nb_store nb_store;                 /* run/store.h */
typedef struct nb_results nb_results;             /* report/results.h */
typedef struct nb_page nb_page;                   /* report/page.h */

typedef enum { NB_AXIS_COMPONENT, NB_AXIS_INTEGER, NB_AXIS_REAL, NB_AXIS_WORD } nb_axis_type;

enum { NB_MOST_AXES = 12, NB_AXIS_PROBLEM = 0 };

/* What rows differ in. A value of it is an index: into the config's list (components, reals), of a
 * word in `words`, or the integer itself. */
typedef struct {
    const char *key;    /* of a config: "strategies" */
    const char *column; /* of a row, of --only and of `exclude`: "strategy" */
    nb_axis_type type;
    bool scene;                    /* part of the data that methods share, not of the method */
    bool resolved;                 /* a row's value may differ from the config's: see `value_under`, `prepare_scene` */
    const nb_registry *registry;   /* COMPONENT: of what */
    double lo, hi;                 /* INTEGER, REAL: the range; of integers, at most a million */
    const char *const *words;      /* WORD: NULL-terminated */
    const char *extra;             /* WORD: one more that a config may say, as index -1; or NULL */
    const char *initial;           /* the default, as YAML, for a config without the key; NULL: the key is required */
    const char *(*standard)(void); /* the same if it is not known before the registries are; or NULL */
    /* COMPONENT: check a choice before anything runs; `ready` is for checks that take long. Either may be NULL. */
    nb_status (*check)(const nb_choice *choice, nb_ctx *ctx);
    nb_status (*ready)(const nb_choice *choice, nb_ctx *ctx);
} nb_axis;

bool nb_axis_has_list(const nb_axis *axis); /* its values are indices into the config's list */

/* The first axis of every study. */
#define NB_AXIS_PROBLEMS \
    { \
        .key = "problems", .column = "problem", .type = NB_AXIS_COMPONENT, .scene = true, .registry = &nb_problems \
    }

/* The phase that a worker is in, which says what a row that did not come back was doing: NB_AT_START, or 1 + the index
 * in the study's table. */
enum { NB_AT_START = 0 };
typedef struct {
    const char *doing; /* "the strategy's pick"; NULL ends the table */
    int axis;          /* axis of the component at work; -1: none */
    int levels;        /* how many of the study's levels divide the rows that are done together in it */
    bool of_all;       /* done for all rows of a job at once, so its time limit is multiplied by their number */
} nb_phase;

struct sqlite3;

typedef struct nb_study {
    nb_component component; /* its options are keys of a config that hold for the whole experiment */
    bool standard;          /* the study of a config that names none; there is one such study */

    /* At most NB_MOST_AXES, the first NB_AXIS_PROBLEMS; ends with key == NULL. `baseline`: the one whose values
     * are compared with one of them; -1: none. */
    const nb_axis *axes;
    int baseline;

    /* Of its row, a struct that begins with NB_ROW_FIRST: one column for each axis, and for each option that rows
     * show. Bytes of the struct, and of what `run` measures in it. */
    const nb_column *columns;
    size_t row_size, result_offset, result_size;

    bool layers;    /* a scene is a layer: the heads of one input together; else it is one head */
    bool exclusive; /* it measures times, so nothing else may run beside it: one worker, whatever is asked for */

    /* `levels`: rows that share work, from coarse to fine: bits of the axes in which they agree; ends with 0. */
    const nb_phase *phases;
    const unsigned *levels;

    /* Kinds of figures of a study out of the tree, of which a config that names none draws the first; ends with NULL.
     * NULL: the figures of the tree that name the study. */
    const char *const *figures;

    /* The config. NULL: there is nothing to do. */

    /* Interprets a setting's text, which `settings` has already. */
    nb_status (*read_setting)(const nb_option *option, void *settings, nb_place place, nb_mistakes *mistakes);
    /* Finds what does not go together in a block; `keys` are by axis, then trials and zip. */
    nb_status (*check_block)(const nb_key_values *const *keys, nb_mistakes *mistakes);
    /* Adds values that follow from others, after each block. */
    nb_status (*complete)(nb_config *config, nb_ctx *ctx);
    /* Finds what does not go together in the whole config. */
    nb_status (*check)(const nb_config *config, nb_place place, nb_mistakes *mistakes);
    const nb_choice *(*default_baseline)(const nb_config *config);

    /* The plan. NULL: methods are the product of the axes, and rows are random if the data are. */

    /* Turns the places of a block's values in the config's lists, by axis, into those of the method that they mean, by
     * which methods are sorted, and sets its values. Returns why there is none; NULL: there is one. */
    const char *(*settle)(const nb_config *config, int *places, nb_method *method);
    /* A method's value of a `resolved` axis under a scene; of the methods that differ in nothing else there, the first
     * stands for all. */
    int (*value_under)(const nb_config *config, int axis, const nb_planned_scene *scene, const nb_method *method);
    /* Sets why the scene's rows are skipped, if they are. */
    void (*prepare_scene)(const nb_config *config, nb_planned_scene *scene);
    /* Whether another trial may give a different result. */
    bool (*random)(const nb_plan *plan, const nb_planned_scene *scene, const nb_method *method);
    /* Sets columns of a planned row that follow from its scene and method, beside those of the axes. */
    void (*fill_row)(const nb_plan *plan, const nb_planned_scene *scene, const nb_method *method, void *row);
    /* Sets plan->own. */
    nb_status (*prepare)(nb_plan *plan, nb_ctx *ctx);
    /* Checks before anything runs. */
    nb_status (*check_scene)(const nb_plan *plan, const nb_planned_scene *scene, nb_ctx *ctx);
    nb_status (*warn)(const nb_plan *plan, nb_mistakes *warnings);

    /* The work. */

    /* Runs the rows of one scene for which pending[] is set; a row that fails is a result like any other. */
    nb_status (*run)(const nb_plan *plan, int scene, const bool *pending, const nb_sink *sink, nb_ctx *ctx);
    /* The cost of the unit's pending rows (NULL: all); speeds NULL: on the reference machine. */
    nb_cost (*cost)(const nb_plan *plan, const nb_unit *unit, const bool *pending, const nb_speeds *speeds);
    /* Fills the prediction's own speeds; NULL: there are none. */
    nb_status (*calibrate)(const nb_plan *plan, const bool *pending, nb_store *store, bool thorough,
                           nb_prediction *prediction, nb_ctx *ctx);

    /* The results. NULL: the tables and figures of the tree that name the study, and no functions. */

    /* Functions that its views and tables call in SQL; to a connection, which is made for each command. */
    nb_status (*add_functions)(struct sqlite3 *db, nb_ctx *ctx);

    /* Writes the run's tables and, unless `page` is NULL, adds them to it. */
    nb_status (*tell)(const nb_results *results, nb_page *page, nb_ctx *ctx);
    nb_status (*draw)(const nb_results *results, nb_ctx *ctx);
} nb_study;

const nb_study *nb_study_standard(void);
const nb_study *nb_study_of(const nb_column *columns); /* the study with these columns; NULL: there is none */

/* What its methods are judged by, unless something else is named: the first number that it measures, but for counts; 
 * NULL: there is none. */
const nb_column *nb_study_metric(const nb_study *study);

/* Finds the registry of the components that a column names, by the study's axes or else by name; NULL: none. */
const nb_registry *nb_column_registry(const nb_column *columns, const char *name);

/* A study's columns and, behind them, those of labels, which rows of a run have where they are written: COLUMN_label
 * for each column of components, with that column's offset. Ends with name == NULL. */
#define NB_LABEL_END "_label"
nb_status nb_columns_with_labels(const nb_column *columns, const nb_column **all, nb_ctx *ctx);

/* What a plug-in's study lacks; NULL: nothing. */
const char *nb_study_lacks(const nb_component *component);

#endif
