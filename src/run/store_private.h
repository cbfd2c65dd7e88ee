/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store_private.h - what the files of the store share. */
#ifndef NB_STORE_PRIVATE_H
#define NB_STORE_PRIVATE_H

#include "run/schema.h"
#include "run/store.h"

/* NB_EIO with SQLite's words: what could not be done. */
nb_status nb_store_fail(nb_store *store, const char *doing, nb_ctx *ctx);

nb_status nb_store_execute(nb_store *store, const char *sql, const char *doing, nb_ctx *ctx);

/* The statement lives as long as ctx's memory. */
nb_status nb_store_prepare(nb_store *store, const char *sql, sqlite3_stmt **statement, nb_ctx *ctx);

/* Whether its study measures what it has no columns for, since another program made it. */
nb_status nb_store_lacks_columns(nb_store *store, bool *lacks, nb_ctx *ctx);
/* Such columns, empty: to whoever reads by this connection; in the store itself, within a transaction. */
nb_status nb_store_show_columns(nb_store *store, nb_ctx *ctx);
nb_status nb_store_add_columns(nb_store *store, nb_ctx *ctx);

/* The statement that writes a row. */
nb_status nb_store_prepare_write(nb_store *store, nb_ctx *ctx);

/* A copy of the text in a column of the statement's present row. */
nb_status nb_store_read_text(sqlite3_stmt *statement, int index, const char **text, nb_ctx *ctx);

/* A row's value in a column as parameter `index`; SQLite's code. Texts are the row's own. */
int nb_store_bind(sqlite3_stmt *statement, int index, const nb_column *column, const nb_row *row);

/* Runs a statement with the row's columns in that form, its position and what is wanted. */
nb_status nb_store_step(nb_store *store, sqlite3_stmt *statement, nb_sql_form form, const nb_row *row, int position,
                        unsigned wanted, nb_ctx *ctx);

#endif
