/* SPDX-License-Identifier: GPL-3.0-or-later */
/* passes.c - S formed by stripes, and what the scene itself takes from the first pass. */
#include "nystrom/passes.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "nystrom/low_rank.h"
#include "nystrom/make_scene.h"
#include "nystrom/scene_record.h"

#include <math.h>
#include <string.h>

enum { SCENE_SUMS = 1 << 2 }; /* in `gathered`, beside NB_SCENE_* */

int nb_stripe_rows(int n)
{
    int stripes = (n + NB_STRIPE - 1) / NB_STRIPE;
    return (n + stripes - 1) / stripes;
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
    bool stochastic = nb_scene_kernel_record(scene)->stochastic;
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
    for (int i = 0; i < s->count; i += NB_NEAR) {
        int count = s->count - i < NB_NEAR ? s->count - i : NB_NEAR;
        double *rows = values + (size_t)i * (size_t)s->ld;
        if (!scene->formed) NB_TRY(ctx, nb_scene_form(scene, s->first + i, count, s->keys, rows, ctx));
        if (g->what) gather(scene, s->first + i, count, s->keys, rows, g);
    }
    return NB_OK;
}

/* Adds the rows' means to the distances of all rows from their own means, which gives the distance of S from its
 * mean. */
static void add_between_rows(int n, gathering *g)
{
    double mean = nb_sum((size_t)n, g->row_sums) / n, squares = 0;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): who gathers SCENE_SUMS has row_sums */
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
    return NB_OK;
}

/* Allocates n x n for S; zeroed under a causal mask, whose entries are never written. */
static nb_status make_room(nb_scene *scene)
{
    size_t n = (size_t)scene->head->n;
    if (scene->rows) return NB_OK;
    scene->rows = scene->head->causal ? nb_alloc_reals(scene->ctx, n, n) : nb_alloc_raw(scene->ctx, n * n);
    return scene->rows ? NB_OK : NB_ENOMEM;
}

static nb_status pass(nb_scene *scene, unsigned what, nb_stripe_fn *each, void *self, nb_ctx *ctx)
{
    size_t n = (size_t)scene->head->n;
    double *scratch = NULL;
    gathering g;
    NB_TRY(ctx, gathering_init(scene, what, &g));
    if (scene->keep) NB_TRY(ctx, make_room(scene));
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
    nb_scene_note_read(scene, scene->head->n, NULL);
    return passed(scene, scene->along | SCENE_SUMS, each, self, ctx);
}

/* Computes from the factors of S what a pass would give. */
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

/* A pass for what no other pass took along. */
static nb_status need(nb_scene *scene, unsigned what, nb_ctx *ctx)
{
    nb_scene_note_read(scene, scene->head->n, NULL);
    if (!(what & ~scene->gathered)) return NB_OK;
    if (scene->factors.rank && !(what & NB_SCENE_ENTROPY)) return gather_factors(scene, what, ctx);
    return passed(scene, what | scene->along | SCENE_SUMS, NULL, NULL, ctx);
}

nb_status nb_scene_rows(nb_scene *scene, const double **rows, nb_ctx *ctx)
{
    nb_scene_note_read(scene, scene->head->n, NULL);
    NB_TRY(ctx, make_room(scene));
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
    nb_scene_note_read(scene, scene->head->n, NULL);
    if (scene->factors.rank) return nb_low_rank_multiply(&scene->factors, op == NB_TRANSPOSED, p.n, b, v, out, ctx);
    memset(out, 0, (size_t)p.n * (size_t)b * sizeof *out);
    return nb_scene_pass(scene, multiply_once, &p, ctx);
}
