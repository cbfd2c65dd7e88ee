/* landmarks.h - one strategy's picks for both sides of a scene: the pairing. */
#ifndef NB_LANDMARKS_H
#define NB_LANDMARKS_H

#include "base/random.h"
#include "measure/scene.h"
#include "strategies/strategy.h"

extern const char *const nb_pairing_names[]; /* by nb_pairing; NULL-terminated */

typedef struct {
    nb_picks queries, keys; /* of the same kind and m; they share arrays where the pairing is not independent */
    double select_s;        /* time of the strategy's calls, with what it asked of the scene as if it were the first to ask */
} nb_landmarks;

/* Lets the strategy pick m landmarks for the queries and the keys, and checks
 * what it returns. `stream` gives seed, trial and component; role and m are set
 * here. NB_EINVAL for m < 1, m > n, or picks that break the rules. */
nb_status nb_landmarks_pick(nb_scene *scene, const nb_choice *strategy, int m, nb_pairing pairing, nb_stream stream,
                            gsl_rng *rng, nb_landmarks *landmarks, nb_ctx *ctx);

#endif
