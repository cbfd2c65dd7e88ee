/* SPDX-License-Identifier: GPL-3.0-or-later */
/* picking.h - landmarks for both sides of a scene, by a strategy: the pairing. */
#ifndef NB_PICKING_H
#define NB_PICKING_H

#include "base/random.h"
#include "nystrom/landmarks.h"
#include "nystrom/scene.h"
#include "strategies/strategy.h"

typedef struct {
    nb_scene *scene;
    const nb_choice *strategy;
    int m;
    nb_pairing pairing; /* under a kernel of one point set it is that of nb_pairing_under */
    nb_stream stream;   /* seed, trial and component; role and m are set here */
    gsl_rng *rng;
} nb_picking;

/* Lets the strategy pick m landmarks for the queries and the keys, and checks
 * what it returns. NB_EINVAL for m < 1, m > n, a pairing that the strategy does not
 * have, or picks that break the rules. */
nb_status nb_landmarks_pick(const nb_picking *picking, nb_landmarks *landmarks, nb_ctx *ctx);

#endif
