/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plots.h - the figures of a run: data as CSV, a gnuplot script beside it, SVG
 * and PNG. */
#ifndef NB_PLOTS_H
#define NB_PLOTS_H

#include "base/ctx.h"
#include "report/scripts.h"
#include "studies/error/summary.h"

#include <stdio.h>

extern const char *const nb_plot_kinds[]; /* NULL-terminated; each has a script plots/KIND.gp */

typedef struct {                     /* what figures are made of, and where they go */
    const char *folder, *experiment; /* the folder is made if it is not there */
    const nb_summary *summary;
    const char *baseline; /* of the strategies, canonical; NULL: the first that is no oracle */
    int m;                /* of kinds that are of one m; 0: the middle one */
    bool draw;            /* with gnuplot; else data and scripts alone */
} nb_drawing;

/* Figures of one kind. *figures: how many there are; 0 where the run has nothing for this
 * kind. Of more strategies than curves tell apart, `error` becomes the kind `forest`, which
 * is told, and svd_vs_iterative is drawn as one. NB_EINVAL where the run does not have m,
 * NB_EIO where a file cannot be written or gnuplot fails. */
nb_status nb_plot(const nb_drawing *drawing, const char *kind, int *figures, nb_ctx *ctx);

bool nb_plot_of_one_m(const char *kind);

/* `m` where it is among those, which are in ascending order; 0 becomes the middle one
 * of them, where there are any. */
nb_status nb_plot_choose_m(int count, const int *landmarks, int *m, nb_ctx *ctx);

/* Says that the run has no rows for the kind. */
void nb_plot_warn(const char *kind);

#endif
