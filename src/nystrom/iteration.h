/* SPDX-License-Identifier: GPL-3.0-or-later */
/* iteration.h - iterations X <- X p(A X) towards the inverse of A, p a polynomial. */
#ifndef NB_ITERATION_H
#define NB_ITERATION_H

#include "nystrom/factors.h"

enum { NB_MOST_TERMS = 10 };

typedef struct {
    const char *name;                   /* of the iteration, for what is kept of it */
    int terms;                          /* of p */
    double coefficients[NB_MOST_TERMS]; /* c_0 + c_1 y + ... */
    bool of_residual;                   /* in y = I - A X instead of y = A X */
    double region; /* it converges where every p = s x of X_0 is in 0 ... region, region left out */
} nb_iteration;

/* Nystromformer's, X <- X (13 I - A X (15 I - A X (7 I - A X))) / 4: of third order; y - y p(y) = y (y - 1) (y -
 * 3)^2 / 4. */
#define NB_NYSTROMFORMER .terms = 4, .coefficients = {3.25, -3.75, 1.75, -0.25}, .region = 3

typedef enum { NB_START_PAPER, NB_START_EXACT, NB_START_WORST, NB_START_GIVEN, NB_START_BATCH } nb_start;
extern const char *const nb_start_names[]; /* NULL-terminated */
#define NB_START_HELP \
    "X_0 = A' divided by |A|_1 |A|_inf (paper), |A|_1 (exact), m (worst), `scale` (given), or the largest |A|_1 of " \
    "all heads of a layer and its batch, as the official code has it (batch: in forward passes; a head alone is its " \
    "batch)"

typedef struct {
    int start;    /* nb_start */
    double scale; /* for NB_START_GIVEN */
    int steps;
    double tolerance; /* ends where |X_k+1 - X_k|_F <= tolerance |X_k+1|_F; 0: after `steps` alone */
    bool single;      /* all of it in single precision */
    bool uncut;       /* no cut-off is noted, nor the SVD of A asked for */
} nb_iterating;

/* x (m x m) after the steps, NaN if X_0 lies outside of the region of convergence. A run of more steps goes on from
 * an earlier one on the same factors. Notes all: the cut-off is that of the steps that were made, in exact
 * arithmetic. */
nb_status nb_iterate(nb_factors *factors, const nb_iteration *iteration, const nb_iterating *how, double *x,
                     nb_ctx *ctx);

#endif
