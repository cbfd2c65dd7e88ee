/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conformance_partitions.c - the checks of partitions, on the queries of a head. */
#include "base/digest.h"
#include "calls/dividing.h"
#include "conformance/conformance.h"

#include <string.h>

static nb_status divide(nb_trial_run *run, int k, uint64_t seed, int trial, nb_division *out, nb_ctx *ctx)
{
    const nb_head *h = run->head;
    gsl_rng *rng;
    run->told.calls++;
    NB_TRY(ctx, nb_random_new(&rng, ctx));
    return nb_divide(run->choice, h->d, h->n, h->q, k, (nb_stream){.seed = seed, .trial = trial, .role = "partition"},
                     rng, out, ctx);
}

static bool same(int n, const nb_division *a, const nb_division *b)
{
    return a->count == b->count && memcmp(a->cluster, b->cluster, (size_t)n * sizeof *a->cluster) == 0;
}

static nb_status check_one(nb_trial_run *run, int k, nb_ctx *ctx)
{
    const nb_head *h = run->head;
    size_t bytes = (size_t)h->n * (size_t)h->d * sizeof *h->q;
    nb_division once, again;
    uint64_t before = nb_checksum(h->q, bytes, 0);
    NB_TRY(ctx, divide(run, k, 1, 0, &once, ctx));
    NB_TRY(ctx, divide(run, k, 1, 0, &again, ctx));
    NB_REQUIRE(ctx, same(h->n, &once, &again), NB_EBUG, "other clusters for the same seed");
    NB_REQUIRE(ctx, nb_checksum(h->q, bytes, 0) == before, NB_EBUG, "it changed its input");
    NB_REQUIRE(ctx, !nb_ctx_overrun(ctx), NB_EBUG, "it wrote beyond the end of memory");
    return NB_OK;
}

static nb_status check_clusters(nb_trial_run *run, nb_ctx *ctx)
{
    for (int k = 1; k <= run->head->n; k += 1 + k / 3)
        NB_TRY(ctx, nb_conformance_at(check_one(run, k, ctx), k, "n", nb_format(ctx, "%d", run->head->n), ctx));
    return nb_conformance_at(check_one(run, run->head->n, ctx), run->head->n, "n", "the same", ctx);
}

static nb_status check_random(nb_trial_run *run, nb_ctx *ctx)
{
    enum { LARGE = 50, K = 9 };
    nb_division one, two;
    bool random = ((const nb_partition *)run->choice->component)->random;
    if (run->head->n < LARGE) return NB_OK;
    NB_TRY(ctx, divide(run, K, 1, 0, &one, ctx));
    NB_TRY(ctx, divide(run, K, 1, 1, &two, ctx));
    NB_REQUIRE(ctx, same(run->head->n, &one, &two) != random, NB_EBUG,
               "it says random = %s, and has %s in another trial", random ? "true" : "false",
               random ? "the same clusters" : "others");
    return NB_OK;
}

static nb_status try_divide(void *self, nb_ctx *ctx)
{
    nb_trial_run *run = self;
    nb_division division;
    return divide(run, run->head->n > 4 ? 4 : run->head->n, 1, 0, &division, ctx);
}

static nb_status check_memory(nb_trial_run *run, nb_ctx *ctx)
{
    enum { SMALL = 50 };
    return run->head->n < SMALL ? nb_check_allocations(NULL, try_divide, run, ctx) : NB_OK;
}

const nb_check nb_partition_checks[] = {{"division", "a division for every k, repeatable", check_clusters, NULL},
                                        {"random", "random or deterministic, as declared", check_random, NULL},
                                        {"memory", "nothing leaks when an allocation fails", check_memory, NULL},
                                        {.name = NULL}};
