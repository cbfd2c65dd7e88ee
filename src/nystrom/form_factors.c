/* SPDX-License-Identifier: GPL-3.0-or-later */
/* form_factors.c - the factors of each kind. */
#include "nystrom/form_factors.h"

#include "kernels/kernel.h"
#include "linalg/kernel_ridge.h"
#include "linalg/linalg.h"
#include "nystrom/factors_record.h"
#include "nystrom/low_rank.h"
#include "nystrom/scene_record.h"

#include <string.h>

const char *const nb_factors_names[] = {[NB_NYSTROMFORMER] = "nystromformer",
                                        [NB_CUR] = "cur",
                                        [NB_NOCORE] = "nocore",
                                        [NB_KERNEL_RIDGE] = "kernel_ridge",
                                        [NB_FACTORS_COUNT] = NULL};

bool nb_factors_have_middle(nb_factors_kind kind)
{
    return kind == NB_NYSTROMFORMER || kind == NB_CUR;
}

#define BY_TOKENS ": take factors cur and a strategy that picks tokens"

const char *nb_factors_refusal(nb_factors_kind kind, nb_picks_kind picks, bool causal, const nb_choice *kernel)
{
    if (kind == NB_KERNEL_RIDGE && kernel && !((const nb_kernel *)kernel->component)->stochastic)
        return "kernel_ridge regresses on weights that sum to 1: take the kernel softmax";
    if (kind == NB_CUR && picks != NB_TOKENS)
        return "cur takes rows and columns of S, so it needs tokens, not means, free points or points that both sides "
               "share";
    if (kind != NB_CUR && causal && picks == NB_TOKENS)
        return "under a causal mask a query before the first landmark would attend to nothing: take factors cur";
    if (kind != NB_CUR && causal && picks == NB_POINTS)
        return "under a causal mask free points have no place in the sequence" BY_TOKENS;
    if (kind != NB_CUR && causal) return "under a causal mask a mean of tokens would see the future" BY_TOKENS;
    return NULL;
}

static nb_status points_of(const nb_scene *scene, const nb_picks *picks, const double *x, double **landmarks,
                           nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    NB_NEED(*landmarks, nb_alloc_reals(ctx, (size_t)h->d, (size_t)picks->m));
    return nb_picks_landmarks(picks, h->d, h->n, x, *landmarks, ctx);
}

enum { WIDEST = 16 }; /* nb_panel_width's */

/* `width` rows of B from `start` on: of tokens, or of the queries q. Behind the last token the first is repeated. */
static nb_status panel_of_b(const nb_scene *scene, const nb_picks *picks, const double *q, int start, int width,
                            double *rows, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    size_t d = (size_t)h->d;
    int tokens[WIDEST];
    double *points = NULL;
    if (q) NB_NEED(points, nb_alloc_raw(ctx, d * (size_t)width));
    for (int i = 0; i < width; i++) {
        int from = start + i < picks->m ? start + i : 0;
        if (q)
            memcpy(points + (size_t)i * d, q + (size_t)from * d, d * sizeof *points);
        else
            tokens[i] = picks->tokens[from];
    }
    if (!q) return nb_scene_some_rows(scene, width, tokens, rows, ctx);
    return nb_scene_kernel(scene, width, points, h->n, h->k, rows, ctx);
}

/* Tokens come in panels of fixed width, so that the first rows are the same bits whatever m is: they may begin
 * another pair's. */
static nb_status kernel_rows(const nb_scene *scene, const nb_landmarks *landmarks, nb_factors_kind kind, double *b,
                             nb_ctx *ctx)
{
    const nb_picks *picks = &landmarks->queries;
    size_t n = (size_t)scene->head->n;
    double *q = NULL, *rows = NULL;
    if (kind != NB_CUR) NB_TRY(ctx, points_of(scene, picks, scene->head->q, &q, ctx));
    if (picks->kind != NB_TOKENS) return nb_scene_kernel(scene, picks->m, q, scene->head->n, scene->head->k, b, ctx);
    for (int start = 0, width; start < picks->m; start += width) {
        nb_mark mark = nb_ctx_mark(ctx);
        width = nb_panel_width(start);
        int used = picks->m - start < width ? picks->m - start : width;
        double *out = b + (size_t)start * n;
        if (used < width) NB_NEED(rows, nb_alloc_raw(ctx, n * (size_t)width));
        nb_status status = panel_of_b(scene, picks, q, start, width, used < width ? rows : out, ctx);
        if (status == NB_OK && used < width) memcpy(out, rows, n * (size_t)used * sizeof *out);
        nb_ctx_release(ctx, mark);
        NB_TRY(ctx, status);
    }
    return NB_OK;
}

