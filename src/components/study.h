/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study.h - a study, which is a kind of experiment: in what its rows differ, and what is measured. Config, plan,
 * workers and store serve all studies and depend on none.
 *
 * A study is a folder under src/studies/ whose NAME.c ends with the record nb_study_NAME, or a plug-in. The record, an
 * nb_full_study (show/full_study.h), begins with the nb_study below, then has what the config asks
 * (config/config_study.h), and then what plan and workers do (run/run_study.h).
 *
 * Rows are the product of the study's axes, heads of problems and trials. A scene is one combination of the axes marked
 * `scene`; a method is one of the other axes. */
#ifndef NB_STUDY_H
#define NB_STUDY_H

#include "components/component.h"
#include "components/row.h"

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
     * value is the baseline that the others are compared with; -1: none. `error_metric`: the measure of error that
     * comparisons show beside the usual metric, a time; NULL: none. */
    const nb_axis *axes;
    int baseline;
    const char *error_metric;

    /* The study's row is a struct that begins with NB_ROW_FIRST: its columns (one for each axis and each option that
     * rows show), its size in bytes, and the part of it that `run` fills. */
    const nb_column *columns;
    size_t row_size, result_offset, result_size;

    bool layers;    /* a scene is a layer (the heads of one input together); else it is one head */
    bool exclusive; /* it measures times, so nothing may run beside it: always one worker */
    /* `levels`: sets of axes, as bits, from coarse to fine: rows that agree in them share work; ends with 0. */
    const nb_phase *phases;
    const unsigned *levels;

    /* Adds the SQL functions of the study's views and tables to a connection; each command opens its own. NULL: there
     * are none. */
    nb_status (*add_functions)(struct sqlite3 *db, nb_ctx *ctx);
} nb_study;

const nb_study *nb_study_standard(void);
const nb_study *nb_study_of(const nb_column *columns); /* the study with these columns; NULL: none */

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
const char *nb_study_lacks(const nb_study *study);
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
