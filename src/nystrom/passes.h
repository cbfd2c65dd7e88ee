/* SPDX-License-Identifier: GPL-3.0-or-later */
/* passes.h - passes over S from top to bottom, and what is computed in them.
 *
 * S is formed by stripes of rows, and whole only if it is small (n <= 4096) or asked for. It is held by rows: column i
 * of an array is row i of S. If the kernel gives factors of S, results that follow from them take no pass. */
#ifndef NB_PASSES_H
#define NB_PASSES_H

#include "linalg/linalg.h"
#include "nystrom/scene.h"

/* Returns the rows of a stripe, chosen so that all stripes are about equal and the last is no sliver. */
int nb_stripe_rows(int n);

typedef struct {
    int first, count; /* rows first ... first + count - 1 of S */
    int keys;         /* entries from here on are 0 by the mask */
    int ld;
    const double *values; /* ld x count: column i is row first + i; only its first `keys` entries may be read */
} nb_stripe;

typedef nb_status nb_stripe_fn(void *self, const nb_stripe *stripe, nb_ctx *ctx);

/* Makes one pass over S: calls `each` with stripe after stripe, from the top. */
nb_status nb_scene_pass(nb_scene *scene, nb_stripe_fn *each, void *self, nb_ctx *ctx);

/* Returns the least number of entries that a stripe of a pass may read; infinity if there is no pass. */
double nb_scene_least_stripe(const nb_scene *scene);

/* out <- op(S) v, both n x b, in one pass. */
nb_status nb_scene_product(nb_scene *scene, nb_op op, int b, const double *v, double *out, nb_ctx *ctx);

nb_status nb_scene_rows(nb_scene *scene, const double **rows, nb_ctx *ctx); /* S whole, n x n, kept */
nb_status nb_scene_norm(nb_scene *scene, double *norm, nb_ctx *ctx);        /* |S|_F */
nb_status nb_scene_sums(nb_scene *scene, const double **of_rows, const double **of_columns, nb_ctx *ctx); /* n each */

/* Computes S V by rows, dv x n; the head must have V. */
nb_status nb_scene_output(nb_scene *scene, const double **output, nb_ctx *ctx);

/* Computes the mean over rows of -sum p ln(p + 1e-9), p > 0. */
nb_status nb_scene_entropy(nb_scene *scene, double *entropy, nb_ctx *ctx);

/* Computes |S - c|_F / |S|_F, c the mean of S: 1/n if rows sum to 1. */
nb_status nb_scene_baseline_mean(nb_scene *scene, double *error, nb_ctx *ctx);

#endif
