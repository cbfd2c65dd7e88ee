/* SPDX-License-Identifier: GPL-3.0-or-later */
/* none.c - one cluster of all tokens, whatever k is. */
#include "partitions/partition.h"

static nb_status divide(int d, int n, const double *x, int k, const void *opts, int *cluster, int *count, nb_ctx *ctx)
{
    (void)d, (void)x, (void)k, (void)opts, (void)ctx;
    for (int i = 0; i < n; i++) cluster[i] = 0;
    *count = 1;
    return NB_OK;
}

static const char *const references[] = {"none: what is left of block-coherence without blocks", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_partition nb_partition_none = {
    .component = {"none", "one cluster of all tokens", references, options, 0},
    .divide = divide,
};
