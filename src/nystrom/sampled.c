/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sampled.c - a row s of S misses its row of F X B by
 *     |s|^2 - |s Q_B|^2  +  |s Q_B - f X R_B'|^2,
 * f its row of F: no pass over S, no QR of F. With a_i that square and b_i = |s_i|^2
 * over k of n rows, drawn without replacement, the means of both are unbiased for
 * |S - F X B|^2 / n and |S|^2 / n, and the error is the root of their ratio. Its
 * standard error is the jackknife's, with the factor 1 - k/n of a finite
 * population (Cochran, Sampling Techniques, 1977, ch. 6).
 *
 * Rows that a core has looked at and keeps are exact: their a_i is 0. error_unseen is taken
 * over the sampled rows among the others.
 *
 * The first difference cancels for errors near 1e-7: see error_noise. */
#include "nystrom/sampled.h"

#include "base/clock.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "nystrom/blocks.h"
#include "nystrom/exact_rows.h"
#include "nystrom/projection.h"
#include "nystrom/scene_record.h"

#include <math.h>
#include <string.h>

typedef struct { /* of all pairs */
    int n, k;
    nb_blocks blocks;
    double *inside;  /* reach x k: (s_i Q_B)' of all blocks */
    double *squares; /* k: |s_i|^2 */
    double *sums;    /* k: of the entries of s_i */
    double *output;  /* dv x k: (s_i V)'; NULL: not asked for */
    double **f;      /* by pair: F_I by rows, m x k */
} sample;

typedef struct { /* nb_pair.own */
    const sample *of;
    nb_offer offer;
    nb_projection p;      /* without what all rows of S are needed for */
    const double *f;      /* F_I by rows, m x k */
    const double *inside; /* the block's part of column 0 */
} view;

/* Computes what the k rows themselves give, a stripe at a time, and takes F of `cur`, which is their columns. */
static nb_status take_rows(const nb_scene *scene, const nb_how *how, sample *s, const nb_f_columns *columns,
                           nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    size_t n = (size_t)s->n, width = (size_t)s->blocks.reach;
    double *rows, *totals, ignored;
    NB_NEED(rows, nb_alloc_raw(ctx, n * NB_STRIPE));
    NB_NEED(totals, nb_alloc_reals(ctx, n, 1));
    for (int i = 0, most = nb_stripe_rows(s->k); i < s->k; i += most) {
        int count = s->k - i < most ? s->k - i : most;
        NB_TRY(ctx, nb_scene_some_rows(scene, count, how->tokens + i, rows, ctx));
        nb_stripe stripe = {.first = i, .count = count, .keys = s->n, .ld = s->n, .values = rows};
        nb_blocks_product(&s->blocks, 0, s->blocks.count, &stripe, s->inside + (size_t)i * width, s->blocks.reach);
        nb_factor_copy_columns(columns, &stripe);
        for (int j = 0; j < count; j++)
            nb_row_sums(n, rows + (size_t)j * n, 0, totals, &s->sums[i + j], &s->squares[i + j], &ignored);
        if (s->output)
            nb_gemm(NB_PLAIN, NB_PLAIN, h->dv, count, s->n, 1, h->v, h->dv, rows, s->n, 0,
                    s->output + (size_t)i * (size_t)h->dv, h->dv);
    }
    return NB_OK;
}

static nb_status view_init(nb_scene *scene, const nb_how *how, const sample *s, int i, nb_pair *pair, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    const nb_block *block = &s->blocks.blocks[s->blocks.block_of[i]];
    int m = pair->landmarks->queries.m;
    size_t n = (size_t)s->n, square = (size_t)m * (size_t)m;
    view *v;
    NB_NEED(v, nb_alloc(ctx, 1, sizeof *v));
    *v = (view){.of = s, .inside = s->inside + block->column};
    v->p = (nb_projection){
        .scene = scene, .factors = pair->factors, .n = s->n, .m = m, .q_b = s->blocks.q + n * (size_t)block->column};
    NB_NEED(v->p.r_b, nb_alloc_reals(ctx, square, 1));
    nb_blocks_triangle(&s->blocks, i, m, v->p.r_b);
    v->f = s->f[i];
    if (s->output) {
        NB_NEED(v->p.output_b, nb_alloc_raw(ctx, (size_t)m * (size_t)h->dv));
        nb_gemm(NB_TRANSPOSED, NB_TRANSPOSED, m, h->dv, h->n, 1, v->p.q_b, h->n, h->v, h->dv, 0, v->p.output_b, m);
    }
    pair->own = v;
    v->offer = (nb_offer){scene, pair->landmarks, pair->kind, {m, m, NULL, v->p.r_b, NULL}, v->p.q_b, how->order};
    nb_factors_offer(pair->factors, &v->offer);
    return nb_landmarks_of_a(v->p.factors, &v->p.landmark_rank, &v->p.landmark_condition, ctx);
}

