/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callback.h - what the strategy `callback` calls: nb_added's `act`. */
#ifndef NB_STRATEGY_CALLBACK_H
#define NB_STRATEGY_CALLBACK_H

#include "components/added.h"
#include "strategies/strategy.h"

typedef struct {
    const nb_added *added;
    const nb_points *points, *keys; /* the pairing `both`: the queries and the keys; else keys is NULL */
    nb_picks *picks, *of_keys;      /* of these points; to be set */
    int m;
    unsigned long seed; /* 32 random bits; 0: the function draws nothing */
} nb_callback_pick;

typedef nb_status nb_callback_pick_function(const nb_callback_pick *pick, nb_ctx *ctx);

#endif
