/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress.h - how far a run is, on a terminal or in a log. */
#ifndef NB_PROGRESS_H
#define NB_PROGRESS_H

#include "run/prediction.h"

typedef struct {
    int scenes, scenes_done;      /* units of work */
    int rows, rows_done, failed;  /* failed: neither ok nor skipped */
    double share;                 /* of the predicted cost that is done, 0 to 1 */
    double elapsed_s, predicted_s; /* since the start; of the whole */
} nb_progress_state;

/* What is left, in seconds: at first as predicted, soon by the pace so far. */
double nb_progress_left_s(const nb_progress_state *state);

enum { NB_PROGRESS_LINE = 160 };
/* "30 %, 3 of 10 scenes, 30 of 100 rows, 2 failed, 40 s left"; in a terminal of `width`
 * columns (0: a log) with a bar before it, or less where there is no room. */
void nb_progress_text(const nb_progress_state *state, int width, char text[NB_PROGRESS_LINE]);

enum { NB_QUANTITY = 32 };
/* "0.4 s", "47 s", "3 min 5 s", "2 h 10 min", "3 d 4 h"; rounded. */
const char *nb_duration_text(double seconds, char text[NB_QUANTITY]);
/* "850 KiB", "120 MiB", "2.4 GiB": powers of 1024, as in --memory. */
const char *nb_bytes_text(double bytes, char text[NB_QUANTITY]);

typedef struct {
    nb_progress_state state;
    bool quiet, terminal;
    double start_s;
    double done_s, total_s; /* predicted, of what is done and of all */
    double *weight_s;       /* by row of the plan */
    bool *ran;              /* the same: it is done, in this run */
    int *unit_of, *left;    /* unit of a row; rows of a unit that are to be run */
    int shown;              /* tenths; on a terminal characters */
} nb_progress;

/* Begins now. */
nb_status nb_progress_init(nb_progress *progress, const nb_predicted *predicted, const nb_plan *plan,
                           const bool *pending, nb_ctx *ctx);
/* A row is done, with this status. */
void nb_progress_row(nb_progress *progress, int index, const char *status);
/* Several rows are done: on standard error, on a terminal always, else at each tenth. */
void nb_progress_show(nb_progress *progress);
/* Ends the line of a terminal. */
void nb_progress_end(nb_progress *progress);

#endif
