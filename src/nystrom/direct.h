/* SPDX-License-Identifier: GPL-3.0-or-later */
/* direct.h - the direct measurement, which forms S, F X B and their difference by tiles of rows. O(n^2 m) a method; the
 * reference for faster engines. */
#ifndef NB_DIRECT_H
#define NB_DIRECT_H

#include "nystrom/request.h"

nb_status nb_direct_prepare(nb_scene *scene, const nb_how *how, int count, nb_pair *pairs, nb_engine_times *times,
                            nb_ctx *ctx);
nb_status nb_direct_measure(nb_scene *scene, const nb_how *how, int count, nb_request *requests, nb_ctx *ctx);

/* Returns the bytes that measuring a request of m landmarks takes; `unseen`: its core reads rows of S. */
double nb_direct_bytes(double n, double m, unsigned wanted, bool unseen);

#endif
