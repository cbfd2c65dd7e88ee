/* SPDX-License-Identifier: GPL-3.0-or-later */
/* row_sample.h - k exact rows of the kernel against all keys, of tokens (rows of S) or of other points, which a method
 * may read and stay linear in n. k n d multiplications. */
#ifndef NB_ROW_SAMPLE_H
#define NB_ROW_SAMPLE_H

#include "nystrom/scene.h"

#include <gsl/gsl_rng.h>
#include <stdint.h>

typedef struct {
    int count;             /* k */
    const double *rows;    /* n x k: column i is the row of the kernel of point i, against all keys */
    const double *points;  /* d x k: the queries that the rows belong to */
    const double *weights; /* k: how many of the head's queries each stands for */
    const int *tokens;     /* k, ascending: the tokens of these queries; NULL: they are no tokens' queries */
} nb_row_sample;

/* Returns the random order of the scene's tokens in one trial, which all readers of rows of S share: a sample is its
 * beginning. ctx owns `order` (n). */
nb_status nb_scene_order(const nb_scene *scene, uint64_t seed, int trial, const int **order, nb_ctx *ctx);

/* Takes the rows of the first k <= n tokens of `order`, with S's mask, each of weight 1. */
nb_status nb_row_sample_tokens(const nb_scene *scene, int k, const int *order, nb_row_sample *sample, nb_ctx *ctx);

/* Takes the rows of the means of k <= n groups of queries, found by k-means with one start and at most 5 iterations;
 * the weights are the groups' sizes. About 6 k n d multiplications for the k-means. NB_EINVAL under a mask, where a
 * mean has no position. */
nb_status nb_row_sample_centres(const nb_scene *scene, int k, gsl_rng *rng, nb_row_sample *sample, nb_ctx *ctx);

/* Adds to sums (n) what each key receives from the rows: the weighted sum of its entries' absolute values, or of their
 * squares. */
void nb_row_sample_sums(const nb_row_sample *sample, int n, bool squares, double *sums);

/* *out <- the rows, n x k, times the roots of their weights; rows of tokens, of weight 1, are returned without a
 * copy. */
nb_status nb_row_sample_weigh(const nb_row_sample *sample, int n, const double **out, nb_ctx *ctx);

/* Computes a substitute for columns of S when only k of them may be read: the kernel of all queries against the keys of
 * tokens[0] < ... < tokens[k-1], k x n, a query a column, with S's mask; zeros for a query that sees none of them. For
 * softmax each query's entries sum to 1 over these keys, so each is in proportion to its entry in S. k n d. */
nb_status nb_scene_some_columns(const nb_scene *scene, int k, const int *tokens, double *out, nb_ctx *ctx);

#endif
