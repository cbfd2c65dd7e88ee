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
    double *log_sums;  /* count for each head: ln of the sum of exp(logit) over the keys that the query sees */
    double *relative;  /* count for each head: scratch of nb_exact_compare */
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
    double error_p99; /* 99th percentile of |o - o_exact| / |o_exact| of an output */
    bool finite;      /* false: the other members are NaN */
} nb_likeness;

/* Compares an attention's out (dv x n for each head) with the exact outputs; exact->relative is overwritten. */
nb_likeness nb_exact_compare(const nb_layer_shape *shape, const nb_exact *exact, const nb_scalar *out);

/* Sums of squares over entries of S, those tokens' rows in all heads. */
typedef struct {
    double difference2, exact2; /* of S - S~, and of S */
} nb_matrix_sums;

enum { NB_EXACT_COLUMNS = 256 }; /* at most, at a time */

/* Adds columns first ... first + count - 1: those of S~ are rows of `out` (rows x n for each head), the last `count` of
 * them. 32 (d + count) doubles a thread, and a head in double precision. */
nb_status nb_exact_add_columns(const nb_layer *layer, const nb_exact *exact, nb_team *team, int first, int count,
                               int rows, const nb_scalar *out, nb_matrix_sums *total, nb_ctx *ctx);

#endif
