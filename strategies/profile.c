/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile.c - landmarks by what attends to what, from a few exact rows of S: linear in n.
 *
 * Keys first. k = 4 m rows of S, at least 64, are computed at the centres of a k-means of the queries, each row
 * weighted by the number of queries that it stands for (nystrom/row_sample.h). Pivots of a column-pivoted QR of the
 * entrywise root of these rows (its distances are Hellinger's) are m keys that carry much attention, each from queries
 * unlike the others'.
 *     keys=pivots  are these tokens;
 *     keys=points  are free points: the pivots times `scale`, which widens the attention that each of the few receives,
 *                  moved by `steps` steps down the gradient of what the columns of F leave of the rows (key_fit.h);
 *     keys=groups  are the means of the groups that k-means finds among the columns of those roots, from the pivots on.
 * Then the queries, by how they attend to those keys: column i of F' = k(Q, K~)' is query i's profile.
 *     queries=weighted: landmark j is the mean of all queries, weighted by F_ij^power: of those that attend to landmark
 *                  key j above all;
 *     queries=groups   are the means of the groups that k-means finds among the profiles;
 *     queries=pivots   are tokens: the pivots of F'.
 *
 * Multiplications, by default: some 6 k n d for the centres, k n d for their rows, k n m for the pivots, k^2 n for the
 * fit and 25 (k^2 m + 5 k m^2 + 2 k m d) for its steps, 2 n m d for F and the means. */
#include "strategy.h"

#include "kernels/kernel.h"
#include "linalg/kmeans.h"
#include "linalg/linalg.h"
#include "linalg/pivoting.h"
#include "linalg/vector.h"
#include "nystrom/key_fit.h"

#include <gsl/gsl_math.h>
#include <gsl/gsl_sort_int.h>
#include <math.h>
#include <string.h>

typedef struct {
    int keys, queries, rows, sample, steps, power, restarts;
    double scale, ridge;
} profile_options;

enum { KEY_POINTS, KEY_PIVOTS, KEY_GROUPS };
static const char *const key_ways[] = {"points", "pivots", "groups", NULL};
enum { QUERY_WEIGHTED, QUERY_GROUPS, QUERY_PIVOTS };
static const char *const query_ways[] = {"weighted", "groups", "pivots", NULL};

enum { ITERATIONS = 100 };               /* of k-means, at most */
static const double SOFTMAX_SCALE = 0.7; /* the `scale` that is best in the middle of m = 8 ... 64 */

static const nb_option options[] = {
    NB_ENUM(
        profile_options, keys, "points", key_ways,
        "points: the pivots' keys, scaled and moved; pivots: tokens by pivoted QR of the roots of the sampled rows; "
        "groups: means of the keys that receive attention from the same rows"),
    NB_ENUM(
        profile_options, queries, "weighted", query_ways,
        "weighted: means of all queries, by their attention to each landmark key; groups: means of the queries that "
        "attend alike to the landmark keys; pivots: tokens by pivoted QR of that attention"),
    NB_ROWS_OPTION(profile_options, "auto", .newer = false),
    NB_SAMPLE_OPTION(profile_options, "centres", .newer = false),
    NB_OPTION_FIELD(profile_options, scale, NB_OPTION_REAL, double, "auto",
                    "factor of the pivots' keys before they are moved; auto: 0.7 if rows of S sum to 1, else 1",
                    .lo = 1e-6, .hi = 1e6, .word = "auto", .for_key = "keys", .for_value = "points"),
    NB_INT_FOR(profile_options, steps, "keys", "points", "10", 0, 10000,
               "at most that many steps by which the keys are moved"),
    NB_REAL_FOR(profile_options, ridge, "keys", "points", "3e-05", 1e-10, 1,
                "of the fit that the keys are moved for, relative to the squared norm of its matrix"),
    NB_INT_FOR(profile_options, power, "queries", "weighted", "4", 1, 64, "of the attention that weighs the queries"),
    NB_INT_FOR(profile_options, restarts, "queries", "groups", "4", 1, 1000,
               "runs of k-means on the profiles; the one of least inertia is kept"),
    NB_OPTION_END};

typedef struct {
    const profile_options *o;
    const nb_points *queries, *keys;
    int n, d, m;
    nb_row_sample sample;
    double *roots;     /* n x k: the roots of the weighted rows */
    int *pivots;       /* m keys */
    double *landmarks; /* d x m: the landmark keys */
    double *profiles;  /* m x n: F', a query a column */
} work;

/* The root of an entry; of a negative one, which some kernels have, with its sign. */
static nb_status form_roots(work *w, nb_ctx *ctx)
{
    size_t n = (size_t)w->n;
    nb_count_multiplications((double)w->n * w->sample.count);
    NB_NEED(w->roots, nb_alloc_raw(ctx, n * (size_t)w->sample.count));
    for (size_t i = 0; i < (size_t)w->sample.count; i++) {
        const double *row = w->sample.rows + i * n;
        double *out = w->roots + i * n, weight = sqrt(w->sample.weights[i]);
        for (size_t j = 0; j < n; j++) out[j] = copysign(weight * sqrt(fabs(row[j])), row[j]);
    }
    return NB_OK;
}

/* m tokens of n: the pivots, and where the rank ends, the lowest that are left. */
static nb_status add_lowest_left(int n, int m, int count, int *tokens, nb_picks *picks, const char *what, nb_ctx *ctx)
{
    bool *taken;
    if (count == m) return NB_OK;
    NB_NEED(taken, nb_alloc(ctx, (size_t)n, sizeof *taken));
    for (int j = 0; j < count; j++) taken[tokens[j]] = true;
    for (int i = 0, j = count; j < m; i++)
        if (!taken[i]) tokens[j++] = i;
    return nb_picks_note(picks, "the numerical rank of %s is %d: further landmarks are the first tokens that are left",
                         what, count);
}

static nb_status pick_pivots(work *w, nb_picks *picks, nb_ctx *ctx)
{
    nb_pivoting p;
    NB_NEED(w->pivots, nb_alloc(ctx, (size_t)w->m, sizeof *w->pivots));
    NB_TRY(ctx, nb_pivoting_init(&p, w->sample.count, w->n, w->roots, true, w->m, ctx));
    int count = nb_pivoting_run(&p, w->m, w->pivots);
    return add_lowest_left(w->n, w->m, count, w->pivots, picks, "the sampled rows", ctx);
}

static void take_keys(work *w, double scale)
{
    size_t d = (size_t)w->d;
    nb_count_multiplications((double)w->m * w->d);
    for (size_t j = 0; j < (size_t)w->m; j++) {
        memcpy(w->landmarks + j * d, w->keys->x + (size_t)w->pivots[j] * d, d * sizeof(double));
        nb_scale(d, scale, w->landmarks + j * d);
    }
}

static double scale_of(const work *w)
{
    const nb_kernel *kernel = (const nb_kernel *)nb_scene_kernel_choice(w->keys->scene)->component;
    return !isnan(w->o->scale) ? w->o->scale : kernel->stochastic ? SOFTMAX_SCALE : 1;
}

/* landmarks (d x m) <- the means of groups of the columns of x (d x n). */
static nb_status take_means(const nb_clusters *c, int d, const double *x, double *landmarks, nb_ctx *ctx)
{
    const nb_picks groups = {.kind = NB_GROUPS, .m = c->m, .n = c->n, .groups = c->group};
    return nb_picks_landmarks(&groups, d, c->n, x, landmarks, ctx);
}

/* The groups of the keys by the roots of what they receive, from those of the pivots on. */
static nb_status group_keys(work *w, nb_ctx *ctx)
{
    size_t k = (size_t)w->sample.count;
    double *received, *start;
    nb_clusters clusters;
    NB_NEED(received, nb_alloc_raw(ctx, k * (size_t)w->n));
    NB_NEED(start, nb_alloc_raw(ctx, k * (size_t)w->m));
    nb_transpose(w->n, w->sample.count, w->roots, received);
    for (size_t j = 0; j < (size_t)w->m; j++)
        memcpy(start + j * k, received + (size_t)w->pivots[j] * k, k * sizeof *start);
    nb_kmeans_how how = {.restarts = 1, .iterations = ITERATIONS, .start = start};
    NB_TRY(ctx, nb_kmeans(w->sample.count, w->n, received, w->m, &how, nb_ctx_rng(ctx), &clusters, ctx));
    return take_means(&clusters, w->d, w->keys->x, w->landmarks, ctx);
}

static nb_status pick_keys(work *w, nb_picks *picks, nb_ctx *ctx)
{
    int k = nb_rows_of(w->o->rows, w->m, w->n);
    NB_TRY(ctx, nb_strategy_sample(w->queries, (nb_sampling)w->o->sample, k, &w->sample, ctx));
    NB_NEED(w->landmarks, nb_alloc_reals(ctx, (size_t)w->d, (size_t)w->m));
    NB_TRY(ctx, form_roots(w, ctx));
    NB_TRY(ctx, pick_pivots(w, picks, ctx));
    if (w->o->keys == KEY_GROUPS) return group_keys(w, ctx);
    take_keys(w, w->o->keys == KEY_POINTS ? scale_of(w) : 1);
    if (w->o->keys == KEY_PIVOTS || w->o->steps == 0) return NB_OK;
    return nb_key_fit(w->keys->scene, &w->sample, w->m, w->o->ridge, w->o->steps, w->landmarks, ctx);
}

static nb_status form_profiles(work *w, nb_ctx *ctx)
{
    int *sorted;
    NB_NEED(w->profiles, nb_alloc_raw(ctx, (size_t)w->m * (size_t)w->n));
    if (!nb_scene_head(w->keys->scene)->causal)
        return nb_scene_kernel(w->keys->scene, w->n, w->queries->x, w->m, w->landmarks, w->profiles, ctx);
    NB_NEED(sorted, nb_alloc(ctx, (size_t)w->m, sizeof *sorted));
    memcpy(sorted, w->pivots, (size_t)w->m * sizeof *sorted);
    gsl_sort_int(sorted, 1, (size_t)w->m);
    return nb_scene_some_columns(w->keys->scene, w->m, sorted, w->profiles, ctx);
}

static nb_status group_queries(work *w, double *landmarks, nb_ctx *ctx)
{
    nb_clusters clusters;
    nb_kmeans_how how = {.restarts = w->o->restarts, .iterations = ITERATIONS};
    NB_TRY(ctx, nb_kmeans(w->m, w->n, w->profiles, w->m, &how, nb_ctx_rng(ctx), &clusters, ctx));
    return take_means(&clusters, w->d, w->queries->x, landmarks, ctx);
}

/* profiles <- their powers, relative to the largest attention that any query pays to the key; mass (m): their sums. */
static nb_status raise_profiles(work *w, double *mass, nb_ctx *ctx)
{
    size_t n = (size_t)w->n, m = (size_t)w->m;
    double *most;
    nb_count_multiplications((double)w->n * w->m * (2 + floor(log2(w->o->power)))); /* by repeated squares */
    NB_NEED(most, nb_alloc_reals(ctx, m, 1));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) most[j] = fmax(most[j], fabs(w->profiles[i * m + j]));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) {
            double *entry = w->profiles + i * m + j, share = most[j] > 0 ? fabs(*entry) / most[j] : 1;
            *entry = gsl_pow_int(share, w->o->power);
            mass[j] += *entry;
        }
    return NB_OK;
}

