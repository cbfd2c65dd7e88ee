/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kmeans.c - the clusters of k-means by Lloyd's iteration (linalg/kmeans.h). O(n k d) an iteration. */
#include "partitions/partition.h"

#include "linalg/kmeans.h"

#include <string.h>

typedef struct {
    int init, metric, restarts, iterations;
    double tolerance;
} kmeans_options;

enum { EUCLIDEAN, COSINE };
static const char *const metrics[] = {"euclidean", "cosine", NULL};

static const nb_option options[] = {
    NB_ENUM(kmeans_options, init, "plusplus", nb_kmeans_inits,
            "first centres, of which the first is drawn uniformly: plusplus draws each of the others in proportion to "
            "its squared distance from those so far, maximin takes the farthest from them, random draws all uniformly"),
    NB_ENUM(kmeans_options, metric, "euclidean", metrics,
            "cosine: by the angle between tokens and centres (spherical k-means)"),
    NB_INT(kmeans_options, restarts, "1", 1, 1000, "runs from new centres; the one of least inertia is kept"),
    NB_INT(kmeans_options, iterations, "100", 1, 10000, "at most that many Lloyd iterations"),
    NB_REAL(kmeans_options, tolerance, "0", 0, 1,
            "stop when the inertia falls by no more than this fraction; 0: at a fixed point"),
    NB_OPTION_END};

static nb_status divide(int d, int n, const double *x, int k, const void *opts, int *cluster, int *count, nb_ctx *ctx)
{
    const kmeans_options *o = opts;
    const nb_kmeans_how how = {.init = o->init,
                               .cosine = o->metric == COSINE,
                               .restarts = o->restarts,
                               .iterations = o->iterations,
                               .tolerance = o->tolerance};
    nb_clusters clusters;
    (void)count;
    NB_TRY(ctx, nb_kmeans(d, n, x, k, &how, nb_ctx_rng(ctx), &clusters, ctx));
    memcpy(cluster, clusters.group, (size_t)n * sizeof *cluster);
    return NB_OK;
}

static const char *const references[] = {
    "Lloyd, Least squares quantization in PCM, IEEE Trans. Inf. Theory 28, 1982",
    "Arthur & Vassilvitskii, k-means++, SODA 2007",
    "On the geometric selection of landmarks for low-rank self-attention approximation, 2025, OpenReview OdKBFAmCYX",
    NULL};

const nb_partition nb_partition_kmeans = {
    .component = {"kmeans", "k-means clusters of the points (Lloyd)", references, options, sizeof(kmeans_options)},
    .random = true,
    .divide = divide,
};
