/* SPDX-License-Identifier: GPL-3.0-or-later */
/* deviations.h - how far the row sums of F X B are from 1, for many X of one pair together. */
#ifndef NB_DEVIATIONS_H
#define NB_DEVIATIONS_H

#include "nystrom/projection.h"

typedef struct {
    int count;
    double *weights, *sums; /* C Q_B' 1 of each, m x count in whole groups; of a stripe in a group */
    nb_measures **of;
} nb_deviations;

/* Room for `most` X of up to m landmarks. Memory is ctx's. */
nb_status nb_deviations_init(nb_deviations *sums, int m, int most, nb_ctx *ctx);

/* One more, C = R_F X R_B'. Where the sums overflow the deviation stays NaN. */
void nb_deviations_add(nb_deviations *sums, const nb_projection *p, const double *c, nb_measures *of);

/* rowsum_deviation of all that were added: max |Q_F (C Q_B' 1) - 1|. There are none then. */
void nb_deviations_end(nb_deviations *sums, const nb_projection *p);

#endif
