/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibration.h - times strategies by tries of at most two seconds. CPU time is used if the process did not wait, and
 * the shortest of several tries, since other programs can make a try longer by any factor. */
#ifndef NB_CALIBRATION_H
#define NB_CALIBRATION_H

#include "studies/error/cost.h"

enum { NB_TRIED_REASON = 1024 };

typedef struct { /* times of one strategy */
    const nb_choice *strategy;
    int n, m, large_n, large_m;
    double seconds;  /* shortest, for m of n; NaN: there was no time, or it refused, failed or crashed */
    double large_s;  /* the same for large_m of large_n */
    bool unfinished; /* the only try was not done after `seconds` */
    double n_least, n_most, m_least, m_most; /* range of the powers of n and m by which its time may grow */
    char reason[NB_TRIED_REASON];            /* message why `seconds` is NaN, or `unfinished`, cleaned; else "" */
} nb_tried;

/* Lets the strategy of each method pick landmarks of random points, a few of a few hundred, and as many as in the plan
 * of at most two thousand, in a process of their own that ends after limit_s; its output is discarded. tried[i] is for
 * methods[i]. `scene`, one of the plan's, gives kernel, d and n. */
nb_status nb_calibrate_picks(const nb_plan *plan, int scene, int count, const nb_error_method *const *methods,
                             double limit_s, nb_tried *tried, nb_ctx *ctx);

/* Finds bounds of a power from the seconds of two tries, the second of twice the size: within one of a guess, which is
 * used alone if the tries are too quick to be timed. */
void nb_growth(double once_s, double doubled_s, double guess, double *least, double *most);

#endif
