/* SPDX-License-Identifier: GPL-3.0-or-later */
/* times.h - predicts how long strategies take, from the rows measured so far or from tries. */
#ifndef NB_ERROR_TIMES_H
#define NB_ERROR_TIMES_H

#include "run/prediction.h"

/* The study's `calibrate`. */
nb_status nb_error_calibrate(const nb_plan *plan, const bool *pending, nb_store *store, bool thorough,
                             nb_prediction *prediction, nb_ctx *ctx);

#endif