static nb_status weigh_queries(work *w, double *landmarks, nb_ctx *ctx)
{
    double *mass;
    size_t d = (size_t)w->d;
    NB_NEED(mass, nb_alloc_reals(ctx, (size_t)w->m, 1));
    NB_TRY(ctx, raise_profiles(w, mass, ctx));
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, w->d, w->m, w->n, 1, w->queries->x, w->d, w->profiles, w->m, 0, landmarks, w->d);
    nb_count_multiplications((double)w->m * w->d);
    for (int j = 0; j < w->m; j++) nb_scale(d, 1 / mass[j], landmarks + (size_t)j * d);
    return NB_OK;
}

static nb_status pivot_queries(work *w, int *tokens, nb_picks *picks, nb_ctx *ctx)
{
    nb_pivoting p;
    NB_TRY(ctx, nb_pivoting_init(&p, w->m, w->n, w->profiles, false, w->m, ctx));
    int count = nb_pivoting_run(&p, w->m, tokens);
    return add_lowest_left(w->n, w->m, count, tokens, picks, "the queries' attention to the landmark keys", ctx);
}

/* Tokens on both sides stay tokens; else both are points. */
static nb_status fill_picks(work *w, nb_picks *of_queries, nb_picks *of_keys, nb_ctx *ctx)
{
    const nb_picks pivots = {.kind = NB_TOKENS, .m = w->m, .tokens = w->pivots};
    int *tokens;
    double *points;
    if (w->o->keys == KEY_PIVOTS && w->o->queries == QUERY_PIVOTS) {
        NB_NEED(tokens, nb_picks_tokens(of_keys, w->m));
        memcpy(tokens, pivots.tokens, (size_t)w->m * sizeof *tokens);
        NB_NEED(tokens, nb_picks_tokens(of_queries, w->m));
        return pivot_queries(w, tokens, of_queries, ctx);
    }
    NB_NEED(points, nb_picks_points(of_keys, w->d, w->m));
    memcpy(points, w->landmarks, (size_t)w->d * (size_t)w->m * sizeof *points);
    NB_NEED(points, nb_picks_points(of_queries, w->d, w->m));
    if (w->o->queries == QUERY_GROUPS) return group_queries(w, points, ctx);
    if (w->o->queries == QUERY_WEIGHTED) return weigh_queries(w, points, ctx);
    nb_picks chosen = {.kind = NB_TOKENS, .m = w->m};
    NB_NEED(chosen.tokens, nb_alloc(ctx, (size_t)w->m, sizeof *chosen.tokens));
    NB_TRY(ctx, pivot_queries(w, chosen.tokens, of_queries, ctx));
    return nb_picks_landmarks(&chosen, w->d, w->n, w->queries->x, points, ctx);
}

