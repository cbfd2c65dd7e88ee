/* SPDX-License-Identifier: GPL-3.0-or-later */
/* given.c - clusters that somebody else has made, from a file: the cluster of each token, numbered from 0. */
#include "partitions/partition.h"

#include "data/tensor.h"

typedef struct {
    const char *file;
} given_options;

static const nb_option options[] = {
    NB_FILE(given_options, file, NULL,
            "a .npy file of integers, of shape (n,): the cluster of each token, numbered from 0, each with a token"),
    NB_OPTION_END};

static nb_status open_file(const given_options *o, nb_tensor *t, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_npy_open(o->file, t, ctx));
    NB_REQUIRE(ctx, t->rank == 1 && t->dtype > NB_F64, NB_EDIM, "%s: has %s in %d dimensions, expected integers in one",
               o->file, t->dtype > NB_F64 ? "integers" : "floating-point numbers", t->rank);
    return NB_OK;
}

static nb_status check(const void *opts, nb_ctx *ctx)
{
    nb_tensor t;
    return open_file(opts, &t, ctx);
}

static nb_status divide(int d, int n, const double *x, int k, const void *opts, int *cluster, int *count, nb_ctx *ctx)
{
    const given_options *o = opts;
    nb_tensor t;
    int64_t *read, most = 0;
    (void)d, (void)x;
    NB_TRY(ctx, open_file(o, &t, ctx));
    NB_REQUIRE(ctx, t.count == n, NB_EDIM, "%s: has %lld numbers, the head %d tokens", o->file, (long long)t.count, n);
    NB_NEED(read, nb_alloc(ctx, (size_t)n, sizeof *read));
    NB_TRY(ctx, nb_tensor_read_integers(o->file, &t, 0, n, read, ctx));
    for (int i = 0; i < n; i++) {
        NB_REQUIRE(ctx, read[i] >= 0 && read[i] < k, NB_EINVAL, "%s: token %d is in cluster %lld, expected 0 to %d",
                   o->file, i, (long long)read[i], k - 1);
        cluster[i] = (int)read[i];
        most = read[i] > most ? read[i] : most;
    }
    *count = (int)most + 1;
    return NB_OK;
}

static const char *const references[] = {"the .npy format (NumPy enhancement proposal 1)", NULL};

const nb_partition nb_partition_given = {
    .component = {"given", "clusters from a file", references, options, sizeof(given_options)},
    .check = check,
    .divide = divide,
};
