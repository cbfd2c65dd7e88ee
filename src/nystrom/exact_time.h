/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exact_time.h - how long exact attention takes in this program. */
#ifndef NB_EXACT_TIME_H
#define NB_EXACT_TIME_H

#include "nystrom/scene.h"

/* Seconds of CPU time: S formed row by row, and S V (S K where the head has no V), on rows
 * with 2^18 entries, 64 at least, or all, and scaled to n. Measured once, when the memory
 * for it is near. */
nb_status nb_scene_exact_s(nb_scene *scene, double *seconds, nb_ctx *ctx);

/* How many entries of S that is timed on. */
double nb_exact_entries(double n);

#endif
