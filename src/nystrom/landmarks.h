/* SPDX-License-Identifier: GPL-3.0-or-later */
/* landmarks.h - one strategy's picks for both sides of a scene. */
#ifndef NB_LANDMARKS_H
#define NB_LANDMARKS_H

#include "nystrom/picks.h"

typedef struct {
    /* of the same kind and m; they share arrays if one pick gives both, except free points of [q; k] */
    nb_picks queries, keys;
    double select_s;        /* time of the strategy's calls, with what it asked of the scene as if it had asked first */
    double *selected_s;     /* m: time of the first 1, 2, ... landmarks alone; NULL: not nested */
    double multiplications; /* of the strategy's calls; NaN: not counted (nb_strategy_counts) */
    double *multiplied;     /* m: multiplications of the first 1, 2, ... landmarks; NULL: not nested */
    const char *refusal;    /* why there are no landmarks; NULL: there are */
    const char *note;       /* a note for the row, or NULL */
    int seen;               /* number of rows of S that the strategy has read; 0 for an oracle */
    const bool *read;       /* n: flags of these rows; NULL: none */
} nb_landmarks;

/* Returns the first m landmarks of a nested strategy: its picks for m, with the time and multiplications of these
 * alone. */
nb_landmarks nb_landmarks_first(const nb_landmarks *all, int m);

/* Returns the note for the first m. */
const char *nb_landmarks_note(const nb_landmarks *landmarks, int m);

#endif
