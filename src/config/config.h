/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config.h - an experiment, read from YAML and checked as a whole. Its study decides in what its rows differ, and which
 * other keys there are. */
#ifndef NB_CONFIG_H
#define NB_CONFIG_H

#include "base/mistakes.h"
#include "base/range.h"
#include "components/study.h"
#include "problems/problem.h"

#include <stdio.h>

/* A claim about an experiment's rows, as data: a statement, its source, what is compared or measured, and
 * what is expected. answers/claims.h tests it on the rows. */

typedef enum {
    NB_CLAIM_COMPARE,  /* compares each value of the column with the next */
    NB_CLAIM_MEASURE,  /* asks the rows for values of each source with a query */
    NB_CLAIM_UNTESTED, /* these rows cannot test it */
    NB_CLAIM_FORMS
} nb_claim_form;
extern const char *const nb_claim_forms[NB_CLAIM_FORMS + 1]; /* YAML keys */

typedef enum {
    NB_EXPECT_RATIO,
    NB_EXPECT_DIFFERENCE,
    NB_EXPECT_WINS, /* the share of sources with A below B */
    NB_EXPECT_EQUAL,
    NB_EXPECT_EQUAL_DIFFERENCE,
    NB_EXPECT_VALUE,
    NB_EXPECT_NOTHING
} nb_claim_expectation;
extern const char *const nb_claim_expectations[NB_EXPECT_NOTHING + 1];

typedef enum { NB_CLAIM_MEAN, NB_CLAIM_MEDIAN, NB_CLAIM_GEOMETRIC_MEAN } nb_claim_statistic;
extern const char *const nb_claim_statistics[];

/* A query that claims name, src/answers/NAME, and the keys of `measure` that it takes. */
typedef enum { NB_OVER_NOTHING, NB_OVER_INTEGERS, NB_OVER_ANYTHING } nb_claim_over;
typedef struct {
    const char *name;
    const char *quantity; /* what it measures; NULL: the statistic of the metric itself */
    int metrics;          /* how many it takes */
    bool logs;            /* it takes their logarithms */
    nb_claim_over over;   /* values of which column */
    double lo, hi;        /* between which its values lie */
    const char *silent;   /* why no head has a value, before the name of the column */
} nb_claim_query;
extern const nb_claim_query nb_claim_queries[]; /* the first is that of the metric itself; ends with name == NULL */

/* Says what to do with a pair of rows of which one has no result (nb_failures). */
typedef enum { NB_CLAIM_DROP, NB_CLAIM_WORST } nb_claim_failures;
extern const char *const nb_claim_failure_words[];

/* Values of a column, as a rule or a claim names them (components/condition.h says what a text means). */
typedef struct {
    const char *text;
    nb_place place;
} nb_named_value;

typedef struct { /* rows with one of these values in the column */
    const char *column;
    int count, capacity;
    nb_named_value *values;
    bool *means; /* by value that the config has in the column (nb_condition_candidates): one of them means it */
} nb_column_values;

typedef struct { /* rows that meet all of them */
    int count;
    nb_column_values *items;
} nb_conditions;

typedef struct {
    nb_named_value metric;
    nb_conditions where; /* added to the claim's own */
} nb_claim_series;

typedef struct {
    const char *id, *says, *source; /* "" if it gives no source */
    bool named;                     /* the id is not that of its place, claim-1 */
    nb_place place;
    nb_claim_form form;
    bool order;         /* it compares as `order` does: A must be below B, and not the same */
    const char *column; /* whose values are compared; of a measure, over whose values; NULL: over none */
    int value_count;
    nb_named_value *values; /* compare */
    nb_conditions where;
    int series_count; /* metrics: 1, of a measure up to 2; 0: untested */
    nb_claim_series series[2];
    const nb_claim_query *query; /* measure; NULL: the query is its own */
    const char *sql;             /* its own query */
    int statistic;               /* nb_claim_statistic, of the query's values over sources */

    nb_claim_expectation expectation;
    double given[2];  /* as written: the ends of a range, or a number; NaN: open or missing */
    double within;    /* tolerance of a number; NaN: a range was given */
    double low, high; /* the resulting interval; infinite where it is open */

    const char **each, **confounded; /* columns; end with NULL */
    int failures;                    /* nb_claim_failures */
    double confidence;               /* of all intervals of the family together */
    const char *family;              /* claims with this name are one; NULL: the claim is a family by itself */
    double smallest;                 /* smallest ratio that matters; 1: every difference does */
    const char *untested;            /* why it is not tested; NULL: it is */
    const char *text;                /* the claim as YAML on one line, with every option written out */
} nb_claim;

/* The source of a key's value: "FILE:LINE", "default", or the caller's field (fields.h). */
typedef struct {
    const char *key, *text;
} nb_origin;

typedef struct {
    int count;
    nb_origin *items;
} nb_origins;

/* All values that the blocks name for an axis, each once. */
typedef struct {
    int count;
    nb_choices choices; /* of components */
    double *reals;      /* of real numbers */
    int *numbers;       /* of other axes: integers, or indices of words (-1: the extra word) */
    int room;           /* of reals or numbers */
} nb_axis_list;

typedef struct { /* a product of lists, some of which are zipped */
    nb_place place;
    int trials;
    int count[NB_MOST_AXES];
    int *values[NB_MOST_AXES]; /* in the order of the file, with repetitions: index into the config's list */
    int group[NB_MOST_AXES];   /* number of the first of the axes that advance together */
    nb_origins origins;
} nb_config_block;

typedef struct {
    int count; /* 0: any */
    nb_range *items;
} nb_number_ranges;

