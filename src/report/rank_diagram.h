/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rank_diagram.h - critical-difference diagrams (Demsar, J. Mach. Learn. Res. 7, 2006): methods on an axis of mean
 * ranks, bars over those that differ by no more than Nemenyi's critical difference. A figure for each scope and
 * stratum, a panel for each value along. Drawn by plots/ranks.gp. */
#ifndef NB_RANK_DIAGRAM_H
#define NB_RANK_DIAGRAM_H

#include "report/figure.h"
#include "report/standings_view.h"

typedef struct {
    const char *kind;   /* the stem of the files */
    const int *looks;   /* by row: the number of the colour of its method, from 0 */
    const char *x_name; /* of the value along: "m" */
} nb_rank_diagram;

/* *figures: how many have two methods with ranks. */
nb_status nb_rank_diagram_draw(const nb_drawing *drawing, const nb_standings_view *view, const nb_rank_diagram *of,
                               int *figures);

#endif
