/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conformance_kernels.c - the checks of kernels: entries depend neither on how the matrix is cut into tiles nor on the
 * memory around a tile. The properties are in the table below. */
#include "conformance/conformance.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "nystrom/make_scene.h"
#include "nystrom/scene_record.h"

#include <math.h>
#include <string.h>

enum { BELOW = 3 }; /* rows below a tile, which are not its own */
static const double untouched = -2.385e77;

typedef struct {
    nb_scene *scene;     /* NULL: the kernel refuses this head, in a sentence */
    const nb_head *head; /* as the kernel sees it */
    const nb_kernel *kernel;
    double *whole;  /* S, n x n by rows, a column of it with BELOW more entries */
    double size;    /* 1 + |S|_F */
    uint64_t input; /* checksum of the head, before */
    nb_trial_run *run;
} bench;

static nb_status fill(const bench *b, int queries, const int *tokens, int first_key, int keys, double *out, nb_ctx *ctx)
{
    const nb_head *h = b->head;
    size_t d = (size_t)h->d, ld = (size_t)keys + BELOW;
    double *q;
    NB_NEED(q, nb_alloc_reals(ctx, d, (size_t)queries));
    for (int i = 0; i < queries; i++) memcpy(q + (size_t)i * d, h->q + (size_t)tokens[i] * d, d * sizeof *q);
    for (size_t i = 0; i < ld * (size_t)queries; i++) out[i] = untouched;
    nb_tile tile = {.d = h->d,
                    .queries = queries,
                    .keys = keys,
                    .q = q,
                    .k = h->k + (size_t)first_key * d,
                    .causal = h->causal,
                    .positions = tokens,
                    .ld = (int)ld};
    b->run->told.calls++;
    NB_TRY(ctx, b->kernel->fill(&tile, b->scene->options, out, ctx));
    for (int i = 0; i < queries; i++)
        for (int j = keys; j < (int)ld; j++)
            NB_REQUIRE(ctx, out[(size_t)i * ld + (size_t)j] == untouched, NB_EBUG,
                       "it wrote below the tile of %d queries and %d keys", queries, keys);
    return NB_OK;
}

/* All points of both sides are one: a kernel may have no scale then. */
static bool is_one_point(const nb_head *h)
{
    for (int i = 0; i < h->n * h->d; i++)
        if (h->q[i] != h->q[i % h->d] || h->k[i] != h->q[i % h->d]) return false;
    return true;
}

/* Points so far out that entries may overflow. */
static bool is_far_out(const nb_head *h)
{
    size_t count = (size_t)h->n * (size_t)h->d;
    return nb_frobenius(count, h->q) > 1e3 || nb_frobenius(count, h->k) > 1e3;
}

static nb_status accept_failure(const nb_trial_run *run, nb_status status, nb_ctx *ctx)
{
    const nb_kernel *k = (const nb_kernel *)run->choice->component;
    const char *said = nb_error_message(ctx);
    bool refused = run->head->causal && k->causal_refusal && strcmp(said, k->causal_refusal) == 0;
    bool degenerate =
        (status == NB_ENUMERIC || status == NB_EINVAL) && (is_one_point(run->head) || is_far_out(run->head));
    if ((!refused && !degenerate) || strlen(said) <= 10) return status;
    nb_error_clear(ctx);
    return NB_OK;
}

static nb_status open_bench(nb_trial_run *run, bench *b, nb_ctx *ctx)
{
    int n = run->head->n, *all;
    *b = (bench){
        .run = run, .kernel = (const nb_kernel *)run->choice->component, .input = nb_conformance_sum(run->head)};
    nb_scene *scene;
    nb_status status = nb_scene_new(run->head, run->choice, &scene, ctx);
    if (status != NB_OK) return accept_failure(run, status, ctx);
    b->scene = scene;
    b->head = scene->head;
    NB_NEED(all, nb_alloc(ctx, (size_t)n, sizeof *all));
    for (int i = 0; i < n; i++) all[i] = i;
    NB_NEED(b->whole, nb_alloc_raw(ctx, (size_t)(n + BELOW) * (size_t)n));
    status = fill(b, n, all, 0, n, b->whole, ctx);
    if (status != NB_OK) b->scene = NULL;
    if (status != NB_OK) return accept_failure(run, status, ctx);
    for (int i = 0; i < n; i++)
        b->size = nb_hypotenuse(b->size, nb_frobenius((size_t)n, b->whole + (size_t)i * (size_t)(n + BELOW)));
    b->size += 1;
    return NB_OK;
}

static double entry(const bench *b, int query, int key)
{
    return b->whole[(size_t)query * (size_t)(b->head->n + BELOW) + (size_t)key];
}

