/* SPDX-License-Identifier: GPL-3.0-or-later */
/* agreement.h - measures whether two columns of n values put things in the same order. Values may be infinite;
 * NB_ENUMERIC for NaN. Results that are undefined, as for a column of equal values, are NaN. */
#ifndef NB_AGREEMENT_H
#define NB_AGREEMENT_H

#include "base/ctx.h"

typedef struct {
    double value; /* -1 ... 1 */
    double p;     /* two-sided p of no association */
} nb_agreement;

/* Computes Spearman's rho, Pearson's correlation of the midranks (Spearman, Am. J. Psychol. 15, 1904); p by rho sqrt((n
 * - 2) / (1 - rho^2)) as Student's t with n - 2 degrees of freedom, which is rough for n below 10. */
nb_status nb_spearman(int n, const double *x, const double *y, nb_agreement *rho, nb_ctx *ctx);

/* Computes tau-b = (C - D) / sqrt((C + D + X) (C + D + Y)), with C pairs in the same order, D in opposite order, and X
 * and Y tied in x or in y alone (Kendall, Biometrika 33, 1945). p is exact, P(|D - mean| >= |d - mean|) over all
 * orders, if there are no ties and n <= NB_EXACT_ORDERS; else C - D is taken as normal, with its variance given the
 * ties (Kendall, Rank correlation methods, 1970, section 4.4). O(n^2), for p at most O(n^3). */
enum { NB_EXACT_ORDERS = 200 };
nb_status nb_kendall(int n, const double *x, const double *y, nb_agreement *tau, nb_ctx *ctx);

#endif
