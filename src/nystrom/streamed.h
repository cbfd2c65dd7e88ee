/* SPDX-License-Identifier: GPL-3.0-or-later */
/* streamed.h - measures all factor pairs of an instance in one pass over S. */
#ifndef NB_STREAMED_H
#define NB_STREAMED_H

#include "nystrom/request.h"

nb_status nb_streamed_prepare(nb_scene *scene, const nb_how *how, int count, nb_pair *pairs, nb_engine_times *times,
                              nb_ctx *ctx);
nb_status nb_streamed_measure(nb_scene *scene, const nb_how *how, int count, nb_request *requests, nb_ctx *ctx);

#endif
