/* SPDX-License-Identifier: GPL-3.0-or-later */
/* segments.c - k contiguous segments: with n = k l + r, the first k - r have l tokens and the last r have l + 1, as
 * segment means have. O(n). */
#include "partitions/partition.h"

static nb_status divide(int d, int n, const double *x, int k, const void *opts, int *cluster, int *count, nb_ctx *ctx)
{
    int token = 0;
    (void)d, (void)x, (void)opts, (void)count, (void)ctx;
    for (int j = 0; j < k; j++)
        for (int end = token + n / k + (j >= k - n % k); token < end; token++) cluster[token] = j;
    return NB_OK;
}

static const char *const references[] = {"Xiong et al., Nystromformer, AAAI 2021, arXiv:2102.03902", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_partition nb_partition_segments = {
    .component = {"segments", "contiguous segments of the sequence, of equal size", references, options, 0},
    .divide = divide,
};
