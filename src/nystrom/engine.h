/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine.h - measures the cells of one instance, all that share a scene together.
 *
 * streamed: one pass over S for all factor pairs (streamed.c); with `sample`, k
 *           rows of S instead of all (sampled.c).
 * direct:   S, F X B and their difference are formed (direct.c): slow, and
 *           independent of the algebra that makes the other fast. */
#ifndef NB_ENGINE_H
#define NB_ENGINE_H

#include "nystrom/approximation.h"
#include "nystrom/projection.h"

typedef enum { NB_STREAMED, NB_DIRECT, NB_ENGINE_COUNT } nb_engine_kind;
typedef enum { NB_DOUBLE, NB_MIXED, NB_PRECISION_COUNT } nb_precision;
extern const char *const nb_engine_names[], *const nb_precision_names[]; /* NULL-terminated */

typedef struct {
    nb_engine_kind engine;
    nb_precision precision;
    int sample;        /* k rows; 0: all */
    const int *tokens; /* those rows, k distinct in ascending order; NULL: all */
    unsigned wanted;   /* NB_WANT_* */
    const int *order;  /* of all n tokens, for cores that look at rows of S; NULL: none does */
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
    int seen;             /* so many rows, the first of the order, the core has looked at */
    bool keep_rows;       /* they are returned exactly: then all is measured of those rows of S, and F X B elsewhere */
    const char *failure;  /* why it could not be measured; NULL: it was */
    const char *note;     /* which measures it lacks, since the spectrum of S could not be had; NULL: none */
    nb_measures measures; /* all but the times; not finite entries of F X B leave error not finite */
    double entry_noise;   /* the engine's: entries of F X B from - this on may be rounding of 0 */
} nb_request;

typedef struct {          /* seconds that a preparation took, for benchmarks */
    double form_s;        /* F, A and B */
    double orthonormal_s; /* Q_F and Q_B */
    double svd_s;         /* of the A */
    double pass_s, second_pass_s;
} nb_engine_times;

/* Under a kernel whose rows are not distributions, entropy_difference and
 * rowsum_deviation stay NaN. */

/* Factors and all that their cores share. Memory is ctx's. A pair that fails
 * does not stop the others. */
nb_status nb_engine_prepare(nb_scene *scene, const nb_how *how, int count, nb_pair *pairs, nb_engine_times *times,
                            nb_ctx *ctx);

/* Of Q_F and Q_B that are prepared together. */
enum { NB_BATCH_BYTES = 1 << 30 };

/* How many pairs from the first one on may be prepared together: as many as have
 * bases of NB_BATCH_BYTES, one pair at least. `m` are their landmarks. */
int nb_engine_batch(int n, int count, const int *m);

/* Bytes of a request of m landmarks: its X, and C where that is kept. */
size_t nb_engine_request_bytes(const nb_how *how, int m);

/* Bytes of the requests that are worth measuring together: many where S is looked at
 * again for all of them, none where not. */
size_t nb_engine_together(const nb_how *how);

nb_status nb_engine_measure(nb_scene *scene, const nb_how *how, int count, nb_request *requests, nb_ctx *ctx);

#endif
