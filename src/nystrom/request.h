/* SPDX-License-Identifier: GPL-3.0-or-later */
/* request.h - what an engine is asked, and its answers. */
#ifndef NB_REQUEST_H
#define NB_REQUEST_H

#include "nystrom/approximation.h"
#include "nystrom/measures.h"

typedef enum { NB_STREAMED, NB_DIRECT, NB_ENGINE_COUNT } nb_engine_kind;
typedef enum { NB_DOUBLE, NB_MIXED, NB_PRECISION_COUNT } nb_precision;

typedef struct {
    nb_engine_kind engine;
    nb_precision precision;
    int sample;        /* k rows; 0: all */
    const int *tokens; /* those rows, k distinct in ascending order; NULL: all */
    unsigned wanted;   /* NB_WANT_* */
    const int *order;  /* of all n tokens, for what looks at rows of S; NULL: nothing does */
} nb_how;

/* One choice of landmarks, the factors made of it, and what the engine found. */
typedef struct {
    const nb_landmarks *landmarks; /* given */
    nb_factors_kind kind;          /* given */
    nb_factors *factors;           /* for the cores */
    const char *failure;           /* why there are no factors; NULL: there are */
    void *own;                     /* the engine's */
} nb_pair;

typedef struct {
    nb_pair *pair;
    const double *x;      /* m x m, finite */
    nb_rounding rounding; /* what the core has noted of it */
    int seen;             /* rows that the core or the strategy has looked at: the first ... */
    const int *order;     /* of all tokens in this order; NULL: in nb_how's */
    bool keep_rows;       /* they are returned exactly: all is measured of those rows of S, with F X B elsewhere */
    const char *failure;  /* why it could not be measured; NULL: it was */
    const char *note;     /* which measures it lacks, since the spectrum of S could not be computed; NULL: none */
    nb_measures measures; /* all but the times; not finite entries of F X B leave error not finite */
    double entry_noise;   /* the engine's: entries of F X B from - this on may be rounding of 0 */
} nb_request;

typedef struct {          /* seconds that a preparation took, for benchmarks */
    double form_s;        /* F, A and B */
    double orthonormal_s; /* Q_F and Q_B */
    double svd_s;         /* of the A */
    double pass_s, second_pass_s;
} nb_engine_times;

/* Sets the rows that the core or the strategy has looked at, the former the first of `order` (NULL: none). Where the
 * core's are kept, these alone: *more says whether the strategy has looked at others. Memory is ctx's. */
nb_status nb_request_see(nb_request *request, const int *order, bool *more, nb_ctx *ctx);

/* Keeps the ctx's error as the failure of a pair (or a request), and clears it. */
nb_status nb_keep_failure(const char **failure, nb_ctx *ctx);

/* Rows of F that are wanted. */
typedef struct {
    const nb_scene *scene;
    int count;
    const int *tokens; /* count; NULL: all n */
} nb_f_rows;

/* F by rows, m x rows->count, of the pairs without a failure, new and ctx's: f[i] of pair i. `wanted`: of these
 * pairs alone; NULL: of all. `cur` is yet to be filled: `columns`, one more than there are pairs and 0, lists it. */
nb_status nb_pairs_form_f(const nb_f_rows *rows, int count, nb_pair *pairs, const bool *wanted, double **f,
                          nb_f_columns *columns, nb_ctx *ctx);

#endif
