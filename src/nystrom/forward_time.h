/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forward_time.h - how long attention from landmarks takes in this program, once there are landmarks and X. */
#ifndef NB_FORWARD_TIME_H
#define NB_FORWARD_TIME_H

#include "nystrom/scene.h"

/* Seconds of CPU time: F, A, B and F (X (B V)), without a mask, of m landmarks, for which the first m queries and keys
 * stand (K stands for V where the head has none), and any X; F and B timed on rows with 2^16 entries, 64 at
 * least, or all, and scaled. Measured once for each m, when the memory for it is near. */
nb_status nb_scene_forward_s(nb_scene *scene, int m, double *seconds, nb_ctx *ctx);

/* How many entries of F, of B and of A that is timed on. */
double nb_forward_entries(double n, double m);

#endif
