/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kmeans.h - k-means of the columns of a matrix by Lloyd's iteration (IEEE Trans. Inf. Theory 28, 1982): m groups,
 * none empty; at a fixed point neither another group for a point nor other centres lower the inertia.
 *
 * Each iteration assigns every point to its nearest centre, the lowest index among equals, and moves each centre to
 * the mean of its points. Distances are bounded from below in single precision (linalg/bounds.h), n m d multiplications
 * an iteration, less for centres whose group has not changed; those that the bounds leave open are computed in double.
 * An empty group takes the point that is farthest from its centre among those whose group keeps another one. Of several
 * runs the least inertia, the sum of the weighted squared distances, wins.
 *
 * cosine is spherical k-means (Dhillon & Modha, Mach. Learn. 42, 2001): each point's unit vector u goes to the
 * centre of largest cosine u'c, and a centre moves to the direction of its unit vectors' sum. With |u - c|^2 = 2 - 2
 * u'c as the squared distance all else is the same; a zero vector has cosine 0 to every centre. */
#ifndef NB_KMEANS_H
#define NB_KMEANS_H

#include "linalg/scalar.h"

#include <gsl/gsl_rng.h>

/* How the first centres are chosen. The first is drawn uniformly, or by weight. The others are each drawn in proportion
 * to the weighted squared distance from those before; or all drawn uniformly; or each is the farthest from those
 * before. */
typedef enum { NB_KMEANS_PLUSPLUS, NB_KMEANS_RANDOM, NB_KMEANS_MAXIMIN } nb_kmeans_init;
extern const char *const nb_kmeans_inits[]; /* their names; NULL-terminated */

enum { NB_KMEANS_EUCLIDEAN, NB_KMEANS_COSINE };
extern const char *const nb_kmeans_metrics[];

typedef struct {
    int init; /* nb_kmeans_init */
    bool cosine;
    /* 0: NB_KMEANS_PLUSPLUS draws one centre at a time. Else it makes this many draws of several centres each, by the
     * weighted squared distances from the centres of earlier draws, the first by those from the weighted mean */
    int batches;
    int restarts, iterations; /* number of runs, at least one; most iterations of each */
    double tolerance;         /* a run ends when the inertia falls by no more than this fraction; 0: at a fixed point */
    const double *weights;    /* n, all > 0; NULL: equal */
    const double *start;      /* d x m: first centres, or their directions, of the only run; NULL: `init` chooses */
} nb_kmeans_how;

/* For a component that runs k-means: fields of its options, their rows in its table, and the conversion to
 * nb_kmeans_how. */
#define NB_KMEANS_FIELDS \
    int init, metric, restarts, iterations; \
    double tolerance;
#define NB_KMEANS_OPTIONS(T) \
    NB_ENUM( \
        T, init, "plusplus", nb_kmeans_inits, \
        "first centres, of which the first is drawn uniformly: plusplus draws each of the others in proportion to " \
        "its squared distance from those so far, maximin takes the farthest from them, random draws all " \
        "uniformly"), \
        NB_ENUM(T, metric, "euclidean", nb_kmeans_metrics, \
                "cosine: by the angle between tokens and centres (spherical k-means)"), \
        NB_INT(T, restarts, "1", 1, 1000, "runs from new centres; the one of least inertia is kept"), \
        NB_INT(T, iterations, "100", 1, 10000, "at most that many Lloyd iterations"), \
        NB_REAL(T, tolerance, "0", 0, 1, \
                "stop when the inertia falls by no more than this fraction; 0: at a fixed point")
#define NB_KMEANS_HOW(o) \
    { \
        .init = (o)->init, .cosine = (o)->metric == NB_KMEANS_COSINE, .restarts = (o)->restarts, \
        .iterations = (o)->iterations, .tolerance = (o)->tolerance \
    }

typedef struct {
    int n, d, m;
    bool cosine;
    const double *x; /* d x n: the points, or their unit vectors */
    int *group;      /* n */
    int *size;       /* m: points of each group */
    double *centres; /* d x m: the groups' means, or their directions */
} nb_clusters;

/* Divides the columns of x (d x n) into m <= n groups; ctx owns the arrays. */
nb_status nb_kmeans(int d, int n, const double *x, int m, const nb_kmeans_how *how, gsl_rng *rng, nb_clusters *out,
                    nb_ctx *ctx);

/* group (n) <- the nearest of the m centres (d x m) of each column of x, the lowest index among equals; n m d
 * multiplications. */
nb_status nb_nearest_centres(int d, int n, const nb_scalar *x, int m, const double *centres, int *group, nb_ctx *ctx);

/* tokens (m) <- for each centre the nearest point not taken by an earlier centre. */
nb_status nb_clusters_nearest(const nb_clusters *clusters, int *tokens, nb_ctx *ctx);

#endif
