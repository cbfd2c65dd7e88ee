/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exact.c - blocks of queries against all keys: logits, softmax, times V, each block a task. */
#include "studies/forward/exact.h"

#include "linalg/linalg.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 32 }; /* queries of a task */

typedef struct {
    const nb_exact *exact;
    const nb_head *head; /* in double precision */
    double *out;         /* of this head */
    double *log_sums;    /* of this head */
    double *scratch;     /* (n + d) x BLOCK for each thread */
} work;

/* Returns ln of the sum. */
static double softmax(int seen, int n, double *column)
{
    double most = -INFINITY, sum = 0;
    for (int j = 0; j < seen; j++) most = column[j] > most ? column[j] : most;
    for (int j = 0; j < seen; j++) sum += column[j] = exp(column[j] - most);
    for (int j = 0; j < seen; j++) column[j] /= sum;
    for (int j = seen; j < n; j++) column[j] = 0;
    return most + log(sum);
}

/* s (keys x count) <- logits of some tokens' queries with keys first ... first + keys - 1; q: d x count. */
static void find_logits(const nb_head *h, int count, const int *tokens, int first, int keys, double *q, double *s)
{
    size_t d = (size_t)h->d;
    for (size_t i = 0; i < (size_t)count; i++) memcpy(q + i * d, h->q + (size_t)tokens[i] * d, d * sizeof *q);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, keys, count, h->d, 1 / sqrt(h->d), h->k + (size_t)first * d, h->d, q, h->d, 0, s,
            keys);
}

static void do_block(void *self, int task, int thread)
{
    const work *w = self;
    const nb_head *h = w->head;
    size_t n = (size_t)h->n, d = (size_t)h->d;
    int first = task * BLOCK, count = w->exact->count - first < BLOCK ? w->exact->count - first : BLOCK;
    const int *tokens = w->exact->tokens + first;
    double *s = w->scratch + (size_t)thread * (n + d) * BLOCK;
    find_logits(h, count, tokens, 0, h->n, s + n * BLOCK, s);
    for (int i = 0; i < count; i++)
        w->log_sums[first + i] = softmax(h->causal ? tokens[i] + 1 : h->n, h->n, s + (size_t)i * n);
    nb_gemm(NB_PLAIN, NB_PLAIN, h->dv, count, h->n, 1, h->v, h->dv, s, h->n, 0, w->out + (size_t)first * (size_t)h->dv,
            h->dv);
}

static nb_status choose_tokens(int n, int most, gsl_rng *rng, nb_exact *exact, nb_ctx *ctx)
{
    int *all, *chosen;
    NB_NEED(all, nb_alloc(ctx, (size_t)n, sizeof *all));
    for (int i = 0; i < n; i++) all[i] = i;
    exact->count = n;
    exact->tokens = all;
    if (most >= n) return NB_OK;
    NB_NEED(chosen, nb_alloc(ctx, (size_t)most, sizeof *chosen));
    gsl_ran_choose(rng, chosen, (size_t)most, all, (size_t)n, sizeof *all); /* in ascending order */
    exact->count = most;
    exact->tokens = chosen;
    return NB_OK;
}

typedef struct {
    double difference2, exact2, cosines, most;
} sums;

static double ratio(double difference2, double exact2)
{
    return exact2 > 0 ? sqrt(difference2 / exact2) : difference2 > 0 ? INFINITY : 0;
}

/* One output, whose relative error it returns. A zero one has the cosine 1 with another zero one, else 0. */
static double add_output(sums *s, int dv, const double *exact, const nb_scalar *out)
{
    double product = 0, length2 = 0, exact2 = 0, difference2 = 0;
    double all2 = s->difference2, most = s->most; /* in registers: s might be anywhere that `exact` points to */
    for (int j = 0; j < dv; j++) {
        double difference = (double)out[j] - exact[j], away = fabs(difference);
        difference2 += difference * difference;
        all2 += difference * difference;
        most = away > most ? away : most;
        product += (double)out[j] * exact[j];
        length2 += (double)out[j] * (double)out[j];
        exact2 += exact[j] * exact[j];
    }
    s->difference2 = all2;
    s->most = most;
    s->exact2 += exact2;
    s->cosines += length2 > 0 && exact2 > 0 ? product / sqrt(length2) / sqrt(exact2) : length2 == exact2;
    return ratio(difference2, exact2);
}

static nb_status add_means(sums *s, const work *w, nb_ctx *ctx)
{
    const nb_head *h = w->head;
    size_t dv = (size_t)h->dv;
    double *sum;
    nb_scalar *mean;
    int seen = 0;
    NB_NEED(sum, nb_alloc_reals(ctx, dv, 1));
    NB_NEED(mean, nb_alloc_scalars(ctx, dv));
    for (int i = 0; i < w->exact->count; i++) {
        int sees = h->causal ? w->exact->tokens[i] + 1 : h->n;
        for (; seen < sees; seen++)
            for (size_t j = 0; j < dv; j++) sum[j] += h->v[(size_t)seen * dv + j];
        for (size_t j = 0; j < dv; j++) mean[j] = (nb_scalar)(sum[j] / sees);
        add_output(s, h->dv, w->out + (size_t)i * dv, mean);
    }
    return NB_OK;
}

