/* SPDX-License-Identifier: GPL-3.0-or-later */
/* landmark_plot.h - draws where a run's landmarks lie. */
#ifndef NB_LANDMARK_PLOT_H
#define NB_LANDMARK_PLOT_H

#include "base/gnuplot.h"

typedef struct {
    int m; /* number of landmarks, or 0: the middle number of the run's */
    int trial;
    int head;     /* a head, or -1: the first of each problem */
    bool queries; /* the plane shows the queries; else the keys */
} nb_landmark_view;

/* Picks the landmarks of one head of each problem again, bit for bit, writes their data and scripts into a folder
 * (plots/landmarks.gp describes the figure), and starts to draw them unless `gnuplots` is NULL. NB_EINVAL if the run
 * has no such landmarks, trial or head. */
nb_status nb_plot_landmarks(const char *run_folder, const nb_landmark_view *view, const char *folder,
                            nb_gnuplots *gnuplots, int *figures, nb_ctx *ctx);

#endif
