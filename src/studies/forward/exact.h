/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exact.h - softmax(Q K'/sqrt d) V in double precision, for some of the queries: what the outputs of attentions are
 * compared with. */
#ifndef NB_FORWARD_EXACT_H
#define NB_FORWARD_EXACT_H

#include "layers/team.h"
#include "layers/layer.h"

typedef struct {
    int count;         /* query tokens of each head */
    const int *tokens; /* count: which, ascending; the same of all heads */
    double *out;       /* dv x count for each head */
    double mean_error; /* of outputs that are the mean of the values that a query sees, as nb_likeness has it */
} nb_exact;

/* All tokens where `most` is at least n, else so many random ones. Memory is ctx's. n count (d + dv) multiplications
 * a head, and 32 (n + d) doubles a thread. */
nb_status nb_exact_make(const nb_layer *layer, int most, gsl_rng *rng, nb_team *team, nb_exact *exact, nb_ctx *ctx);

/* What outputs are worth, over all those tokens and heads. */
typedef struct {
    double error;     /* |O - O_exact|_F / |O_exact|_F */
    double cosine;    /* mean of those between outputs */
    double mse;       /* mean squared difference of an entry */
    double max_error; /* largest difference of an entry */
    bool finite;      /* else the others are NaN */
} nb_likeness;

/* out (dv x n for each head): an attention's. */
nb_likeness nb_exact_compare(const nb_layer_shape *shape, const nb_exact *exact, const nb_scalar *out);

#endif