nb_status nb_exact_make(const nb_layer *layer, int most, gsl_rng *rng, nb_team *team, nb_exact *exact, nb_ctx *ctx)
{
    const nb_layer_shape *s = &layer->shape;
    size_t heads = (size_t)nb_layer_heads(s), each;
    nb_head head;
    work w = {.exact = exact, .head = &head};
    sums means = {.most = 0};
    NB_TRY(ctx, choose_tokens(s->n, most, rng, exact, ctx));
    each = (size_t)s->dv * (size_t)exact->count;
    NB_NEED(exact->out, nb_alloc_raw(ctx, heads * each));
    NB_NEED(exact->log_sums, nb_alloc_raw(ctx, heads * (size_t)exact->count));
    NB_NEED(exact->relative, nb_alloc_raw(ctx, heads * (size_t)exact->count));
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(w.scratch, nb_alloc_raw(ctx, (size_t)nb_team_threads(team) * (size_t)(s->n + s->d) * BLOCK));
    for (size_t h = 0; h < heads; h++) {
        nb_mark one = nb_ctx_mark(ctx);
        NB_TRY(ctx, nb_layer_head_double(layer, (int)h, &head, ctx));
        w.out = exact->out + h * each;
        w.log_sums = exact->log_sums + h * (size_t)exact->count;
        nb_team_run(team, nb_blocks(exact->count, BLOCK), do_block, &w);
        NB_TRY(ctx, add_means(&means, &w, ctx));
        nb_ctx_release(ctx, one);
    }
    nb_ctx_release(ctx, mark);
    exact->mean_error = ratio(means.difference2, means.exact2);
    return NB_OK;
}

/* Of sorted numbers, between the two next to it; those may be infinite. */
static double percentile(const double *sorted, size_t count, double part)
{
    size_t at = (size_t)(part * (double)(count - 1));
    double between = part * (double)(count - 1) - (double)at;
    return between > 0 && sorted[at + 1] > sorted[at] ? (1 - between) * sorted[at] + between * sorted[at + 1]
                                                      : sorted[at];
}

nb_likeness nb_exact_compare(const nb_layer_shape *shape, const nb_exact *exact, const nb_scalar *out)
{
    sums s = {.most = 0};
    size_t heads = (size_t)nb_layer_heads(shape), dv = (size_t)shape->dv, count = (size_t)exact->count;
    for (size_t h = 0; h < heads; h++)
        for (size_t i = 0; i < count; i++)
            exact->relative[h * count + i] = add_output(&s, shape->dv, exact->out + (h * count + i) * dv,
                                                        out + (h * (size_t)shape->n + (size_t)exact->tokens[i]) * dv);
    double outputs = (double)heads * (double)count;
    if (!isfinite(s.difference2))
        return (nb_likeness){.error = NAN, .cosine = NAN, .mse = NAN, .max_error = NAN, .error_p99 = NAN};
    gsl_sort(exact->relative, 1, heads * count);
    return (nb_likeness){.error = ratio(s.difference2, s.exact2),
                         .cosine = s.cosines / outputs,
                         .mse = s.difference2 / (outputs * (double)dv),
                         .max_error = s.most,
                         .error_p99 = percentile(exact->relative, heads * count, 0.99),
                         .finite = true};
}

typedef struct { /* columns of one head */
    const nb_exact *exact;
    const nb_head *head; /* in double precision */
    const double *log_sums;
    int first, count, rows;
    const nb_scalar *out;  /* rows x n */
    double *scratch;       /* (count + d) x BLOCK for each thread */
    nb_matrix_sums *parts; /* by task */
} columns_work;

static void add_entries(const columns_work *w, int token, double log_sum, const double *logits, nb_matrix_sums *part)
{
    const nb_scalar *out = w->out + ((size_t)token + 1) * (size_t)w->rows - w->count;
    int seen = w->head->causal ? token + 1 - w->first : w->count;
    for (int j = 0; j < w->count; j++) {
        double s = j < seen ? exp(logits[j] - log_sum) : 0, difference = s - (double)out[j];
        part->difference2 += difference * difference;
        part->exact2 += s * s;
    }
}

static void add_block(void *self, int task, int thread)
{
    const columns_work *w = self;
    size_t keys = (size_t)w->count;
    int at = task * BLOCK, count = nb_lesser(BLOCK, w->exact->count - at);
    const int *tokens = w->exact->tokens + at;
    double *s = w->scratch + (size_t)thread * (keys + (size_t)w->head->d) * BLOCK;
    find_logits(w->head, count, tokens, w->first, w->count, s + keys * BLOCK, s);
    for (int i = 0; i < count; i++)
        add_entries(w, tokens[i], w->log_sums[at + i], s + (size_t)i * keys, &w->parts[task]);
}

nb_status nb_exact_add_columns(const nb_layer *layer, const nb_exact *exact, nb_team *team, int first, int count,
                               int rows, const nb_scalar *out, nb_matrix_sums *total, nb_ctx *ctx)
{
    const nb_layer_shape *s = &layer->shape;
    int tasks = nb_blocks(exact->count, BLOCK);
    nb_head head;
    columns_work w = {.exact = exact, .head = &head, .first = first, .count = count, .rows = rows};
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(w.scratch, nb_alloc_raw(ctx, (size_t)nb_team_threads(team) * (size_t)(count + s->d) * BLOCK));
    NB_NEED(w.parts, nb_alloc(ctx, (size_t)tasks, sizeof *w.parts));
    for (int h = 0; h < nb_layer_heads(s); h++) {
        nb_mark one = nb_ctx_mark(ctx);
        NB_TRY(ctx, nb_layer_head_double(layer, h, &head, ctx));
        w.log_sums = exact->log_sums + (size_t)h * (size_t)exact->count;
        w.out = out + (size_t)h * (size_t)rows * (size_t)s->n;
        nb_team_run(team, tasks, add_block, &w);
        nb_ctx_release(ctx, one);
    }
    for (int i = 0; i < tasks; i++) {
        total->difference2 += w.parts[i].difference2;
        total->exact2 += w.parts[i].exact2;
    }
    nb_ctx_release(ctx, mark);
    return NB_OK;
}
