/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dividing.h - divides a set of points into clusters by a partition. */
#ifndef NB_DIVIDING_H
#define NB_DIVIDING_H

#include "base/random.h"
#include "partitions/partition.h"

typedef struct {
    int count;    /* clusters */
    int *cluster; /* n: the cluster of each token */
    int *size;    /* count: tokens of each */
    double divide_s;
} nb_division;

/* Divides the n columns of x (d x n) into at most k clusters, 1 <= k <= n; `stream` gives seed, trial and role. ctx
 * owns the arrays. NB_EINVAL if the partition's answer is not a division. */
nb_status nb_divide(const nb_choice *partition, int d, int n, const double *x, int k, nb_stream stream, gsl_rng *rng,
                    nb_division *division, nb_ctx *ctx);

/* Calls the partition's check, before anything runs. */
nb_status nb_partition_check(const nb_choice *partition, nb_ctx *ctx);

#endif