/* What a rule may name beside the axes: numbers, and texts of a head's data. */
typedef enum { NB_RULE_HEAD, NB_RULE_TRIAL, NB_RULE_N, NB_RULE_D, NB_RULE_NUMBERS } nb_rule_number;
typedef enum { NB_RULE_MODEL, NB_RULE_LAYER, NB_RULE_SOURCE, NB_RULE_TEXTS } nb_rule_text;

typedef struct { /* removes the rows that match all its keys */
    nb_place place;
    int block;                        /* the only block it applies to; -1: all blocks */
    const bool *chosen[NB_MOST_AXES]; /* components and reals, by index into the config's list; NULL: any */
    unsigned words[NB_MOST_AXES];     /* a bit for each word; 0: any */
    nb_number_ranges integers[NB_MOST_AXES];
    nb_number_ranges numbers[NB_RULE_NUMBERS];
    const char **texts[NB_RULE_TEXTS]; /* each ends with NULL; "" is none; NULL: any */
    nb_conditions keys;                /* as written */
} nb_rule;

/* Says whether each source has random numbers of its own, or all share those of a trial. */
typedef enum { NB_DRAWS_SOURCE, NB_DRAWS_SHARED } nb_draw_sharing;
extern const char *const nb_draws_words[];

typedef struct nb_split nb_split; /* split.c */

typedef struct nb_config {
    const nb_study *study;
    const char *name; /* of the folder under results/ */
    const char *question;
    const char *split_file, *sources; /* "none" and "all", unless sources are split */
    nb_split *split;                  /* of the file; NULL: none */
    long long seed;
    int draws;  /* nb_draw_sharing */
    int trials; /* most of any block */
    nb_axis_list lists[NB_MOST_AXES];
    nb_problem_shape *shapes; /* one for each problem */
    const nb_choice
        *baseline;     /* value of the study's baseline axis that the others are compared with; NULL: no comparison */
    void *settings;    /* the struct of the study's options */
    bool named_blocks; /* the blocks were written under the key `blocks` */
    int block_count;   /* 0: the product of all lists, for a config made without a file */
    nb_config_block *blocks; /* the experiment is the union of all blocks */
    int rule_count, rule_room;
    nb_rule *rules;  /* rules that remove rows from it */
    unsigned wanted; /* bits of the columns to measure */
    int metric_count;
    const char **metrics; /* as written: names of columns, or "all" */
    int plot_count;
    const char **plots;
    int claim_count;
    nb_claim *claims;     /* claims that its rows test */
    nb_origins origins;   /* origins of the keys that hold for the whole experiment */
    nb_mistakes warnings; /* possible mistakes that are allowed */
} nb_config;

typedef struct {
    const char *key, *value; /* value: YAML */
} nb_override;

/* Reads the file and the overrides, which apply to all blocks. Collects all mistakes with their places; use the config
 * only if there is none. NB_EIO if the file cannot be read. */
nb_status nb_config_load(const char *path, int override_count, const nb_override *overrides, nb_config *config,
                         nb_mistakes *mistakes, nb_ctx *ctx);

/* The same for the config of a run's results, which may be anybody's: no plug-in that it names is loaded, so that the
 * components of one are known only if it is loaded already. */
nb_status nb_config_recall(const char *path, nb_config *config, nb_mistakes *mistakes, nb_ctx *ctx);

/* Runs the slow checks once all else is right: whether components are ready, such as that a program exists. Mistakes
 * name `source` as their place. */
nb_status nb_config_check_ready(const nb_config *config, const char *source, nb_mistakes *mistakes);

/* Makes a config of that study without a file: its settings have their defaults, all lists are empty. */
nb_status nb_config_init(nb_config *config, const nb_study *study, nb_ctx *ctx);

/* Adds a value to an axis of integers or words. */
nb_status nb_config_add_number(nb_config *config, int axis, int number, nb_ctx *ctx);

/* Returns the value of an axis (as methods and scenes hold it) for an index into the config's list. */
int nb_config_value(const nb_config *config, int axis, int index);

/* Names the item of an axis's list: a component by its label, a word, a number. */
nb_status nb_axis_value_text(const nb_axis *axis, const nb_axis_list *list, int index, const char **text, nb_ctx *ctx);

/* Returns the component that is a value of an axis. */
const nb_choice *nb_config_choice(const nb_config *config, int axis, int value);

/* Writes a setting as YAML; ctx owns the text. */
nb_status nb_config_setting(const nb_config *config, const nb_option *option, const char **text, nb_ctx *ctx);

/* True if the key changes rows; false for keys that only name, draw or compare rows. */
bool nb_config_makes_rows(const char *key);

/* Writes the config with every value as YAML that gives the same plan; with `origins`, a comment behind each key names
 * the value's origin. */
nb_status nb_config_text(const nb_config *config, bool origins, const char **text, nb_ctx *ctx);

/* True if an option applies to a claim of this form and expectation. */
bool nb_claim_takes(const nb_claim *claim, const char *option);

/* Returns the key that the form is written under: that of nb_claim_forms, or "order". */
const char *nb_claim_key(const nb_claim *claim);

/* Returns what a measure's value is called: "slope", "geometric mean". */
const char *nb_claim_quantity(const nb_claim *claim);

/* Sets claim->text. */
nb_status nb_claim_describe(nb_claim *claim, nb_ctx *ctx);

/* Prints "{COLUMN: [A, B], COLUMN: [C]}". */
void nb_conditions_print(FILE *out, const nb_conditions *conditions);

#endif
