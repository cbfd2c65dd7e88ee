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

#endif
