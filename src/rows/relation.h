/* SPDX-License-Identifier: GPL-3.0-or-later */
/* relation.h - a relation, the rows of a run as a database, and how it is asked with SQL. rows/open.h opens one and
 * says which views it has. */
#ifndef NB_RELATION_H
#define NB_RELATION_H

#include "base/texts.h"
#include "components/study.h"
#include "rows/grid.h"
#include "run/sql_files.h"
#include "run/store.h"

enum { NB_MOST_TEXTS = 16, NB_MOST_MADE = 32 };

/* A word of a statement and what stands for it; rows/statement.h makes them. A list ends with word == NULL. */
typedef enum {
    NB_SQL_IS_VALUE,
    NB_SQL_IS_NAME,
    NB_SQL_IS_NAMES,
    NB_SQL_IS_TEXT,
    NB_SQL_IS_TEXTS,
    NB_SQL_IS_PIECE
} nb_sql_kind;
typedef struct {
    const char *word;
    nb_sql_kind kind;
    nb_cell value;            /* a name, text or piece: its text; NULL: out of memory, or not needed */
    const char *const *names; /* or texts; end with NULL */
} nb_sql_given;

typedef struct nb_relation {
    nb_store *store;
    const nb_study *study;
    const nb_given_labels *labels;
    const char *baseline; /* the parameter :baseline, canonical (nb_relation_take_baseline); NULL: there is none */
    int m;                /* the parameter :m; 0: it is not chosen */
    const char *const *confounded; /* in which of NB_ROWS_SEEN and NB_BUILD rows may differ (rows/pairs.h), in each
                                    * question; NULL: in none */
    const char *question;          /* the parameter :question, the last that pairs have been made for (rows/pairs.h) */
    const nb_sql_given *given;     /* further parameters (rows/statement.h); NULL: none */

    /* Private. */
    const char *rows;    /* the table that has them */
    bool several;        /* runs: they are copied */
    const char **shared; /* names of the runs whose sources share their draws; NULL-terminated */
    int kind_count;
    const nb_column *kinds[NB_MOST_TEXTS]; /* texts of the identity */
    int problem;                           /* which of them is that */
    nb_texts specs[NB_MOST_TEXTS];
    nb_texts strata, sources, panels;
    bool *drawn; /* by stratum: its data are drawn */
    int drawn_room;
    nb_texts views;                    /* that have been made */
    const char *made[NB_MOST_MADE][2]; /* tables and pairs by name, and what they were made of */
    nb_ctx *memory;                    /* of these, which are made at any time */
    nb_ctx *ctx;
} nb_relation;

/* Runs all statements of a text, with the parameters. */
nb_status nb_relation_run_file(const nb_relation *relation, const char *sql, nb_ctx *ctx);

/* Binds the value of a cell to a statement's parameter, 1 ...; the cell's text must outlive it. */
void nb_cell_bind(sqlite3_stmt *statement, int parameter, const nb_cell *cell);

/* The answer to a statement, with its parameters :baseline, :m, :question and those given. NB_EINVAL with SQLite's
 * words if it is none. */
nb_status nb_relation_ask(const nb_relation *relation, const char *sql, nb_grid *answer, nb_ctx *ctx);
/* The answer to one statement, behind which nothing may stand. `take` is called with each row as it comes, a grid of
 * that row alone, and the answer keeps none: memory does not grow with their number. NULL: the answer has them all. */
typedef nb_status nb_row_taker(void *self, const nb_grid *row);
nb_status nb_relation_ask_alone(const nb_relation *relation, const char *sql, nb_grid *answer, nb_row_taker *take,
                                void *self, nb_ctx *ctx);
/* Finds the text that the first row of an answer begins with; NULL: there is none. */
nb_status nb_relation_text(const nb_relation *relation, const char *sql, const char **text, nb_ctx *ctx);
/* The answer to the first statement of several, likewise; *sql becomes what follows it, "" where there is nothing. */
nb_status nb_relation_ask_next(const nb_relation *relation, const char **sql, nb_grid *answer, nb_ctx *ctx);

/* Read answers row by row: a statement, of ctx's memory, and its next row. *rest (NULL: not asked for): what stands
 * behind the statement. */
nb_status nb_relation_prepare(const nb_relation *relation, const char *sql, const char **rest, sqlite3_stmt **statement,
                              nb_ctx *ctx);
nb_status nb_relation_step(const nb_relation *relation, sqlite3_stmt *statement, bool *there);
/* The statement ends with the context's memory. */
nb_status nb_statement_defer(sqlite3_stmt *statement, nb_ctx *ctx);
const char *nb_text_at(sqlite3_stmt *statement, int column); /* of its row; "" of NULL */
double nb_real_at(sqlite3_stmt *statement, int column);      /* NaN of NULL */

#endif
