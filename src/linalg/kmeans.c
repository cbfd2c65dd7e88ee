/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kmeans.c - Lloyd's iteration, from several starts. */
#include "linalg/kmeans.h"

#include "base/random.h"
#include "linalg/cover.h"
#include "linalg/linalg.h"
#include "linalg/panel_products.h"
#include "linalg/vector.h"
#include "linalg/work.h"

#include <float.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

const char *const nb_kmeans_metrics[] = {[NB_KMEANS_EUCLIDEAN] = "euclidean", [NB_KMEANS_COSINE] = "cosine", NULL};

const char *const nb_kmeans_inits[] = {
    [NB_KMEANS_PLUSPLUS] = "plusplus", [NB_KMEANS_RANDOM] = "random", [NB_KMEANS_MAXIMIN] = "maximin", NULL};

typedef struct {
    nb_clusters *c;
    const nb_kmeans_how *how;
    nb_cover cover; /* for the first centres */
    nb_bounding bounds;
    float *products;  /* m x n, in panels: of the bounds */
    int *previous;    /* n: the groups before */
    bool *changed;    /* m: groups that points have joined or left */
    int *moved;       /* m: centres that have moved since the last assignment ... */
    int moved_count;  /* ... so many */
    int known;        /* centres that there are: fewer than m while they are drawn in batches */
    double *mass;     /* m: weights of each group */
    double *distance; /* n: scratch */
    nb_mark mark;     /* all but the clusters is released */
} work;

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
    w->known = c->m;
    w->mark = nb_ctx_mark(ctx);
    NB_NEED(w->previous, nb_alloc(ctx, n, sizeof *w->previous));
    NB_NEED(w->products, nb_alloc_unset(ctx, (n + NB_PANEL) * m, sizeof *w->products));
    NB_NEED(w->changed, nb_alloc(ctx, m, sizeof *w->changed));
    NB_NEED(w->moved, nb_alloc(ctx, m, sizeof *w->moved));
    NB_NEED(w->mass, nb_alloc_reals(ctx, m, 1));
    NB_NEED(w->distance, nb_alloc_reals(ctx, n, 1));
    NB_TRY(ctx, nb_cover_init(&w->cover, c->d, c->n, c->x, ctx));
    w->cover.weights = w->how->weights;
    return nb_bounding_init(&w->bounds, &w->cover.points, c->m, c->cosine, ctx);
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
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(order, nb_alloc(ctx, (size_t)c->n, sizeof *order));
    NB_NEED(chosen, nb_alloc(ctx, (size_t)c->m, sizeof *chosen));
    for (int i = 0; i < c->n; i++) order[i] = i;
    gsl_ran_choose(rng, chosen, (size_t)c->m, order, (size_t)c->n, sizeof *order);
    for (int j = 0; j < c->m; j++) first_centre(c, j, chosen[j]);
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

/* Squared distance of a point to a centre, not by way of norms. */
static double distance_of(const nb_clusters *c, int i, int j)
{
    if (c->cosine) return 2 - 2 * nb_dot((size_t)c->d, point(c, i), centre(c, j));
    return nb_squared_distance((size_t)c->d, point(c, i), centre(c, j));
}

/* Returns the nearest centre of a point from number `from` on, the lowest index among equals, where the bounds leave it
 * open: the one at `best` has the least. */
static int nearest_centre(const work *w, int i, int from, int best)
{
    const nb_bounding *b = &w->bounds;
    const float *products = w->products + (size_t)(i / NB_PANEL) * NB_PANEL * (size_t)w->c->m + i % NB_PANEL;
    double unit = b->points->scale * b->points->scale, least = distance_of(w->c, i, best);
    for (int j = from, first = best; j < w->known; j++) {
        if (j == first || b->rest[i] + (double)(b->offset[j] + products[NB_PANEL * j]) > unit * least) continue;
        double distance = distance_of(w->c, i, j);
        if (distance > least || (distance == least && j > best)) continue;
        least = distance;
        best = j;
    }
    return best;
}

/* Points from `first` on, up to a panel of them: to the centres from number `from` on, if these are not the first only
 * where they are nearer than w->distance, which is kept while centres are drawn. */
