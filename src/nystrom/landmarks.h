/* SPDX-License-Identifier: GPL-3.0-or-later */
/* landmarks.h - one strategy's picks for both sides of a scene: the pairing. */
#ifndef NB_LANDMARKS_H
#define NB_LANDMARKS_H

#include "base/random.h"
#include "nystrom/scene.h"
#include "strategies/strategy.h"

extern const char *const nb_pairing_names[]; /* by nb_pairing; NULL-terminated */
extern const char *const nb_side_names[];    /* by nb_side */

typedef struct {
    nb_picks queries,
        keys; /* of the same kind and m; they share arrays where one pick gives both, but free points of [q; k] */
    double select_s; /* time of the strategy's calls, with what it asked of the scene as if it were the first to ask */
    double *selected_s;  /* m: of the first 1, 2, ... landmarks alone; NULL: not nested */
    const char *refusal; /* why there are none; NULL: there are */
    const char *note;    /* what a reader of the row should know, or NULL */
} nb_landmarks;

/* Lets the strategy pick m landmarks for the queries and the keys, and checks
 * what it returns. `stream` gives seed, trial and component; role and m are set
 * here. NB_EINVAL for m < 1, m > n, a pairing that the strategy does not have, or
 * picks that break the rules. Under a kernel of one point set the pairing is that
 * of nb_pairing_under. */
nb_status nb_landmarks_pick(nb_scene *scene, const nb_choice *strategy, int m, nb_pairing pairing, nb_stream stream,
                            gsl_rng *rng, nb_landmarks *landmarks, nb_ctx *ctx);

/* The first m of the landmarks of a nested strategy: what it picks for m, and the
 * time that it takes for these alone. */
nb_landmarks nb_landmarks_first(const nb_landmarks *all, int m);

/* The pairing under this kernel: `queries` where it is one of one point set, but
 * for strategies that only pick for both sides at once. */
nb_pairing nb_pairing_under(const nb_choice *kernel, const nb_choice *strategy, nb_pairing pairing);

/* Whether the same points serve both sides: then the picks are free points. */
bool nb_pairing_shares(nb_pairing pairing);

/* Whether the strategy can be called so. */
bool nb_strategy_has(const nb_strategy *strategy, nb_pairing pairing);

#endif
