/* SPDX-License-Identifier: GPL-3.0-or-later */
/* row_sample.c - rows of tokens, formed in panels of a fixed width, or of centres. */
#include "nystrom/row_sample.h"

#include "base/random.h"
#include "linalg/kmeans.h"
#include "linalg/vector.h"
#include "linalg/work.h"
#include "nystrom/scene_record.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_sort_int.h>
#include <math.h>
#include <string.h>

enum { ITERATIONS = 5 }; /* of k-means: they spread the rows as well as 25 */

nb_status nb_scene_order(const nb_scene *scene, uint64_t seed, int trial, const int **order, nb_ctx *ctx)
{
    int n = scene->head->n, *tokens;
    gsl_rng *rng;
    nb_stream stream = {.seed = seed, .trial = trial, .role = "order", .component = scene->problem, .m = scene->number};
    NB_NEED(tokens, nb_alloc(ctx, (size_t)n, sizeof *tokens));
    NB_TRY(ctx, nb_random_new(&rng, ctx));
    nb_random_seed(rng, &stream);
    for (int i = 0; i < n; i++) tokens[i] = i;
    gsl_ran_shuffle(rng, tokens, (size_t)n, sizeof *tokens);
    *order = tokens;
    return NB_OK;
}

static nb_status set_weights(nb_row_sample *sample, const int *sizes, nb_ctx *ctx)
{
    double *weights;
    NB_NEED(weights, nb_alloc_reals(ctx, (size_t)sample->count, 1));
    for (int i = 0; i < sample->count; i++) weights[i] = sizes ? sizes[i] : 1;
    sample->weights = weights;
    return NB_OK;
}

nb_status nb_row_sample_tokens(const nb_scene *scene, int k, const int *order, nb_row_sample *sample, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    size_t n = (size_t)h->n, d = (size_t)h->d;
    int *tokens;
    double *rows, *points;
    NB_NEED(tokens, nb_alloc(ctx, (size_t)k, sizeof *tokens));
    NB_NEED(rows, nb_alloc_raw(ctx, n * (size_t)k));
    NB_NEED(points, nb_alloc_raw(ctx, d * (size_t)k));
    memcpy(tokens, order, (size_t)k * sizeof *tokens);
    gsl_sort_int(tokens, 1, (size_t)k);
    for (int i = 0; i < k; i += NB_NEAR) {
        int count = k - i < NB_NEAR ? k - i : NB_NEAR;
        NB_TRY(ctx, nb_scene_some_rows(scene, count, tokens + i, rows + (size_t)i * n, ctx));
    }
    for (size_t i = 0; i < (size_t)k; i++) memcpy(points + i * d, h->q + (size_t)tokens[i] * d, d * sizeof *points);
    *sample = (nb_row_sample){.count = k, .rows = rows, .points = points, .tokens = tokens};
    return set_weights(sample, NULL, ctx);
}

nb_status nb_row_sample_centres(const nb_scene *scene, int k, gsl_rng *rng, nb_row_sample *sample, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    nb_clusters clusters;
    double *rows;
    NB_REQUIRE(ctx, !h->causal, NB_EINVAL, "the centre of some queries has no place under a causal mask");
    NB_TRY(ctx, nb_kmeans(h->d, h->n, h->q, k, &(nb_kmeans_how){.restarts = 1, .iterations = ITERATIONS}, rng,
                          &clusters, ctx));
    NB_NEED(rows, nb_alloc_raw(ctx, (size_t)h->n * (size_t)k));
    NB_TRY(ctx, nb_scene_kernel(scene, k, clusters.centres, h->n, h->k, rows, ctx));
    *sample = (nb_row_sample){.count = k, .rows = rows, .points = clusters.centres};
    return set_weights(sample, clusters.size, ctx);
}

void nb_row_sample_sums(const nb_row_sample *sample, int n, bool squares, double *sums)
{
    nb_count_multiplications((squares ? 2.0 : 1.0) * sample->count * n);
    for (size_t i = 0; i < (size_t)sample->count; i++)
        for (size_t j = 0; j < (size_t)n; j++) {
            double entry = sample->rows[i * (size_t)n + j];
            sums[j] += sample->weights[i] * (squares ? entry * entry : fabs(entry));
        }
}

nb_status nb_row_sample_weigh(const nb_row_sample *sample, int n, const double **out, nb_ctx *ctx)
{
    size_t length = (size_t)n, k = (size_t)sample->count;
    double *rows;
    *out = sample->rows;
    if (sample->tokens) return NB_OK;
    NB_NEED(rows, nb_alloc_raw(ctx, length * k));
    nb_count_multiplications((double)n * sample->count);
    memcpy(rows, sample->rows, length * k * sizeof *rows);
    for (size_t i = 0; i < k; i++) nb_scale(length, sqrt(sample->weights[i]), rows + i * length);
    *out = rows;
    return NB_OK;
}

nb_status nb_scene_some_columns(const nb_scene *scene, int k, const int *tokens, double *out, nb_ctx *ctx)
{
    const nb_head *h = scene->head;
    size_t d = (size_t)h->d, kk = (size_t)k;
    int first = h->causal ? tokens[0] : 0, count = h->n - first, *seen;
    nb_mark mark = nb_ctx_mark(ctx);
    double *keys;
    NB_NEED(keys, nb_alloc_raw(ctx, d * kk));
    NB_NEED(seen, nb_alloc(ctx, (size_t)h->n, sizeof *seen));
    for (size_t j = 0; j < kk; j++) memcpy(keys + j * d, h->k + (size_t)tokens[j] * d, d * sizeof *keys);
    for (int i = first, j = 0; i < h->n; i++) {
        while (j + 1 < k && tokens[j + 1] <= i) j++;
        seen[i] = j; /* of the k, the last that query i sees */
    }
    memset(out, 0, kk * (size_t)first * sizeof *out);
    nb_tile tile = {.d = h->d,
                    .queries = count,
                    .keys = k,
                    .q = h->q + (size_t)first * d,
                    .k = keys,
                    .causal = h->causal,
                    .positions = h->causal ? seen + first : NULL,
                    .ld = k};
    nb_status status = nb_scene_fill(scene, &tile, out + (size_t)first * kk, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}
