/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forest.h - a figure of many lines: a name, a ratio for each panel and their median, the best on
 * top. Drawn by plots/forest.gp. */
#ifndef NB_FOREST_H
#define NB_FOREST_H

#include "report/figure.h"

typedef struct {
    const char *label;
    const char *texts[2];    /* beside the line */
    bool oracle, fixed;      /* fixed: the baseline has its pairing */
    double pooled, subspace; /* subspace: NaN where it is not drawn */
    double *by_panel;
} nb_forest_line;

typedef struct {
    const char *kind, *title, *subtitle, *x_name;
    const char *headings[2]; /* of the texts; NULL: there are none */
    const char *name;        /* of this one of several figures */
    const char **panels;
    int panel_count, count;
    nb_forest_line *lines; /* the least pooled first, which is drawn on top */

    const char *output; /* private */
} nb_forest;

/* `figures` end with one that has no name; those of fewer than two lines are left out. *count: those
 * that are not. */
nb_status nb_forest_draw(const nb_drawing *drawing, const char *kind, nb_forest *figures, int *count, nb_ctx *ctx);

#endif