static nb_status compare(const bench *b, int queries, const int *tokens, int first_key, int keys, double tolerance,
                         nb_ctx *ctx)
{
    double *out;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(out, nb_alloc_raw(ctx, (size_t)queries * (size_t)(keys + BELOW)));
    NB_TRY(ctx, fill(b, queries, tokens, first_key, keys, out, ctx));
    for (int i = 0; i < queries; i++)
        for (int j = 0; j < keys; j++) {
            double value = out[(size_t)i * (size_t)(keys + BELOW) + (size_t)j],
                   expected = entry(b, tokens[i], first_key + j);
            NB_REQUIRE(ctx, fabs(value - expected) <= tolerance * b->size, NB_EBUG,
                       "in a tile of %d queries and %d keys entry (%d, %d) is %.17g, in the whole %.17g", queries, keys,
                       tokens[i], first_key + j, value, expected);
        }
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

static nb_status single_queries(const void *self, double tolerance, nb_ctx *ctx)
{
    const bench *b = self;
    int n = b->head->n;
    for (int i = 0; i < n; i++) NB_TRY(ctx, compare(b, 1, &i, 0, n, tolerance, ctx));
    return NB_OK;
}

/* The last token first. */
static nb_status list_backwards(int n, int **tokens, nb_ctx *ctx)
{
    NB_NEED(*tokens, nb_alloc(ctx, (size_t)n, sizeof **tokens));
    for (int i = 0; i < n; i++) (*tokens)[i] = n - 1 - i;
    return NB_OK;
}

static nb_status halves_backwards(const void *self, double tolerance, nb_ctx *ctx)
{
    const bench *b = self;
    int n = b->head->n, *tokens;
    NB_TRY(ctx, list_backwards(n, &tokens, ctx));
    NB_TRY(ctx, compare(b, (n + 1) / 2, tokens, 0, n, tolerance, ctx));
    return n > 1 ? compare(b, n / 2, tokens + (n + 1) / 2, 0, n, tolerance, ctx) : NB_OK;
}

static nb_status some_keys(const void *self, double tolerance, nb_ctx *ctx)
{
    const bench *b = self;
    int n = b->head->n, *tokens;
    NB_TRY(ctx, list_backwards(n, &tokens, ctx));
    return compare(b, n, tokens, n / 3, n - n / 3, tolerance, ctx);
}

/* A row does not depend on which keys are asked for. */
static bool is_entrywise(const void *self)
{
    const bench *b = self;
    return !b->kernel->stochastic && !b->head->causal;
}

static nb_status input_untouched(const void *self, double tolerance, nb_ctx *ctx)
{
    const bench *b = self;
    (void)tolerance;
    NB_REQUIRE(ctx, nb_conformance_sum(b->run->head) == b->input, NB_EBUG, "it changed its input");
    NB_REQUIRE(ctx, !nb_ctx_overrun(ctx), NB_EBUG, "it wrote beyond the end of memory from nb_alloc");
    return NB_OK;
}

static nb_status entries(const void *self, double tolerance, nb_ctx *ctx)
{
    const bench *b = self;
    (void)tolerance;
    for (int i = 0; i < b->head->n; i++)
        for (int j = 0; j < b->head->n; j++) {
            double value = entry(b, i, j);
            NB_REQUIRE(ctx, isfinite(value), NB_EBUG, "entry (%d, %d) is %g", i, j, value);
            NB_REQUIRE(ctx, !b->head->causal || j <= i || value == 0, NB_EBUG,
                       "entry (%d, %d), of a later key, is %g under a mask, expected 0", i, j, value);
            NB_REQUIRE(ctx, !b->kernel->stochastic || value >= 0, NB_EBUG,
                       "entry (%d, %d) is %g, of a kernel that declares stochastic rows", i, j, value);
        }
    return NB_OK;
}

static nb_status row_sums(const void *self, double tolerance, nb_ctx *ctx)
{
    const bench *b = self;
    for (int i = 0; i < b->head->n; i++) {
        double sum = 0;
        for (int j = 0; j < b->head->n; j++) sum += entry(b, i, j);
        NB_REQUIRE(ctx, fabs(sum - 1) <= tolerance * (1 + b->head->n), NB_EBUG,
                   "row %d sums to %.17g, of a kernel that declares stochastic rows", i, sum);
    }
    return NB_OK;
}

static bool is_stochastic(const void *self)
{
    return ((const bench *)self)->kernel->stochastic;
}

static nb_status low_rank(const void *self, double tolerance, nb_ctx *ctx)
{
    const bench *b = self;
    const nb_low_rank *s = &b->scene->factors;
    size_t r = (size_t)s->rank;
    for (int i = 0; i < b->head->n; i++)
        for (int j = 0; j < b->head->n; j++) {
            double product = nb_dot(r, s->x + (size_t)i * r, s->y + (size_t)j * r);
            NB_REQUIRE(ctx, fabs(product - entry(b, i, j)) <= tolerance * b->size, NB_EBUG,
                       "entry (%d, %d) is %.17g, its low_rank gives %.17g", i, j, entry(b, i, j), product);
        }
    return NB_OK;
}

static bool has_factors(const void *self)
{
    return ((const bench *)self)->scene->factors.rank > 0;
}

static nb_status one_set_of_points(const void *self, double tolerance, nb_ctx *ctx)
{
    const bench *b = self;
    (void)tolerance;
    NB_REQUIRE(ctx, b->head->q == b->head->k, NB_EBUG, "its points are not those of both sides");
    return NB_OK;
}

static bool has_points(const void *self)
{
    return ((const bench *)self)->kernel->points;
}

static nb_status weigh(const nb_kernel *k, const nb_tile *tile, const void *options, double *out, const double *weight,
                       double *sum, nb_ctx *ctx)
{
    NB_TRY(ctx, k->fill(tile, options, out, ctx));
    *sum = 0;
    for (int i = 0; i < tile->queries; i++)
        for (int j = 0; j < tile->keys; j++) *sum += out[i * tile->ld + j] * weight[i * tile->ld + j];
    return NB_OK;
}

enum { D = 3, QUERIES = 4, KEYS = 5 }; /* of the tile whose gradient is checked */

static bool has_gradient(const void *self)
{
    enum { FROM = 60 }; /* tokens, of which the tile's points and weights are the first */
    const bench *b = self;
    return b->kernel->pull_back && b->run->head->n >= FROM && !b->run->head->causal;
}

/* The gradient of sum(weight * tile) against central differences with a step of 1e-5. */
static nb_status gradient(const void *self, double tolerance, nb_ctx *ctx)
{
    enum { COUNT = D * (QUERIES + KEYS), LD = KEYS + 1 };
    double x[COUNT], slopes[COUNT], out[LD * QUERIES], weight[LD * QUERIES];
    const bench *b = self;
    const nb_head *h = b->run->head;
    nb_tile tile = {.d = D, .queries = QUERIES, .keys = KEYS, .q = x, .k = x + D * QUERIES, .ld = LD};
    memcpy(x, h->q, sizeof x);
    memcpy(weight, h->k, sizeof weight);
    NB_TRY(ctx, b->kernel->fill(&tile, b->scene->options, out, ctx));
    NB_TRY(ctx, b->kernel->pull_back(&tile, b->scene->options, out, weight, slopes, slopes + D * QUERIES, ctx));
    for (int i = 0; i < COUNT; i++) {
        double above, below, kept = x[i];
        x[i] = kept + 1e-5;
        NB_TRY(ctx, weigh(b->kernel, &tile, b->scene->options, out, h->k, &above, ctx));
        x[i] = kept - 1e-5;
        NB_TRY(ctx, weigh(b->kernel, &tile, b->scene->options, out, h->k, &below, ctx));
        x[i] = kept;
        double difference = (above - below) / 2e-5;
        NB_REQUIRE(ctx, fabs(difference - slopes[i]) <= tolerance * fmax(1, fabs(difference)), NB_EBUG,
                   "pull_back gives %.10g, differences %.10g", slopes[i], difference);
    }
    return NB_OK;
}

static const char roundings[] = "sums of d <= 64 products of moderate size: some 500 roundings, relative to 1 + |S|";

const nb_property nb_kernel_properties[] = {
    {"tiles", "each query by itself", single_queries, NULL, 1e-13, roundings},
    {"tiles", "halves of the queries, backwards", halves_backwards, NULL, 1e-13, roundings},
    {"tiles", "some of the keys", some_keys, is_entrywise, 1e-13, roundings},
    {"tiles", "input and other memory untouched", input_untouched, NULL, 0, NULL},
    {"rows", "finite, masked, and not negative where stochastic", entries, NULL, 0, NULL},
    {"rows", "stochastic rows sum to 1", row_sums, is_stochastic, 1e-13, "500 roundings in each of 1 + n terms"},
    {"rows", "low_rank gives the entries", low_rank, has_factors, 1e-13, roundings},
    {"rows", "one set of points", one_set_of_points, has_points, 0, NULL},
    {"gradient", "pull_back", gradient, has_gradient, 1e-8,
     "differences are off by some 1e-16 * 100 / 1e-5 + 1e-10 on gradients of order 1"},
    {.name = NULL}};

static nb_status hold(nb_trial_run *run, const char *check, nb_ctx *ctx)
{
    bench b;
    NB_TRY(ctx, open_bench(run, &b, ctx));
    return b.scene ? nb_properties_hold(nb_kernel_properties, check, &b, ctx) : NB_OK;
}

static nb_status check_tiles(nb_trial_run *run, nb_ctx *ctx)
{
    return hold(run, "tiles", ctx);
}

static nb_status check_rows(nb_trial_run *run, nb_ctx *ctx)
{
    return hold(run, "rows", ctx);
}

static nb_status check_gradient(nb_trial_run *run, nb_ctx *ctx)
{
    return hold(run, "gradient", ctx);
}

static nb_status try_scene(void *self, nb_ctx *ctx)
{
    bench b;
    return open_bench(self, &b, ctx);
}

static nb_status check_memory(nb_trial_run *run, nb_ctx *ctx)
{
    enum { SMALL = 15 };
    return run->head->n < SMALL ? nb_check_allocations(NULL, try_scene, run, ctx) : NB_OK;
}

const nb_check nb_kernel_checks[] = {{"tiles", "the same in any tiles, input untouched", check_tiles, NULL},
                                     {"rows", "finite, masked and stochastic as declared", check_rows, NULL},
                                     {"gradient", "pull_back is as differences", check_gradient, NULL},
                                     {"memory", "nothing leaks when an allocation fails", check_memory, NULL},
                                     {.name = NULL}};
