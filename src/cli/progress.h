/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress.h - how far a run is, on a terminal or in a log. */
#ifndef NB_PROGRESS_H
#define NB_PROGRESS_H

#include "cli/screen.h"
#include "run/prediction.h"
#include "run/sink.h"

typedef struct {
    int scenes, scenes_done;       /* units of work */
    int rows, rows_done, failed;   /* failed: neither ok nor skipped */
    double share;                  /* of the predicted cost that is done, 0 to 1 */
    double elapsed_s, predicted_s; /* since the start; of the whole */
    double since_s;                /* the last row was done, or the start */
} nb_progress_state;

/* What is left, in seconds: at first as predicted, soon by the pace so far, which is known when a row is done; until
 * then it runs down. 0: it takes longer than that. */
double nb_progress_left_s(const nb_progress_state *state);

enum { NB_PROGRESS_LINE = 160 };
/* "30 %, 3 of 10 scenes, 30 of 100 rows, 2 failed, 40 s left"; in a terminal of `width`
 * columns (0: a log) with a bar before it, or less if there is no room. */
void nb_progress_text(const nb_progress_state *state, int width, char text[NB_PROGRESS_LINE]);

/* "  PROBLEM head 3, kmeans, landmarks 16: the strategy's pick, 12 s" in so many columns, the problem shortened first;
 * "  nothing" of a worker that waits. `now_s`: the time as nb_clock_s tells it. `text` has NB_PROGRESS_BYTES. NB_ENOMEM
 * alone. */
enum { NB_PROGRESS_BYTES = NB_SCREEN_BYTES };
nb_status nb_progress_worker(const nb_plan *plan, const nb_doing *doing, double now_s, int columns, char *text,
                             nb_ctx *ctx);

enum { NB_QUANTITY = 32 };
/* "0.4 s", "47 s", "3 min 5 s", "2 h 10 min", "3 d 4 h"; rounded. */
const char *nb_duration_text(double seconds, char text[NB_QUANTITY]);
/* "850 KiB", "120 MiB", "2.4 GiB": powers of 1024, as in --memory. */
const char *nb_bytes_text(double bytes, char text[NB_QUANTITY]);

typedef struct {
    nb_progress_state state;
    bool quiet, terminal;
    bool broken; /* a row failed, crashed or was late: it took another time than it has to take */
    double start_s;
    double done_s, total_s; /* predicted, of what is done and of all */
    double *weight_s;       /* by row of the plan */
    bool *ran;              /* the same: it is done, in this run */
    int *unit_of, *left;    /* unit of a row; rows of a unit that are to be run */
    int shown;              /* tenths, in a log */
    double row_s, drawn_s;  /* when the last row was done, and when a terminal was drawn last */
    nb_screen screen;
    const nb_plan *plan;
    nb_doing *doing; /* of each worker, as it was told last */
    int worker_count;
    nb_ctx *ctx; /* for texts while they are drawn */
} nb_progress;

/* Begins now. */
nb_status nb_progress_init(nb_progress *progress, const nb_predicted *predicted, const nb_plan *plan,
                           const bool *pending, nb_ctx *ctx);
/* A row is done, with this status. */
void nb_progress_row(nb_progress *progress, int index, const char *status);
/* Several rows are done: on standard error, on a terminal some five times a second, else at each tenth. */
void nb_progress_show(nb_progress *progress);
/* What the workers are doing now: lines below the bar of a terminal, of as many as have room. */
void nb_progress_watch(nb_progress *progress, const nb_doing *workers, int count);
/* Makes room on a terminal for something else. */
void nb_progress_hide(nb_progress *progress);
/* Leaves the bar of a terminal as it is in the end, and nothing below. */
void nb_progress_end(nb_progress *progress);

#endif
