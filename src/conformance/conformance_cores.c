/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conformance_cores.c - the checks of cores, on A of few and many landmarks, regular and
 * singular, of both kinds of factors. */
#include "base/digest.h"
#include "calls/compute.h"
#include "conformance/conformance.h"
#include "cores/core.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "nystrom/engine.h"
#include "nystrom/factors_record.h"
#include "nystrom/make_scene.h"

#include <math.h>
#include <string.h>

enum { MOST_TOKENS = 50 }; /* of the heads on which allocations fail */

typedef struct {
    nb_trial_run *run;
    nb_scene *scene;
    nb_landmarks landmarks;
    nb_pair pair;
    int *order;
} bench;

/* Factors of their own, as the streamed engine hands them over; NULL if these cannot be had. */
static nb_status open_bench(nb_trial_run *run, int m, nb_factors_kind kind, bench *b, nb_ctx *ctx)
{
    int n = run->head->n, *tokens;
    nb_engine_times times;
    *b = (bench){.run = run, .pair = {.kind = kind}};
    NB_TRY(ctx, nb_scene_new(run->head, run->kernel, &b->scene, ctx));
    b->landmarks.queries = (nb_picks){.ctx = ctx};
    NB_NEED(tokens, nb_picks_tokens(&b->landmarks.queries, m));
    for (int j = 0; j < m; j++) tokens[j] = (int)((long)j * n / m);
    b->landmarks.keys = b->landmarks.queries;
    b->pair.landmarks = &b->landmarks;
    if (nb_factors_refusal(kind, NB_TOKENS, run->head->causal, NULL)) return NB_OK;
    NB_NEED(b->order, nb_alloc(ctx, (size_t)n, sizeof *b->order));
    for (int i = 0; i < n; i++) b->order[i] = n - 1 - i;
    NB_TRY(ctx, nb_engine_prepare(b->scene, &(nb_how){.order = b->order}, 1, &b->pair, &times, ctx));
    NB_REQUIRE(ctx, !b->pair.failure, NB_EBUG, "no factors: %s", b->pair.failure);
    return NB_OK;
}

/* Computes a checksum of what a core is given to read: the head, A, and the bases of F and B. */
static uint64_t input(const nb_trial_run *run, const nb_factors *f)
{
    const nb_ranges *r = f->ranges;
    size_t m = (size_t)f->m, rank_f = r ? (size_t)r->rank_f : 0, rank_b = r ? (size_t)r->rank_b : 0;
    uint64_t sum = nb_checksum(f->a, m * m * sizeof *f->a, nb_conformance_sum(run->head));
    if (r) sum = nb_checksum(r->r_f, rank_f * m * sizeof *r->r_f, sum);
    if (r) sum = nb_checksum(r->r_b, rank_b * m * sizeof *r->r_b, sum);
    return r && r->mid ? nb_checksum(r->mid, rank_f * rank_b * sizeof *r->mid, sum) : sum;
}

/* X, or *refusal. */
static nb_status compute(const bench *b, int trial, double *x, const char **refusal, nb_ctx *ctx)
{
    nb_factors *f = b->pair.factors;
    nb_computed computed;
    uint64_t before = input(b->run, f);
    b->run->told.calls++;
    NB_TRY(ctx,
           nb_core_compute(b->run->choice, f, b->scene, (nb_stream){.seed = 5, .trial = trial}, x, &computed, ctx));
    *refusal = computed.refusal;
    NB_REQUIRE(ctx, input(b->run, f) == before, NB_EBUG, "it changed its input");
    return NB_OK;
}

/* X of a core twice, of the same factors in two benches. */
typedef struct {
    bench one, two;
    int m;
    double *x, *y;
    const char *refusal, *again;
} attempt;

static bool is_refused(const void *self)
{
    return ((const attempt *)self)->refusal;
}

static bool has_x(const void *self)
{
    return !is_refused(self);
}

static nb_status refusal_says_why(const void *self, double tolerance, nb_ctx *ctx)
{
    const attempt *a = self;
    (void)tolerance;
    NB_REQUIRE(ctx, strlen(a->refusal) > 10, NB_EBUG, "its refusal is not a sentence: '%s'", a->refusal);
    return NB_OK;
}

