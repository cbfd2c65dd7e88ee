/* SPDX-License-Identifier: GPL-3.0-or-later */
/* deviations.h - measures how far the row sums of F X B are from 1, for many X of one pair together. */
#ifndef NB_DEVIATIONS_H
#define NB_DEVIATIONS_H

#include "nystrom/projection.h"

typedef struct {
    int count;
    double *weights, *sums; /* m x count in whole groups: C Q_B' 1 of each X; a stripe's sums of one group */
    nb_measures **of;
} nb_deviations;

/* Makes room for `most` X of up to m landmarks. ctx owns the memory. */
nb_status nb_deviations_init(nb_deviations *sums, int m, int most, nb_ctx *ctx);

/* Adds one X, as C = R_F X R_B'. If its sums overflow, its deviation stays NaN. */
void nb_deviations_add(nb_deviations *sums, const nb_projection *p, const double *c, nb_measures *of);

/* Sets rowsum_deviation, max |Q_F (C Q_B' 1) - 1|, of all that were added, and empties the list. */
void nb_deviations_end(nb_deviations *sums, const nb_projection *p);

#endif