nb_status nb_sampled_prepare(nb_scene *scene, const nb_how *how, int count, nb_pair *pairs, nb_engine_times *times,
                             nb_ctx *ctx)
{
    sample *s;
    nb_f_columns *columns;
    double start_s;
    size_t k = (size_t)how->sample;
    NB_NEED(s, nb_alloc(ctx, 1, sizeof *s));
    *s = (sample){.n = scene->head->n, .k = how->sample};
    int rows = nb_stripe_rows(s->k), last = s->k - (s->k - 1) / rows * rows;
    nb_product_sizes sizes = {.least = (double)last * s->n, .smallest = (double)last * s->n};
    NB_TRY(ctx, nb_blocks_build(scene, count, pairs, sizes, &s->blocks, times, ctx));
    NB_NEED(s->inside, nb_alloc_raw(ctx, (size_t)s->blocks.reach * k));
    NB_NEED(s->squares, nb_alloc_reals(ctx, k, 2));
    s->sums = s->squares + k;
    if ((how->wanted & NB_WANT_OUTPUT) && scene->head->v)
        NB_NEED(s->output, nb_alloc_reals(ctx, (size_t)scene->head->dv, k));
    NB_NEED(columns, nb_alloc(ctx, (size_t)count + 1, sizeof *columns));
    start_s = nb_clock_s();
    NB_NEED(s->f, nb_alloc(ctx, (size_t)count, sizeof *s->f));
    const nb_f_rows f_rows = {.scene = scene, .count = s->k, .tokens = how->tokens};
    NB_TRY(ctx, nb_pairs_form_f(&f_rows, count, pairs, NULL, s->f, columns, ctx));
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = take_rows(scene, how, s, columns, ctx);
    nb_ctx_release(ctx, mark);
    NB_TRY(ctx, status);
    times->pass_s = nb_clock_s() - start_s;
    for (int i = 0; i < count; i++)
        if (!pairs[i].failure && view_init(scene, how, s, i, &pairs[i], ctx) != NB_OK)
            NB_TRY(ctx, nb_record_failure(&pairs[i].failure, ctx));
    return NB_OK;
}

/* sqrt of the ratio of the sums of a and b, and its standard error by the jackknife. */
static void ratio_estimate(int n, int k, const double *a, const double *b, double *root, double *se)
{
    double total_a = nb_sum((size_t)k, a), total_b = nb_sum((size_t)k, b), mean = 0, spread = 0;
    *root = sqrt(total_a / total_b);
    for (int i = 0; i < k; i++) mean += sqrt(fmax(0, total_a - a[i]) / (total_b - b[i])) / k;
    for (int i = 0; i < k; i++) spread += pow(sqrt(fmax(0, total_a - a[i]) / (total_b - b[i])) - mean, 2);
    *se = sqrt((1 - (double)k / n) * (k - 1) / k * spread);
}

/* The squares of the rows' differences, from t = (f X R_B')' (m x k). */
static void row_squares(const view *v, const double *t, double *a)
{
    const sample *s = v->of;
    size_t m = (size_t)v->p.m;
    for (int i = 0; i < s->k; i++) {
        const double *inside = v->inside + (size_t)i * (size_t)s->blocks.reach, *column = t + (size_t)i * m;
        double rest = fmax(0, s->squares[i] - nb_sum_of_squares(m, inside)), core = 0;
        for (size_t j = 0; j < m; j++) core += (inside[j] - column[j]) * (inside[j] - column[j]);
        a[i] = rest + core;
    }
}

static nb_status output_error(const view *v, const double *t, const bool *kept, double *a, nb_measures *out,
                              nb_ctx *ctx)
{
    const sample *s = v->of;
    size_t dv = (size_t)v->p.scene->head->dv, k = (size_t)s->k;
    double *difference, *b = a + k;
    NB_NEED(difference, nb_alloc_raw(ctx, dv * k));
    memcpy(difference, s->output, dv * k * sizeof *difference);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, (int)dv, s->k, v->p.m, -1, v->p.output_b, v->p.m, t, v->p.m, 1, difference,
            (int)dv);
    for (size_t i = 0; i < k; i++) {
        a[i] = kept && kept[i] ? 0 : nb_sum_of_squares(dv, difference + i * dv);
        b[i] = nb_sum_of_squares(dv, s->output + i * dv);
    }
    ratio_estimate(s->n, s->k, a, b, &out->output_error, &out->output_error_se);
    return NB_OK;
}

/* |S - c| row by row, c the mean of these rows, relative to S on the same rows. */
static double baseline_mean(const sample *s)
{
    double distance = 0, c = nb_sum((size_t)s->k, s->sums) / s->k / s->n;
    for (int i = 0; i < s->k; i++) distance += s->squares[i] - c * (2 * s->sums[i] - c * s->n);
    return sqrt(fmax(0, distance) / nb_sum((size_t)s->k, s->squares));
}