static nb_status pick_both(const nb_points *queries, const nb_points *keys, int m, const void *opts,
                           nb_picks *of_queries, nb_picks *of_keys, nb_ctx *ctx)
{
    work w = {.o = opts, .queries = queries, .keys = keys, .n = queries->n, .d = queries->d, .m = m};
    NB_TRY(ctx, pick_keys(&w, of_keys, ctx));
    NB_TRY(ctx, form_profiles(&w, ctx));
    return fill_picks(&w, of_queries, of_keys, ctx);
}

static unsigned traits_of(const void *opts)
{
    const profile_options *o = opts;
    bool all = o->rows == NB_ALL_ROWS;
    return (!all || o->queries == QUERY_GROUPS ? NB_RANDOM : 0) | (all ? NB_ORACLE : 0);
}

static const char *refusal(const nb_points *points, int m, const void *opts)
{
    const profile_options *o = opts;
    const nb_head *head = nb_scene_head(points->scene);
    const nb_kernel *kernel = (const nb_kernel *)nb_scene_kernel_choice(points->scene)->component;
    if (head->causal && (o->keys != KEY_PIVOTS || o->queries != QUERY_PIVOTS))
        return "profile: only tokens have a place under a causal mask: keys=pivots, queries=pivots";
    if (o->keys == KEY_POINTS && o->steps > 0 && !kernel->pull_back)
        return "profile: this kernel has no gradient to move keys along: steps=0, or keys=pivots";
    return nb_rows_refusal(points, nb_rows_of(o->rows, m, head->n), o->sample, m);
}

