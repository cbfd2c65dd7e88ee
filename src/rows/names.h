/* SPDX-License-Identifier: GPL-3.0-or-later */
/* names.h - what the registries know of the texts in rows' identity: the specs of components. No other file of rows/,
 * answers/ and show/ asks the registries of components; rows/where.c has the specs that a condition means read anew, by
 * config/labels.h. */
#ifndef NB_NAMES_H
#define NB_NAMES_H

#include "rows/relation.h"

typedef struct {             /* what is known of a spec */
    const nb_choice *choice; /* NULL where the component is not in this program */
    bool draws;
    bool apart;          /* of a run: its sources do not share their draws */
    const char *stratum; /* of a problem, that of drawn data; NULL: their model is it */
    const char *alike;   /* of a problem, what its kind of data is */
    int first;           /* number of its first row; -1: not known yet */
    bool open;           /* it has a result, or may get one */
} nb_spec_facts;

typedef struct { /* the facts of relation->specs */
    nb_relation *relation;
    nb_spec_facts *facts[NB_MOST_TEXTS];
    int room[NB_MOST_TEXTS];
} nb_names;

typedef struct { /* where a row's data are from; model and source may be NULL */
    const char *problem, *model, *layer, *source;
    int n, d, trial;
} nb_data_origin;

/* Numbers a text of the identity (`kind` is its place among relation->kinds) in order of appearance. One that was not
 * known is looked at next. */
nb_status nb_names_number(nb_names *names, int kind, const char *spec, int *number, bool *known);
/* Sets the facts of a spec; `origin` is that of the first row that has it. */
nb_status nb_names_look_at(nb_names *names, int kind, int number, const nb_data_origin *origin);
nb_spec_facts *nb_fact_of(const nb_names *names, int kind, int number);

/* Makes the tables `component` and `option` (rows/open.h). */
nb_status nb_names_make(const nb_names *names);

bool nb_has_components(const nb_relation *relation, int kind); /* its texts are specs */

/* *text, a component's in a column, becomes its label; in a column of no components it stays. */
nb_status nb_component_label(const nb_relation *relation, const char *column, const char **text, nb_ctx *ctx);

/* labels (count) <- of problems, which differ. */
nb_status nb_problem_labels(const nb_relation *relation, int count, const char *const *specs, const char **labels);

#endif