static void assign_panel(work *w, int first, int from)
{
    const nb_bounding *b = &w->bounds;
    size_t m = (size_t)w->c->m, d = (size_t)w->c->d, before = (size_t)from;
    float *products = w->products + (size_t)first * m, least[NB_PANEL], second[NB_PANEL];
    double unit = b->points->scale * b->points->scale;
    bool measured = from > 0 || w->known < w->c->m;
    int at[NB_PANEL];
    nb_panel_products(d, b->points->panels + (size_t)first * d, (size_t)w->moved_count, w->moved, b->z, products);
    nb_panel_least((size_t)w->known - before, b->offset + before, products + NB_PANEL * before, least, second, at);
    for (int l = 0, i = first; l < NB_PANEL && i < w->c->n; l++, i++) {
        int best = from + at[l];
        if (from > 0 && b->rest[i] + (double)least[l] > unit * w->distance[i]) continue;
        if (!(least[l] + b->point_error[i] + b->centre_error[best] < second[l]))
            best = nearest_centre(w, i, from, best);
        double distance = measured ? distance_of(w->c, i, best) : 0;
        if (from > 0 && distance >= w->distance[i]) continue;
        w->distance[i] = distance;
        w->c->group[i] = best;
    }
}

static void assign_all(work *w, int from)
{
    nb_count_multiplications((double)w->moved_count * w->c->n * w->c->d);
    for (int k = 0; k < w->moved_count; k++) nb_bounding_set(&w->bounds, w->moved[k], centre(w->c, w->moved[k]));
    for (int i = 0; i < w->c->n; i += NB_PANEL) assign_panel(w, i, from);
}

/* w->distance <- squared distances from the weighted mean. */
static void leave_mean(work *w)
{
    nb_clusters *c = w->c;
    double *mean = centre(c, 0), mass = 0;
    nb_count_multiplications(2.0 * c->n * c->d);
    memset(mean, 0, (size_t)c->d * sizeof *mean);
    for (int i = 0; i < c->n; i++) {
        mass += weight(w, i);
        nb_add_scaled((size_t)c->d, weight(w, i), point(c, i), mean);
    }
    nb_scale((size_t)c->d, 1 / mass, mean);
    for (int i = 0; i < c->n; i++) w->distance[i] = nb_squared_distance((size_t)c->d, point(c, i), mean);
}

