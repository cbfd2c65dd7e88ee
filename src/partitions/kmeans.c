/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kmeans.c - the clusters of k-means by Lloyd's iteration (linalg/kmeans.h). O(n k d) an iteration. */
#include "partitions/partition.h"

#include "linalg/kmeans.h"

#include <string.h>

typedef struct {
    NB_KMEANS_FIELDS
} kmeans_options;

static const nb_option options[] = {NB_KMEANS_OPTIONS(kmeans_options), NB_OPTION_END};

static nb_status divide(int d, int n, const double *x, int k, const void *opts, int *cluster, int *count, nb_ctx *ctx)
{
    const kmeans_options *o = opts;
    const nb_kmeans_how how = NB_KMEANS_HOW(o);
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
