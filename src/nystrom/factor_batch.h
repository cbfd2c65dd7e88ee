/* SPDX-License-Identifier: GPL-3.0-or-later */
/* factor_batch.h - the factor pairs that the streamed engine prepares together, and its view of each. */
#ifndef NB_FACTOR_BATCH_H
#define NB_FACTOR_BATCH_H

#include "nystrom/blocks.h"
#include "nystrom/exact_rows.h"
#include "nystrom/projection.h"

enum { NB_CHECKED = 16 }; /* with mixed precision one row in this many is also computed in double */

typedef struct nb_batch nb_batch;

typedef struct { /* nb_pair.own */
    nb_projection p;
    nb_offer offer;
    nb_batch *of;
    int block;
    bool single;            /* M was computed in single precision; relative to |S|, its error is at most about */
    double off_inside, off; /* |<M, dM>|, |dM| */
    double *check;          /* E, m x m (mixed.c) */
    bool differenced;       /* the subspace part was computed as */
    bool todo;              /* takes part in the current pass */
    double residual;        /* sum of squares found by the second pass */
} nb_view;

struct nb_batch {
    nb_scene *scene;
    int count;
    nb_pair *pairs;
    nb_view *views; /* one for each pair */
    nb_blocks blocks;
    const int *order; /* nb_how's */
    nb_ctx *failures; /* owns the texts of pairs that fail while something is to be released */
    nb_engine_times times;
};

/* Computes B, A, Q_B, F and Q_F of all pairs: everything but M and the subspace part. Sets `todo` in views without a
 * failure. ctx owns the memory. */
nb_status nb_batch_new(nb_scene *scene, const nb_how *how, int count, nb_pair *pairs, nb_batch **batch, nb_ctx *ctx);

/* Forms F by rows, m x n, for the pairs whose views are `todo`. */
nb_status nb_batch_form_f(nb_batch *batch, double **f, nb_ctx *ctx);

nb_view *nb_view_of(const nb_request *request);

/* Computes negative_* and entropy_difference, if wanted (NB_WANT_*), of requests whose error is finite. A failure is
 * recorded for all requests of that pair. */
nb_status nb_measure_entries(nb_batch *batch, unsigned wanted, int count, nb_request *requests, nb_ctx *ctx);

/* Projects all views; `precision` applies unless S has factors. */
nb_status nb_batch_project(nb_batch *batch, nb_precision precision, nb_ctx *ctx);

/* Projects the views that are `todo` again, in double. */
nb_status nb_batch_project_again(nb_batch *batch, nb_ctx *ctx);

#endif
