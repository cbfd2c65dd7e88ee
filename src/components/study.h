/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study.h - a study, which is a kind of experiment: in what its rows differ, what is measured, and how results are
 * shown. Config, plan, workers and store serve all studies and depend on none.
 *
 * A study is a folder under src/studies/ whose NAME.c ends with the record nb_study_NAME, or a plug-in. Its rows are
 * the product of its axes, heads of problems and trials. A scene is one combination of the axes marked `scene`; a
 * method is one of the other axes. */
#ifndef NB_STUDY_H
#define NB_STUDY_H

#include "components/component.h"
#include "components/row.h"

typedef struct nb_config nb_config;               /* config/config.h */
typedef struct nb_key_values nb_key_values;       /* config/keys.h */
typedef struct nb_plan nb_plan;                   /* run/plan.h */
typedef struct nb_planned_scene nb_planned_scene; /* run/plan.h */
typedef struct nb_method nb_method;               /* run/plan.h */
typedef struct nb_sink nb_sink;                   /* run/sink.h */
typedef struct nb_unit nb_unit;                   /* run/plan.h */
typedef struct nb_cost nb_cost;                   /* run/prediction.h */
typedef struct nb_results nb_results;             /* report/results.h */
typedef struct nb_page nb_page;                   /* report/page.h */

typedef enum { NB_AXIS_COMPONENT, NB_AXIS_INTEGER, NB_AXIS_REAL, NB_AXIS_WORD } nb_axis_type;

enum { NB_MOST_AXES = 12, NB_AXIS_PROBLEM = 0 };

/* An axis, in whose value rows differ. A value is an index into the config's list (components, reals), an index into
 * `words`, or the integer itself. */
typedef struct {
    const char *key;    /* key of a config: "strategies" */
    const char *column; /* column of a row, also for --only and `exclude`: "strategy" */
    nb_axis_type type;
    bool scene;                    /* part of the data that methods share, not of the method */
    bool resolved;                 /* a row's value may differ from the config's (`value_under`, `prepare_scene`) */
    const nb_registry *registry;   /* COMPONENT: the kind */
    double lo, hi;                 /* INTEGER, REAL: the range; of integers, at most a million */
    const char *const *words;      /* WORD: NULL-terminated */
    const char *extra;             /* WORD: one more word for configs, with index -1; or NULL */
    const char *initial;           /* default, as YAML; NULL: the key is required */
    const char *(*standard)(void); /* the default if it depends on the registries; or NULL */
    /* COMPONENT: check a choice before anything runs; `ready` is for slow checks. Either may be NULL. */
    nb_status (*check)(const nb_choice *choice, nb_ctx *ctx);
    nb_status (*ready)(const nb_choice *choice, nb_ctx *ctx);
} nb_axis;

bool nb_axis_has_list(const nb_axis *axis); /* true if its values are indices into the config's list */

/* An axis of that type, and what else it has. */
#define NB_AXIS_OF(key_, column_, type_, ...) \
    { \
        .key = key_, .column = column_, .type = type_, __VA_ARGS__ \
    }

/* The first axis of every study. */
#define NB_AXIS_PROBLEMS NB_AXIS_OF("problems", "problem", NB_AXIS_COMPONENT, .scene = true, .registry = &nb_problems)

/* The phase that a worker is in, for the message about a row that did not come back: NB_AT_START, or 1 + the index in
 * the study's table. */
enum { NB_AT_START = 0 };
typedef struct {
    const char *doing; /* "the strategy's pick"; NULL ends the table */
    int axis;          /* axis of the component that runs; -1: none */
    int levels;        /* rows that agree in the first `levels` of the study's levels are done together */
    bool of_all;       /* done for all rows of a job at once: its time limit is multiplied by their number */
} nb_phase;

struct sqlite3;

