/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forward_time.h - times attention from landmarks in this program, given landmarks and X. */
#ifndef NB_FORWARD_TIME_H
#define NB_FORWARD_TIME_H

#include "nystrom/scene.h"

/* Measures seconds of CPU time to compute F, A, B and F (X (B V)) without a mask, with any X; the first m queries and
 * keys serve as landmarks, and K as V if the head has none. F and B are timed on rows with 2^16 entries, at least 64
 * rows, or all, and scaled. Measured once for each m, when its memory is in the cache. */
nb_status nb_scene_forward_s(nb_scene *scene, int m, double *seconds, nb_ctx *ctx);

/* Returns how many entries of F, B and A are timed. */
double nb_forward_entries(double n, double m);

#endif
