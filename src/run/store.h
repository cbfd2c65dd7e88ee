/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store.h - the results of a run in one SQLite file, with one writer and one row for each planned row, however it
 * ended. */
#ifndef NB_STORE_H
#define NB_STORE_H

#include "run/plan.h"

#include <sqlite3.h>

/* The signature of a run's rows: the program, and how it measured them. */

typedef struct {
    const char *build;      /* for people: the state of the source it was built from */
    const char *executable; /* SHA-256 of its file; identifies the program */
    /* Everything besides the program that the last bits of a row depend on: OpenBLAS, its kernels and threads, the
     * width of vectors. */
    const char *arithmetic;
} nb_program;

/* True if rows of both programs have the same bits. */
bool nb_program_same(const nb_program *a, const nb_program *b);

/* Returns the difference for people ("by another build", "with other arithmetic"). */
const char *nb_program_difference(const nb_program *a, const nb_program *b);
/* Names a program: by its build, or, beside another one of the same build, by its executable. */
nb_status nb_program_text(const nb_program *program, const char **text, nb_ctx *ctx);
nb_status nb_program_text_against(const nb_program *program, const nb_program *other, const char **text, nb_ctx *ctx);
/* Describes how rows were measured that this program would measure otherwise, and what this program is. */
nb_status nb_program_change(const nb_program *then, const nb_program *now, const char **text, nb_ctx *ctx);

typedef struct {
    nb_program program;
    const char *text; /* a JSON object (provenance.h) */
} nb_manifest;

typedef struct nb_store {
    sqlite3 *db;
    const nb_study *study; /* the study of its rows */
    bool fresh;            /* it was created when it was opened, and has not been planned since */
    sqlite3_stmt *write;   /* updates one row; NULL until the store is planned */
    const char *path;
    const nb_manifest *signature; /* signs the rows that are written */
    long long manifest;           /* the signature's number in the store; 0: no row was written under it yet */
    struct nb_store_wait *wait;   /* private */
} nb_store;

/* The terms on which a run continues from earlier rows. */
typedef struct {
    const nb_program *program; /* the program that will measure */
    bool mixed;                /* allow rows measured by another program beside its own */
    const char *const *retry;  /* statuses of rows to run again; NULL-terminated */
    /* By row of the plan: run only these, done or not; with `retry`, only those of them that are missing or ended so.
     * NULL: run all that are missing. */
    const bool *only;
} nb_terms;

/* Narrows pending[] (missing rows and rows to retry) to those that `terms` allows to run; returns how many these
 * are. */
int nb_terms_take_only(const nb_terms *terms, const nb_plan *plan, bool *pending);

typedef struct { /* a manifest, and the number of rows that it signs */
    long long id;
    int rows, hidden; /* rows in the plan; rows outside of it */
    nb_manifest manifest;
} nb_signed;

/* NB_EINVAL if SQLite cannot open a file there, which need not exist, because its absolute path is too long. */
nb_status nb_store_check_path(const char *path, nb_ctx *ctx);

/* Opens the file: for writing, and then creates it and its tables if needed; or an existing one for reading, which may
 * roll back what a killed run left. Closed with ctx's memory. NB_EIO with the file's name if it is not a store, has
 * another version, is damaged (SQLite's quick check), has views for tables, holds rows of another study than `study`
 * (NULL: any), or is read-only and should not be. */
nb_status nb_store_open(const char *path, bool writable, const nb_study *study, nb_store *store, nb_ctx *ctx);

/* Lets SQL change nothing in a file that was opened for reading. A store begins so; who sets another authorizer calls
 * this afterwards. */
void nb_store_restrict(nb_store *store);

/* Sets what prints the warning that another program holds the store; default: standard error. */
void nb_store_on_wait(nb_store *store, void (*notice)(void *self, const char *text), void *self);

/* Makes the store's rows those of the plan: adds new rows as "planned", keeps existing ones (rows that are no longer
 * planned, or were measured on other data, stay but are hidden), and plans rows again that lack a metric now wanted or
 * have a status to retry (with `only` they stay as they are until they are measured). *pending (row_count flags, owned
 * by ctx) marks the rows to run. NB_EINVAL, and the store stays as it was, if its rows have other draws
 * (nb_draw_sharing), or if another program has measured rows of the plan, some rows are to be run, and the terms do not
 * allow to mix them. */
nb_status nb_store_plan(nb_store *store, const nb_plan *plan, const nb_terms *terms, bool **pending, int *pending_count,
                        nb_ctx *ctx);

/* After planning: lists the manifests of hidden rows that were measured on other data and whose rows are to be run
 * again; `hidden` counts those rows, `rows` is 0. */
nb_status nb_store_find_replaced(nb_store *store, int *count, nb_signed **manifests, nb_ctx *ctx);

typedef struct {                                    /* counts of a plan's rows */
    int done, failed, diverged, crashed, timed_out; /* done: with any outcome, including the others */
} nb_standing;

/* Finds which rows of the plan are done, without changing anything; NB_EINVAL as above for other draws. pending
 * (row_count flags, the caller's, all set before) stays set for rows that are missing or have one of the statuses
 * `retry`; NULL: rows are only counted. */
nb_status nb_store_standing(nb_store *store, const nb_plan *plan, const char *const *retry, bool *pending,
                            nb_standing *standing, nb_ctx *ctx);

nb_status nb_store_begin(nb_store *store, nb_ctx *ctx);
nb_status nb_store_commit(nb_store *store, nb_ctx *ctx);

nb_status nb_store_set(nb_store *store, const char *key, const char *value, nb_ctx *ctx);

/* Sets the signature of the rows written from now on; it is added to the store with the first of them, unless an equal
 * one is there. Must live as long as the store. */
void nb_store_sign(nb_store *store, const nb_manifest *manifest);

/* Writes the result of row `index` of the plan. */
nb_status nb_store_write(nb_store *store, int index, unsigned wanted, const nb_row *row, nb_ctx *ctx);

/* Finds whether the sources of its rows share their draws: those of a store that does not say so do. */
nb_status nb_store_draws(nb_store *store, int *draws, nb_ctx *ctx);

/* Reads what nb_store_set wrote; *value is NULL if nothing was set. */
nb_status nb_store_get(nb_store *store, const char *key, const char **value, nb_ctx *ctx);

/* Adds the labels that the run's program had for components of plug-ins, where neither `labels` nor this program has
 * one. */
nb_status nb_store_labels(nb_store *store, nb_given_labels *labels, nb_ctx *ctx);

/* Lists all manifests, oldest first. */
nb_status nb_store_manifests(nb_store *store, int *count, nb_signed **manifests, nb_ctx *ctx);

/* Lists the manifests' numbers for the rows of nb_store_rows, in their order; 0: planned. */
nb_status nb_store_signatures(nb_store *store, int *count, long long **manifests, nb_ctx *ctx);

/* Finds whether several calls of programs may have measured the rows, without reading these. */
nb_status nb_store_is_shared(nb_store *store, bool *shared, nb_ctx *ctx);

/* Lists the programs that have measured rows of the plan, oldest first, each with one of its manifests. */
nb_status nb_store_programs(nb_store *store, int *count, nb_signed **programs, nb_ctx *ctx);

/* Reads all planned rows in the plan's order. */
nb_status nb_store_rows(nb_store *store, nb_row_list *rows, nb_ctx *ctx);

#endif
