/* SPDX-License-Identifier: GPL-3.0-or-later */
/* relation.h - the rows of a run as a database that is asked with SQL: the store, with views and functions of this
 * connection's own.
 *
 * Views of every study:
 *   run        a row each, in the order of the plan: the columns of rows.csv; NAME_label beside a column NAME of
 *              components; NAME_id beside a column NAME of texts, as strategy_id, a number in order of appearance; and
 *              those of `key`
 *   key        a row each, few bytes: number (from 0, in the order of the plan), position, the NAME_id, the row's whole
 *              numbers, its status and the study's metric with its noise, standard error and unseen part, and
 *                head_id         its problem and head
 *                panel_id        the data of its kind that one table or panel shows together
 *                stratum_id, source_id   what a statement may be generalised over, see `source`
 *                line_id         all that identifies the row but its trial
 *                opens           it is the first of its line
 *                alone           it has trial 0 alone, which stands for every trial of the others
 *                draws           another trial may give another result, though the data stay, and its luck is that of
 *                                all sources
 *   measured   a row for each row and measure but for times: id, measure, place (among the columns), x; measure: place,
 *              name
 *   component  id, kind (the column), spec, label, full (with the first option always), name; of strategies and cores
 *              oracle, random; of cores filter; of attentions exact; plain: all options have their defaults;
 *              kind_place: where its column stands among those of the identity; first_row: the number of its first;
 *              has_result: or may get one;
 *              input: how a problem reads its files, in what others of the run read them otherwise, "max_n = 12"
 *   option     an option each of a component (kind, id), in their order (place): key, value, number (NULL of a text or
 *              a word), rest (the component's other options, which two share that differ in this one only), rest_label,
 *              size (it sets n, or an attention's landmarks or the like)
 *   panel      id, title, problem (NULL of several), kernel ..., n, d, problems, sources, heads, trials
 *   stratum    id, name, label, drawn: a model, or a problem whose data are drawn
 *   without    kind, text: which components of a method have no result, where others of their kind have one, and why;
 *              a sentence for each kind and reason
 *   unfinished text: "only 12 of 40 rows have been run"; nothing where all have: then there is no verdict yet
 *   source     id, stratum_id, name: a text, image or recording; of drawn data, a trial
 * A study adds its own, src/studies/STUDY/views/NAME.sql, which are made when a query names them as needed. */
#ifndef NB_RELATION_H
#define NB_RELATION_H

#include "base/texts.h"
#include "components/study.h"
#include "report/grid.h"
#include "run/store.h"

enum { NB_MOST_TEXTS = 16, NB_MOST_MADE = 32 };