static nb_status finite_or_diverged(const void *self, double tolerance, nb_ctx *ctx)
{
    const attempt *a = self;
    const nb_factors *f = a->one.pair.factors;
    (void)tolerance;
    NB_REQUIRE(ctx, nb_all_finite((size_t)a->m * (size_t)a->m, a->x) || f->notes.diverged, NB_EBUG,
               "X is not finite, and nb_factors_note_diverged does not say why");
    return NB_OK;
}

static nb_status cutoff_not_negative(const void *self, double tolerance, nb_ctx *ctx)
{
    const nb_factors *f = ((const attempt *)self)->one.pair.factors;
    (void)tolerance;
    NB_REQUIRE(ctx, isnan(f->notes.cutoff) || f->notes.cutoff >= 0, NB_EBUG,
               "the cut-off that it notes is %g, expected a number from 0 on, or NaN", f->notes.cutoff);
    return NB_OK;
}

static nb_status repeatable(const void *self, double tolerance, nb_ctx *ctx)
{
    const attempt *a = self;
    (void)tolerance;
    NB_REQUIRE(ctx, !a->refusal == !a->again && memcmp(a->x, a->y, (size_t)a->m * (size_t)a->m * sizeof *a->x) == 0,
               NB_EBUG, "a different X for the same A");
    return NB_OK;
}

/* The second time another core has asked for the SVD of A before. */
static nb_status check_factors(nb_trial_run *run, int m, nb_factors_kind kind, nb_ctx *ctx)
{
    attempt a = {.m = m};
    const nb_factors_spectrum *s;
    size_t square = (size_t)m * (size_t)m;
    NB_NEED(a.x, nb_alloc_reals(ctx, square, 2));
    a.y = a.x + square;
    NB_TRY(ctx, open_bench(run, m, kind, &a.one, ctx));
    if (!a.one.pair.factors) return NB_OK;
    NB_TRY(ctx, compute(&a.one, 0, a.x, &a.refusal, ctx));
    NB_TRY(ctx, open_bench(run, m, kind, &a.two, ctx));
    NB_TRY(ctx, nb_factors_svd(a.two.pair.factors, &s, ctx));
    NB_TRY(ctx, compute(&a.two, 0, a.y, &a.again, ctx));
    return nb_properties_hold(nb_core_properties, "x", &a, ctx);
}

static nb_status check_x(nb_trial_run *run, nb_ctx *ctx)
{
    int n = run->head->n, sizes[] = {1, n / 3, n / 2, n};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int kind = 0; kind < NB_FACTORS_COUNT && sizes[i] >= 1; kind++)
            NB_TRY(ctx, nb_conformance_at(check_factors(run, sizes[i], (nb_factors_kind)kind, ctx), sizes[i], "factors",
                                          nb_factors_names[kind], ctx));
    return NB_OK;
}

/* The entries of V' X U off the diagonal, relative to all, with A = U diag(s) V'. */
static nb_status off_diagonal(nb_factors *f, const double *x, double *share, nb_ctx *ctx)
{
    const nb_factors_spectrum *s;
    int m = f->m;
    double *xu, *filter, size;
    NB_TRY(ctx, nb_factors_svd(f, &s, ctx));
    NB_NEED(xu, nb_alloc_reals(ctx, (size_t)m, 2 * (size_t)m));
    filter = xu + m * m;
    nb_gemm(NB_PLAIN, NB_PLAIN, m, m, m, 1, x, m, s->u, m, 0, xu, m);
    nb_gemm(NB_PLAIN, NB_PLAIN, m, m, m, 1, s->vt, m, xu, m, 0, filter, m);
    size = nb_frobenius((size_t)m * (size_t)m, filter);
    for (int j = 0; j < m; j++) filter[j + j * m] = 0;
    *share = nb_frobenius((size_t)m * (size_t)m, filter) / size;
    return NB_OK;
}