/* The header's, those of the steps twice, since their matrices are small. */
static double multiplications(const void *opts, int n, int d, int m)
{
    const profile_options *o = opts;
    double k = nb_rows_of(o->rows, m, n), tokens = n, size = m, steps = o->keys == KEY_POINTS ? o->steps : 0;
    double look = o->sample == NB_CENTRES ? 7 * k * tokens * d : k * tokens * d;
    return look + tokens * (k * size + k * k + 2 * size * d) +
           5 * steps * (k * k * size + 5 * k * size * size + 2 * k * size * d);
}

static const char *const references[] = {
    "none for the whole; its parts are: Businger & Golub, Numer. Math. 7, 1965 (pivots)",
    "Cortinovis & Kressner, Low-rank approximation in the Frobenius norm by column and row subset selection, SIMAX 41, "
    "2020, arXiv:1908.06059",
    "Golub & Pereyra, The differentiation of pseudo-inverses and nonlinear least squares problems whose variables "
    "separate, SIAM J. Numer. Anal. 10, 1973 (the fit of the keys)",
    "Vyas, Katharopoulos & Fleuret, Fast transformers with clustered attention, NeurIPS 2020, arXiv:2007.04825 (means "
    "of queries, grouped by the queries themselves)",
    NULL};

const nb_strategy nb_strategy_profile = {
    .component = {"profile",
                  "keys that receive attention in some exact rows of S, queries by which of these they attend to",
                  references, options, sizeof(profile_options)},
    .traits = NB_RANDOM,
    .pairing = NB_BOTH,
    .traits_of = traits_of,
    .pick_both = pick_both,
    .refusal = refusal,
    .multiplications = multiplications,
    .explanation =
        "It looks at the exact rows of max(64, 4 m) centres of queries, and so is linear in n and, unless rows=all,\n"
        "no oracle. The landmark keys are free points that start at tokens; each landmark query is the mean of the\n"
        "queries that attend most to one of these keys. With keys=pivots, queries=pivots both are tokens, as the\n"
        "factors cur need them. The steps that move the keys take some 900 m^3 multiplications, whatever n is: at\n"
        "m = 256 as many as exact attention of 10,000 tokens. It is a yardstick of errors; in passes, steps=0 leaves\n"
        "them out.",
};
