/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sampled.h - estimates the error from k random rows of S: O(k n) instead of O(n^2). */
#ifndef NB_SAMPLED_H
#define NB_SAMPLED_H

#include "nystrom/request.h"

nb_status nb_sampled_prepare(nb_scene *scene, const nb_how *how, int count, nb_pair *pairs, nb_engine_times *times,
                             nb_ctx *ctx);
nb_status nb_sampled_measure(nb_scene *scene, const nb_how *how, int count, nb_request *requests, nb_ctx *ctx);

#endif
