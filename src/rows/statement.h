/* SPDX-License-Identifier: GPL-3.0-or-later */
/* statement.h - the statements of src/rows, src/answers and src/show, which stand in files of SQL, and what they are
 * given. "FILE" is all of FILE.sql; "FILE.NAME" what follows "-- name: NAME" in it, up to the next name: a statement,
 * or a piece of one.
 *
 * A value is a parameter, :value. SQL has none for these, which stand in braces:
 *   {word}        a name of a column or a table, quoted; a text, quoted, or a whole number, where a view wants one; or
 *                 a piece by its name, filled in
 *   {word: text}  the text for each of several names, or texts, which take the place of @ in it: {keys:, a.@}
 * NB_SQL_NO_NAME in the place of a name is NULL in SQL: of a column that an older store lacks.
 *
 * C has no SQL: it gives names, chooses among pieces, and repeats a piece for each column of a study or of a question,
 * for which the piece has what stands between two. Rows that are chosen are a table (rows/where.h), not a condition.
 * Names and texts from outside get into SQL here alone, quoted. A {word} that is not given is NB_EBUG. */
#ifndef NB_STATEMENT_H
#define NB_STATEMENT_H

#include "base/builder.h"
#include "rows/relation.h"

#define NB_SQL_NO_NAME ""

#define NB_GIVE(word, kind, t, list) \
    { \
        word, kind, {.type = NB_CELL_TEXT, .text = t}, list \
    }
#define NB_GIVE_INT(word, x) \
    { \
        word, NB_SQL_IS_VALUE, {.type = NB_CELL_INT, .integer = x}, NULL \
    }
#define NB_GIVE_VALUE(word, t) NB_GIVE(word, NB_SQL_IS_VALUE, t, NULL)
#define NB_GIVE_NAME(word, t) NB_GIVE(word, NB_SQL_IS_NAME, t, NULL)
#define NB_GIVE_NAMES(word, list) NB_GIVE(word, NB_SQL_IS_NAMES, "", list)
#define NB_GIVE_TEXT(word, t) NB_GIVE(word, NB_SQL_IS_TEXT, t, NULL)
#define NB_GIVE_TEXTS(word, list) NB_GIVE(word, NB_SQL_IS_TEXTS, "", list)
#define NB_GIVE_PIECE(word, t) NB_GIVE(word, NB_SQL_IS_PIECE, t, NULL)
#define NB_GIVE_END NB_GIVE(NULL, NB_SQL_IS_VALUE, NULL, NULL)
/* The last argument of a call: NB_GIVEN(NB_GIVE_NAME("by", by), NB_GIVE_INT("first", 1)) ends the list itself. */
#define NB_GIVEN(...) ((const nb_sql_given[]){__VA_ARGS__, NB_GIVE_END})

/* *sql <- a statement, or a piece, with its words. `given` NULL: it has none. */
nb_status nb_sql_fill(const char *statement, const nb_sql_given *given, const char **sql, nb_ctx *ctx);
/* Adds that to a text. */
nb_status nb_sql_append(nb_string *list, const char *statement, const nb_sql_given *given, nb_ctx *ctx);

/* As nb_relation_ask, nb_relation_run_file and nb_relation_prepare, of a statement by name. */
nb_status nb_sql_ask(const nb_relation *relation, const char *statement, const nb_sql_given *given, nb_grid *answer,
                     nb_ctx *ctx);
nb_status nb_sql_run(const nb_relation *relation, const char *statement, const nb_sql_given *given, nb_ctx *ctx);
nb_status nb_sql_prepare(const nb_relation *relation, const char *statement, const nb_sql_given *given,
                         sqlite3_stmt **prepared, nb_ctx *ctx);

#endif
