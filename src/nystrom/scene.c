/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scene.c - the passes over S, and what the scene itself takes from the first. */
#include "nystrom/scene.h"

#include "base/clock.h"
#include "linalg/krylov.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "nystrom/guard.h"
#include "nystrom/low_rank.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    NEAR = 64,           /* rows that are formed at once */
    ENTRIES = 1 << 20,   /* of S that exact attention is timed on */
    KEPT = 4096,         /* up to this n S is kept */
    LAPACK = 512,        /* below, its SVD takes at most twice the time of block Krylov, and gives all */
    SCENE_SUMS = 1 << 2, /* in `gathered`, beside NB_SCENE_* */
};
static const double tolerance = 1e-7; /* of singular triplets: they are those of a matrix so near to S */

static const nb_kernel *kernel_of(const nb_scene *scene)
{
    return (const nb_kernel *)scene->kernel->component;
}

/* The head as the kernel sees it, and the options for it. */
static nb_status apply_kernel(nb_scene *s, nb_ctx *ctx)
{
    const nb_kernel *kernel = kernel_of(s);
    s->options = s->kernel->options;
    NB_REQUIRE(ctx, !s->head->causal || !kernel->causal_refusal, NB_EINVAL, "%s", kernel->causal_refusal);
    if (kernel->points) {
        nb_head *own;
        NB_NEED(own, nb_alloc(s->ctx, 1, sizeof *own));
        *own = *s->head;
        own->q = own->k = kernel->points(s->head, s->options);
        s->head = own;
    }
    if (kernel->resolve) {
        void *own;
        NB_NEED(own, nb_alloc(s->ctx, 1, kernel->component.options_size));
        memcpy(own, s->options, kernel->component.options_size);
        NB_TRY(ctx, kernel->resolve(s->head, own, ctx));
        s->options = own;
    }
    if (kernel->low_rank) s->factors = kernel->low_rank(s->head, s->options);
    if (s->factors.rank > s->head->n) s->factors.rank = 0;
    return NB_OK;
}

nb_status nb_scene_new(const nb_head *head, const nb_choice *kernel, nb_scene **scene, nb_ctx *ctx)
{
    nb_scene *s;
    NB_NEED(s, nb_alloc(ctx, 1, sizeof *s));
    *s = (nb_scene){.head = head, .kernel = kernel, .keep = head->n <= KEPT};
    NB_NEED(s->ctx, nb_ctx_child(ctx));
    NB_TRY(ctx, apply_kernel(s, ctx));
    NB_NEED(s->positions, nb_alloc(s->ctx, (size_t)head->n, sizeof *s->positions));
    for (int i = 0; i < head->n; i++) s->positions[i] = i;
    *scene = s;
    return NB_OK;
}

int nb_stripe_rows(int n)
{
    int stripes = (n + NB_STRIPE - 1) / NB_STRIPE;
    return (n + stripes - 1) / stripes;
}

static nb_status fill(const nb_scene *scene, const nb_tile *tile, double *out, nb_ctx *ctx)
{
    return kernel_of(scene)->fill(tile, scene->options, out, ctx);
}

nb_status nb_scene_kernel(const nb_scene *scene, int queries, const double *q, int keys, const double *k, double *out,
                          nb_ctx *ctx)
{
    for (int i = 0; i < queries; i += NB_STRIPE) {
        nb_tile tile = {.d = scene->head->d,
                        .queries = queries - i < NB_STRIPE ? queries - i : NB_STRIPE,
                        .keys = keys,
                        .q = q + (size_t)i * (size_t)scene->head->d,
                        .k = k,
                        .ld = keys};
        NB_TRY(ctx, fill(scene, &tile, out + (size_t)i * (size_t)keys, ctx));
    }
    return NB_OK;
}

