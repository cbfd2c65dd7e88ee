/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress.h - shows the progress of a run on a terminal or in a log. */
#ifndef NB_PROGRESS_H
#define NB_PROGRESS_H

#include "run/prediction.h"
#include "run/sink.h"

typedef struct {
    int scenes, scenes_done;       /* units of work */
    int rows, rows_done, failed;   /* failed: rows neither ok nor skipped */
    double share;                  /* done share of the predicted cost, 0 to 1 */
    double elapsed_s, predicted_s; /* seconds since the start; predicted seconds of the whole */
    double since_s;                /* seconds since the last row was done, or since the start */
} nb_progress_state;

/* Returns the seconds left: at first as predicted, soon by the pace so far, which is updated when a row is done; in
 * between it counts down. 0: it takes longer than that. */
double nb_progress_left_s(const nb_progress_state *state);

enum { NB_PROGRESS_LINE = 160 };
/* Writes "30 %, 3 of 10 scenes, 30 of 100 rows, 2 failed, 40 s left"; for a terminal of `width` columns (0: a log) with
 * a bar before it, or less if there is no room. */
void nb_progress_text(const nb_progress_state *state, int width, char text[NB_PROGRESS_LINE]);

enum { NB_QUANTITY = 32 };
/* Writes "0.4 s", "47 s", "3 min 5 s", "2 h 10 min", "3 d 4 h"; rounded. */
const char *nb_duration_text(double seconds, char text[NB_QUANTITY]);
/* Writes "850 KiB", "120 MiB", "2.4 GiB": powers of 1024, as in --memory. */
const char *nb_bytes_text(double bytes, char text[NB_QUANTITY]);

typedef struct {
    nb_progress_state state;
    bool quiet, terminal;
    double start_s;
    double done_s, total_s; /* predicted seconds of the rows done, and of all */
    double *weight_s;       /* predicted seconds by row of the plan */
    int *unit_of, *left;    /* unit of each row; rows of each unit that are still to be run */
    int shown;              /* tenths shown in a log */
    double row_s, drawn_s;  /* when the last row was done, and when the terminal was last drawn */
    bool drawn;             /* the terminal has a bar, to be cleared before other output */
} nb_progress;

/* Begins; the start is now. */
nb_status nb_progress_init(nb_progress *progress, const nb_predicted *predicted, const nb_plan *plan,
                           const bool *pending, nb_ctx *ctx);
/* Records that a row is done, with this status. */
void nb_progress_row(nb_progress *progress, int index, const char *status);
/* Shows the progress on standard error after rows are done: on a terminal about five times a second, else at each
 * tenth. */
void nb_progress_show(nb_progress *progress);
/* Draws the bar of a terminal while no row is done: the time that is left counts down. */
void nb_progress_watch(nb_progress *progress);
/* Removes the bar of a terminal, for other output. */
void nb_progress_clear(nb_progress *progress);
/* Leaves the bar of a terminal in its final state. */
void nb_progress_end(nb_progress *progress);

#endif
