/* store.h - the results of a run: one SQLite file, one writer, one row for each
 * planned row whatever happened. */
#ifndef NB_STORE_H
#define NB_STORE_H

#include "experiment/plan.h"
#include "experiment/row.h"

#include <sqlite3.h>
#include <stdio.h>

typedef struct {
    sqlite3 *db;
    sqlite3_stmt *write; /* updates one row */
    const char *path;
} nb_store;

/* Opens the file, making it and its tables where they are not there (writable),
 * or an existing one for reading (which may roll back what a killed run left). Closed with ctx's memory. NB_EIO with the
 * file's name where it is not a store, or one of another version. */
nb_status nb_store_open(const char *path, bool writable, nb_store *store, nb_ctx *ctx);

/* Makes the store's rows those of the plan: adds what is new as "planned",
 * keeps what is there (rows that are no longer planned stay, hidden), and plans
 * rows again that lack a metric which is now wanted or whose data have another size. *pending (row_count flags,
 * ctx's) tells what is to be run. */
nb_status nb_store_plan(nb_store *store, const nb_plan *plan, bool **pending, int *pending_count, nb_ctx *ctx);

typedef struct { /* rows of a plan */
    int done, failed, diverged, crashed, timed_out; /* done: with any outcome; the others are among them */
} nb_standing;

/* Which rows of the plan are there already, without changing anything. Flags of
 * those that are not (row_count, the caller's, all set before) stay set. */
nb_status nb_store_standing(nb_store *store, const nb_plan *plan, bool *pending, nb_standing *standing, nb_ctx *ctx);

nb_status nb_store_begin(nb_store *store, nb_ctx *ctx);
nb_status nb_store_commit(nb_store *store, nb_ctx *ctx);
/* The result of row `index` of the plan. */
nb_status nb_store_write(nb_store *store, int index, unsigned wanted, const nb_row *row, nb_ctx *ctx);

nb_status nb_store_set(nb_store *store, const char *key, const char *value, nb_ctx *ctx);

/* All planned rows in the plan's order. */
nb_status nb_store_rows(nb_store *store, int *count, nb_row **rows, nb_ctx *ctx);

/* What nb_store_set has put there; NULL: nothing. */
nb_status nb_store_get(nb_store *store, const char *key, const char **value, nb_ctx *ctx);

typedef struct { /* how long a strategy took */
    const char *strategy; /* canonical */
    int n, m;
    double seconds;       /* select_s, on average */
} nb_store_pick;

/* Of all rows that are there, planned now or not: one for each strategy, n and m. */
nb_status nb_store_picks(nb_store *store, int *count, nb_store_pick **picks, nb_ctx *ctx);

#endif