nb_status nb_factor_b(const nb_scene *scene, const nb_landmarks *landmarks, nb_factors_kind kind, double *b,
                      nb_interpolation *own, nb_ctx *ctx)
{
    nb_interpolation unwanted;
    NB_TRY(ctx, kernel_rows(scene, landmarks, kind, b, ctx));
    if (kind != NB_KERNEL_RIDGE) return NB_OK;
    return nb_interpolate(scene, landmarks, b, own ? own : &unwanted, ctx);
}

static nb_status kernel_of_landmarks(const nb_scene *scene, const nb_landmarks *landmarks, double *a, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    int m = landmarks->queries.m;
    double *q, *k, *rows;
    NB_TRY(ctx, points_of(scene, &landmarks->queries, h->q, &q, ctx));
    NB_TRY(ctx, points_of(scene, &landmarks->keys, h->k, &k, ctx));
    NB_NEED(rows, nb_alloc_reals(ctx, (size_t)m, (size_t)m));
    NB_TRY(ctx, nb_scene_kernel(scene, m, q, m, k, rows, ctx));
    nb_transpose(m, m, rows, a);
    return NB_OK;
}

nb_status nb_factor_a(const nb_scene *scene, const nb_landmarks *landmarks, nb_factors_kind kind, const double *b,
                      const nb_interpolation *own, nb_factors **factors, nb_ctx *ctx)
{
    size_t m = (size_t)landmarks->queries.m, n = (size_t)scene->head->n;
    nb_factors *f;
    NB_NEED(f, nb_alloc(ctx, 1, sizeof *f));
    f->m = landmarks->queries.m;
    NB_NEED(f->a, nb_alloc_reals(ctx, m, m));
    NB_NEED(f->ctx, nb_ctx_child(ctx));
    *factors = f;
    if (kind == NB_NYSTROMFORMER) return kernel_of_landmarks(scene, landmarks, f->a, ctx);
    f->no_middle = !nb_factors_have_middle(kind);
    if (kind == NB_KERNEL_RIDGE) f->interpolation = *own;
    if (f->no_middle) {
        for (size_t i = 0; i < m; i++) f->a[i + i * m] = 1;
        return NB_OK;
    }
    for (size_t j = 0; j < m; j++)
        for (size_t i = 0; i < m; i++) f->a[i + j * m] = b[(size_t)landmarks->keys.tokens[j] + i * n];
    return NB_OK;
}

void nb_factor_copy_columns(const nb_f_columns *wanted, const nb_stripe *s)
{
    for (const nb_f_columns *c = wanted; c->keys; c++) {
        size_t m = (size_t)c->keys->m;
        const int *tokens = c->keys->tokens;
        for (size_t i = 0; i < (size_t)s->count; i++)
            for (size_t j = 0; j < m; j++)
                c->f[((size_t)s->first + i) * m + j] =
                    tokens[j] < s->keys ? s->values[i * (size_t)s->ld + (size_t)tokens[j]] : 0;
    }
}

static nb_status copy_from_stripe(void *self, const nb_stripe *stripe, nb_ctx *ctx)
{
    (void)ctx;
    nb_factor_copy_columns(self, stripe);
    return NB_OK;
}

nb_status nb_factor_columns(nb_scene *scene, nb_f_columns *wanted, nb_ctx *ctx)
{
    const nb_low_rank *s = &scene->factors;
    if (!s->rank) return nb_scene_pass(scene, copy_from_stripe, wanted, ctx);
    for (const nb_f_columns *c = wanted; c->keys; c++)
        NB_TRY(ctx, nb_low_rank_columns(s, scene->head->n, c->keys->m, c->keys->tokens, c->f, ctx));
    return NB_OK;
}

/* The queries of some tokens, or all. */
static nb_status queries_of(const nb_head *h, int count, const int *tokens, const double **q, nb_ctx *ctx)
{
    double *some;
    size_t d = (size_t)h->d;
    *q = h->q;
    if (!tokens) return NB_OK;
    NB_NEED(some, nb_alloc_reals(ctx, d, (size_t)count));
    for (size_t i = 0; i < (size_t)count; i++) memcpy(some + i * d, h->q + (size_t)tokens[i] * d, d * sizeof *some);
    *q = some;
    return NB_OK;
}

nb_status nb_factor_f(const nb_scene *scene, const nb_landmarks *landmarks, const double *bias, int count,
                      const int *tokens, double *f, nb_ctx *ctx)
{
    const double *q;
    double *k;
    NB_TRY(ctx, queries_of(scene->head, count, tokens, &q, ctx));
    NB_TRY(ctx, points_of(scene, &landmarks->keys, scene->head->k, &k, ctx));
    NB_TRY(ctx, nb_scene_kernel(scene, count, q, landmarks->keys.m, k, f, ctx));
    if (bias) nb_reweigh(landmarks->keys.m, count, bias, f, NULL);
    return NB_OK;
}
