/* SPDX-License-Identifier: GPL-3.0-or-later */
/* times.h - how long strategies will take: from rows that are there, or from tries. */
#ifndef NB_ERROR_TIMES_H
#define NB_ERROR_TIMES_H

#include "run/prediction.h"

/* nb_study's calibrate. */
nb_status nb_error_calibrate(const nb_plan *plan, const bool *pending, nb_store *store, bool thorough,
                             nb_prediction *prediction, nb_ctx *ctx);

#endif
