/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scene.h - one head under one kernel: what costs n^2, computed when first asked
 * for and kept for all cells.
 *
 * S is formed by stripes of rows, never whole, but where it is small (n <= 4096)
 * or somebody asks for it. It is held by rows: column i of an array is row i of S.
 * Where the kernel gives factors of S, what follows from them takes no pass. */
#ifndef NB_SCENE_H
#define NB_SCENE_H

#include "base/ctx.h"
#include "data/head.h"
#include "kernels/kernel.h"
#include "linalg/linalg.h"
#include "nystrom/watch.h"

#include <stdint.h>

enum { NB_STRIPE = 512 }; /* rows a stripe, at most: fixed, since sums depend on it in the last bits */

/* Rows a stripe of n: as many as make all stripes alike, so that the last is no sliver. */
int nb_stripe_rows(int n);

typedef struct {
    int first, count; /* rows first ... first + count - 1 of S */
    int keys;         /* their entries from here on are 0, by the mask */
    int ld;
    const double *values; /* ld x count: column i is row first + i; only its first `keys` entries may be read */
} nb_stripe;

typedef nb_status nb_stripe_fn(void *self, const nb_stripe *stripe, nb_ctx *ctx);

typedef struct {
    const char *failure;          /* why there is none, which whoever asks again is told at once; NULL: there is */
    int count;                    /* triplets, the largest of S */
    double *values;               /* descending */
    double *left, *right;         /* n x count, columns: over queries, over keys; NULL: values only */
    double *tail;                 /* count + 1: tail[m] is the sum of the squared values after the first m ... */
    double *tail_accuracy;        /* ... and too large by at most that, rounding left out */
    int asked;                    /* the number of triplets that it was made for; n: all */
    bool values_too, vectors_too; /* whom it serves: block Krylov's triplets both */
    bool summed;                  /* the tail is a sum of small values, not what is left of |S|_F^2 */
    double residual;              /* |S'u - s v| / s_1 of the triplets, at most */
    double time_s;                /* what it took */
} nb_spectrum;

/* What to take along in the first pass over S; anything else costs a pass of its own. */
enum { NB_SCENE_OUTPUT = 1 << 0, NB_SCENE_ENTROPY = 1 << 1 };

typedef struct nb_scene {
    const nb_head *head; /* under a kernel of one point set: with q = k */
    const nb_choice *kernel;
    const void *options; /* the kernel's, resolved for this head */
    /* Foresight, to be set before the first question. */
    unsigned along;      /* NB_SCENE_* */
    nb_low_rank factors; /* of S, where the kernel has them and they are thin; rank = 0: none, or not to be used */
    bool keep;           /* S is kept once it is formed; at first: where n is at most 4096, 128 MiB */

    nb_ctx *ctx;       /* owns what is cached below */
    int *positions;    /* 0 ... n-1 */
    double *rows;      /* S, n x n, or NULL: not kept */
    bool formed;       /* `rows` is filled */
    unsigned gathered; /* what is known of the following */
    double norm, baseline_mean, entropy;
    double *row_sums, *column_sums; /* n */
    double *output;                 /* S V by rows, dv x n */
    double *stacked;                /* the tokens' [q; k], 2d x n */
    double *united;                 /* the queries, then the keys, d x 2n */
    int spectrum_count;
    nb_spectrum **spectra;
    double exact_s;  /* 0: not measured yet */
    nb_watch *watch; /* who is told what is kept from now on, or NULL */
    struct {
        const void *bytes;
        uint64_t sum;
    } known[5];      /* checksums of Q, K, V, [Q; K] and both in one set (calls/guard.h) */
    double reused_s; /* time that was spared since this was last set to 0, by asking again for what was there */
} nb_scene;

/* `head` and `kernel` must outlive the scene, which is freed with ctx's memory.
 * NB_EINVAL for a causal head under a kernel that has no mask. */
nb_status nb_scene_new(const nb_head *head, const nb_choice *kernel, nb_scene **scene, nb_ctx *ctx);

/* k(q, k) for any points of the head's dimension, without a mask; out is
 * keys x queries. */
nb_status nb_scene_kernel(const nb_scene *scene, int queries, const double *q, int keys, const double *k, double *out,
                          nb_ctx *ctx);

/* Rows tokens[0] ... tokens[count-1] of S, with its mask; out is n x count. */
nb_status nb_scene_some_rows(const nb_scene *scene, int count, const int *tokens, double *out, nb_ctx *ctx);

/* The least number of entries that a stripe of a pass may read, of no pass: infinity. */
double nb_scene_least_stripe(const nb_scene *scene);

/* One pass over S: `each` sees stripe after stripe, from the top. */
nb_status nb_scene_pass(nb_scene *scene, nb_stripe_fn *each, void *self, nb_ctx *ctx);

/* out <- op(S) v, n x b: one pass. */
nb_status nb_scene_product(nb_scene *scene, nb_op op, int b, const double *v, double *out, nb_ctx *ctx);

nb_status nb_scene_stacked(nb_scene *scene, const double **stacked, nb_ctx *ctx); /* the tokens' [q; k], 2d x n */
nb_status nb_scene_united(nb_scene *scene, const double **united, nb_ctx *ctx); /* the queries, then the keys, d x 2n */
nb_status nb_scene_rows(nb_scene *scene, const double **rows, nb_ctx *ctx);     /* S whole, n x n, kept */
nb_status nb_scene_norm(nb_scene *scene, double *norm, nb_ctx *ctx);            /* |S|_F */
nb_status nb_scene_sums(nb_scene *scene, const double **of_rows, const double **of_columns, nb_ctx *ctx); /* n each */
nb_status nb_scene_output(nb_scene *scene, const double **output,
                          nb_ctx *ctx); /* S V by rows, dv x n; the head must have V */
nb_status nb_scene_entropy(nb_scene *scene, double *entropy,
                           nb_ctx *ctx); /* mean over rows of -sum p ln(p + 1e-9), p > 0 */

/* Seconds of exact attention in this program, on one core: S formed row by row, and S V (S K
 * where the head has no V), timed on rows with 2^20 entries, or all, and scaled to n. */
nb_status nb_scene_exact_s(nb_scene *scene, double *seconds, nb_ctx *ctx);

/* At least the `count` <= n largest singular triplets of S: 64, 128, 256 ..., so
 * that what a row shows depends neither on the order of questions nor on other
 * rows. LAPACK's, all of them, for n <= 512 and where `count` is more than a tenth
 * of n; else block Krylov's, whose residuals are below 1e-7. Asked for values
 * alone, LAPACK computes them in another way, whose last bits differ: so they never
 * come from a decomposition with vectors, and left and right may be NULL. */
nb_status nb_scene_singular_values(nb_scene *scene, int count, const nb_spectrum **spectrum, nb_ctx *ctx);
nb_status nb_scene_singular_vectors(nb_scene *scene, int count, const nb_spectrum **spectrum, nb_ctx *ctx);

/* |S - S_m|_F / |S|_F, S_m the best matrix of rank m (Eckart & Young 1936), and
 * by how much that may be off: it is not below 1e-8 by block Krylov. */
nb_status nb_scene_floor_rank(nb_scene *scene, int m, double *floor, double *accuracy, nb_ctx *ctx);
/* |S - c|_F / |S|_F, c the mean of S: 1/n where rows sum to 1. */
nb_status nb_scene_baseline_mean(nb_scene *scene, double *error, nb_ctx *ctx);

#endif
