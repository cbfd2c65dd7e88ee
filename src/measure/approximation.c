/* approximation.c - the factors of both kinds. */
#include "measure/approximation.h"

#include "base/clock.h"
#include "linalg/linalg.h"

#include <string.h>

const char *const nb_factors_names[] = {
    [NB_NYSTROMFORMER] = "nystromformer", [NB_CUR] = "cur", [NB_FACTORS_COUNT] = NULL};

const char *nb_factors_refusal(nb_factors_kind kind, nb_picks_kind picks, bool causal)
{
    if (kind == NB_CUR && picks != NB_TOKENS) return "cur takes rows and columns of S, so it needs tokens, not means or free points";
    if (kind == NB_NYSTROMFORMER && causal && picks == NB_TOKENS)
        return "under a causal mask a query before the first landmark would attend to nothing";
    if (kind == NB_NYSTROMFORMER && causal) return "under a causal mask a mean of tokens would see the future";
    return NULL;
}

nb_status nb_factors_svd(nb_factors *factors, const nb_factors_spectrum **spectrum, nb_ctx *ctx)
{
    nb_factors_spectrum s = factors->spectrum;
    if (!s.values) {
        size_t m = (size_t)factors->m;
        double start_s = nb_clock_s();
        NB_NEED(s.u, nb_alloc_reals(factors->ctx, m, m));
        NB_NEED(s.values, nb_alloc_reals(factors->ctx, m, 1));
        NB_NEED(s.vt, nb_alloc_reals(factors->ctx, m, m));
        NB_TRY(ctx, nb_svd(factors->m, factors->m, factors->a, s.u, s.values, s.vt, ctx));
        factors->spectrum = s;
        factors->svd_s = nb_clock_s() - start_s;
    }
    factors->svd_used = true;
    *spectrum = &factors->spectrum;
    return NB_OK;
}

static nb_status kernel_of_landmarks(nb_scene *scene, const nb_landmarks *landmarks, nb_factors *f, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    size_t size = (size_t)h->d * (size_t)f->m;
    double *q, *k, *a_rows;
    NB_NEED(q, nb_alloc_reals(ctx, size, 2));
    NB_NEED(a_rows, nb_alloc_reals(ctx, (size_t)f->m, (size_t)f->m));
    k = q + size;
    NB_TRY(ctx, nb_picks_landmarks(&landmarks->queries, h->d, h->n, h->q, q, ctx));
    NB_TRY(ctx, nb_picks_landmarks(&landmarks->keys, h->d, h->n, h->k, k, ctx));
    NB_TRY(ctx, nb_scene_kernel(scene, h->n, h->q, f->m, k, f->f, ctx));
    NB_TRY(ctx, nb_scene_kernel(scene, f->m, q, f->m, k, a_rows, ctx));
    nb_transpose(f->m, f->m, a_rows, f->a);
    return nb_scene_kernel(scene, f->m, q, h->n, h->k, f->b, ctx);
}

static nb_status rows_and_columns(nb_scene *scene, const nb_landmarks *landmarks, nb_factors *f, nb_ctx *ctx)
{
    const double *rows;
    const int *queries = landmarks->queries.tokens, *keys = landmarks->keys.tokens;
    size_t n = (size_t)f->n, m = (size_t)f->m;
    NB_TRY(ctx, nb_scene_rows(scene, &rows, ctx));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) f->f[i * m + j] = rows[i * n + (size_t)keys[j]];
    for (size_t i = 0; i < m; i++) {
        memcpy(f->b + i * n, rows + (size_t)queries[i] * n, n * sizeof *rows);
        for (size_t j = 0; j < m; j++) f->a[i + j * m] = rows[(size_t)queries[i] * n + (size_t)keys[j]];
    }
    return NB_OK;
}

nb_status nb_factors_build(nb_scene *scene, const nb_landmarks *landmarks, nb_factors_kind kind, nb_factors **factors,
                           nb_ctx *ctx)
{
    const char *refusal = nb_factors_refusal(kind, landmarks->queries.kind, scene->head->causal);
    NB_REQUIRE(ctx, !refusal, NB_EINVAL, "%s factors: %s", nb_factors_names[kind], refusal);
    nb_factors *f;
    NB_NEED(f, nb_alloc(ctx, 1, sizeof *f));
    f->n = scene->head->n;
    f->m = landmarks->queries.m;
    NB_NEED(f->f, nb_alloc_reals(ctx, (size_t)f->m, (size_t)f->n));
    NB_NEED(f->a, nb_alloc_reals(ctx, (size_t)f->m, (size_t)f->m));
    NB_NEED(f->b, nb_alloc_reals(ctx, (size_t)f->n, (size_t)f->m));
    NB_NEED(f->ctx, nb_ctx_child(ctx));
    *factors = f;
    return kind == NB_CUR ? rows_and_columns(scene, landmarks, f, ctx) : kernel_of_landmarks(scene, landmarks, f, ctx);
}
