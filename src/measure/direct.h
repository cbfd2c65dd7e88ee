/* direct.h - the direct measurement: S, F X B and their difference are formed,
 * by tiles of rows. O(n^2 m) a cell; the reference for whatever is faster. */
#ifndef NB_DIRECT_H
#define NB_DIRECT_H

#include "measure/approximation.h"
#include "measure/measures.h"

/* What all cores of a factor pair share. */
typedef struct {
    nb_scene *scene;
    nb_factors *factors;
    int rank_f, rank_b;
    double *mid;         /* M = Q_F' S Q_B, rank_f x rank_b */
    double *r_f;         /* Q_F' F, rank_f x m */
    double *r_b;         /* Q_B' B', rank_b x m */
    double subspace;     /* |S - Q_F M Q_B'|_F / |S|_F */
    double landmark_rank, landmark_condition;
} nb_direct;

/* Memory is ctx's. */
nb_status nb_direct_prepare(nb_scene *scene, nb_factors *factors, nb_direct *direct, nb_ctx *ctx);

/* `wanted`: NB_WANT_*. All that can be had for the core x (m x m, finite) but the times. Entries of
 * F X B that are not finite leave error not finite. */
nb_status nb_direct_measure(const nb_direct *direct, const double *x, unsigned wanted, nb_measures *out, nb_ctx *ctx);

#endif
