/* SPDX-License-Identifier: GPL-3.0-or-later */
/* landmark_pass_fit.c - W = X (B V) of a core that is fitted to exact outputs. Of each head:
 *
 * 1. Some queries are drawn of 1,024 random ones (or of as many as are asked for), in proportion to their squared
 *    distance from the nearest landmark's query.
 * 2. Each of these, and each landmark's query, stands for those of the random ones that are nearest to it; for one at
 *    least.
 * 3. B V, and the exact outputs at the drawn queries with it, are what the pass computes of all keys.
 * 4. The core is given these outputs, and the queries' rows of F.
 *
 * All is in single precision but what the core does. Beside B V and the fit (m + drawn) (1024 d + m d)
 * multiplications. */
#include "layers/landmark_pass_private.h"

#include "cores/core.h"
#include "layers/exact_attention.h"
#include "linalg/vector.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

enum { CANDIDATES = 1024 };

/* Queries that may be drawn. */
typedef struct {
    int d, count;
    nb_scalar *x, *products; /* d x count; (points at hand) x count */
    double *half;            /* of these points: |x|^2 / 2 */
    double *distance;        /* count: half the squared distance from the nearest point, less |x|^2 / 2 */
    int *owner;              /* count: which point that is */
} candidates;

static nb_status candidates_new(const nb_landmark_work *w, const nb_scalar *q, int *tokens, candidates *c, gsl_rng *rng,
                                nb_ctx *ctx)
{
    const nb_landmark_how *how = &w->s->how;
    int n = w->pass->layer->shape.n, d = w->pass->layer->shape.d, *all;
    size_t count = (size_t)c->count, most = (size_t)(how->m > how->drawn ? how->m : how->drawn);
    c->d = d;
    NB_NEED(c->x, nb_alloc_scalars(ctx, (size_t)d * count));
    NB_NEED(c->products, nb_alloc_scalars(ctx, most * count));
    NB_NEED(c->half, nb_alloc_raw(ctx, most));
    NB_NEED(c->distance, nb_alloc_raw(ctx, count));
    NB_NEED(c->owner, nb_alloc(ctx, count, sizeof *c->owner));
    NB_NEED(all, nb_alloc(ctx, (size_t)n, sizeof *all));
    for (int i = 0; i < n; i++) all[i] = i;
    gsl_ran_choose(rng, tokens, count, all, (size_t)n, sizeof *all);
    nb_scalar_gather(d, q, c->count, tokens, c->x);
    for (size_t i = 0; i < count; i++) c->distance[i] = INFINITY;
    return NB_OK;
}

/* More points, d x count, the first of them number `first`. */
static void assign_owners(candidates *c, int first, int count, const nb_scalar *points)
{
    size_t d = (size_t)c->d;
    nb_scalar_gemm(NB_TRANSPOSED, NB_PLAIN, count, c->count, c->d, 1, points, c->d, c->x, c->d, 0, c->products, count);
    nb_count_multiplications((double)count * c->d);
    for (size_t j = 0; j < (size_t)count; j++)
        c->half[j] = (double)nb_scalar_dot(d, points + j * d, points + j * d) / 2;
    for (int i = 0; i < c->count; i++) {
        const nb_scalar *products = c->products + (size_t)i * (size_t)count;
        for (int j = 0; j < count; j++) {
            double distance = c->half[j] - (double)products[j];
            if (!(distance < c->distance[i])) continue;
            c->distance[i] = distance;
            c->owner[i] = first + j;
        }
    }
}

