/* SPDX-License-Identifier: GPL-3.0-or-later */
/* landmarks.h - one strategy's picks for both sides of a scene. */
#ifndef NB_LANDMARKS_H
#define NB_LANDMARKS_H

#include "nystrom/picks.h"

typedef struct {
    nb_picks queries,
        keys; /* of the same kind and m; they share arrays where one pick gives both, but free points of [q; k] */
    double select_s; /* time of the strategy's calls, with what it asked of the scene as if it were the first to ask */
    double *selected_s;     /* m: of the first 1, 2, ... landmarks alone; NULL: not nested */
    double multiplications; /* of the strategy's calls; NaN: not counted, see nb_strategy_counts */
    double *multiplied;     /* m: up to the first 1, 2, ... landmarks; NULL: not nested */
    const char *refusal;    /* why there are none; NULL: there are */
    const char *note;       /* a note for the row, or NULL */
    int seen;               /* rows of S that the strategy has looked at, unless it is an oracle; */
    const bool *read;       /* n: which; NULL: none */
} nb_landmarks;

/* The first m of the landmarks of a nested strategy: what it picks for m, and the
 * time and multiplications that it takes for these alone. */
nb_landmarks nb_landmarks_first(const nb_landmarks *all, int m);

/* The note for the first m. */
const char *nb_landmarks_note(const nb_landmarks *landmarks, int m);

#endif
