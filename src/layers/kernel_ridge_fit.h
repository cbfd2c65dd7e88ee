/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernel_ridge_fit.h - what interpolates a head's exact outputs: landmarks of keys, and values at them, by kernel ridge
 * regression. attentions/kernel_ridge.c has the formulas, computes the exact rows and the outputs of all queries. */
#ifndef NB_KERNEL_RIDGE_FIT_H
#define NB_KERNEL_RIDGE_FIT_H

#include "base/random.h"
#include "layers/near.h"

enum { NB_MOST_RIDGES = 8 };
enum { NB_SAMPLE_BY_RECEIVED, NB_SAMPLE_UNIFORM }; /* how keys are sampled */
enum { NB_NEAR_NONE, NB_NEAR_WINDOW, NB_NEAR_TOP, NB_NEAR_BOTH, NB_NEAR_AUTO, NB_NEAR_KINDS = NB_NEAR_AUTO };

/* The options of kernel_ridge, which describes them. */
typedef struct {
    int landmarks, rows, queries, keys, init, batches, sampling, weighted, counts, mass, prior, normalised, ridges;
    int near, window, top, grid;
    double ridge;
} nb_kernel_ridge_options;

/* Sizes that follow from options and shape. */
typedef struct {
    const nb_kernel_ridge_options *o;
    const nb_layer_shape *shape;
    int k, m, queries, keys, ridges, groups;
    bool with_near;
    int kinds;             /* of near keys that a head chooses from; 1: there is no choice */
    int top;               /* 0: none */
    nb_neighbourhood near; /* whether there is a window, and the blocks */
} nb_kernel_ridge_plan;

/* What one head computes. The members behind `weight` and before `kind` are used with near keys alone. */
typedef struct {
    nb_scalar *centres, *outputs; /* d x k; dv x k */
    nb_scalar *received;          /* n x groups of rows x kinds: weighted sums of a group's rows of S */
    nb_scalar *landmarks;         /* d x m */
    nb_scalar *values; /* (dv + 1) x m: e^b_c times what a query gets of cluster c, and e^b_c; with near keys dv x m */
    double *weight;    /* k */
    int *tokens;       /* k: those nearest to the centres, for a window */
    int *strongest;    /* top x k */
    int *group, *counts;      /* n, m: each key's landmark, and how many keys each has */
    int *owner, *order;       /* n: each query's nearest centre; the queries by these */
    nb_scalar *bias;          /* m: b */
    nb_scalar *largest, *sum; /* n */
    int kind;                 /* of near keys */
    double select_s;
    bool diverged;
    nb_status status;
    char reason[200];
} nb_kernel_ridge_head;

/* Kinds of near keys. */
bool nb_kernel_ridge_has_window(int kind);
bool nb_kernel_ridge_has_top(int kind);
nb_kernel_ridge_plan nb_kernel_ridge_plan_with(const nb_kernel_ridge_plan *plan,
                                               int kind); /* of a head with this kind */

/* Draws queries and clusters them: sets the centres, tokens and weights. `stream` is the pass's. */
nb_status nb_kernel_ridge_choose_rows(const nb_kernel_ridge_plan *plan, const nb_stream *stream, const nb_scalar *q,
                                      nb_kernel_ridge_head *head, nb_ctx *ctx);

/* Returns the block of exact query i, and what a group of rows of R gives to the n keys, but those of a kind. */
int nb_kernel_ridge_block(const nb_kernel_ridge_plan *plan, const nb_kernel_ridge_head *head, int i);
nb_scalar *nb_kernel_ridge_received(const nb_kernel_ridge_plan *plan, const nb_kernel_ridge_head *head, int kind,
                                    int group);

/* Sets landmarks, values and all that follows, from the outputs at the centres and what keys receive there. Outputs
 * that are not finite set `diverged`. `near`: a thread's room, with near keys. */
nb_status nb_kernel_ridge_fit(const nb_kernel_ridge_plan *plan, const nb_stream *stream, const nb_layer_head *points,
                              nb_kernel_ridge_head *head, nb_near_room *near, nb_ctx *ctx);

nb_far nb_kernel_ridge_far(const nb_kernel_ridge_plan *plan, const nb_kernel_ridge_head *head);

/* How often b is corrected, and the multiplications of a head's loops beside products, its inverses and k-means. */
int nb_kernel_ridge_corrections(const nb_kernel_ridge_plan *plan);
double nb_kernel_ridge_loop_work(const nb_kernel_ridge_plan *plan);

#endif
