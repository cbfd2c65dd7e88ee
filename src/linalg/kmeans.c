/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kmeans.c - Lloyd's iteration, from several starts. */
#include "linalg/kmeans.h"

#include "linalg/cover.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "linalg/work.h"

#include <float.h>
#include <gsl/gsl_randist.h>
#include <string.h>

const char *const nb_kmeans_metrics[] = {[NB_KMEANS_EUCLIDEAN] = "euclidean", [NB_KMEANS_COSINE] = "cosine", NULL};

const char *const nb_kmeans_inits[] = {
    [NB_KMEANS_PLUSPLUS] = "plusplus", [NB_KMEANS_RANDOM] = "random", [NB_KMEANS_MAXIMIN] = "maximin", NULL};

typedef struct {
    nb_clusters *c;
    const nb_kmeans_how *how;
    double *norms;    /* n: |x_i|^2 */
    double *offsets;  /* m: |c_j|^2; cosine: 0, so that a zero centre is not nearer than its cosine says */
    double *products; /* m x n: centres' x */
    double *distance; /* n: squared distance of a point to its centre */
    double *mass;     /* m: weights of each group */
    nb_cover cover;   /* for the first centres */
    nb_mark mark;     /* all but the clusters is released */
} work;

static nb_status work_init(work *w, const double *x, nb_ctx *ctx)
{
    nb_clusters *c = w->c;
    size_t n = (size_t)c->n, d = (size_t)c->d, m = (size_t)c->m;
    double *unit;
    NB_NEED(c->centres, nb_alloc_reals(ctx, d, m));
    NB_NEED(c->group, nb_alloc(ctx, n, sizeof *c->group));
    NB_NEED(c->size, nb_alloc(ctx, m, sizeof *c->size));
    c->x = x;
    if (c->cosine) {
        NB_NEED(unit, nb_alloc_reals(ctx, d, n));
        nb_normalise_columns(c->d, c->n, x, unit);
        c->x = unit;
    }
    nb_count_multiplications((double)c->n * c->d);
    w->mark = nb_ctx_mark(ctx);
    NB_NEED(w->norms, nb_alloc_reals(ctx, n, 1));
    NB_NEED(w->offsets, nb_alloc_reals(ctx, m, 1));
    NB_NEED(w->products, nb_alloc_reals(ctx, m, n));
    NB_NEED(w->distance, nb_alloc_reals(ctx, n, 1));
    NB_NEED(w->mass, nb_alloc_reals(ctx, m, 1));
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < d; l++) w->norms[i] += c->x[i * d + l] * c->x[i * d + l];
    NB_TRY(ctx, nb_cover_init(&w->cover, c->d, c->n, c->x, ctx));
    w->cover.weights = w->how->weights;
    return NB_OK;
}

static const double *point(const nb_clusters *c, int i)
{
    return c->x + (size_t)i * (size_t)c->d;
}

static double *centre(const nb_clusters *c, int j)
{
    return c->centres + (size_t)j * (size_t)c->d;
}

static double weight(const work *w, int i)
{
    return w->how->weights ? w->how->weights[i] : 1;
}

static void first_centre(const nb_clusters *c, int j, int chosen)
{
    memcpy(centre(c, j), point(c, chosen), (size_t)c->d * sizeof(double));
}

static void seed_apart(work *w, bool farthest, gsl_rng *rng)
{
    nb_cover_clear(&w->cover);
    for (int j = 0; j < w->c->m; j++) {
        int chosen = farthest && j > 0 ? nb_cover_farthest(&w->cover) : nb_cover_draw(&w->cover, rng);
        first_centre(w->c, j, chosen);
        nb_cover_add(&w->cover, chosen);
    }
}

static nb_status seed_random(const nb_clusters *c, gsl_rng *rng, nb_ctx *ctx)
{
    int *order, *chosen;
    NB_NEED(order, nb_alloc(ctx, (size_t)c->n, sizeof *order));
    NB_NEED(chosen, nb_alloc(ctx, (size_t)c->m, sizeof *chosen));
    for (int i = 0; i < c->n; i++) order[i] = i;
    gsl_ran_choose(rng, chosen, (size_t)c->m, order, (size_t)c->n, sizeof *order);
    for (int j = 0; j < c->m; j++) first_centre(c, j, chosen[j]);
    return NB_OK;
}

static nb_status seed(work *w, gsl_rng *rng, nb_ctx *ctx)
{
    size_t size = (size_t)w->c->d * (size_t)w->c->m;
    if (w->how->start)
        memcpy(w->c->centres, w->how->start, size * sizeof(double));
    else if (w->how->init == NB_KMEANS_RANDOM)
        return seed_random(w->c, rng, ctx);
    else
        seed_apart(w, w->how->init == NB_KMEANS_MAXIMIN, rng);
    return NB_OK;
}

/* Squared distance of a point to a centre, not by way of norms. */
static double distance_of(const nb_clusters *c, int i, int j)
{
    if (c->cosine) return 2 - 2 * nb_dot((size_t)c->d, point(c, i), centre(c, j));
    return nb_squared_distance((size_t)c->d, point(c, i), centre(c, j));
}

