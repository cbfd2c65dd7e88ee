/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store_private.h - shared by the files of the store. */
#ifndef NB_STORE_PRIVATE_H
#define NB_STORE_PRIVATE_H

#include "run/schema.h"
#include "run/store.h"

/* Sets NB_EIO with what could not be done and SQLite's message. */
nb_status nb_store_fail(nb_store *store, const char *doing, nb_ctx *ctx);

/* Statements stand in store.sql, and are called by their names: "store.begin". */

/* Runs one, or several; with the study's columns, or with these. */
nb_status nb_store_execute(nb_store *store, const char *statement, const char *doing, nb_ctx *ctx);
nb_status nb_store_execute_with(nb_store *store, const char *statement, const nb_column *columns, const char *doing,
                                nb_ctx *ctx);

/* Prepares a statement that lives as long as ctx's memory. */
nb_status nb_store_prepare(nb_store *store, const char *statement, sqlite3_stmt **prepared, nb_ctx *ctx);

/* Runs a statement with these texts as its parameters (NULL-terminated). *answer <- the text in the first column of its
 * first row; NULL: there is none. */
nb_status nb_store_ask(nb_store *store, const char *statement, const char *const *texts, const char *doing,
                       const char **answer, nb_ctx *ctx);

/* Sets *status to the one of nb_row_statuses that a row has in that column. NB_EIO if it has none, as a program that
 * writes into the store itself may leave it. */
nb_status nb_store_status(const nb_store *store, sqlite3_stmt *row, int column, const char **status, nb_ctx *ctx);

/* Reads the number in the first row of a query's answer. */
nb_status nb_store_number(nb_store *store, const char *statement, const char *doing, int *number, nb_ctx *ctx);

/* Add the columns that a store of an older program lacks, empty: as seen by this connection's readers; in the store
 * itself, within a transaction. */
nb_status nb_store_show_columns(nb_store *store, nb_ctx *ctx);
nb_status nb_store_add_columns(nb_store *store, nb_ctx *ctx);

/* Keeps the labels of the config's components that are a plug-in's, or name one; within a transaction. */
nb_status nb_store_keep_labels(nb_store *store, const nb_config *config, nb_ctx *ctx);

/* Returns the number of a statement's parameter, ":wanted". */
int nb_store_parameter(sqlite3_stmt *prepared, const char *name);

/* Runs a statement with the row's columns in that form, its :position, and the bits that are :wanted. */
nb_status nb_store_step(nb_store *store, sqlite3_stmt *statement, nb_sql_form form, const nb_row *row, int position,
                        unsigned wanted, nb_ctx *ctx);

#endif
