/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schema.h - makes SQL from a study's table of columns: schema.sql has what each form makes of one. */
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
    NB_SQL_PAIRED,    /* the identity of two rows: " AND old.trial = new.trial AND ..." */
    NB_SQL_UNCHANGED, /* what only describes them: " AND old.experiment IS new.experiment ..." */
    NB_SQL_LACKING    /* "NULL AS error, ..." */
} nb_sql_form;

/* Writes the columns in a form; ctx owns the text, NULL when out of memory. */
const char *nb_sql_columns(nb_sql_form form, const nb_column *columns, nb_ctx *ctx);
bool nb_sql_leaves_out(nb_sql_form form, const nb_column *column);

/* Returns the statements with these columns in the place of each form's word, {names}, {identity} or {paired}, and the
 * store's format in that of {version}; NULL when out of memory. `columns` may be NULL for statements without forms. */
const char *nb_sql_expand(const nb_column *columns, const char *sql, nb_ctx *ctx);

#endif
