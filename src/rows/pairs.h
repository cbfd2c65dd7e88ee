/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pairs.h - the pairs of rows that a question is about: one value of a column against another, where nothing else
 * differs. Rows of the same problem, head and trial are a pair that agree in all columns of their identity but that
 * one, and are of one build, that is of one program (of one call of it, where the metric is a time), unless the
 * question lets that differ. pairs.sql makes them, and says what its tables hold. */
#ifndef NB_ROWS_PAIRS_H
#define NB_ROWS_PAIRS_H

#include "rows/refusal.h"
#include "rows/relation.h"

/* A column of settings beside those of rows: how the files of heads are read (their window, mask, permutation), where
 * the run reads some of one model in several ways. What is so read are no replicates of each other. */
#define NB_INPUT "input"

typedef struct {
    const nb_column *by, *metric;
    const nb_column *pool;         /* what a scope leaves out of a setting; NULL: landmarks */
    bool united;                   /* all settings are of one scope */
    const char *const *confounded; /* columns in which both may differ, and NB_BUILD; ends with NULL */
    const char *among;             /* a claim's rows, as in nb_contrast_terms */

    /* Set by nb_pairs_make. */
    const char *name;     /* in the tables */
    const char *refused;  /* of the view of nb_refused_make */
    const char **setting; /* what a setting is: columns of a row's method, but `by`, and NB_INPUT; ends with NULL */
} nb_pair_question;

/* Makes the question's pairs, unless they are there. Those among chosen rows go with the next such question. */
nb_status nb_pairs_make(nb_relation *relation, nb_pair_question *question, nb_ctx *ctx);

/* Makes the view of those values of which pairs have been made and are not compared. */
nb_status nb_refused_make(nb_relation *relation, const nb_pair_question *question, nb_ctx *ctx);

/* Makes the pairs that a study's views ask for, with the study's metric: "COLUMN", by whose values, "COLUMN,all", of
 * one scope ("COLUMN, over all"), or "COLUMN,OTHER", where both may differ in the other column too: of none where all
 * rows have one value there; `refused`: and the view of values that are not compared. */
nb_status nb_pairs_need(nb_relation *relation, const char *what, bool refused, nb_ctx *ctx);

/* The table `build`: manifest, build, which program has measured rows, as numbers from 0; `sessions`: in which call of
 * it, too, which is what times depend on. *several: there are. */
nb_status nb_builds_table(nb_relation *relation, bool sessions, bool *several, nb_ctx *ctx);

#endif
