/* SPDX-License-Identifier: GPL-3.0-or-later */
/* columns.h - a column of rows in SQL: what rows agree in, what tables show, and which values it has. */
#ifndef NB_COLUMNS_H
#define NB_COLUMNS_H

#include "base/builder.h"
#include "rows/relation.h"

/* An older store may lack a column. */
bool nb_rows_have(const nb_relation *relation, const char *column);
const char *nb_column_or_null(const nb_relation *relation, const char *column); /* its name, or else NB_SQL_NO_NAME */

/* Return whether a text of the identity is the name of the run, where there are several; and whether it belongs to the
 * scene but is no problem, as the kernel. */
bool nb_is_of_runs(const nb_relation *relation, int kind);
bool nb_is_of_scene(const nb_relation *relation, int kind);

/* In SQL, what rows with one value in the column agree in; of a column of the identity, its name. NULL: NULL in SQL. */
nb_status nb_key_name(const nb_column *column, const char **name, nb_ctx *ctx);
nb_status nb_key_sql(const nb_column *column, const char **sql, nb_ctx *ctx);
nb_status nb_keys_add(nb_string *list, const nb_column *column, nb_ctx *ctx); /* "", ", a_id", ", a_id, b" */
/* Returns whether it identifies a row apart from the data that it is measured on. */
bool nb_is_of_method(const nb_column *column);
/* Other work that disturbed a time: of other programs, or of other workers of the run. */
typedef struct {
    const char *condition;  /* in SQL, of rows of the view `run` */
    const char *who, *hint; /* "other programs", and where to look or what avoids them; "": there is none */
} nb_disturbance;
nb_disturbance nb_disturbance_of(const nb_study *study, const nb_column *column, nb_ctx *ctx);

/* Returns the condition, in SQL, under which a row of the view `run` is exact in a column. */
const char *nb_exact_sql(const nb_column *column);

/* In SQL, of a row of the view `run`: what tables show of its value there, as a text; of oracles, strategies alone are
 * marked. */
nb_status nb_label_sql(const nb_column *column, const char **sql, nb_ctx *ctx);
/* Adds its value there and that label, "a, b, "; NULL: how its files are read (NB_INPUT). */
nb_status nb_cells_add(nb_string *list, const nb_column *column, nb_ctx *ctx);
/* The values of a column, in the order in which rows have them, and what rows with one agree in; of the rows of the
 * table `among`, NULL: all. */
enum { NB_VALUE, NB_VALUE_KEY };
nb_status nb_relation_values(const nb_relation *relation, const char *column, const char *among, nb_grid *values,
                             nb_ctx *ctx);

#endif
