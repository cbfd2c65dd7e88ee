/* SPDX-License-Identifier: GPL-3.0-or-later */
/* head_conflict.h - whether a contrast is surely below none on one head of a model and surely above it on another,
 * which the mean over heads does not show. */
#ifndef NB_HEAD_CONFLICT_H
#define NB_HEAD_CONFLICT_H

#include "report/contrast.h"

typedef struct { /* heads of models: those of different inputs are one if they have one number in one layer */
    int count;
    const int *of; /* by head_id of the relation; NULL: not found yet */
    const int *numbers;
    const char *const *layers; /* NULL: not known */
} nb_head_places;

nb_status nb_head_places_find(nb_relation *relation, nb_head_places *places, nb_ctx *ctx);

/* *conflict <- "0.895 [0.878, 0.913] on head 0, 1.05 [1.03, 1.07] on head 1", those farthest apart, as ratios unless
 * they are differences; NULL where there are no such two with at least `least` sources. Each interval over sources and
 * trials is at `confidence` for all heads of the stratum together (Bonferroni). */
nb_status nb_find_head_conflict(const nb_head_places *places, bool difference, const nb_contrast *contrast, int stratum,
                                int least, double confidence, const char **conflict, nb_ctx *ctx);

#endif