nb_status nb_scene_some_rows(const nb_scene *scene, int count, const int *tokens, double *out, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    size_t d = (size_t)h->d;
    nb_mark mark = nb_ctx_mark(ctx);
    double *q;
    NB_NEED(q, nb_alloc_reals(ctx, d, (size_t)count));
    for (size_t i = 0; i < (size_t)count; i++) memcpy(q + i * d, h->q + (size_t)tokens[i] * d, d * sizeof *q);
    nb_tile tile = {.d = h->d,
                    .queries = count,
                    .keys = h->n,
                    .q = q,
                    .k = h->k,
                    .causal = h->causal,
                    .positions = tokens,
                    .ld = h->n};
    nb_status status = fill(scene, &tile, out, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}

/* Rows first ... first + count - 1 of S, up to column `keys`. */
static nb_status form(const nb_scene *scene, int first, int count, int keys, double *values, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    nb_tile tile = {.d = h->d,
                    .queries = count,
                    .keys = keys,
                    .q = h->q + (size_t)first * (size_t)h->d,
                    .k = h->k,
                    .causal = h->causal,
                    .positions = scene->positions + first,
                    .ld = h->n};
    return fill(scene, &tile, values, ctx);
}

/* Rows first ... first + count - 1 of S V, in tiles that stay near. */
static nb_status attend(const nb_scene *scene, int first, int count, double *tile, double *out, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    const double *v = h->v ? h->v : h->k;
    int dv = h->v ? h->dv : h->d;
    for (int i = 0; i < count; i += NEAR) {
        int rows = count - i < NEAR ? count - i : NEAR, keys = h->causal ? first + i + rows : h->n;
        NB_TRY(ctx, form(scene, first + i, rows, keys, tile, ctx));
        nb_gemm(NB_PLAIN, NB_PLAIN, dv, rows, keys, 1, v, dv, tile, h->n, 0, out, dv);
    }
    return NB_OK;
}

nb_status nb_scene_exact_s(nb_scene *scene, double *seconds, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    int count = ENTRIES / h->n < NEAR ? NEAR : ENTRIES / h->n;
    double *tile, *out;
    nb_mark mark = nb_ctx_mark(ctx);
    if (count > h->n) count = h->n;
    if (scene->exact_s == 0) {
        NB_NEED(tile, nb_alloc_raw(ctx, (size_t)h->n * NEAR));
        NB_NEED(out, nb_alloc_raw(ctx, (size_t)(h->v ? h->dv : h->d) * NEAR));
        double start_s = nb_clock_s();
        nb_status status =
            attend(scene, (h->n - count) / 2, count, tile, out, ctx); /* the middle: a mask takes half of it, as of S */
        scene->exact_s = (nb_clock_s() - start_s) * h->n / count;
        nb_ctx_release(ctx, mark);
        NB_TRY(ctx, status);
    }
    *seconds = scene->exact_s;
    return NB_OK;
}

typedef struct { /* what a pass takes along for the scene itself */
    unsigned what;
    double squares, distances, entropy;
    double *row_sums, *column_sums, *output;
} gathering;

static nb_status gathering_init(const nb_scene *scene, unsigned what, gathering *g)
{
    size_t n = (size_t)scene->head->n;
    *g = (gathering){.what = what & ~scene->gathered};
    if (g->what & SCENE_SUMS) {
        NB_NEED(g->row_sums, nb_alloc_reals(scene->ctx, n, 1));
        NB_NEED(g->column_sums, nb_alloc_reals(scene->ctx, n, 1));
    }
    if (g->what & NB_SCENE_OUTPUT) NB_NEED(g->output, nb_alloc_reals(scene->ctx, (size_t)scene->head->dv, n));
    return NB_OK;
}

static void gather(const nb_scene *scene, int first, int count, int keys, const double *values, gathering *g)
{
    const nb_head *h = scene->head;
    size_t n = (size_t)h->n;
    bool stochastic = kernel_of(scene)->stochastic;
    for (int i = 0; i < count; i++) {
        const double *row = values + (size_t)i * n;
        double squares, distances;
        if (g->what & SCENE_SUMS) {
            double mean = (stochastic ? 1 : nb_sum((size_t)keys, row)) / h->n;
            nb_row_sums((size_t)keys, row, mean, g->column_sums, &g->row_sums[first + i], &squares, &distances);
            g->squares += squares;
            g->distances += distances + (h->n - keys) * mean * mean;
        }
        if (g->what & NB_SCENE_ENTROPY) g->entropy += nb_entropy((size_t)keys, row);
    }
    if (g->what & NB_SCENE_OUTPUT)
        nb_gemm(NB_PLAIN, NB_PLAIN, h->dv, count, keys, 1, h->v, h->dv, values, h->n, 0,
                g->output + (size_t)first * (size_t)h->dv, h->dv);
}

/* Forms what is not there yet, and looks at it, a few rows at a time: they are
 * still in the cache then. */
static nb_status form_stripe(const nb_scene *scene, const nb_stripe *s, double *values, gathering *g, nb_ctx *ctx)
{
    for (int i = 0; i < s->count; i += NEAR) {
        int count = s->count - i < NEAR ? s->count - i : NEAR;
        double *rows = values + (size_t)i * (size_t)s->ld;
        if (!scene->formed) NB_TRY(ctx, form(scene, s->first + i, count, s->keys, rows, ctx));
        if (g->what) gather(scene, s->first + i, count, s->keys, rows, g);
    }
    return NB_OK;
}

/* With the distances of all rows from their own means: of S from its mean. */
static void add_between_rows(int n, gathering *g)
{
    double mean = nb_sum((size_t)n, g->row_sums) / n, squares = 0;
    for (int i = 0; i < n; i++) squares += pow(g->row_sums[i] - mean, 2);
    g->distances += squares / n;
}

static nb_status keep_gathered(nb_scene *scene, const gathering *g, nb_ctx *ctx)
{
    if (g->what & SCENE_SUMS) {
        NB_REQUIRE(ctx, isfinite(g->squares) && g->squares > 0, NB_ENUMERIC,
                   "|S|_F^2 is %g: the error relative to it cannot be had", g->squares);
        scene->norm = sqrt(g->squares);
        scene->baseline_mean = sqrt(g->distances / g->squares);
        scene->row_sums = g->row_sums;
        scene->column_sums = g->column_sums;
    }
    if (g->what & NB_SCENE_ENTROPY) scene->entropy = g->entropy / scene->head->n;
    if (g->what & NB_SCENE_OUTPUT) scene->output = g->output;
    scene->gathered |= g->what;
    nb_guard_see_scene(scene);
    return NB_OK;
}

static nb_status pass(nb_scene *scene, unsigned what, nb_stripe_fn *each, void *self, nb_ctx *ctx)
{
    size_t n = (size_t)scene->head->n;
    double *scratch = NULL;
    gathering g;
    NB_TRY(ctx, gathering_init(scene, what, &g));
    if (!scene->rows && scene->keep) NB_NEED(scene->rows, nb_alloc_reals(scene->ctx, n, n));
    if (!scene->rows) NB_NEED(scratch, nb_alloc_raw(ctx, n * NB_STRIPE));
    for (int i = 0, rows = nb_stripe_rows(scene->head->n); i < scene->head->n; i += rows) {
        int count = scene->head->n - i < rows ? scene->head->n - i : rows;
        double *values = scratch ? scratch : scene->rows + (size_t)i * n;
        nb_stripe stripe = {i, count, scene->head->causal ? i + count : scene->head->n, scene->head->n, values};
        NB_TRY(ctx, form_stripe(scene, &stripe, values, &g, ctx));
        if (each) NB_TRY(ctx, each(self, &stripe, ctx));
    }
    scene->formed = scene->rows;
    if (g.what & SCENE_SUMS) add_between_rows(scene->head->n, &g);
    return keep_gathered(scene, &g, ctx);
}

double nb_scene_least_stripe(const nb_scene *scene)
{
    int n = scene->head->n, rows = nb_stripe_rows(n), last = n - (n - 1) / rows * rows;
    if (scene->factors.rank) return INFINITY;
    return fmin((double)last * n, (double)rows * (scene->head->causal ? rows : n));
}

static nb_status passed(nb_scene *scene, unsigned what, nb_stripe_fn *each, void *self, nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = pass(scene, what, each, self, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}

nb_status nb_scene_pass(nb_scene *scene, nb_stripe_fn *each, void *self, nb_ctx *ctx)
{
    return passed(scene, scene->along | SCENE_SUMS, each, self, ctx);
}

/* What a pass would gather, from the factors of S. */
static nb_status gather_factors(nb_scene *scene, unsigned what, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    gathering g;
    NB_TRY(ctx, gathering_init(scene, what, &g));
    if (g.what & SCENE_SUMS)
        NB_TRY(ctx, nb_low_rank_sums(&scene->factors, h->n, &g.squares, &g.distances, g.row_sums, g.column_sums, ctx));
    if (g.what & NB_SCENE_OUTPUT) NB_TRY(ctx, nb_low_rank_output(&scene->factors, h->n, h->dv, h->v, g.output, ctx));
    return keep_gathered(scene, &g, ctx);
}

/* A pass of its own for what no other took along. */
static nb_status need(nb_scene *scene, unsigned what, nb_ctx *ctx)
{
    if (!(what & ~scene->gathered)) return NB_OK;
    if (scene->factors.rank && !(what & NB_SCENE_ENTROPY)) return gather_factors(scene, what, ctx);
    return passed(scene, what | scene->along | SCENE_SUMS, NULL, NULL, ctx);
}

nb_status nb_scene_stacked(nb_scene *scene, const double **stacked, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    size_t d = (size_t)h->d, n = (size_t)h->n;
    (void)ctx;
    if (!scene->stacked) {
        double *x;
        NB_NEED(x, nb_alloc_raw(scene->ctx, 2 * d * n));
        for (size_t i = 0; i < n; i++) {
            memcpy(x + 2 * d * i, h->q + d * i, d * sizeof *x);
            memcpy(x + 2 * d * i + d, h->k + d * i, d * sizeof *x);
        }
        scene->stacked = x;
        nb_guard_see_scene(scene);
    }
    *stacked = scene->stacked;
    return NB_OK;
}

nb_status nb_scene_united(nb_scene *scene, const double **united, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    size_t size = (size_t)h->d * (size_t)h->n;
    (void)ctx;
    if (!scene->united) {
        double *x;
        NB_NEED(x, nb_alloc_raw(scene->ctx, 2 * size));
        memcpy(x, h->q, size * sizeof *x);
        memcpy(x + size, h->k, size * sizeof *x);
        scene->united = x;
        nb_guard_see_scene(scene);
    }
    *united = scene->united;
    return NB_OK;
}

nb_status nb_scene_rows(nb_scene *scene, const double **rows, nb_ctx *ctx)
{
    size_t n = (size_t)scene->head->n;
    if (!scene->rows) NB_NEED(scene->rows, nb_alloc_reals(scene->ctx, n, n));
    if (!scene->formed) NB_TRY(ctx, nb_scene_pass(scene, NULL, NULL, ctx));
    *rows = scene->rows;
    return NB_OK;
}

nb_status nb_scene_norm(nb_scene *scene, double *norm, nb_ctx *ctx)
{
    NB_TRY(ctx, need(scene, SCENE_SUMS, ctx));
    *norm = scene->norm;
    return NB_OK;
}

nb_status nb_scene_baseline_mean(nb_scene *scene, double *error, nb_ctx *ctx)
{
    NB_TRY(ctx, need(scene, SCENE_SUMS, ctx));
    *error = scene->baseline_mean;
    return NB_OK;
}

nb_status nb_scene_sums(nb_scene *scene, const double **of_rows, const double **of_columns, nb_ctx *ctx)
{
    NB_TRY(ctx, need(scene, SCENE_SUMS, ctx));
    *of_rows = scene->row_sums;
    *of_columns = scene->column_sums;
    return NB_OK;
}

nb_status nb_scene_output(nb_scene *scene, const double **output, nb_ctx *ctx)
{
    NB_TRY(ctx, need(scene, NB_SCENE_OUTPUT, ctx));
    *output = scene->output;
    return NB_OK;
}

nb_status nb_scene_entropy(nb_scene *scene, double *entropy, nb_ctx *ctx)
{
    NB_TRY(ctx, need(scene, NB_SCENE_ENTROPY, ctx));
    *entropy = scene->entropy;
    return NB_OK;
}

typedef struct {
    nb_op op;
    int n, b;
    const double *v;
    double *out;
} one_product;

static nb_status multiply_once(void *self, const nb_stripe *s, nb_ctx *ctx)
{
    one_product *p = self;
    (void)ctx;
    if (p->op == NB_PLAIN)
        nb_gemm(NB_TRANSPOSED, NB_PLAIN, s->count, p->b, s->keys, 1, s->values, s->ld, p->v, p->n, 0, p->out + s->first,
                p->n);
    else
        nb_gemm(NB_PLAIN, NB_PLAIN, s->keys, p->b, s->count, 1, s->values, s->ld, p->v + s->first, p->n, 1, p->out,
                p->n);
    return NB_OK;
}

nb_status nb_scene_product(nb_scene *scene, nb_op op, int b, const double *v, double *out, nb_ctx *ctx)
{
    one_product p = {op, scene->head->n, b, v, out};
    if (scene->factors.rank) return nb_low_rank_multiply(&scene->factors, op == NB_TRANSPOSED, p.n, b, v, out, ctx);
    memset(out, 0, (size_t)p.n * (size_t)b * sizeof *out);
    return nb_scene_pass(scene, multiply_once, &p, ctx);
}

/* The tail of the first `used` values, all that are not 0, from a backward stable
 * decomposition of order n. */
static void sum_tail(nb_spectrum *s, int used, int n)
{
    s->summed = true;
    s->residual = DBL_EPSILON * n;
    for (int m = used - 1; m >= 0; m--) {
        double off = s->residual * s->values[0]; /* of each value */
        s->tail[m] = s->tail[m + 1] + s->values[m] * s->values[m];
        s->tail_accuracy[m] = s->tail_accuracy[m + 1] + off * (2 * s->values[m] + off);
    }
}

/* S' = U diag(s) W' by LAPACK: the right vectors of S are U's columns, the left
 * ones the rows of W'. */
static nb_status decompose(nb_scene *scene, bool vectors, nb_spectrum *s, nb_ctx *ctx)
{
    const double *rows;
    int n = scene->head->n;
    size_t order = (size_t)n;
    double *wt = NULL;
    s->count = n;
    NB_NEED(s->values, nb_alloc_reals(scene->ctx, order, 1));
    NB_NEED(s->tail, nb_alloc_reals(scene->ctx, order + 1, 2));
    s->tail_accuracy = s->tail + order + 1;
    NB_TRY(ctx, nb_scene_rows(scene, &rows, ctx));
    if (vectors) {
        NB_NEED(s->left, nb_alloc_reals(scene->ctx, order, order));
        NB_NEED(s->right, nb_alloc_reals(scene->ctx, order, order));
        NB_NEED(wt, nb_alloc_reals(ctx, order, order));
    }
    NB_TRY(ctx, nb_svd(n, n, rows, s->right, s->values, wt, ctx));
    if (vectors) nb_transpose(n, n, wt, s->left);
    sum_tail(s, n, n);
    return NB_OK;
}

/* The same from the factors of S: beyond their rank values and vectors are 0. */
static nb_status decompose_factors(nb_scene *scene, int count, bool vectors, nb_spectrum *s, nb_ctx *ctx)
{
    int n = scene->head->n, rank = scene->factors.rank;
    size_t room = (size_t)(count > rank ? count : rank);
    s->count = (int)room;
    NB_NEED(s->values, nb_alloc_reals(scene->ctx, room, 1));
    NB_NEED(s->tail, nb_alloc_reals(scene->ctx, room + 1, 2));
    s->tail_accuracy = s->tail + room + 1;
    if (vectors) {
        NB_NEED(s->left, nb_alloc_reals(scene->ctx, (size_t)n, room));
        NB_NEED(s->right, nb_alloc_reals(scene->ctx, (size_t)n, room));
    }
    NB_TRY(ctx, nb_low_rank_svd(&scene->factors, n, s->values, s->left, s->right, ctx));
    sum_tail(s, rank, n);
    return NB_OK;
}

typedef struct {
    const double *v;
    double *z, *w;
    int n, b;
} product;

static nb_status multiply_stripe(void *self, const nb_stripe *s, nb_ctx *ctx)
{
    product *p = self;
    (void)ctx;
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, s->count, p->b, s->keys, 1, s->values, s->ld, p->v, p->n, 0, p->z + s->first,
            p->n);
    nb_gemm(NB_PLAIN, NB_PLAIN, s->keys, p->b, s->count, 1, s->values, s->ld, p->z + s->first, p->n, 1, p->w, p->n);
    return NB_OK;
}

static nb_status multiply(void *self, int b, const double *v, double *z, double *w, nb_ctx *ctx)
{
    nb_scene *scene = self;
    product p = {v, z, w, scene->head->n, b};
    memset(w, 0, (size_t)p.n * (size_t)b * sizeof *w);
    return nb_scene_pass(scene, multiply_stripe, &p, ctx);
}

/* Block Krylov, in larger blocks where each pass forms S anew; the tail follows
 * from |S|_F. */
static nb_status iterate(nb_scene *scene, int count, nb_spectrum *s, nb_ctx *ctx)
{
    nb_triplets t;
    nb_ctx *own; /* the passes allocate from scene->ctx meanwhile */
    NB_NEED(own, nb_ctx_child(scene->ctx));
    NB_TRY(ctx, nb_krylov(scene->head->n, count, scene->keep ? 16 : 32, multiply, scene, tolerance, &t, own));
    NB_NEED(s->tail, nb_alloc_reals(scene->ctx, (size_t)count + 1, 2));
    s->tail_accuracy = s->tail + count + 1;
    s->tail[0] = scene->norm * scene->norm;
    for (int m = 0; m < count; m++) {
        s->tail[m + 1] = fmax(0, s->tail[m] - t.values[m] * t.values[m]);
        s->tail_accuracy[m + 1] = t.missing[m];
    }
    s->count = count;
    s->values = t.values;
    s->left = t.left;
    s->right = t.right;
    s->residual = t.residual;
    return NB_OK;
}

/* What was made for that many, or NULL. */
static nb_spectrum *find(const nb_scene *scene, int count, bool vectors)
{
    for (int i = 0; i < scene->spectrum_count; i++) {
        nb_spectrum *s = scene->spectra[i];
        if (s->asked == count && (vectors ? s->vectors_too : s->values_too)) return s;
    }
    return NULL;
}

static nb_status add_spectrum(nb_scene *scene, nb_spectrum *added)
{
    nb_spectrum **grown;
    size_t count = (size_t)scene->spectrum_count;
    NB_NEED(grown, nb_alloc(scene->ctx, count + 1, sizeof *grown));
    if (count > 0) memcpy(grown, scene->spectra, count * sizeof *grown);
    grown[count] = added;
    scene->spectra = grown;
    scene->spectrum_count++;
    return NB_OK;
}

static nb_status spectrum_of(nb_scene *scene, int count, bool vectors, const nb_spectrum **spectrum, nb_ctx *ctx)
{
    int n = scene->head->n, wanted = 64;
    while (wanted < count) wanted *= 2;
    bool factored = scene->factors.rank, small = !factored && (n <= LAPACK || nb_krylov_order(n, wanted) >= n);
    if (small || wanted > n) wanted = n;
    nb_spectrum *s = find(scene, wanted, vectors);
    if (s) {
        NB_REQUIRE(ctx, !s->failure, NB_ENUMERIC, "%s", s->failure);
        scene->reused_s += s->time_s;
    } else {
        double start_s = nb_clock_s();
        NB_NEED(s, nb_alloc(scene->ctx, 1, sizeof *s));
        s->asked = wanted;
        s->vectors_too = vectors || !(factored || small);
        s->values_too = !vectors || !(factored || small);
        nb_status status = factored ? decompose_factors(scene, wanted, vectors, s, ctx)
                           : small  ? decompose(scene, vectors, s, ctx)
                                    : iterate(scene, wanted, s, ctx);
        if (status == NB_ENUMERIC) NB_NEED(s->failure, nb_strdup(scene->ctx, nb_error_message(ctx)));
        s->time_s = nb_clock_s() - start_s;
        if (status == NB_OK || status == NB_ENUMERIC) {
            NB_TRY(ctx, add_spectrum(scene, s));
            nb_guard_see_scene(scene);
        }
        NB_TRY(ctx, status);
    }
    *spectrum = s;
    return NB_OK;
}

nb_status nb_scene_singular_values(nb_scene *scene, int count, const nb_spectrum **spectrum, nb_ctx *ctx)
{
    return spectrum_of(scene, count, false, spectrum, ctx);
}

nb_status nb_scene_singular_vectors(nb_scene *scene, int count, const nb_spectrum **spectrum, nb_ctx *ctx)
{
    return spectrum_of(scene, count, true, spectrum, ctx);
}

nb_status nb_scene_floor_rank(nb_scene *scene, int m, double *floor, double *accuracy, nb_ctx *ctx)
{
    const nb_spectrum *s;
    double norm;
    NB_TRY(ctx, nb_scene_norm(scene, &norm, ctx));
    NB_TRY(ctx, nb_scene_singular_values(scene, m, &s, ctx));
    double rounding = 8 * DBL_EPSILON * norm * norm; /* of |S|^2 and of the sum of squares */
    if (s->summed) rounding = 0;
    *floor = sqrt(s->tail[m]) / norm;
    *accuracy = fmax(*floor - sqrt(fmax(0, s->tail[m] - s->tail_accuracy[m] - rounding)) / norm,
                     sqrt(s->tail[m] + rounding) / norm - *floor);
    return NB_OK;
}
