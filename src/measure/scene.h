/* scene.h - one head under one kernel: what costs n^2, computed when first asked
 * for and kept for all cells.
 *
 * S is held by rows: column i of the array is row i of S. */
#ifndef NB_SCENE_H
#define NB_SCENE_H

#include "base/ctx.h"
#include "data/head.h"
#include "kernels/kernel.h"

typedef struct {
    double *values; /* n singular values of S, descending */
    double *left;   /* n x n: row j is the j-th left singular vector (over queries); NULL: values only */
    double *right;  /* n x n: column j is the j-th right singular vector (over keys) */
} nb_spectrum;

typedef struct {
    const nb_head *head;
    const nb_choice *kernel;
    bool vectors;     /* an oracle will ask for singular vectors, so take them with the values */
    nb_ctx *ctx;      /* owns what is cached below */
    double *rows;     /* n x n */
    double norm;      /* |S|_F */
    double baseline_mean;
    double *output;   /* S V by rows, dv x n */
    nb_spectrum spectrum;
    double spectrum_s; /* what the singular vectors took */
    double reused_s;  /* time that was spared since this was last set to 0, by asking again for what was there */
} nb_scene;

/* `head` and `kernel` must outlive the scene, which is freed with ctx's memory. */
nb_status nb_scene_new(const nb_head *head, const nb_choice *kernel, bool vectors, nb_scene **scene, nb_ctx *ctx);

/* k(q, k) for any points of the head's dimension, without a mask; out is
 * keys x queries. */
nb_status nb_scene_kernel(const nb_scene *scene, int queries, const double *q, int keys, const double *k, double *out,
                          nb_ctx *ctx);

nb_status nb_scene_rows(nb_scene *scene, const double **rows, nb_ctx *ctx);          /* S, n x n */
nb_status nb_scene_norm(nb_scene *scene, double *norm, nb_ctx *ctx);                 /* |S|_F */
nb_status nb_scene_singular_values(nb_scene *scene, const double **values, nb_ctx *ctx);
nb_status nb_scene_singular_vectors(nb_scene *scene, const nb_spectrum **spectrum, nb_ctx *ctx);

nb_status nb_scene_output(nb_scene *scene, const double **output, nb_ctx *ctx);      /* S V by rows, dv x n; the head must have V */

/* |S - S_m|_F / |S|_F, S_m the best matrix of rank m (Eckart & Young 1936). */
nb_status nb_scene_floor_rank(nb_scene *scene, int m, double *floor, nb_ctx *ctx);
/* |S - 1/n|_F / |S|_F, the constant matrix. */
nb_status nb_scene_baseline_mean(nb_scene *scene, double *error, nb_ctx *ctx);

#endif
