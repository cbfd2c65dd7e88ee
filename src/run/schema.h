/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schema.h - makes SQL from a study's table of columns. */
#ifndef NB_SCHEMA_H
#define NB_SCHEMA_H

#include "components/study.h"

typedef enum {
    NB_SQL_DEFINITIONS, /* "trial INTEGER, ..." */
    NB_SQL_NAMES,
    NB_SQL_IDENTITY,
    NB_SQL_PLANNED,    /* columns that the plan sets, not results */
    NB_SQL_PARAMETERS, /* parameters for these: ?N, with N the column's number from 1 */
    NB_SQL_TOLD, /* those of the plan's columns that only describe a row: "experiment = excluded.experiment, ..." */
    NB_SQL_ASSIGNMENTS, /* results: "error = ?17, ..." */
    NB_SQL_KEPT,        /* results kept if everything wanted is measured */
    NB_SQL_CLEARED,
    NB_SQL_PAIRED,   /* the identity of two rows: "old.trial = new.trial AND ..." */
    NB_SQL_UNCHANGED /* what only describes them: "old.experiment IS new.experiment AND ..." */
} nb_sql_form;

/* True if an existing row has all metrics that are wanted now. */
#define NB_SQL_KEEP "(wanted & excluded.wanted) = excluded.wanted"
/* The rest of a row's key besides its identity: its shape and the digests of its data. */
#define NB_SQL_DATA "n, d, inputs"

/* The view for people. */
#define NB_SQL_VIEW "CREATE VIEW run AS SELECT @NAMES FROM results WHERE position IS NOT NULL ORDER BY position"

/* Writes the columns in a form, separated by commas or ANDs; ctx owns the text, NULL when out of memory. */
const char *nb_sql_columns(nb_sql_form form, const nb_column *columns, nb_ctx *ctx);
bool nb_sql_leaves_out(nb_sql_form form, const nb_column *column);

/* Returns the statements with the study's columns in the place of each form's mark, as @NAMES, @IDENTITY or @PAIRED;
 * NULL when out of memory. `study` may be NULL for statements without marks. */
const char *nb_sql_expand(const nb_study *study, const char *sql, nb_ctx *ctx);

/* Returns the statements, with marks, that make a new store; NULL when out of memory. */
const char *nb_sql_tables(const nb_study *study, nb_ctx *ctx);

#endif
