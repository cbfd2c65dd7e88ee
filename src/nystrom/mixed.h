/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mixed.h - P = Q_B' S' in single precision, how far that puts M off, and which M must be computed in double. */
#ifndef NB_MIXED_H
#define NB_MIXED_H

#include "nystrom/batch.h"

extern const double nb_mixed_promise; /* relative, of each measure that comes from single precision */

typedef struct { /* one pass for the views that are `todo` */
    const nb_batch *of;
    int reach;       /* columns of Q_B and zeros behind them that the products may have rows of P for */
    double *product; /* reach x NB_STRIPE: P */
    int *column;     /* by block: where it begins in q32 and product32; at last their width but for the zeros behind */
    float *q32, *s32, *product32; /* n x width, n x NB_STRIPE, NB_STRIPE x width */
    int heavy;                    /* keys that are 0 in s32, */
    size_t *keys;                 /* which, */
    double *q_heavy, *s_heavy;    /* their rows of Q_B and columns of the stripe: heavy x reach, heavy x NB_STRIPE */
    int *checks;                  /* NB_STRIPE / NB_CHECKED: the rows of the stripe that are computed in double too, */
    double *likes;                /* for how many rows of their length they stand, */
    double *s_checked;            /* n x NB_STRIPE / NB_CHECKED: what they are, */
    double *q_checked;            /* m x NB_STRIPE / NB_CHECKED for the largest m: their rows of Q_F, */
    double *checked;              /* reach x NB_STRIPE / NB_CHECKED: and rows of P less what they are in double */
} nb_mixed;

/* E of the views is 0 after it. Memory is ctx's. */
nb_status nb_mixed_init(nb_mixed *mixed, nb_batch *batch, nb_ctx *ctx);

/* The stripe is rounded, but for its heavy keys; then come the rows of P that belong to blocks first ... end - 1,
 * for all that are wanted; at last the heavy keys are added to P, and E grows by what the stripe gives of it. */
void nb_mixed_begin(const nb_mixed *mixed, const nb_stripe *stripe);
void nb_mixed_multiply(const nb_mixed *mixed, const nb_stripe *stripe, int first, int end);
void nb_mixed_end(const nb_mixed *mixed, const nb_stripe *stripe);

/* What E says of M, |S|_F = norm. */
void nb_mixed_judge(nb_view *view, double norm);

/* Whether the subspace part, or a core part, may be off by more than is promised. */
bool nb_mixed_misses_subspace(const nb_view *view);
bool nb_mixed_misses_core(const nb_view *view, double core);

/* Bytes of one for n tokens and blocks of this width in single precision. */
double nb_mixed_bytes(double n, double width);

#endif
