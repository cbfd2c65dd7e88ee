/* SPDX-License-Identifier: GPL-3.0-or-later */
/* friedman.h - compares K methods on N blocks (data sets, sources) by their ranks in each. Demsar, J. Mach. Learn. Res.
 * 7, 2006, shows how these tests are used together. */
#ifndef NB_FRIEDMAN_H
#define NB_FRIEDMAN_H

#include "base/ctx.h"

/* Results of the tests; NaN if there is one block or one method. */
typedef struct {
    double chi2, p; /* K - 1 degrees of freedom; 0 and 1 if all methods are tied in all blocks */
    double w;       /* Kendall's coefficient of concordance, chi2 / (N (K - 1)): 1 if all blocks agree */
    double f, f_p;  /* (N - 1) w / (1 - w), with K - 1 and (K - 1) (N - 1) degrees of freedom (Iman & Davenport, Commun.
                    * Stat. Theory Methods 9, 1980), nearer to its level than chi2; inf and 0 where w is 1 */
} nb_friedman;

/* Tests the midranks r_ij in block i of table (N x K, block after block), 1 for the least, with sums R_j (Friedman, J.
 * Am. Stat. Assoc. 32, 1937): chi2 = (K - 1) sum_j (R_j - N (K + 1) / 2)^2 / sum_ij (r_ij - (K + 1) / 2)^2, which is
 * corrected for ties. mean_ranks (K) <- R_j / N. NB_ENUMERIC for NaN. */
nb_status nb_friedman_test(int blocks, int methods, const double *table, double *mean_ranks, nb_friedman *test,
                           nb_ctx *ctx);

/* Returns P(range of `count` independent standard normal numbers >= range): the studentised range with infinitely many
 * degrees of freedom, 1 - K integral phi(z) (Phi(z + range) - Phi(z))^(K-1) dz, within 1e-13. */
double nb_range_p(int count, double range);

/* Nemenyi's test of all pairs of methods: returns the difference of two mean ranks that has p = alpha, q sqrt(K (K + 1)
 * / (6 N)), with q the range of that p over sqrt(2). NaN for K below 2 or N below 1. */
double nb_nemenyi_difference(int blocks, int methods, double alpha);

#endif
