/* SPDX-License-Identifier: GPL-3.0-or-later */
/* batch.h - the factor pairs that the streamed engine prepares together, and what it knows
 * of each. */
#ifndef NB_BATCH_H
#define NB_BATCH_H

#include "nystrom/blocks.h"
#include "nystrom/exact_rows.h"
#include "nystrom/projection.h"

enum { NB_CHECKED = 16 }; /* where the precision is mixed each so-manieth row of a stripe is computed in double too */

typedef struct nb_batch nb_batch;

typedef struct { /* nb_pair.own */
    nb_projection p;
    nb_offer offer;
    nb_batch *of;
    int block;
    bool single;            /* M comes from single precision, and its error is, relative to |S|, at most about */
    double off_inside, off; /* |<M, dM>|, |dM| */
    double *check;          /* E, m x m: see mixed.c */
    bool differenced;       /* the subspace part comes from |S|^2 - |M|^2 */
    bool todo;              /* in the pass that runs */
    double residual;        /* sum of squares, of a second pass */
} nb_view;

struct nb_batch {
    nb_scene *scene;
    int count;
    nb_pair *pairs;
    nb_view *views; /* of pairs */
    nb_blocks blocks;
    const int *order; /* nb_how's */
    nb_ctx *failures; /* owns the texts of pairs that fail while something is to be released */
    nb_engine_times times;
};

/* B, A, Q_B, F and Q_F of all pairs: all but M and the subspace part. Views without a failure are `todo`. Memory is ctx's. */
nb_status nb_batch_new(nb_scene *scene, const nb_how *how, int count, nb_pair *pairs, nb_batch **batch, nb_ctx *ctx);

/* F by rows, m x n, of the pairs whose views are `todo`. */
nb_status nb_batch_form_f(nb_batch *batch, double **f, nb_ctx *ctx);

nb_view *nb_view_of(const nb_request *request);

#endif
