/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conformance_problems.c - the checks of problems. */
#include "calls/heads.h"
#include "conformance/conformance.h"
#include "linalg/vector.h"

#include <string.h>

static nb_status make(nb_trial_run *run, int head, uint64_t seed, int trial, nb_head *out, nb_ctx *ctx)
{
    gsl_rng *rng;
    run->told.calls++;
    NB_TRY(ctx, nb_random_new(&rng, ctx));
    return nb_heads_make(run->choice, head, (nb_stream){.seed = seed, .trial = trial}, rng, out, ctx);
}

static nb_status check_points(const char *name, size_t count, const double *x, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, nb_all_finite(count, x), NB_EBUG, "%s holds NaN or Inf", name);
    return NB_OK;
}

static nb_status check_head(const nb_head *h, const nb_problem_shape *s, nb_ctx *ctx)
{
    size_t n = (size_t)s->n, d = (size_t)s->d;
    NB_REQUIRE(ctx, h->n == s->n && h->d == s->d && h->causal == s->causal, NB_EBUG,
               "n = %d, d = %d%s were announced, n = %d, d = %d%s made", s->n, s->d, s->causal ? ", causal" : "", h->n,
               h->d, h->causal ? ", causal" : "");
    NB_REQUIRE(ctx, h->q && !h->k == (s->keyless != NULL) && (h->v ? h->dv > 0 : h->dv == 0), NB_EBUG,
               "q or k is missing, or keyless says otherwise, or dv = %d %s v", h->dv, h->v ? "with" : "without");
    NB_TRY(ctx, check_points("q", n * d, h->q, ctx));
    if (h->k) NB_TRY(ctx, check_points("k", n * d, h->k, ctx));
    return h->v ? check_points("v", n * (size_t)h->dv, h->v, ctx) : NB_OK;
}

static nb_status check_heads(nb_trial_run *run, nb_ctx *ctx)
{
    nb_problem_shape s;
    nb_head head;
    NB_TRY(ctx, nb_heads_shape(run->choice, &s, ctx));
    NB_REQUIRE(ctx, s.count >= 1 && s.n >= 1 && s.d >= 1 && s.first >= 0, NB_EBUG,
               "its shape is %d heads from %d on, n = %d, d = %d", s.count, s.first, s.n, s.d);
    for (int h = s.first; h < s.first + s.count; h++) {
        nb_mark mark = nb_ctx_mark(ctx);
        NB_TRY(ctx, make(run, h, 1, 0, &head, ctx));
        NB_TRY(ctx, check_head(&head, &s, ctx));
        NB_REQUIRE(ctx, !nb_ctx_overrun(ctx), NB_EBUG, "it wrote beyond the end of memory from nb_alloc");
        nb_ctx_release(ctx, mark);
    }
    return NB_OK;
}

/* Points of which all are the same bits, whatever is drawn (scale=0). */
static bool is_constant(const nb_head *h)
{
    for (int i = 1; i < h->n * h->d; i++)
        if (h->q[i] != h->q[0] || (h->k && h->k[i] != h->q[0])) return false;
    return !h->k || h->k[0] == h->q[0];
}

/* A head follows from its stream alone: not from what was drawn before. */
static nb_status check_streams(nb_trial_run *run, nb_ctx *ctx)
{
    nb_problem_shape s;
    nb_head one, trial, seed, again;
    bool random = ((const nb_problem *)run->choice->component)->random;
    NB_TRY(ctx, nb_heads_shape(run->choice, &s, ctx));
    NB_TRY(ctx, make(run, s.first, 1, 0, &one, ctx));
    NB_TRY(ctx, make(run, s.first, 1, 1, &trial, ctx));
    NB_TRY(ctx, make(run, s.first, 2, 0, &seed, ctx));
    NB_TRY(ctx, make(run, s.first, 1, 0, &again, ctx));
    NB_REQUIRE(ctx, nb_conformance_sum(&one) == nb_conformance_sum(&again), NB_EBUG,
               "different data for the same seed and trial");
    bool differs =
        nb_conformance_sum(&one) != nb_conformance_sum(&trial) && nb_conformance_sum(&one) != nb_conformance_sum(&seed);
    /* the seed says how tokens are permuted */
    NB_REQUIRE(ctx, random || nb_conformance_sum(&one) == nb_conformance_sum(&trial), NB_EBUG,
               "it does not declare that it is random, but the data differ in another trial");
    NB_REQUIRE(ctx, !random || differs || is_constant(&one), NB_EBUG,
               "it declares that it is random, but the data are the same in another trial or for another seed");
    return NB_OK;
}

typedef struct {
    nb_trial_run *run;
    nb_problem_shape shape;
} attempt;

static nb_status try_head(void *self, nb_ctx *ctx)
{
    attempt *a = self;
    nb_head head;
    return make(a->run, a->shape.first, 1, 0, &head, ctx);
}

static nb_status check_memory(nb_trial_run *run, nb_ctx *ctx)
{
    attempt a = {.run = run};
    NB_TRY(ctx, nb_heads_shape(run->choice, &a.shape, ctx));
    return nb_check_allocations(NULL, try_head, &a, ctx);
}

const nb_check nb_problem_checks[] = {{"heads", "finite, of the shape that was announced", check_heads, NULL},
                                      {"streams", "repeatable, and random as declared", check_streams, NULL},
                                      {"memory", "nothing leaks when an allocation fails", check_memory, NULL},
                                      {.name = NULL}};
