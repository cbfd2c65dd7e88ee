/* SPDX-License-Identifier: GPL-3.0-or-later */
/* random.c - k random clusters of equal size, to a token: what a partition gives that knows nothing of the points.
 * O(n). */
#include "partitions/partition.h"

#include <gsl/gsl_randist.h>

static nb_status divide(int d, int n, const double *x, int k, const void *opts, int *cluster, int *count, nb_ctx *ctx)
{
    (void)d, (void)x, (void)opts, (void)count;
    for (int i = 0; i < n; i++) cluster[i] = i % k;
    gsl_ran_shuffle(nb_ctx_rng(ctx), cluster, (size_t)n, sizeof *cluster);
    return NB_OK;
}

static const char *const references[] = {"none: the control of every statement about clusters", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_partition nb_partition_random = {
    .component = {"random", "random clusters of equal size: the control", references, options, 0},
    .random = true,
    .divide = divide,
};
