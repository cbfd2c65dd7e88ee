/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store.h - the results of a run: one SQLite file, one writer, one row for each planned row, however it ended. */
#ifndef NB_STORE_H
#define NB_STORE_H

#include "run/manifest.h"
#include "run/plan.h"

#include <sqlite3.h>
#include <stdio.h>

struct nb_store {
    sqlite3 *db;
    const nb_study *study; /* whose rows it holds */
    bool fresh;            /* it was made when it was opened, and has not been planned since */
    sqlite3_stmt *write;   /* updates one row; NULL if it is not writable, or lacks columns and has not been planned */
    const char *path;
    const nb_manifest *signature; /* of the rows that are written */
    long long manifest;           /* its number in the store; 0: no row has been written under it */
    struct nb_store_wait *wait;   /* private */
};

/* On what terms a run goes on from the rows measured so far. */
typedef struct {
    const nb_program *program; /* that is going to measure */
    bool mixed;                /* beside rows that another program has measured */
    const char *const *retry;  /* statuses of rows that are planned again; NULL-terminated */
    /* By row of the plan: only these are run, done or not; with statuses to retry, those of them that are missing or
     * ended so. NULL: all that are missing. */
    const bool *only;
} nb_terms;

/* From what is missing or to be retried to what is run on these terms. */
void nb_terms_take_only(const nb_terms *terms, const nb_plan *plan, bool *pending);

typedef struct { /* rows of the plan that one program has measured */
    nb_program program;
    int rows;
} nb_measured_by;

typedef struct { /* a manifest, and how many rows hang on it */
    long long id;
    int rows, hidden; /* of the plan; those that it does not hold */
    nb_manifest manifest;
} nb_signed;

/* NB_EINVAL if SQLite cannot open a file there, which need not exist, because its whole path is too long. */
nb_status nb_store_check_path(const char *path, nb_ctx *ctx);

/* Opens the file, making it and its tables if they are not there (writable), or an existing one for reading (which
 * may roll back what a killed run left). Closed with ctx's memory. NB_EIO with the file's name if it is not a store,
 * is one of another version, is damaged (SQLite's quick check), holds rows of another study than `study` (NULL:
 * whichever it says), or is read-only and should not be. */
nb_status nb_store_open(const char *path, bool writable, const nb_study *study, nb_store *store, nb_ctx *ctx);

/* What prints the warning that another program holds the store; standard error, unless said otherwise. */
void nb_store_on_wait(nb_store *store, void (*notice)(void *self, const char *text), void *self);

/* Makes the store's rows those of the plan: adds what is new as "planned", keeps what is there (rows that are no
 * longer planned stay, hidden, and so do those measured on other data), and plans rows again that lack a metric
 * which is now wanted or have one of the statuses to retry (with `only` they stay as they are until they are
 * measured). *pending (row_count flags, ctx's) tells what is to be run. NB_EINVAL, and the store stays as it was,
 * where another program has measured rows of the plan, some are to be run (those perhaps, for a new metric), and the
 * terms do not allow to mix them. */
nb_status nb_store_plan(nb_store *store, const nb_plan *plan, const nb_terms *terms, bool **pending, int *pending_count,
                        nb_ctx *ctx);

/* After planning: the manifests of hidden rows that stand for rows which are to be run,
 * but were measured on other data; `hidden` counts those rows, `rows` is 0. */
nb_status nb_store_find_replaced(nb_store *store, int *count, nb_signed **manifests, nb_ctx *ctx);

typedef struct {                                    /* rows of a plan */
    int done, failed, diverged, crashed, timed_out; /* done: with any outcome; the others are among them */
} nb_standing;

/* Which rows of the plan are there already, without changing anything. Flags of
 * those that are not, or have one of the statuses `retry` (row_count, the caller's, all set before) stay set;
 * pending NULL: they are only counted. */
nb_status nb_store_standing(nb_store *store, const nb_plan *plan, const char *const *retry, bool *pending,
                            nb_standing *standing, nb_ctx *ctx);

nb_status nb_store_begin(nb_store *store, nb_ctx *ctx);
nb_status nb_store_commit(nb_store *store, nb_ctx *ctx);

nb_status nb_store_set(nb_store *store, const char *key, const char *value, nb_ctx *ctx);

/* What the rows written from now on are signed with; it is added to the store with the
 * first of them, unless one of the same text is there. Must live as long as the store. */
void nb_store_sign(nb_store *store, const nb_manifest *manifest);

/* The result of row `index` of the plan. */
nb_status nb_store_write(nb_store *store, int index, unsigned wanted, const nb_row *row, nb_ctx *ctx);

/* What was set; *value is NULL if nothing was. */
nb_status nb_store_get(nb_store *store, const char *key, const char **value, nb_ctx *ctx);

/* All manifests in the order in which they came. */
nb_status nb_store_manifests(nb_store *store, int *count, nb_signed **manifests, nb_ctx *ctx);

/* The manifests' numbers of the rows of nb_store_rows, in their order; 0: planned. */
nb_status nb_store_signatures(nb_store *store, int *count, long long **manifests, nb_ctx *ctx);

/* The programs that have measured rows of the plan, in the order in which they came. */
nb_status nb_store_programs(nb_store *store, int *count, nb_measured_by **programs, nb_ctx *ctx);

/* All planned rows in the plan's order. */
nb_status nb_store_rows(nb_store *store, nb_row_list *rows, nb_ctx *ctx);

typedef struct {           /* of all rows that are there, planned now or not, ok and of one component, n and number */
    const char *component; /* canonical */
    int n, number;
    double mean;
} nb_store_mean;

/* Means of a REAL column, by a TEXT column of components and an INT column. */
nb_status nb_store_means(nb_store *store, const char *column, const char *components, const char *numbers, int *count,
                         nb_store_mean **means, nb_ctx *ctx);

#endif
