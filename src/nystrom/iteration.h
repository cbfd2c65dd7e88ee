/* SPDX-License-Identifier: GPL-3.0-or-later */
/* iteration.h - iterations X <- X p(A X) towards the inverse of A, p a polynomial. */
#ifndef NB_ITERATION_H
#define NB_ITERATION_H

#include "nystrom/factors.h"

enum { NB_MOST_TERMS = 10 };

typedef struct {
    const char *name;                   /* identifies its cached results */
    int terms;                          /* number of coefficients of p */
    double coefficients[NB_MOST_TERMS]; /* c_0 + c_1 y + ... */
    bool of_residual;                   /* p is a polynomial in y = I - A X instead of y = A X */
    double region;                      /* it converges if every p = s x of X_0 is in [0, region) */
} nb_iteration;

/* Nystromformer's iteration of third order, X <- X (13 I - A X (15 I - A X (7 I - A X))) / 4: y - y p(y) = y (y - 1) (y
 * - 3)^2 / 4. */
#define NB_NYSTROMFORMER .terms = 4, .coefficients = {3.25, -3.75, 1.75, -0.25}, .region = 3

typedef enum { NB_START_PAPER, NB_START_EXACT, NB_START_WORST, NB_START_GIVEN, NB_START_BATCH } nb_iteration_start;
extern const char *const nb_start_names[]; /* NULL-terminated */
#define NB_START_HELP \
    "X_0 = A' divided by |A|_1 |A|_inf (paper), |A|_1 (exact), m (worst), `scale` (given), or the largest |A|_1 of " \
    "all heads of a layer and its batch, as the official code has it (batch: in forward passes; a head alone is its " \
    "batch)"

typedef struct {
    int start;    /* nb_iteration_start */
    double scale; /* for NB_START_GIVEN */
    int steps;
    double tolerance; /* stop when |X_k+1 - X_k|_F <= tolerance |X_k+1|_F; 0: only after `steps` */
    bool single;      /* compute in single precision */
    bool uncut;       /* note no cut-off, and do not compute the SVD of A */
} nb_iterating;

/* Sets x (m x m) to X after the steps, or NaN if X_0 lies outside the region of convergence. More steps continue from
 * earlier ones on the same factors. Makes all notes; the cut-off is that of the steps made, in exact arithmetic. */
nb_status nb_iterate(nb_factors *factors, const nb_iteration *iteration, const nb_iterating *how, double *x,
                     nb_ctx *ctx);

#endif
