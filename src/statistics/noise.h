/* SPDX-License-Identifier: GPL-3.0-or-later */
/* noise.h - what is rounding noise, of one result and of two compared: two that differ by no more than theirs are the
 * same, and none counts as less than its own. nb_noisy_compare makes the one ratio of two results, or their difference:
 * for statistics/pairs.c, of which every estimate of pairs is made, and for SQL, where pair_noise and pair_ratio
 * (rows/functions.h) serve medians, ranks and counts. A claim that measures has no pairs, and asks is_noise alone.
 * Which outputs are exact, of which no noise is known, is said in studies/exact_output.h. */
#ifndef NB_NOISE_H
#define NB_NOISE_H

#include <stdbool.h>

/* Returns whether a value, of any sign, is no more than its rounding noise; false where one of them is NaN. */
bool nb_is_noise(double value, double noise);

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

/* Returns what a ratio takes for a value: no less than its rounding noise, if that is known. */
double nb_at_least_noise(double value, double noise);

nb_pair_value nb_noisy_compare(nb_noisy x, nb_noisy y, bool difference);

#endif
