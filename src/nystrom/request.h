/* SPDX-License-Identifier: GPL-3.0-or-later */
/* request.h - an engine's questions and answers. */
#ifndef NB_REQUEST_H
#define NB_REQUEST_H

#include "nystrom/form_factors.h"
#include "nystrom/measures.h"

typedef enum { NB_STREAMED, NB_DIRECT, NB_ENGINE_COUNT } nb_engine_kind;
typedef enum { NB_DOUBLE, NB_MIXED, NB_PRECISION_COUNT } nb_precision;

typedef struct {
    nb_engine_kind engine;
    nb_precision precision;
    int sample;        /* k rows; 0: all */
    const int *tokens; /* these k rows, distinct and ascending; NULL: all */
    unsigned wanted;   /* NB_WANT_* */
    const int *order;  /* order of all n tokens for readers of rows of S; NULL: nothing reads rows */
} nb_how;

/* One choice of landmarks, the factors made of it, and what the engine found. */
typedef struct {
    const nb_landmarks *landmarks; /* given */
    nb_factors_kind kind;          /* given */
    nb_factors *factors;           /* for the cores */
    const char *failure;           /* why there are no factors; NULL: there are */
    void *own;                     /* private to the engine */
} nb_pair;

typedef struct {
    nb_pair *pair;
    const double *x;      /* m x m, finite */
    nb_rounding rounding; /* the core's notes on it */
    int seen;             /* rows that the core or the strategy has read: the first ... */
    const int *order;     /* ... of all tokens in this order; NULL: in nb_how's */
    /* the approximation returns the seen rows of S exactly and F X B for the others; all measures refer to that
     * matrix */
    bool keep_rows;
    const char *failure;  /* why it could not be measured; NULL: it was */
    const char *note;     /* which measures are missing because the spectrum of S could not be computed; NULL: none */
    nb_measures measures; /* all but the times; entries of F X B that are not finite make the error not finite */
    double entry_noise;   /* set by the engine: entries of F X B above - entry_noise may be rounded zeros */
} nb_request;

typedef struct {          /* seconds that a preparation took, for benchmarks */
    double form_s;        /* F, A and B */
    double orthonormal_s; /* Q_F and Q_B */
    double svd_s;         /* SVD of each A */
    double pass_s, second_pass_s;
} nb_engine_times;

/* Sets the rows that the core or the strategy has read; the core has read the first of `order` (NULL: none). If the
 * core keeps its rows, only these count, and *more says whether the strategy has read others. ctx owns the memory. */
nb_status nb_request_find_seen(nb_request *request, const int *order, bool *more, nb_ctx *ctx);

/* Keeps the ctx's error as the failure of a pair (or a request), and clears it. */
nb_status nb_record_failure(const char **failure, nb_ctx *ctx);

/* The rows of F that are wanted. */
typedef struct {
    const nb_scene *scene;
    int count;
    const int *tokens; /* count; NULL: all n */
} nb_f_rows;

/* Forms F by rows, m x rows->count, of the pairs without a failure: f[i] of pair i, owned by ctx. `wanted`: only of
 * these pairs; NULL: of all. F of `cur` is left to be filled: `columns`, with room for one more than there are pairs
 * and zeroed, gets the list. */
nb_status nb_pairs_form_f(const nb_f_rows *rows, int count, nb_pair *pairs, const bool *wanted, double **f,
                          nb_f_columns *columns, nb_ctx *ctx);

#endif