/* Checks that what draws from a seed, and not by the rows that it reads, gives another X in another trial. */
static nb_status check_draws(nb_trial_run *run, nb_ctx *ctx)
{
    enum { M = 8 };
    bench b;
    double x[M * M] = {0}, y[M * M] = {0};
    bool same = true;
    const char *refusal;
    unsigned traits = nb_core_traits(run->choice);
    if (!(traits & NB_CORE_ELSEWHERE)) return NB_OK;
    NB_TRY(ctx, open_bench(run, M, NB_NYSTROMFORMER, &b, ctx));
    NB_TRY(ctx, compute(&b, 0, x, &refusal, ctx));
    if (refusal || !nb_all_finite(M * M, x)) return NB_OK;
    NB_TRY(ctx, compute(&b, 1, y, &refusal, ctx));
    for (int i = 0; i < M * M; i++) same = same && x[i] == y[i];
    return nb_check_draws((nb_draws){.random = traits & NB_CORE_RANDOM,
                                     .by_option = !nb_plugin_of(run->choice->component),
                                     .same = same,
                                     .trait = "NB_CORE_RANDOM",
                                     .same_text = "computes the same X",
                                     .other_text = "computes another X"},
                          ctx);
}

static bool has_finite_x(const void *self)
{
    const attempt *a = self;
    return !a->refusal && nb_all_finite((size_t)a->m * (size_t)a->m, a->x);
}

static nb_status keeps_vectors(const void *self, double tolerance, nb_ctx *ctx)
{
    const attempt *a = self;
    double share;
    NB_TRY(ctx, off_diagonal(a->one.pair.factors, a->x, &share, ctx));
    NB_REQUIRE(ctx, share < tolerance, NB_EBUG,
               "it declares NB_CORE_FILTER, but %.3g of X mixes the singular vectors of A", share);
    return NB_OK;
}

static nb_status check_traits(nb_trial_run *run, nb_ctx *ctx)
{
    enum { FROM = 60, M = 8 };
    double x[M * M];
    attempt a = {.m = M, .x = x};
    if (run->head->n < FROM || run->head->causal) return NB_OK;
    NB_TRY(ctx, check_draws(run, ctx));
    if (!(nb_core_traits(run->choice) & NB_CORE_FILTER)) return NB_OK;
    NB_TRY(ctx, open_bench(run, M, NB_NYSTROMFORMER, &a.one, ctx));
    NB_TRY(ctx, compute(&a.one, 0, x, &a.refusal, ctx));
    return nb_properties_hold(nb_core_properties, "traits", &a, ctx);
}

const nb_property nb_core_properties[] = {{"x", "a refusal is a sentence", refusal_says_why, is_refused, 0, NULL},
                                          {"x", "finite, or diverged for a reason", finite_or_diverged, has_x, 0, NULL},
                                          {"x", "the cut-off is not negative", cutoff_not_negative, has_x, 0, NULL},
                                          {"x", "the same again", repeatable, NULL, 0, NULL},
                                          {"x", "other memory untouched", nb_memory_untouched, NULL, 0, NULL},
                                          {"traits", "a filter keeps A's singular vectors", keeps_vectors, has_finite_x,
                                           1e-3, "what single precision leaves of an A of condition 1e3, with room"},
                                          {.name = NULL}};

static nb_status prepare_x(void *self, nb_ctx *ctx)
{
    nb_trial_run *run = ((const bench *)self)->run;
    return open_bench(run, run->head->n > 4 ? 4 : run->head->n, NB_NYSTROMFORMER, self, ctx);
}

static nb_status try_x(void *self, nb_ctx *ctx)
{
    const char *refusal;
    double x[4 * 4];
    return compute(self, 0, x, &refusal, ctx);
}

static nb_status check_memory(nb_trial_run *run, nb_ctx *ctx)
{
    bool small = run->head->n < MOST_TOKENS && !run->head->causal;
    return small ? nb_check_allocations(prepare_x, try_x, &(bench){.run = run}, ctx) : NB_OK;
}

const nb_check nb_core_checks[] = {
    {"x", "finite or with a reason, repeatable, A untouched", check_x, NULL},
    {"traits", "a filter keeps A's singular vectors, only chance changes X", check_traits, NULL},
    {"memory", "nothing leaks when an allocation fails", check_memory, NULL},
    {.name = NULL}};
