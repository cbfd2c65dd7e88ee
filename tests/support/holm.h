/* SPDX-License-Identifier: GPL-3.0-or-later */
/* holm.h - Holm's step-down p (Scand. J. Stat. 6, 1979), which the program's rule is held against: of the M tests in
 * ascending order of p, the i-th has max over j <= i of min(1, (M - j + 1) p_j). */
#ifndef NB_HOLM_H
#define NB_HOLM_H

#include <math.h>

/* adjusted (n) <- p by Holm. A p of NaN is no test: it does not count, and stays NaN. */
static inline void adjust_by_holm(int n, const double *p, double *adjusted)
{
    double largest = 0;
    int left = 0;
    for (int i = 0; i < n; i++) {
        adjusted[i] = NAN;
        left += !isnan(p[i]);
    }
    for (; left > 0; left--) {
        int least = -1;
        for (int i = 0; i < n; i++)
            if (!isnan(p[i]) && isnan(adjusted[i]) && (least < 0 || p[i] < p[least])) least = i;
        largest = fmax(largest, fmin(1, left * p[least]));
        adjusted[least] = largest;
    }
}

#endif
