/* SPDX-License-Identifier: GPL-3.0-or-later */
/* picking.h - lets a strategy pick landmarks for both sides of a scene, as the pairing says. */
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
    nb_pairing pairing; /* under a kernel of one point set, as nb_pairing_under says */
    nb_stream stream;   /* seed, trial and component; role and m are set here */
    gsl_rng *rng;
} nb_picking;

/* Picks m landmarks for the queries and the keys and checks them. NB_EINVAL for m < 1, m > n, a pairing that the
 * strategy lacks, or picks that break the rules. */
nb_status nb_landmarks_pick(const nb_picking *picking, nb_landmarks *landmarks, nb_ctx *ctx);

#endif