typedef struct nb_relation {
    nb_store *store;
    const nb_study *study;
    const nb_given_labels *labels;
    const char *baseline; /* the parameter :baseline: a strategy, canonical; NULL: the first that is no oracle */
    int m;                /* the parameter :m; 0: it is not chosen */
    const char *question; /* the parameter :question, the last that pairs have been made for (report/pairs.h) */

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

/* Opens a relation of a store that is open, and stays so as long as the relation is asked. `labels`: those that the
 * config gives. */
nb_status nb_relation_open(nb_relation **relation, nb_store *store, const nb_given_labels *labels, nb_ctx *ctx);

/* Opens one relation of several runs of one study, with a column `run`: its name. NB_EINVAL for different studies. */
nb_status nb_relation_gather(nb_relation **relation, int count, nb_store *const *stores, const char *const *names,
                             const nb_given_labels *labels, nb_ctx *ctx);

/* Only the rows for which this condition on the view `run` holds are there from now on, and are numbered anew. Before
 * any view of a study is made. */
nb_status nb_relation_keep(nb_relation *relation, const char *where, nb_ctx *ctx);

/* A table with the ids of the rows for which a condition holds, in the place of one of that name. */
nb_status nb_relation_choose(const nb_relation *relation, const char *table, const char *where, nb_ctx *ctx);

/* Runs statements without answers; NB_ENOMEM where `sql` is NULL. */
nb_status nb_relation_run(const nb_relation *relation, const char *sql);
/* A new temporary table with these columns, "a, b, c, PRIMARY KEY (a, b)", in the place of one of that name; *insert
 * adds a row to it. */
nb_status nb_relation_table(const nb_relation *relation, const char *table, const char *columns, sqlite3_stmt **insert,
                            nb_ctx *ctx);
/* A row: what is bound, after `types` of the first columns: i an int, r a double (NaN: NULL), t a text (NULL too). */
nb_status nb_relation_add(const nb_relation *relation, sqlite3_stmt *insert, const char *types, ...);
/* Runs `sql`, which makes a table, in the place of one of that name, unless that was made of the same text. */
nb_status nb_relation_make(nb_relation *relation, const char *table, const char *sql, nb_ctx *ctx);

/* Whether what has this name was made of this text; and that it now is (NULL: that it is not). */
bool nb_relation_has(const nb_relation *relation, const char *name, const char *of);
nb_status nb_relation_note(nb_relation *relation, const char *name, const char *of, nb_ctx *ctx);
/* Runs all statements of a text, with the parameters. */
nb_status nb_relation_run_file(const nb_relation *relation, const char *sql, nb_ctx *ctx);

/* Finds the experiment of the first row; NULL: there are none. */
nb_status nb_relation_experiment(const nb_relation *relation, const char **name, nb_ctx *ctx);

/* Says how many rows have been run, where some have not: "only 12 of 40 rows have been run". NULL: all have. */
nb_status nb_relation_unfinished(const nb_relation *relation, const char **text, nb_ctx *ctx);

/* Each stratum, by its id. */
enum { NB_STRATUM_NAME, NB_STRATUM_LABEL, NB_STRATUM_DRAWN };
nb_status nb_relation_strata(const nb_relation *relation, nb_grid *strata, nb_ctx *ctx);

/* Returns in SQL what rows with one value in the column agree in. */
nb_status nb_key_sql(const nb_column *column, const char **sql, nb_ctx *ctx);
nb_status nb_keys_add(const char **list, const nb_column *column, nb_ctx *ctx); /* "", "a_id", "a_id, b" */
/* Returns whether it identifies a row apart from the data that it is measured on. */
bool nb_is_of_method(const nb_column *column);
/* Other work that disturbed a time: of other programs, or of other workers of the run. */
typedef struct {
    const char *condition;  /* in SQL, of rows of the view `run`; "0": never */
    const char *who, *hint; /* "other programs", and where to look or what avoids them */
} nb_disturbance;
nb_disturbance nb_disturbance_of(const nb_study *study, const nb_column *column);

/* Finds what tables show of a row's value there, as a text; of oracles, strategies alone are marked. */
nb_status nb_label_sql(const nb_column *column, const char **sql, nb_ctx *ctx);
/* The values of a column, in the order in which rows have them, and as literals of what they agree in; of the rows for
 * which the condition `among` holds, NULL: all. */
enum { NB_VALUE, NB_VALUE_LITERAL };
nb_status nb_relation_values(const nb_relation *relation, const char *column, const char *among, nb_grid *values,
                             nb_ctx *ctx);

/* Binds the value of a cell to a statement's parameter, 1 ...; the cell's text must outlive it. */
void nb_cell_bind(sqlite3_stmt *statement, int parameter, const nb_cell *cell);

/* The answer to a statement, with its parameters :baseline and :m. NB_EINVAL with SQLite's words if it is none. */
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

/* The SQL files of the tree, which the Makefile finds. */
typedef struct {
    const char *study, *folder, *name; /* src/studies/STUDY/FOLDER/NAME.sql */
    const char *text;
} nb_sql_file;
extern const nb_sql_file nb_sql_files[];   /* ends with study == NULL */
const char *nb_sql_text(const char *name); /* of src/report/NAME.sql */

#endif
