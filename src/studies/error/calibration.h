/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibration.h - how long strategies take, from tries of at most two seconds. CPU time is counted if the process did
 * not wait, and the least of several tries is taken, since other programs can make a try longer by any factor. */
#ifndef NB_CALIBRATION_H
#define NB_CALIBRATION_H

#include "studies/error/cost.h"

enum { NB_TRIED_REASON = 1024 };

typedef struct { /* of one strategy */
    const nb_choice *strategy;
    int n, m, large_n, large_m;
    double seconds;  /* least, for m of n; NaN: there was no time, or it refused, failed or crashed */
    double large_s;  /* the same for large_m of large_n */
    bool unfinished; /* the one try was not done after `seconds` */
    double n_least, n_most, m_least, m_most; /* by which powers of n and m its time may grow */
    char reason[NB_TRIED_REASON];            /* why `seconds` is NaN, or `unfinished`: a message, cleaned; else "" */
} nb_tried;

/* Lets the strategy of each method pick landmarks of random points, few of a few hundred and as many as in the plan
 * of at most two thousand, in a process of their own that ends after limit_s; what it prints is lost. tried[i] is of
 * methods[i]. `scene` is one of the plan's: its kernel, d and n are taken. */
nb_status nb_calibrate_picks(const nb_plan *plan, int scene, int count, const nb_error_method *const *methods,
                             double limit_s, nb_tried *tried, nb_ctx *ctx);

/* The bounds of a power, from the seconds of two tries, the second of twice the size:
 * within one of a guess, which itself holds for what is too quick to be timed. */
void nb_growth(double once_s, double doubled_s, double guess, double *least, double *most);

#endif
