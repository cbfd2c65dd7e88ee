/* SPDX-License-Identifier: GPL-3.0-or-later */
/* partition.h - the one header that a partition file includes.
 *
 * A partition is one file, src/partitions/NAME.c, that defines
 *     const nb_partition nb_partition_NAME;
 * It divides the n tokens of one set of points into clusters. */
#ifndef NB_PARTITION_H
#define NB_PARTITION_H

#include "base/ctx.h"
#include "components/component.h"
#include "components/plugin.h"

typedef struct {
    nb_component component;
    bool random; /* draws from nb_ctx_rng(ctx), so another trial may give another partition */

    /* Optional, called before anything runs: returns an error for options that cannot be right, such as a missing
     * file. */
    nb_status (*check)(const void *options, nb_ctx *ctx);

    /* Sets cluster[i] to the cluster of token i, one of *count from 0; x is d x n, a token a column, and 1 <= k <= n.
     * *count is k on entry, and may become less; no cluster may be empty. ctx owns the memory. */
    nb_status (*divide)(int d, int n, const double *x, int k, const void *options, int *cluster, int *count,
                        nb_ctx *ctx);
} nb_partition;

/* Returns the name of a missing kind-specific member of a plug-in's record, or NULL. */
const char *nb_partition_lacks(const nb_component *component);
extern const size_t nb_partition_texts[]; /* of its registry */

#endif
