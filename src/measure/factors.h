/* factors.h - what a core sees of the factors of S ~ F X B: A, and its SVD. */
#ifndef NB_FACTORS_H
#define NB_FACTORS_H

#include "base/ctx.h"

typedef struct {
    double *u, *values, *vt; /* A = u diag(values) vt, all m */
} nb_factors_spectrum;

typedef struct {
    int m;
    double *a; /* A, m x m */

    nb_ctx *ctx; /* owns what is cached below */
    nb_factors_spectrum spectrum;
    double svd_s;  /* what the SVD of A took */
    bool svd_used; /* a core asked for it since this was last set to false */
} nb_factors;

/* The SVD of A, computed once for all cores. */
nb_status nb_factors_svd(nb_factors *factors, const nb_factors_spectrum **spectrum, nb_ctx *ctx);

#endif
