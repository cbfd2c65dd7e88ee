/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exact.h - computes softmax(Q K'/sqrt d) V in double precision for some of the queries, as the reference for outputs
 * of attentions. */
#ifndef NB_FORWARD_EXACT_H
#define NB_FORWARD_EXACT_H

#include "layers/team.h"
#include "layers/layer.h"

typedef struct {
    int count;         /* query tokens of each head */
    const int *tokens; /* count: these tokens, ascending, the same in all heads */
    double *out;       /* dv x count for each head */
    double mean_error; /* error (nb_likeness) of the baseline that outputs the mean of the values a query sees */
} nb_exact;

/* Takes all tokens if `most` is at least n, else `most` random ones. ctx owns the memory. n count (d + dv)
 * multiplications a head, and 32 (n + d) doubles a thread. */
nb_status nb_exact_make(const nb_layer *layer, int most, gsl_rng *rng, nb_team *team, nb_exact *exact, nb_ctx *ctx);

/* How close outputs are to the exact ones, over all those tokens and heads. */
typedef struct {
    double error;     /* |O - O_exact|_F / |O_exact|_F */
    double cosine;    /* mean cosine between outputs and exact outputs */
    double mse;       /* mean squared difference of an entry */
    double max_error; /* largest difference of an entry */
    bool finite;      /* false: the other members are NaN */
} nb_likeness;

/* Compares an attention's out (dv x n for each head) with the exact outputs. */
nb_likeness nb_exact_compare(const nb_layer_shape *shape, const nb_exact *exact, const nb_scalar *out);

#endif
