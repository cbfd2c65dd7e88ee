/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mixed.h - computes P = Q_B' S' in single precision, bounds the error of M that this causes, and finds which M must be
 * computed in double. */
#ifndef NB_MIXED_H
#define NB_MIXED_H

#include "nystrom/factor_batch.h"

extern const double nb_mixed_promise; /* largest relative error of each measure that comes from single precision */

typedef struct { /* one pass for the views that are `todo` */
    const nb_batch *of;
    int reach;       /* columns of Q_B including zero padding: the number of rows of P */
    double *product; /* reach x NB_STRIPE: P */
    int *column;     /* by block: its first column in q32 and product32; last, their width without padding */
    float *q32, *s32, *product32; /* n x width, n x NB_STRIPE, NB_STRIPE x width */
    int heavy;                    /* heavy keys, which are 0 in s32 */
    size_t *keys;                 /* the heavy keys */
    double *q_heavy, *s_heavy;    /* their rows of Q_B and columns of the stripe: heavy x reach, heavy x NB_STRIPE */
    int *checks;                  /* NB_STRIPE / NB_CHECKED: rows of the stripe that are also computed in double */
    double *likes;                /* how many rows of the same length each of them stands for */
    double *s_checked;            /* n x NB_STRIPE / NB_CHECKED: these rows */
    double *q_checked;            /* m x NB_STRIPE / NB_CHECKED for the largest m: their rows of Q_F */
    double *checked;              /* reach x NB_STRIPE / NB_CHECKED: their rows of P less the same in double */
} nb_mixed;

/* Prepares a pass and sets E of the views to 0. ctx owns the memory. */
nb_status nb_mixed_init(nb_mixed *mixed, nb_batch *batch, nb_ctx *ctx);

/* For each stripe: nb_mixed_begin rounds it, except its heavy keys; nb_mixed_multiply computes the rows of P of the
 * blocks first ... end - 1, called until all wanted blocks are done; nb_mixed_end adds the heavy keys to P and the
 * stripe's part to E. */
void nb_mixed_begin(const nb_mixed *mixed, const nb_stripe *stripe);
void nb_mixed_multiply(const nb_mixed *mixed, const nb_stripe *stripe, int first, int end);
void nb_mixed_end(const nb_mixed *mixed, const nb_stripe *stripe);

/* Bounds the error of M from E; |S|_F = norm. */
void nb_mixed_judge(nb_view *view, double norm);

/* True if the subspace part, or a core part, may be off by more than is promised. */
bool nb_mixed_misses_subspace(const nb_view *view);
bool nb_mixed_misses_core(const nb_view *view, double core);

/* Returns its bytes for n tokens and blocks of this width in single precision. */
double nb_mixed_bytes(double n, double width);

#endif