/* Which of the sampled rows the core has looked at; NULL: none. */
static nb_status find_seen(const sample *s, const nb_how *how, const nb_request *r, bool **seen, nb_ctx *ctx)
{
    bool *of_tokens, *of_sample, some = false;
    *seen = NULL;
    if (r->seen == 0) return NB_OK;
    NB_NEED(of_tokens, nb_alloc(ctx, (size_t)s->n, sizeof *of_tokens));
    NB_NEED(of_sample, nb_alloc(ctx, (size_t)s->k, sizeof *of_sample));
    for (int i = 0; i < r->seen; i++) of_tokens[(r->order ? r->order : how->order)[i]] = true;
    for (int i = 0; i < s->k; i++) {
        of_sample[i] = of_tokens[how->tokens[i]];
        some = some || of_sample[i];
    }
    if (some) *seen = of_sample;
    return NB_OK;
}

/* NaN if all sampled rows were seen. */
static double error_unseen(const sample *s, const bool *seen, const double *a)
{
    double missed = 0, of_s = 0;
    for (int i = 0; i < s->k; i++) {
        missed += seen[i] ? 0 : a[i];
        of_s += seen[i] ? 0 : s->squares[i];
    }
    return of_s > 0 ? sqrt(missed / of_s) : NAN;
}

static nb_status measure(const view *v, const nb_how *how, const nb_request *r, nb_measures *out, nb_ctx *ctx)
{
    const sample *s = v->of;
    int m = v->p.m;
    size_t square = (size_t)m * (size_t)m, k = (size_t)s->k;
    const double *x = r->x;
    bool *seen;
    double *g, *t, *a, scale = sqrt((double)s->n / s->k);
    nb_sizes sizes = {.f = nb_frobenius((size_t)m * k, v->f) * scale,
                      .b = nb_frobenius(square, v->p.r_b),
                      .x = nb_frobenius(square, x)};
    nb_measures_clear(out);
    NB_TRY(ctx, find_seen(s, how, r, &seen, ctx));
    NB_NEED(g, nb_alloc_raw(ctx, square));
    NB_NEED(t, nb_alloc_raw(ctx, (size_t)m * k));
    NB_NEED(a, nb_alloc_raw(ctx, 2 * k));
    /* |F X|, from the sampled rows of F */
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, s->k, m, 1, x, m, v->f, m, 0, t, m);
    sizes.fx = nb_frobenius((size_t)m * k, t) * scale;
    /* G = X R_B', and the sampled rows of F G */
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, m, m, 1, x, m, v->p.r_b, m, 0, g, m);
    sizes.xb = nb_frobenius(square, g);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, s->k, m, 1, g, m, v->f, m, 0, t, m);
    /* a_i = |s_i|^2 - |s_i Q_B|^2 + |s_i Q_B - f_i G|^2, 0 for rows that are kept */
    row_squares(v, t, a);
    if (seen) out->error_unseen = error_unseen(s, seen, a);
    for (int i = 0; seen && r->keep_rows && i < s->k; i++) a[i] = seen[i] ? 0 : a[i];
    ratio_estimate(s->n, s->k, a, s->squares, &out->error, &out->error_se);
    if (!seen) out->error_unseen = out->error; /* to the last bit: who has looked at judged rows is told by that */
    if (!isfinite(out->error)) return NB_OK;
    /* Rounding: of X, and of the difference in a_i */
    double noise, norm = sqrt(nb_sum(k, s->squares) * s->n / s->k);
    NB_TRY(ctx, nb_x_noise(v->p.factors, &r->rounding, &sizes,
                           &(nb_sides){NB_TRANSPOSED, s->k, m, v->f, v->p.r_b, scale}, norm, &noise, ctx));
    out->error_noise = noise + 1e-14 / (2 * fmax(out->error, 1e-7));
    out->mse = nb_sum(k, a) / s->k / s->n;
    out->baseline_mean = baseline_mean(s);
    out->landmark_rank = v->p.landmark_rank;
    out->landmark_condition = v->p.landmark_condition;
    NB_TRY(ctx, nb_core_residual(v->p.factors, x, &out->core_residual, ctx));
    return s->output ? output_error(v, t, r->keep_rows ? seen : NULL, a, out, ctx) : NB_OK;
}

nb_status nb_sampled_measure(nb_scene *scene, const nb_how *how, int count, nb_request *requests, nb_ctx *ctx)
{
    (void)scene;
    for (int i = 0; i < count; i++) {
        nb_mark mark = nb_ctx_mark(ctx);
        nb_status status = measure(requests[i].pair->own, how, &requests[i], &requests[i].measures, ctx);
        nb_ctx_release(ctx, mark);
        if (status != NB_OK) NB_TRY(ctx, nb_record_failure(&requests[i].failure, ctx));
    }
    return NB_OK;
}
