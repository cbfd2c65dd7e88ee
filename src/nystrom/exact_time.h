/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exact_time.h - times exact attention in this program. */
#ifndef NB_EXACT_TIME_H
#define NB_EXACT_TIME_H

#include "nystrom/scene.h"

/* Measures seconds of CPU time to form S row by row and to multiply S V (S K if the head has no V): on rows with 2^18
 * entries, at least 64 rows, or all, scaled to n. Measured once, when its memory is in the cache. */
nb_status nb_scene_exact_s(nb_scene *scene, double *seconds, nb_ctx *ctx);

/* Returns how many entries of S are timed. */
double nb_exact_entries(double n);

#endif
