/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernel_ridge_fit.h - what interpolates a head's exact outputs: landmarks of keys, and values at them, by kernel ridge
 * regression. attentions/kernel_ridge.c has the formulas, computes the exact rows and the outputs of all queries. */
#ifndef NB_KERNEL_RIDGE_FIT_H
#define NB_KERNEL_RIDGE_FIT_H

#include "base/random.h"
#include "layers/near.h"

enum { NB_MOST_RIDGES = 8 };
enum { NB_SAMPLE_BY_RECEIVED, NB_SAMPLE_UNIFORM }; /* how keys are sampled */
enum { NB_NEAR_NONE, NB_NEAR_WINDOW, NB_NEAR_TOP, NB_NEAR_BOTH, NB_NEAR_AUTO, NB_NEAR_EQUAL };

/* The options of kernel_ridge, which describes them. */
typedef struct {
    int landmarks, rows, queries, keys, init, batches, sampling, weighted, counts, mass, prior, normalised, ridges;
    int near, window, top, grid;
    double ridge, tolerance, limit;
} nb_kernel_ridge_options;

/* Sizes that follow from options and shape, of the heads of one kind where these differ. */
typedef struct {
    const nb_kernel_ridge_options *o;
    const nb_layer_shape *shape;
    int k, m, queries, keys, ridges, groups;
    int first;             /* rows of R from which a head's kind is chosen, group 0 of them; 0: no kind is */
    int near_rows;         /* of these and those that follow, which heads with near keys have alone */
    int probes;            /* random queries at which errors are measured; 0: two fits are not compared */
    bool plain, with_near; /* a head has no near keys, or may have none; has them, or may have them */
    bool with_tokens;      /* centres have the places of tokens */
    int top;               /* 0: none */
    nb_neighbourhood near; /* whether there is a window, and the blocks */
} nb_kernel_ridge_plan;

/* What one head computes. The members behind `weight` and before `near` are used with near keys alone. */
typedef struct {
    /* d x (k + probes), dv x (k + probes): queries, those of the probes behind the centres, and exact outputs */
    nb_scalar *centres, *outputs;
    /* n x groups of rows: weighted sums of a group's rows of R where the plan is plain; behind them, the same without
     * near keys where it has some */
    nb_scalar *received;
    nb_scalar *landmarks;     /* d x m */
    nb_scalar *values;        /* (dv + 1) x m: e^b_c times what a query gets of cluster c, and e^b_c; near: dv x m */
    double *weight;           /* k; behind them those of the near_rows where there are no other rows */
    int *tokens;              /* k + probes: the probes, and what is nearest to the centres, for a window */
    int *strongest;           /* top x k */
    int *group, *counts;      /* n, m: each key's landmark, and how many keys each has */
    int *owner, *order;       /* n: each query's nearest centre; the queries by these */
    int *probe_owner;         /* probes: their nearest centres */
    int *exactly, exact;      /* n: queries that are attended to exactly, and how many */
    nb_scalar *bias;          /* m: b */
    nb_scalar *largest, *sum; /* n */
    int kind;                 /* its plan, among those of the kinds */
    bool near;                /* it has near keys */
    double select_s;
    bool diverged;
    nb_status status;
    char reason[200];
} nb_kernel_ridge_head;

/* Draws queries and clusters them: sets the centres and weights, the probes and the tokens. `stream` is the pass's. Of
 * the clusters the near_rows are spread evenly over all, and the first over these. */
nb_status nb_kernel_ridge_choose_rows(const nb_kernel_ridge_plan *plan, const nb_stream *stream, const nb_scalar *q,
                                      nb_kernel_ridge_head *head, nb_ctx *ctx);

/* Sets *first and returns the count of the rows of R in a group of them. */
int nb_kernel_ridge_group(const nb_kernel_ridge_plan *plan, int group, int *first);

/* Returns the block of exact query i. */
int nb_kernel_ridge_block(const nb_kernel_ridge_plan *plan, const nb_kernel_ridge_head *head, int i);

/* Returns what a group of rows of R gives to the n keys, which a plain plan has, or to those that are not near. */
nb_scalar *nb_kernel_ridge_received(const nb_kernel_ridge_plan *plan, const nb_kernel_ridge_head *head, bool far,
                                    int group);

/* Sets landmarks, values and all that follows, from the outputs at the centres and what keys receive there. Outputs
 * that are not finite set `diverged`. `near`: a thread's room, with near keys. */
nb_status nb_kernel_ridge_fit(const nb_kernel_ridge_plan *plan, const nb_stream *stream, const nb_layer_head *points,
                              nb_kernel_ridge_head *head, nb_near_room *near, nb_ctx *ctx);

nb_far nb_kernel_ridge_far(const nb_kernel_ridge_plan *plan, const nb_kernel_ridge_head *head);

/* Multiplications of a fit with or without near keys, but for k-means: those of its products and inverses, and those of
 * its loops. */
double nb_kernel_ridge_fit_work(const nb_kernel_ridge_plan *plan, bool near);
double nb_kernel_ridge_loop_work(const nb_kernel_ridge_plan *plan, bool near);

#endif