typedef struct nb_study {
    nb_component component; /* its options are keys of a config that hold for the whole experiment */
    bool standard;          /* the study of configs that name none; exactly one has it */

    /* At most NB_MOST_AXES axes, the first NB_AXIS_PROBLEMS; ends with key == NULL. `baseline`: the axis of which one
     * value is the baseline that the others are compared with; -1: none. `beside`: the measure of error that
     * comparisons show beside the usual metric, a time; NULL: none. */
    const nb_axis *axes;
    int baseline;
    const char *beside;

    /* The study's row is a struct that begins with NB_ROW_FIRST: its columns (one for each axis and each option that
     * rows show), its size in bytes, and the part of it that `run` fills. */
    const nb_column *columns;
    size_t row_size, result_offset, result_size;

    bool layers;    /* a scene is a layer (the heads of one input together); else it is one head */
    bool exclusive; /* it measures times, so nothing may run beside it: always one worker */
    /* True if an experiment of an exclusive study measures no time, so that others may run beside it; NULL: none. */
    bool (*untimed)(const nb_config *config);

    /* `levels`: sets of axes, as bits, from coarse to fine: rows that agree in them share work; ends with 0. */
    const nb_phase *phases;
    const unsigned *levels;

    /* Kinds of figures, for a study outside the tree; a config without `plots` draws the first. Ends with NULL. NULL:
     * the figures in the tree that name the study. */
    const char *const *figures;

    /* Functions for the config. NULL: there is nothing to do. */

    /* Interprets a setting's text, which is stored in `settings` already. */
    nb_status (*read_setting)(const nb_option *option, void *settings, nb_place place, nb_mistakes *mistakes);
    /* Reports keys of a block that contradict each other; `keys` are by axis, then trials and zip. */
    nb_status (*check_block)(const nb_key_values *const *keys, nb_mistakes *mistakes);
    /* Adds values that follow from others; called after each block. */
    nb_status (*complete)(nb_config *config, nb_ctx *ctx);
    /* Reports contradictions in the whole config. */
    nb_status (*check)(const nb_config *config, nb_place place, nb_mistakes *mistakes);
    const nb_choice *(*default_baseline)(const nb_config *config);

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

    /* Functions for the results. NULL: the tables and figures in the tree that name the study, and no SQL functions. */

    /* Adds the SQL functions of the study's views and tables to a connection; each command opens its own. */
    nb_status (*add_functions)(struct sqlite3 *db, nb_ctx *ctx);

    /* Writes the run's tables and, unless `page` is NULL, adds them to it. */
    nb_status (*tell)(const nb_results *results, nb_page *page, nb_ctx *ctx);
    nb_status (*draw)(const nb_results *results, nb_ctx *ctx);
} nb_study;

const nb_study *nb_study_standard(void);
const nb_study *nb_study_of(const nb_column *columns); /* the study with these columns; NULL: none */

/* Whether nothing may run beside an experiment of the study. */
bool nb_study_alone(const nb_study *study, const nb_config *config);

int nb_axis_count(const nb_study *study);
/* Returns the axis that has the column; NULL: none. */
const nb_axis *nb_axis_of_column(const nb_study *study, const char *column);

/* Returns whether an axis or a setting of the study has this value where a config does not say otherwise. */
bool nb_study_defaults(const nb_study *study, const char *column, const char *value);

/* Returns the column by which methods are judged by default: the first number that the study measures, except counts;
 * NULL: none. */
const nb_column *nb_study_metric(const nb_study *study);

/* Returns the registry of the components in a column, by the study's axes or else by name; NULL: none. */
const nb_registry *nb_column_registry(const nb_column *columns, const char *name);

/* Lists a study's columns and after them, for each column of components, COLUMN_label with the same offset, which
 * written rows of a run have. Ends with name == NULL. */
#define NB_LABEL_END "_label"
nb_status nb_columns_with_labels(const nb_column *columns, const nb_column **all, nb_ctx *ctx);

/* NB_EINVAL if a column's name cannot stand in SQL as it is (nor can it in quotes, where SQLite takes what is no column
 * for a text): it is not of a-z, 0-9 and '_', is a word of SQL, is a name that the rows' tables and views have already,
 * or stands twice. The message begins with `file`. */
nb_status nb_study_check_names(const nb_study *study, const char *file, nb_ctx *ctx);

/* Returns the name of a missing member of a plug-in's study, or NULL. */
const char *nb_study_lacks(const nb_component *component);
extern const size_t nb_study_texts[]; /* of its registry */

/* Figures and tables, which the studies make of rows. */

/* The record of a figure or a table begins with NB_OUTPUT_FIRST. */
typedef struct {
    nb_component component; /* has no options */
    const char *study;      /* whose rows it reads */
    bool standard;          /* used if a config names none */
} nb_output;
#define NB_OUTPUT_FIRST \
    union { \
        nb_output output; \
        struct { \
            nb_component component; \
            const char *study; \
            bool standard; \
        }; \
    };

/* Lists the names of a study's outputs, sorted; NULL-terminated. */
nb_status nb_output_names(const nb_registry *registry, const char *study, const char *const **names, nb_ctx *ctx);

#endif
