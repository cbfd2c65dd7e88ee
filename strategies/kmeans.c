/* kmeans.c - k-means by Lloyd's iteration: the groups, whose means are the landmarks.
 *
 * Each iteration assigns every token to its nearest centre, the lowest index
 * among equals, by one matrix product |x - c|^2 = |x|^2 - 2 x'c + |c|^2, and
 * moves each centre to the mean of its tokens: O(n m d) an iteration. An empty
 * cluster takes the token that is farthest from its centre among those whose
 * cluster keeps another one. Of several restarts the least inertia wins. */
#include "strategy.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"

#include <float.h>
#include <gsl/gsl_randist.h>
#include <string.h>

typedef struct {
    int init, restarts, iterations, snap;
    double tolerance;
} kmeans_options;

enum { PLUSPLUS, RANDOM };
static const char *const inits[] = {"plusplus", "random", NULL};
enum { SNAP_NONE, SNAP_NEAREST };
static const char *const snaps[] = {"none", "nearest", NULL};

static const nb_option options[] = {
    NB_ENUM(kmeans_options, init, "plusplus", inits, "first centres: plusplus draws each with a probability proportional to its squared distance to those there"),
    NB_INT(kmeans_options, restarts, "1", 1, 1000, "runs from new centres; the one of least inertia is kept"),
    NB_INT(kmeans_options, iterations, "10", 1, 10000, "Lloyd iterations at most"),
    NB_REAL(kmeans_options, tolerance, "0.0001", 0, 1, "stop when the inertia falls by less than this fraction"),
    NB_ENUM(kmeans_options, snap, "none", snaps, "nearest: the landmarks are the tokens nearest to the centres, not the means"),
    NB_OPTION_END};

typedef struct {
    int n, d, m;
    const double *x; /* d x n */
    double *norms;   /* n: |x_i|^2 */
    double *centres; /* d x m */
    double *products; /* m x n: centres' x */
    double *distance; /* n: squared distance of a token to its centre */
    int *group;      /* n */
    int *size;       /* m: tokens of each group */
} work;

static nb_status work_init(work *w, const nb_points *p, int m, nb_ctx *ctx)
{
    size_t n = (size_t)p->n, d = (size_t)p->d;
    *w = (work){.n = p->n, .d = p->d, .m = m, .x = p->x};
    NB_NEED(w->norms, nb_alloc_reals(ctx, n, 1));
    NB_NEED(w->centres, nb_alloc_reals(ctx, d, (size_t)m));
    NB_NEED(w->products, nb_alloc_reals(ctx, (size_t)m, n));
    NB_NEED(w->distance, nb_alloc_reals(ctx, n, 1));
    NB_NEED(w->group, nb_alloc(ctx, n, sizeof *w->group));
    NB_NEED(w->size, nb_alloc(ctx, (size_t)m, sizeof *w->size));
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < d; l++) w->norms[i] += p->x[i * d + l] * p->x[i * d + l];
    return NB_OK;
}

static const double *token(const work *w, int i)
{
    return w->x + (size_t)i * (size_t)w->d;
}

static double *centre(const work *w, int j)
{
    return w->centres + (size_t)j * (size_t)w->d;
}

/* Arthur & Vassilvitskii's seeding. */
static void seed_plusplus(work *w, gsl_rng *rng)
{
    for (int i = 0; i < w->n; i++) w->distance[i] = DBL_MAX / w->n;
    int chosen = (int)gsl_rng_uniform_int(rng, (unsigned long)w->n);
    for (int j = 0; j < w->m; j++) {
        if (j > 0) chosen = nb_draw(rng, w->n, w->distance);
        memcpy(centre(w, j), token(w, chosen), (size_t)w->d * sizeof(double));
        for (int i = 0; i < w->n; i++) {
            double distance = nb_squared_distance((size_t)w->d, token(w, i), centre(w, j));
            if (distance < w->distance[i]) w->distance[i] = distance;
        }
    }
}

static nb_status seed_random(work *w, gsl_rng *rng, nb_ctx *ctx)
{
    int *order, *chosen;
    NB_NEED(order, nb_alloc(ctx, (size_t)w->n, sizeof *order));
    NB_NEED(chosen, nb_alloc(ctx, (size_t)w->m, sizeof *chosen));
    for (int i = 0; i < w->n; i++) order[i] = i;
    gsl_ran_choose(rng, chosen, (size_t)w->m, order, (size_t)w->n, sizeof *order);
    for (int j = 0; j < w->m; j++) memcpy(centre(w, j), token(w, chosen[j]), (size_t)w->d * sizeof(double));
    return NB_OK;
}

/* The centre nearest to token i, from the products; w->distance[i] is its true
 * squared distance. */
static void assign_token(work *w, const double *centre_norms, int i)
{
    double least;
    int best = (int)nb_nearest((size_t)w->m, centre_norms, w->products + (size_t)i * (size_t)w->m, &least);
    w->group[i] = best;
    w->distance[i] = least + w->norms[i] > 0 ? least + w->norms[i] : 0;
    w->size[best]++;
}