/* The centre nearest to point i, from the products. */
static void assign_point(work *w, int i)
{
    double least;
    int best = (int)nb_nearest((size_t)w->c->m, w->offsets, w->products + (size_t)i * (size_t)w->c->m, &least);
    double distance = least + (w->c->cosine ? 2 : w->norms[i]);
    w->c->group[i] = best;
    w->distance[i] = distance > 0 ? distance : 0;
    w->c->size[best]++;
}

static void fill_empty(work *w)
{
    nb_clusters *c = w->c;
    for (int j = 0; j < c->m; j++) {
        int farthest = -1;
        if (c->size[j] > 0) continue;
        for (int i = 0; i < c->n; i++)
            if (c->size[c->group[i]] > 1 && (farthest < 0 || w->distance[i] > w->distance[farthest])) farthest = i;
        c->size[c->group[farthest]]--;
        c->group[farthest] = j;
        w->distance[farthest] = 0;
        c->size[j] = 1;
    }
}

/* Returns the inertia. */
static double assign(work *w)
{
    nb_clusters *c = w->c;
    double inertia = 0;
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, c->m, c->n, c->d, 1, c->centres, c->d, c->x, c->d, 0, w->products, c->m);
    nb_count_multiplications((double)c->m * (c->n + (c->cosine ? 0 : c->d))); /* of nb_nearest, and the offsets */
    for (int j = 0; j < c->m; j++) {
        w->offsets[j] = 0;
        c->size[j] = 0;
        for (int l = 0; !c->cosine && l < c->d; l++) w->offsets[j] += centre(c, j)[l] * centre(c, j)[l];
    }
    for (int i = 0; i < c->n; i++) assign_point(w, i);
    fill_empty(w);
    for (int i = 0; i < c->n; i++) inertia += weight(w, i) * w->distance[i];
    return inertia;
}

static void move_centres(work *w)
{
    nb_clusters *c = w->c;
    memset(c->centres, 0, (size_t)c->d * (size_t)c->m * sizeof(double));
    memset(w->mass, 0, (size_t)c->m * sizeof(double));
    if (w->how->weights) nb_count_multiplications((double)c->n * c->d);
    for (int i = 0; i < c->n; i++) {
        int j = c->group[i];
        w->mass[j] += weight(w, i);
        if (w->how->weights)
            for (int l = 0; l < c->d; l++) centre(c, j)[l] += weight(w, i) * point(c, i)[l];
        else
            nb_add((size_t)c->d, point(c, i), centre(c, j));
    }
    if (c->cosine) {
        nb_normalise_columns(c->d, c->m, c->centres, c->centres);
        return;
    }
    nb_count_multiplications((double)c->m * c->d);
    for (int j = 0; j < c->m; j++)
        for (int l = 0; l < c->d; l++) centre(c, j)[l] /= w->mass[j];
}

/* One run; leaves groups, and centres at their means. */
static nb_status lloyd(work *w, gsl_rng *rng, double *inertia, nb_ctx *ctx)
{
    double before = DBL_MAX;
    NB_TRY(ctx, seed(w, rng, ctx));
    for (int iteration = 0; iteration < w->how->iterations; iteration++) {
        *inertia = assign(w);
        move_centres(w);
        if (before - *inertia <= w->how->tolerance * before) break;
        before = *inertia;
    }
    *inertia = 0;
    nb_count_multiplications((double)w->c->n * w->c->d);
    for (int i = 0; i < w->c->n; i++) *inertia += weight(w, i) * distance_of(w->c, i, w->c->group[i]);
    return NB_OK;
}

nb_status nb_kmeans(int d, int n, const double *x, int m, const nb_kmeans_how *how, gsl_rng *rng, nb_clusters *out,
                    nb_ctx *ctx)
{
    work w = {.c = out, .how = how};
    double least = DBL_MAX, inertia = 0;
    int *best;
    *out = (nb_clusters){.n = n, .d = d, .m = m, .cosine = how->cosine};
    NB_TRY(ctx, work_init(&w, x, ctx));
    NB_NEED(best, nb_alloc(ctx, (size_t)n, sizeof *best));
    for (int run = 0; run < how->restarts; run++) {
        NB_TRY(ctx, lloyd(&w, rng, &inertia, ctx));
        if (run > 0 && inertia >= least) continue;
        least = inertia;
        memcpy(best, out->group, (size_t)n * sizeof *best);
    }
    memcpy(out->group, best, (size_t)n * sizeof *best);
    memset(out->size, 0, (size_t)m * sizeof *out->size);
    for (int i = 0; i < n; i++) out->size[out->group[i]]++;
    move_centres(&w);
    nb_ctx_release(ctx, w.mark);
    return NB_OK;
}

nb_status nb_clusters_nearest(const nb_clusters *c, int *tokens, nb_ctx *ctx)
{
    bool *taken;
    NB_NEED(taken, nb_alloc(ctx, (size_t)c->n, sizeof *taken));
    nb_count_multiplications((double)c->m * c->n * c->d); /* to all, also to those taken */
    for (int j = 0; j < c->m; j++) {
        double least = DBL_MAX;
        tokens[j] = -1;
        for (int i = 0; i < c->n; i++) {
            if (taken[i]) continue;
            double distance = distance_of(c, i, j);
            if (tokens[j] < 0 || distance < least) {
                least = distance;
                tokens[j] = i;
            }
        }
        taken[tokens[j]] = true;
    }
    return NB_OK;
}
