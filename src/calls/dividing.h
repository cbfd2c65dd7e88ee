/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dividing.h - the clusters of a set of points, by a partition. */
#ifndef NB_DIVIDING_H
#define NB_DIVIDING_H

#include "base/random.h"
#include "partitions/partition.h"

typedef struct {
    int count;    /* clusters */
    int *cluster; /* n: which one has the token */
    int *size;    /* count: tokens of each */
    double divide_s;
} nb_division;

/* Of the n columns of x (d x n) into at most k clusters, 1 <= k <= n; `stream` gives seed, trial and role. Arrays are
 * ctx's. NB_EINVAL where a partition gives what is none. */
nb_status nb_divide(const nb_choice *partition, int d, int n, const double *x, int k, nb_stream stream, gsl_rng *rng,
                    nb_division *division, nb_ctx *ctx);

/* Calls its check, before anything runs. */
nb_status nb_partition_check(const nb_choice *partition, nb_ctx *ctx);

#endif
