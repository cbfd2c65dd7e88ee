/* SPDX-License-Identifier: GPL-3.0-or-later */
/* noise.h - two results compared, each with its rounding noise: two that differ by no more than that are the same, and
 * none counts as less than its own. */
#ifndef NB_NOISE_H
#define NB_NOISE_H

#include <stdbool.h>

typedef struct {
    double value; /* NaN: there is none */
    double noise; /* its rounding noise; NaN: not known */
    double se;    /* its standard error; NaN: it has none */
} nb_noisy;

typedef struct {
    bool noise;             /* both are no more than their rounding noise: it says nothing */
    bool tie;               /* they differ by no more than that */
    double ratio;           /* x over y, 1 of a tie; NaN: there is none, or a difference is asked for */
    double value, variance; /* log(x / y) or x - y, and the variance by their standard errors; NaN: one has no value, or
                             * a ratio is asked for and one is below 0 */
} nb_pair_value;

nb_pair_value nb_noisy_compare(nb_noisy x, nb_noisy y, bool difference);

#endif