/* Adds so many centres, drawn by weighted distance; w->distance and the points' groups are brought up to date. */
static nb_status add_batch(work *w, int count, gsl_rng *rng, nb_ctx *ctx)
{
    nb_clusters *c = w->c;
    int from = w->known, *drawn;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(drawn, nb_alloc(ctx, (size_t)count, sizeof *drawn));
    nb_count_multiplications(c->n);
    for (int i = 0; i < c->n; i++) w->cover.weighted[i] = weight(w, i) * w->distance[i];
    NB_TRY(ctx, nb_draw_distinct(rng, c->n, w->cover.weighted, count, drawn, ctx));
    w->moved_count = count;
    w->known += count;
    for (int k = 0; k < count; k++) {
        w->moved[k] = from + k;
        first_centre(c, from + k, drawn[k]);
    }
    assign_all(w, from);
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

static nb_status seed_in_batches(work *w, gsl_rng *rng, nb_ctx *ctx)
{
    leave_mean(w);
    w->known = 0;
    for (int left = w->how->batches; left > 0; left--) {
        int count = (w->c->m - w->known) / left;
        if (count > 0) NB_TRY(ctx, add_batch(w, count, rng, ctx));
    }
    memcpy(w->cover.owner, w->c->group, (size_t)w->c->n * sizeof *w->c->group);
    return NB_OK;
}

static nb_status seed(work *w, gsl_rng *rng, nb_ctx *ctx)
{
    size_t size = (size_t)w->c->d * (size_t)w->c->m;
    if (w->how->start) {
        memcpy(w->c->centres, w->how->start, size * sizeof(double));
        if (w->c->cosine) nb_normalise_columns(w->c->d, w->c->m, w->c->centres, w->c->centres);
    } else if (w->how->init == NB_KMEANS_RANDOM)
        return seed_random(w->c, rng, ctx);
    else if (w->how->init == NB_KMEANS_PLUSPLUS && w->how->batches)
        return seed_in_batches(w, rng, ctx);
    else
        seed_apart(w, w->how->init == NB_KMEANS_MAXIMIN, rng);
    return NB_OK;
}

static void fill_empty(work *w)
{
    nb_clusters *c = w->c;
    bool computed = false;
    for (int j = 0; j < c->m; j++) {
        int farthest = -1;
        if (c->size[j] > 0) continue;
        for (int i = 0; i < c->n && !computed; i++) w->distance[i] = distance_of(c, i, c->group[i]);
        computed = true;
        for (int i = 0; i < c->n; i++)
            if (c->size[c->group[i]] > 1 && (farthest < 0 || w->distance[i] > w->distance[farthest])) farthest = i;
        c->size[c->group[farthest]]--;
        c->group[farthest] = j;
        c->size[j] = 1;
        w->distance[farthest] = 0;
    }
}

static void count_sizes(const nb_clusters *c)
{
    memset(c->size, 0, (size_t)c->m * sizeof *c->size);
    for (int i = 0; i < c->n; i++) c->size[c->group[i]]++;
}

/* Assigns each point to its nearest centre. k-means++ and maximin seeding (`drawn_apart`) already know it. */
static void assign(work *w, bool drawn_apart)
{
    nb_clusters *c = w->c;
    if (drawn_apart)
        memcpy(c->group, w->cover.owner, (size_t)c->n * sizeof *c->group);
    else
        assign_all(w, 0);
    count_sizes(c);
    fill_empty(w);
    for (int i = 0; i < c->n; i++)
        if (c->group[i] != w->previous[i]) w->changed[c->group[i]] = w->changed[w->previous[i]] = true;
    memcpy(w->previous, c->group, (size_t)c->n * sizeof *c->group);
}

static void move_centre(work *w, int j)
{
    nb_clusters *c = w->c;
    if (c->cosine) {
        nb_normalise_columns(c->d, 1, centre(c, j), centre(c, j));
        return;
    }
    nb_count_multiplications(c->d);
    for (int l = 0; l < c->d; l++) centre(c, j)[l] /= w->mass[j];
}

/* Those of groups that have changed. */
static void move_centres(work *w)
{
    nb_clusters *c = w->c;
    w->moved_count = 0;
    for (int j = 0; j < c->m; j++) {
        if (!w->changed[j]) continue;
        memset(centre(c, j), 0, (size_t)c->d * sizeof(double));
        w->mass[j] = 0;
        w->moved[w->moved_count++] = j;
    }
    for (int i = 0; i < c->n; i++)
        if (w->changed[c->group[i]]) w->mass[c->group[i]] += weight(w, i);
    if (w->how->weights) {
        nb_count_multiplications((double)c->n * c->d);
        for (int i = 0; i < c->n; i++)
            if (w->changed[c->group[i]]) nb_add_scaled((size_t)c->d, weight(w, i), point(c, i), centre(c, c->group[i]));
    } else {
        nb_add_to_groups((size_t)c->d, (size_t)c->n, c->x, c->group, w->changed, c->centres);
    }
    for (int k = 0; k < w->moved_count; k++) move_centre(w, w->moved[k]);
    memset(w->changed, 0, (size_t)c->m * sizeof *w->changed);
}

static double inertia_of(const work *w)
{
    double sum = 0;
    nb_count_multiplications((double)w->c->n * w->c->d);
    for (int i = 0; i < w->c->n; i++) sum += weight(w, i) * distance_of(w->c, i, w->c->group[i]);
    return sum;
}

static void renew(work *w)
{
    w->moved_count = w->c->m;
    for (int j = 0; j < w->c->m; j++) {
        w->moved[j] = j;
        w->changed[j] = true;
    }
}

/* One run; leaves groups, and centres at their means. */
static nb_status lloyd(work *w, gsl_rng *rng, nb_ctx *ctx)
{
    double before = DBL_MAX, inertia;
    bool drawn_apart = !w->how->start && w->how->init != NB_KMEANS_RANDOM && !w->c->cosine;
    NB_TRY(ctx, seed(w, rng, ctx));
    renew(w);
    for (int iteration = 0; iteration < w->how->iterations && w->moved_count > 0; iteration++) {
        assign(w, iteration == 0 && drawn_apart);
        inertia = w->how->tolerance > 0 ? inertia_of(w) : 0;
        move_centres(w);
        if (w->how->tolerance > 0 && before - inertia <= w->how->tolerance * before) break;
        before = inertia;
    }
    return NB_OK;
}

/* Runs again, and takes the groups of the least inertia. */
static nb_status restart(work *w, gsl_rng *rng, nb_ctx *ctx)
{
    nb_clusters *c = w->c;
    double least = inertia_of(w);
    int *best;
    NB_NEED(best, nb_alloc(ctx, (size_t)c->n, sizeof *best));
    memcpy(best, c->group, (size_t)c->n * sizeof *best);
    for (int run = 1; run < w->how->restarts; run++) {
        NB_TRY(ctx, lloyd(w, rng, ctx));
        double inertia = inertia_of(w);
        if (inertia >= least) continue;
        least = inertia;
        memcpy(best, c->group, (size_t)c->n * sizeof *best);
    }
    memcpy(c->group, best, (size_t)c->n * sizeof *best);
    count_sizes(c);
    renew(w);
    move_centres(w);
    return NB_OK;
}

nb_status nb_kmeans(int d, int n, const double *x, int m, const nb_kmeans_how *how, gsl_rng *rng, nb_clusters *out,
                    nb_ctx *ctx)
{
    work w = {.c = out, .how = how};
    *out = (nb_clusters){.n = n, .d = d, .m = m, .cosine = how->cosine};
    NB_TRY(ctx, work_init(&w, x, ctx));
    NB_TRY(ctx, lloyd(&w, rng, ctx));
    if (how->restarts > 1) NB_TRY(ctx, restart(&w, rng, ctx));
    nb_ctx_release(ctx, w.mark);
    return NB_OK;
}

/* The points of a panel stay in the first cache until their centres are found. */
nb_status nb_nearest_centres(int d, int n, const nb_scalar *x, int m, const double *centres, int *group, nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    nb_clusters clusters = {.n = n < NB_PANEL ? n : NB_PANEL, .d = d, .m = m};
    work w = {.c = &clusters, .how = &(nb_kmeans_how){.restarts = 1}};
    size_t length = (size_t)d;
    double *panel;
    /* The first panel's points in double, and what bounds of centres need. */
    NB_NEED(panel, nb_alloc_raw(ctx, length * NB_PANEL));
    nb_scalar_to_double(length * (size_t)clusters.n, x, panel);
    NB_TRY(ctx, work_init(&w, panel, ctx));
    memcpy(clusters.centres, centres, length * (size_t)m * sizeof *centres);
    renew(&w);
    nb_count_multiplications((double)n * m * d);
    for (int j = 0; j < m; j++) nb_bounding_set(&w.bounds, j, centre(&clusters, j));
    /* Panel by panel: its points, their bounds begun anew, their nearest centres. */
    for (int first = 0; first < n; first += NB_PANEL) {
        clusters.n = n - first < NB_PANEL ? n - first : NB_PANEL;
        if (first > 0) {
            nb_scalar_to_double(length * (size_t)clusters.n, x + (size_t)first * length, panel);
            nb_bounded_renew(&w.cover.points, clusters.n);
            nb_bounding_renew(&w.bounds);
        }
        assign_panel(&w, 0, 0);
        memcpy(group + first, clusters.group, (size_t)clusters.n * sizeof *group);
    }
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

/* Returns the nearest to centre j of the points that are left, the lowest index among equals. bound (n) is at least
 * their distances times -unit, and -infinity for those that are taken. */
static int nearest_left(const nb_clusters *c, int j, double unit, const double *bound)
{
    int first = (int)nb_largest_index((size_t)c->n, bound), best = first;
    double least = distance_of(c, best, j);
    for (int i = 0; i < c->n; i++) {
        if (i == first || bound[i] == -INFINITY || -bound[i] > unit * least) continue;
        double distance = distance_of(c, i, j);
        if (distance > least || (distance == least && i > best)) continue;
        least = distance;
        best = i;
    }
    return best;
}

nb_status nb_clusters_nearest(const nb_clusters *c, int *tokens, nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    size_t n = (size_t)c->n, m = (size_t)c->m, d = (size_t)c->d;
    nb_bounded points;
    nb_bounding b;
    float *products; /* m x n, in panels */
    double *bound;
    bool *taken;
    int *all;
    NB_TRY(ctx, nb_bounded_init(&points, c->d, c->n, c->x, ctx));
    NB_TRY(ctx, nb_bounding_init(&b, &points, c->m, c->cosine, ctx));
    NB_NEED(products, nb_alloc_unset(ctx, (n + NB_PANEL) * m, sizeof *products));
    NB_NEED(bound, nb_alloc_raw(ctx, n));
    NB_NEED(taken, nb_alloc(ctx, n, sizeof *taken));
    NB_NEED(all, nb_alloc(ctx, m, sizeof *all));
    for (int j = 0; j < c->m; j++) {
        all[j] = j;
        nb_bounding_set(&b, j, centre(c, j));
    }
    /* Products -2 y'z of all points and centres, a panel of points at a time. */
    nb_count_multiplications((double)c->n * c->m * c->d);
    for (size_t i = 0; i < n; i += NB_PANEL) nb_panel_products(d, points.panels + i * d, m, all, b.z, products + i * m);
    /* Minus the lower bounds of s^2 |x - c|^2, by which a centre's nearest token is found. */
    for (size_t j = 0; j < m; j++) {
        for (size_t i = 0; i < n; i++) {
            float product = products[i / NB_PANEL * NB_PANEL * m + NB_PANEL * j + i % NB_PANEL];
            bound[i] = taken[i] ? -INFINITY : -(b.rest[i] + (double)(product + b.offset[j]));
        }
        tokens[j] = nearest_left(c, (int)j, points.scale * points.scale, bound);
        taken[tokens[j]] = true;
    }
    nb_ctx_release(ctx, mark);
    return NB_OK;
}
