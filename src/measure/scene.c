/* scene.c - S itself, formed by tiles of queries, and what follows from it. */
#include "measure/scene.h"

#include "base/clock.h"
#include "linalg/linalg.h"

#include <math.h>

enum { TILE = 256 }; /* queries a tile: fixed, since sums depend on it in the last bits */

nb_status nb_scene_new(const nb_head *head, const nb_choice *kernel, bool vectors, nb_scene **scene, nb_ctx *ctx)
{
    nb_scene *s;
    NB_NEED(s, nb_alloc(ctx, 1, sizeof *s));
    *s = (nb_scene){.head = head, .kernel = kernel, .vectors = vectors, .norm = NAN, .baseline_mean = NAN};
    NB_NEED(s->ctx, nb_ctx_child(ctx));
    *scene = s;
    return NB_OK;
}

static nb_status fill(const nb_scene *scene, const nb_tile *tile, double *out, nb_ctx *ctx)
{
    const nb_kernel *kernel = (const nb_kernel *)scene->kernel->component;
    return kernel->fill(tile, scene->kernel->options, out, ctx);
}

nb_status nb_scene_kernel(const nb_scene *scene, int queries, const double *q, int keys, const double *k, double *out,
                          nb_ctx *ctx)
{
    for (int i = 0; i < queries; i += TILE) {
        nb_tile tile = {.d = scene->head->d,
                        .queries = queries - i < TILE ? queries - i : TILE,
                        .keys = keys,
                        .q = q + (size_t)i * (size_t)scene->head->d,
                        .k = k,
                        .first_query = i};
        NB_TRY(ctx, fill(scene, &tile, out + (size_t)i * (size_t)keys, ctx));
    }
    return NB_OK;
}

static nb_status form_rows(nb_scene *scene, double *rows, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    for (int i = 0; i < h->n; i += TILE) {
        nb_tile tile = {.d = h->d,
                        .queries = h->n - i < TILE ? h->n - i : TILE,
                        .keys = h->n,
                        .q = h->q + (size_t)i * (size_t)h->d,
                        .k = h->k,
                        .causal = h->causal,
                        .first_query = i};
        NB_TRY(ctx, fill(scene, &tile, rows + (size_t)i * (size_t)h->n, ctx));
    }
    return NB_OK;
}

nb_status nb_scene_rows(nb_scene *scene, const double **rows, nb_ctx *ctx)
{
    if (!scene->rows) {
        double *formed;
        size_t n = (size_t)scene->head->n;
        nb_mark mark = nb_ctx_mark(scene->ctx);
        NB_NEED(formed, nb_alloc_reals(scene->ctx, n, n));
        nb_status status = form_rows(scene, formed, ctx);
        if (status != NB_OK) nb_ctx_release(scene->ctx, mark);
        NB_TRY(ctx, status);
        scene->rows = formed;
    }
    *rows = scene->rows;
    return NB_OK;
}

nb_status nb_scene_norm(nb_scene *scene, double *norm, nb_ctx *ctx)
{
    if (isnan(scene->norm)) {
        const double *rows;
        size_t n = (size_t)scene->head->n;
        NB_TRY(ctx, nb_scene_rows(scene, &rows, ctx));
        scene->norm = nb_frobenius(n * n, rows);
    }
    *norm = scene->norm;
    return NB_OK;
}

/* rows = S' = U diag(s) W', so the left vectors of S are the rows of W', the
 * right ones the columns of U. */
static nb_status decompose(nb_scene *scene, bool vectors, nb_ctx *ctx)
{
    const double *rows;
    double start_s = nb_clock_s();
    int n = scene->head->n;
    size_t order = (size_t)n;
    nb_spectrum s = {.values = nb_alloc_reals(scene->ctx, order, 1)};
    if (!s.values) return NB_ENOMEM;
    if (vectors) {
        NB_NEED(s.left, nb_alloc_reals(scene->ctx, order, order));
        NB_NEED(s.right, nb_alloc_reals(scene->ctx, order, order));
    }
    NB_TRY(ctx, nb_scene_rows(scene, &rows, ctx));
    NB_TRY(ctx, nb_svd(n, n, rows, s.right, s.values, s.left, ctx));
    scene->spectrum = s;
    scene->spectrum_s = nb_clock_s() - start_s;
    return NB_OK;
}

nb_status nb_scene_singular_values(nb_scene *scene, const double **values, nb_ctx *ctx)
{
    if (!scene->spectrum.values) NB_TRY(ctx, decompose(scene, scene->vectors, ctx));
    *values = scene->spectrum.values;
    return NB_OK;
}

nb_status nb_scene_singular_vectors(nb_scene *scene, const nb_spectrum **spectrum, nb_ctx *ctx)
{
    if (scene->spectrum.left)
        scene->reused_s += scene->spectrum_s;
    else
        NB_TRY(ctx, decompose(scene, true, ctx));
    *spectrum = &scene->spectrum;
    return NB_OK;
}

nb_status nb_scene_floor_rank(nb_scene *scene, int m, double *floor, nb_ctx *ctx)
{
    const double *values;
    double norm;
    NB_TRY(ctx, nb_scene_norm(scene, &norm, ctx));
    NB_TRY(ctx, nb_scene_singular_values(scene, &values, ctx));
    int n = scene->head->n;
    *floor = m < n ? nb_frobenius((size_t)(n - m), values + m) / norm : 0;
    return NB_OK;
}

nb_status nb_scene_output(nb_scene *scene, const double **output, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    if (!scene->output) {
        const double *rows;
        double *product;
        NB_TRY(ctx, nb_scene_rows(scene, &rows, ctx));
        NB_NEED(product, nb_alloc_reals(scene->ctx, (size_t)h->dv, (size_t)h->n));
        nb_gemm(NB_PLAIN, NB_PLAIN, h->dv, h->n, h->n, 1, h->v, h->dv, rows, h->n, 0, product, h->dv);
        scene->output = product;
    }
    *output = scene->output;
    return NB_OK;
}

static double distance_to_constant(size_t count, const double *x, double constant)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += (x[i] - constant) * (x[i] - constant);
    return sqrt(sum);
}

nb_status nb_scene_baseline_mean(nb_scene *scene, double *error, nb_ctx *ctx)
{
    const double *rows;
    double norm;
    size_t n = (size_t)scene->head->n;
    NB_TRY(ctx, nb_scene_rows(scene, &rows, ctx));
    NB_TRY(ctx, nb_scene_norm(scene, &norm, ctx));
    if (isnan(scene->baseline_mean)) scene->baseline_mean = distance_to_constant(n * n, rows, 1 / (double)n) / norm;
    *error = scene->baseline_mean;
    return NB_OK;
}
