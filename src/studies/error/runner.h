/* SPDX-License-Identifier: GPL-3.0-or-later */
/* runner.h - measures the rows of a plan: scene by scene, trial by trial, method by method; or makes a run again as far
 * as its landmarks, for files and figures. */
#ifndef NB_RUNNER_H
#define NB_RUNNER_H

#include "base/gnuplot.h"
#include "nystrom/landmarks.h"
#include "run/pending.h"
#include "studies/error/study.h"

/* Numbers of the study's phases. */
typedef enum {
    NB_AT_SCENE = NB_AT_START + 1, /* the problem's data and the scene of the rows */
    NB_AT_PICK,                    /* a strategy picks for the rows */
    NB_AT_CORE,                    /* the core of one row */
    NB_AT_MEASURE                  /* the engine, for all of the rows */
} nb_error_phase;

/* Measures the rows of one scene of the plan for which pending[] is set. A row that fails is a result like any other;
 * only a failure of the sink is an error. */
nb_status nb_run_scene(const nb_plan *plan, int scene, const bool *pending, const nb_sink *sink, nb_ctx *ctx);

/* Makes the scene of that head, with hints on what the plan will ask for. */
nb_status nb_run_make_scene(const nb_plan *plan, int scene, const nb_head *head, nb_scene **out, nb_ctx *ctx);

/* Picks the landmarks of one method on one instance, as nb_run_scene does; `planned`: the scene's number in the plan.
 */
nb_status nb_run_pick(const nb_plan *plan, int planned, nb_scene *scene, int trial, const nb_error_method *method,
                      gsl_rng *rng, nb_landmarks *landmarks, nb_ctx *ctx);

/* Returns how the engine measures, except which rows it reads. */
nb_how nb_error_how(const nb_config *config);

/* Reads the run's resolved config, makes every instance and picks its landmarks again, bit for bit, and writes into
 * `out`:
 *   instance-I/q.npy, k.npy, v.npy  (n, d) float64
 *   instance-I/P-queries.npy, P-keys.npy  token indices (m) int64, or points (m, d) float64
 *   index.csv: instance, causal, then the columns that name the picks, P, and status and reason
 * Picks that fail are listed with their reason and without P; *failed counts them. Rows that a run skips are left
 * out. programs, here and below: as for nb_experiment_again. */
nb_status nb_export_landmarks(const char *run_folder, bool programs, const char *out, int *failed, nb_ctx *ctx);

typedef struct {
    int m; /* number of landmarks, or 0: the middle number of the run's */
    int trial;
    int head;     /* a head, or -1: the first of each problem */
    bool queries; /* the plane shows the queries; else the keys */
    bool programs;
} nb_landmark_view;

/* Picks the landmarks of one head of each problem again, bit for bit, writes their data and scripts into a folder
 * (plots/landmarks.gp describes the figure), and starts to draw them unless `gnuplots` is NULL. NB_EINVAL if the run
 * has no such landmarks, trial or head. */
nb_status nb_plot_landmarks(const char *run_folder, const nb_landmark_view *view, const char *folder,
                            nb_gnuplots *gnuplots, int *figures, nb_ctx *ctx);

#endif
