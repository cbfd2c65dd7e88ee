/* SPDX-License-Identifier: GPL-3.0-or-later */
/* holm.h - Holm's steps (statistics/multiple.h) of tests in any order. */
#ifndef NB_HOLM_H
#define NB_HOLM_H

#include "statistics/multiple.h"

#include <math.h>

/* adjusted (n) <- p by Holm. A p of NaN is no test: it does not count, and stays NaN. */
static inline void adjust_by_holm(int n, const double *p, double *adjusted)
{
    nb_holm_steps steps = {.left = 0};
    for (int i = 0; i < n; i++) {
        adjusted[i] = NAN;
        steps.left += !isnan(p[i]);
    }
    while (steps.left > 0) {
        int least = -1;
        for (int i = 0; i < n; i++)
            if (!isnan(p[i]) && isnan(adjusted[i]) && (least < 0 || p[i] < p[least])) least = i;
        adjusted[least] = nb_holm_next(&steps, p[least]);
    }
}

#endif
