/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dividing.c - see dividing.h */
#include "calls/dividing.h"

#include "base/clock.h"
#include "calls/called.h"
#include "calls/early.h"

/* Each token has a cluster and each cluster a token. */
static nb_status count_sizes(int n, int k, nb_division *v, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, v->count >= 1 && v->count <= k, NB_EINVAL, "it has %d clusters, allowed are 1 to %d", v->count, k);
    NB_NEED(v->size, nb_alloc(ctx, (size_t)v->count, sizeof *v->size));
    for (int i = 0; i < n; i++) {
        NB_REQUIRE(ctx, v->cluster[i] >= 0 && v->cluster[i] < v->count, NB_EINVAL,
                   "token %d is in cluster %d, which is not one of 0 to %d", i, v->cluster[i], v->count - 1);
        v->size[v->cluster[i]]++;
    }
    for (int j = 0; j < v->count; j++) NB_REQUIRE(ctx, v->size[j] > 0, NB_EINVAL, "cluster %d has no token", j);
    return NB_OK;
}

nb_status nb_divide(const nb_choice *partition, int d, int n, const double *x, int k, nb_stream stream, gsl_rng *rng,
                    nb_division *v, nb_ctx *ctx)
{
    const nb_partition *p = (const nb_partition *)partition->component;
    const nb_component *caller;
    nb_ctx *scratch;
    *v = (nb_division){.count = k};
    NB_NEED(v->cluster, nb_alloc(ctx, (size_t)n, sizeof *v->cluster));
    NB_NEED(scratch, nb_ctx_child(ctx));
    stream.component = partition->canonical;
    stream.m = k;
    nb_random_seed(rng, &stream);
    nb_ctx_set_rng(scratch, rng);
    NB_TRY(ctx, nb_called_begin(partition, &caller, ctx));
    double start_s = nb_clock_s();
    nb_status status = p->divide(d, n, x, k, partition->options, v->cluster, &v->count, scratch);
    v->divide_s = nb_clock_s() - start_s;
    nb_ctx_set_rng(scratch, NULL);
    nb_ctx_release(scratch, 0);
    NB_TRY(ctx, nb_called_end(caller, partition, status, ctx));
    return count_sizes(n, k, v, ctx);
}

static nb_status ask(void *choice, nb_ctx *ctx)
{
    const nb_choice *c = choice;
    return ((const nb_partition *)c->component)->check(c->options, ctx);
}

nb_status nb_partition_check(const nb_choice *partition, nb_ctx *ctx)
{
    nb_choice copy = *partition;
    if (!((const nb_partition *)partition->component)->check) return NB_OK;
    return nb_ask_early(ask, &copy, NULL, 0, partition, "calling its check", ctx);
}