static void fill_empty(work *w)
{
    for (int j = 0; j < w->m; j++) {
        int farthest = -1;
        if (w->size[j] > 0) continue;
        for (int i = 0; i < w->n; i++)
            if (w->size[w->group[i]] > 1 && (farthest < 0 || w->distance[i] > w->distance[farthest])) farthest = i;
        w->size[w->group[farthest]]--;
        w->group[farthest] = j;
        w->distance[farthest] = 0;
        w->size[j] = 1;
    }
}

/* Returns the inertia: the sum of squared distances. */
static double assign(work *w, double *centre_norms)
{
    double inertia = 0;
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, w->m, w->n, w->d, 1, w->centres, w->d, w->x, w->d, 0, w->products, w->m);
    for (int j = 0; j < w->m; j++) {
        centre_norms[j] = 0;
        w->size[j] = 0;
        for (int l = 0; l < w->d; l++) centre_norms[j] += centre(w, j)[l] * centre(w, j)[l];
    }
    for (int i = 0; i < w->n; i++) assign_token(w, centre_norms, i);
    fill_empty(w);
    for (int i = 0; i < w->n; i++) inertia += w->distance[i];
    return inertia;
}

static void move_centres(work *w)
{
    memset(w->centres, 0, (size_t)w->d * (size_t)w->m * sizeof(double));
    for (int i = 0; i < w->n; i++) nb_add((size_t)w->d, token(w, i), centre(w, w->group[i]));
    for (int j = 0; j < w->m; j++)
        for (int l = 0; l < w->d; l++) centre(w, j)[l] /= w->size[j];
}

/* One run from fresh centres; leaves groups, and centres at their means. */
static nb_status lloyd(work *w, const kmeans_options *o, double *inertia, nb_ctx *ctx)
{
    double *centre_norms, before = DBL_MAX;
    NB_NEED(centre_norms, nb_alloc_reals(ctx, (size_t)w->m, 1));
    if (o->init == PLUSPLUS)
        seed_plusplus(w, nb_ctx_rng(ctx));
    else
        NB_TRY(ctx, seed_random(w, nb_ctx_rng(ctx), ctx));
    for (int iteration = 0; iteration < o->iterations; iteration++) {
        *inertia = assign(w, centre_norms);
        move_centres(w);
        if (before - *inertia <= o->tolerance * before) break;
        before = *inertia;
    }
    *inertia = 0;
    for (int i = 0; i < w->n; i++) *inertia += nb_squared_distance((size_t)w->d, token(w, i), centre(w, w->group[i]));
    return NB_OK;
}

/* For each group mean the nearest token that no earlier one took. */
static nb_status snap(const work *w, int *group, int *tokens, nb_ctx *ctx)
{
    bool *taken;
    nb_picks groups = {.kind = NB_GROUPS, .m = w->m, .n = w->n, .groups = group};
    NB_NEED(taken, nb_alloc(ctx, (size_t)w->n, sizeof *taken));
    NB_TRY(ctx, nb_picks_landmarks(&groups, w->d, w->n, w->x, w->centres, ctx));
    for (int j = 0; j < w->m; j++) {
        double least = DBL_MAX;
        tokens[j] = -1;
        for (int i = 0; i < w->n; i++) {
            if (taken[i]) continue;
            double distance = nb_squared_distance((size_t)w->d, token(w, i), centre(w, j));
            if (tokens[j] < 0 || distance < least) {
                least = distance;
                tokens[j] = i;
            }
        }
        taken[tokens[j]] = true;
    }
    return NB_OK;
}

static nb_status pick(const nb_points *points, int m, const void *opts, nb_picks *picks, nb_ctx *ctx)
{
    const kmeans_options *o = opts;
    double least = DBL_MAX, inertia = 0;
    int *best, *out;
    work w;
    NB_TRY(ctx, work_init(&w, points, m, ctx));
    NB_NEED(best, nb_alloc(ctx, (size_t)w.n, sizeof *best));
    for (int run = 0; run < o->restarts; run++) {
        NB_TRY(ctx, lloyd(&w, o, &inertia, ctx));
        if (run > 0 && inertia >= least) continue;
        least = inertia;
        memcpy(best, w.group, (size_t)w.n * sizeof *best);
    }
    if (o->snap == SNAP_NEAREST) {
        NB_NEED(out, nb_picks_tokens(picks, m));
        return snap(&w, best, out, ctx);
    }
    NB_NEED(out, nb_picks_groups(picks, m, w.n));
    memcpy(out, best, (size_t)w.n * sizeof *out);
    return NB_OK;
}

static const char *const references[] = {
    "Lloyd, Least squares quantization in PCM, IEEE Trans. Inf. Theory 28, 1982",
    "Arthur & Vassilvitskii, k-means++, SODA 2007",
    "Zhang, Tsang & Kwok, Improved Nystrom low-rank approximation and error analysis, ICML 2008", NULL};

const nb_strategy nb_strategy_kmeans = {
    .component = {"kmeans", "means of k-means clusters (Lloyd)", references, options, sizeof(kmeans_options)},
    .abi = NB_STRATEGY_ABI,
    .traits = NB_RANDOM,
    .pairing = NB_INDEPENDENT,
    .pick = pick,
};
