/* SPDX-License-Identifier: GPL-3.0-or-later */
/* made_tables.h - temporary tables that are made of rows, and a record of which tables, and which questions of pairs,
 * have been made of what; views.h remembers a study's views itself. */
#ifndef NB_MADE_TABLES_H
#define NB_MADE_TABLES_H

#include "rows/relation.h"

/* A new temporary table, in the place of one of that name, by the statement that makes it (rows/statement.h); *insert
 * adds a row to it. */
nb_status nb_table_make(const nb_relation *relation, const char *table, const char *statement,
                        const nb_sql_given *given, sqlite3_stmt **insert, nb_ctx *ctx);
/* A row: what is bound, after `types` of the first columns: i an int, r a double (NaN: NULL), t a text (NULL too). */
nb_status nb_relation_add(const nb_relation *relation, sqlite3_stmt *insert, const char *types, ...);
/* Runs a statement (rows/statement.h) that makes a table, in the place of one of that name, unless that was made of the
 * same words. It has no parameters. */
nb_status nb_relation_make(nb_relation *relation, const char *table, const char *statement, const nb_sql_given *given,
                           nb_ctx *ctx);

/* Whether what has this name was made of this text; and that it now is (NULL: that it is not). */
bool nb_relation_has(const nb_relation *relation, const char *name, const char *of);
nb_status nb_relation_note(nb_relation *relation, const char *name, const char *of, nb_ctx *ctx);

#endif
