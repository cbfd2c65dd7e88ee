/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ratios.h - a figure of the ratio of a measure to the baseline's, along a column such as the number of landmarks: a
 * figure for each scope, a panel for each stratum and one over them, a curve with t intervals for each method, a dot
 * for each head. Drawn by plots/ratio.gp. */
#ifndef NB_RATIOS_H
#define NB_RATIOS_H

#include "report/figure.h"
#include "report/relation.h"

typedef struct {
    const char *kind;          /* the stem of the files */
    const char *by, *metric;   /* columns, as nb_contrast_terms */
    int baseline;              /* a code of `by` */
    const char *along, *named; /* columns, as nb_scopes_find */
    const int *looks;          /* by row: the number of the colour of its method, from 0 */
    const char *x_name;
} nb_ratios;

/* *figures: how many have a ratio. What is no comparison is left out, and named in a note on standard error. */
nb_status nb_ratios_draw(const nb_drawing *drawing, nb_relation *relation, const nb_ratios *of, int *figures,
                         nb_ctx *ctx);

#endif