nb_status nb_landmark_draw(const nb_landmark_work *w, int head, nb_landmark_head *h, nb_ctx *ctx)
{
    const nb_landmark_how *how = &w->s->how;
    size_t d = (size_t)w->pass->layer->shape.d, m = (size_t)how->m;
    int n = w->pass->layer->shape.n, *tokens, *drawn = h->queries + m;
    candidates c = {.count = nb_lesser(n, how->drawn > CANDIDATES ? how->drawn : CANDIDATES)};
    const nb_scalar *q = nb_layer_head_of(w->pass->layer, NULL, head).q;
    nb_stream stream = w->pass->stream;
    double *weight;
    gsl_rng *rng;
    NB_TRY(ctx, nb_random_new(&rng, ctx));
    NB_NEED(tokens, nb_alloc(ctx, (size_t)c.count, sizeof *tokens));
    NB_NEED(weight, nb_alloc_raw(ctx, (size_t)c.count));
    /* 1. The random queries, and their distances from the landmarks' queries */
    stream.role = "rows";
    stream.m = how->m;
    nb_random_seed(rng, &stream);
    NB_TRY(ctx, candidates_new(w, q, tokens, &c, rng, ctx));
    assign_owners(&c, 0, how->m, h->q);
    nb_count_multiplications((double)c.count * (double)d);
    /* Drawn in proportion to the squared distance, |x|^2 + 2 (distance) */
    for (size_t i = 0; i < (size_t)c.count; i++)
        weight[i] = fmax(0, (double)nb_scalar_dot(d, c.x + i * d, c.x + i * d) + 2 * c.distance[i]);
    NB_TRY(ctx, nb_draw_distinct(rng, c.count, weight, how->drawn, drawn, ctx));
    for (int i = 0; i < how->drawn; i++) drawn[i] = tokens[drawn[i]];
    nb_scalar_gather((int)d, q, how->drawn, drawn, h->q + d * m);
    /* 2. How many of the random queries each stands for */
    assign_owners(&c, how->m, how->drawn, h->q + d * m);
    memset(h->weights, 0, (size_t)nb_landmark_queries(how) * sizeof *h->weights);
    for (int i = 0; i < c.count; i++) h->weights[c.owner[i]]++;
    for (int i = 0; i < nb_landmark_queries(how); i++) h->weights[i] = fmax(1, h->weights[i]);
    h->kept_count = w->s->most_kept;
    for (int i = 0; i < h->kept_count; i++) h->kept[i] = drawn[i];
    return NB_OK;
}

static nb_status fit(const nb_landmark_work *w, nb_landmark_head *h, const nb_scalar *outputs, nb_ctx *ctx)
{
    const nb_choice *core = w->s->how.core;
    nb_layer_shape shape = w->pass->layer->shape;
    int m = w->s->how.m, dv = shape.dv, queries = nb_landmark_queries(&w->s->how);
    size_t features_size = (size_t)m * (size_t)queries, outputs_size = (size_t)dv * (size_t)queries;
    nb_scalar *f;
    double *features, *exact, *solved;
    NB_NEED(f, nb_alloc_scalars(ctx, features_size));
    NB_NEED(features, nb_alloc_raw(ctx, features_size));
    NB_NEED(exact, nb_alloc_raw(ctx, outputs_size));
    NB_NEED(solved, nb_alloc_raw(ctx, (size_t)dv * (size_t)m));
    /* The queries' rows of F */
    shape.n = m;
    nb_exact_weights(&shape, queries, h->q, h->k, f);
    if (!nb_scalars_finite(outputs_size, outputs) || !nb_scalars_finite(features_size, f)) {
        nb_landmark_note(h, &h->diverged, "outputs that X is fitted to are not finite");
        for (size_t i = 0; i < (size_t)dv * (size_t)m; i++) h->w[i] = NAN;
        return NB_OK;
    }
    nb_scalar_to_double(features_size, f, features);
    nb_scalar_to_double(outputs_size, outputs, exact);
    /* W = X (B V), which the core fits to the exact outputs */
    nb_core_outputs given = {.m = m,
                             .dv = dv,
                             .count = queries,
                             .drawn = w->s->how.drawn,
                             .features = features,
                             .outputs = exact,
                             .weights = h->weights};
    NB_TRY(ctx, ((const nb_core *)core->component)->fit(&given, core->options, solved, ctx));
    nb_scalar_of((size_t)dv * (size_t)m, solved, h->w);
    return NB_OK;
}

void nb_landmark_fit(const nb_landmark_work *w, int head, int thread, const nb_scalar *outputs)
{
    nb_landmark_head *h = &w->s->heads[head];
    nb_ctx *ctx = nb_team_ctx(w->pass->team, thread);
    nb_landmark_keep_failure(h, fit(w, h, outputs, ctx), ctx);
    nb_ctx_release(ctx, 0);
}
