/* SPDX-License-Identifier: GPL-3.0-or-later */
/* contrast.h - one value of a column against another, where nothing else differs: rows of the same problem, head and
 * trial that agree in all columns of their identity but that one. A setting is what they agree in. What is made of
 * these pairs is in statistics/pairs.h. */
#ifndef NB_CONTRAST_H
#define NB_CONTRAST_H

#include "rows/pairs.h"
#include "rows/run_facts.h"
#include "statistics/pairs.h"

typedef struct {
    const char *by, *metric;       /* columns: one of the identity; a REAL */
    int baseline;                  /* its value's code; -1: no contrasts, only settings */
    bool all_pairs;                /* each value is a baseline, of those behind it; `baseline` is any but -1 */
    bool difference;               /* on the scale a - b; else log(a / b) */
    const char *pool;              /* a column of the identity whose values are averaged like trials; NULL: none */
    bool apart;                    /* they are not averaged after all: beside a comparison in which they are */
    bool united;                   /* settings have the trials of all, beside a mean over them */
    const char *const *confounded; /* columns in which both may differ, NB_ROWS_SEEN and NB_BUILD; ends with NULL */
    nb_failures failures;
    const char *among; /* the table of rows (rows/where.h) that a claim is about; NULL: all. A command's --where has
                          left rows out before (nb_command_keep) */
} nb_contrast_terms;

typedef struct {
    int baseline, value, setting; /* codes of values; the setting's number */
    nb_paired of;                 /* the method's rows and the baseline's */
    const char *refusal; /* why it is no comparison, in what else they differ, and so has no units; NULL: it is one */
} nb_contrast;

/* Names what a row has in a column, in an answer: the value itself, and its label. */
enum { NB_OF_ROW, NB_OF_LABEL, NB_OF_COLUMN };

typedef struct {
    const nb_column *metric;
    const char *question;               /* the name of the pairs in the tables of rows/pairs.sql */
    nb_grid values;                     /* of `by`, by code, in order of appearance: NB_OF_COLUMN columns */
    nb_grid settings;                   /* by number, likewise: NB_OF_COLUMN columns for each */
    const char *const *setting_columns; /* what a setting is; ends with NULL */
    nb_grid strata;                     /* see nb_relation_strata */
    /* Numbers by value: rows of it beside which there is no row of the (last) baseline, and the other way round. */
    const int *unpaired, *unmet;
    int count;
    nb_contrast *items; /* by baseline and value, then by setting */
} nb_contrasts;

/* A cell of a setting, and of a value; `what`: of NB_OF_COLUMN. */
const nb_cell *nb_setting_cell(const nb_contrasts *contrasts, int setting, int column, int what);
const char *nb_value_label(const nb_contrasts *contrasts, int value);
/* NB_EINVAL for a column that is none or not of that kind. */
nb_status nb_contrasts_make(nb_relation *relation, const nb_contrast_terms *terms, nb_contrasts *contrasts,
                            nb_ctx *ctx);

/* Whether a contrast is surely below none on one head of a model and surely above it on another, which the mean over
 * heads does not show. */

/* Heads of models: those of different inputs are one if they have one number in one layer. Where one problem has
 * several inputs, whose heads it numbers on, it is the number among those of the input. */
typedef struct {
    nb_grid heads; /* by head_id of the relation, their numbers here */
    nb_grid items; /* by that number: head, layer (NULL: not known) */
} nb_head_places;

nb_status nb_head_places_find(nb_relation *relation, nb_head_places *places, nb_ctx *ctx);
int nb_head_place(const nb_head_places *places, int head_id);

/* *conflict <- "0.895 [0.878, 0.913] on head 0, 1.05 [1.03, 1.07] on head 1", those farthest apart, as ratios unless
 * they are differences; NULL where there are no such two with at least `least` sources. Each interval over sources and
 * trials is at `confidence` for all heads of the stratum together (Bonferroni). */
nb_status nb_find_head_conflict(const nb_head_places *places, bool difference, const nb_contrast *contrast, int stratum,
                                int least, double confidence, const char **conflict, nb_ctx *ctx);

#endif
