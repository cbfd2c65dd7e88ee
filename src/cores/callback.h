/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callback.h - what the core `callback` calls: nb_added's `act`. */
#ifndef NB_CORE_CALLBACK_H
#define NB_CORE_CALLBACK_H

#include "components/added.h"
#include "cores/core.h"

typedef struct {
    const nb_added *added;
    int m;
    nb_outer_factors factors;
    unsigned long seed; /* 32 random bits; 0: the function draws nothing */
    double *x;          /* m x m by rows; to be set */
} nb_callback_core;

typedef nb_status nb_callback_core_function(const nb_callback_core *core, nb_ctx *ctx);

#endif
