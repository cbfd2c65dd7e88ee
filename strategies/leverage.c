/* SPDX-License-Identifier: GPL-3.0-or-later */
/* leverage.c - tokens by their leverage scores.
 *
 * of = kernel, an oracle: the score of query i is |U_k(i,:)|^2 / k, of key j
 * |V_k(j,:)|^2 / k, with the first k left and right singular vectors of the scene's
 * S, whatever kernel that is; of a token, the mean of both. gram: |V_k(i,:)|^2 / k
 * with the first k right singular vectors of the points X (d x n), which are the
 * eigenvectors of X'X: O(n d^2). points: all of them, k = rank X: x_i' (X X')+ x_i / k,
 * LevAttention's score of a key. Scores sum to 1. Singular values of at most eps n
 * times the largest have no directions: k is not above their number.
 *
 * svd = exact takes the singular vectors of S that the scene has (LAPACK, or block
 * Krylov to 1e-7). randomized is Halko, Martinsson & Tropp's algorithm 4.4 with k + 10
 * random vectors and 2 power iterations, 6 passes over S: Q = orth((S S')^2 S Omega),
 * orthonormalised after each product, S' Q = V D P', U = Q P.
 *
 * rows = r looks at r rows of S, each times the root of its weight, for the keys, and at the kernel at r keys for the
 * queries, in place of S: their right and left singular vectors, r n d for the entries and O(n r^2). It is no oracle
 * then.
 *
 * take = `sample` draws without replacement, one after the other in proportion to the
 * scores of those that are left, tokens of score 0 last; `top` takes the largest. */
#include "strategy.h"

#include "linalg/basis.h"
#include "linalg/linalg.h"

#include <float.h>
#include <gsl/gsl_randist.h>

enum { OVERSAMPLING = 10, POWER_ITERATIONS = 2 };

typedef struct {
    int of, rank, take, svd, rows, sample;
} leverage_options;

enum { KERNEL, GRAM, POINTS };
static const char *const ofs[] = {"kernel", "gram", "points", NULL};
enum { SAMPLE, TOP };
static const char *const takes[] = {"sample", "top", NULL};
enum { EXACT, RANDOMIZED };
static const char *const svds[] = {"exact", "randomized", NULL};

static const nb_option options[] = {
    NB_ENUM(leverage_options, of, "kernel", ofs,
            "kernel: of S (oracle with rows=all); gram, points: of the points alone"),
    NB_INT_OR(leverage_options, rank, "auto", "auto", 1, 1 << 20,
              "k, the number of singular vectors used, at most n; auto: the number of landmarks, or with of=points the "
              "rank of the points"),
    NB_ENUM(leverage_options, take, "sample", takes, "draw in proportion to the scores, or take the largest"),
    NB_ENUM(leverage_options, svd, "exact", svds,
            "for of=kernel: the singular vectors of S, or those of a randomized range finder with k + 10 vectors and 2 "
            "power iterations"),
    NB_ORACLE_ROWS_OPTIONS(leverage_options),
    NB_OPTION_END};

typedef struct { /* singular values in descending order, and vectors of one side */
    int n, count;
    const double *values, *vectors; /* n x count */
} directions;

static nb_status randomized(nb_scene *scene, int k, directions *queries, directions *keys, nb_ctx *ctx)
{
    int n = nb_scene_head(scene)->n, l = k + OVERSAMPLING < n ? k + OVERSAMPLING : n, rank;
    size_t tall = (size_t)n * (size_t)l, small = (size_t)l * (size_t)l;
    double *q, *y, *u, *v, *s, *r;
    NB_NEED(q, nb_alloc_raw(ctx, tall));
    NB_NEED(y, nb_alloc_raw(ctx, tall));
    NB_NEED(u, nb_alloc_raw(ctx, tall));
    NB_NEED(v, nb_alloc_raw(ctx, tall));
    NB_NEED(s, nb_alloc_raw(ctx, (size_t)l));
    NB_NEED(r, nb_alloc_raw(ctx, small));
    /* Omega */
    for (size_t i = 0; i < tall; i++) y[i] = gsl_ran_gaussian_ziggurat(nb_ctx_rng(ctx), 1);
    /* Q = orth((S S')^2 S Omega), and Y = S'Q */
    for (int i = 0;; i++) {
        NB_TRY(ctx, nb_scene_product(scene, NB_PLAIN, l, y, q, ctx));
        NB_TRY(ctx, nb_orthonormalise(NB_COLUMNS, n, l, q, r, &rank, ctx));
        NB_TRY(ctx, nb_scene_product(scene, NB_TRANSPOSED, l, q, y, ctx));
        if (i == POWER_ITERATIONS) break;
        NB_TRY(ctx, nb_orthonormalise(NB_COLUMNS, n, l, y, r, &rank, ctx));
    }
    /* Y = V D P' */
    NB_TRY(ctx, nb_svd(n, l, y, v, s, r, ctx));
    /* U = Q P */
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, n, l, l, 1, q, n, r, l, 0, u, n);
    *queries = (directions){n, l, s, u};
    *keys = (directions){n, l, s, v};
    return NB_OK;
}

static nb_status exact(nb_scene *scene, int k, directions *queries, directions *keys, nb_ctx *ctx)
{
    const nb_spectrum *s;
    NB_TRY(ctx, nb_scene_singular_vectors(scene, k, &s, ctx));
    *queries = (directions){nb_scene_head(scene)->n, s->count, s->values, s->left};
    *keys = (directions){nb_scene_head(scene)->n, s->count, s->values, s->right};
    return NB_OK;
}

static nb_status sampled(const nb_points *p, int m, const leverage_options *o, directions *queries, directions *keys,
                         nb_ctx *ctx)
{
    nb_sight sight;
    directions *const side[] = {queries, keys};
    NB_TRY(ctx, nb_strategy_look(p, o->rows, o->sample, m, &sight, ctx));
    for (int of_keys = 0; of_keys < 2; of_keys++) {
        double *values, *vectors;
        if (!(of_keys ? sight.rows : sight.columns)) continue;
        NB_TRY(ctx, nb_sight_vectors(&sight, of_keys, &values, &vectors, ctx));
        *side[of_keys] = (directions){sight.n, sight.k, values, vectors};
    }
    return NB_OK;
}

/* X' = V D U': V over the points. */
static nb_status of_points(const nb_points *p, directions *out, nb_ctx *ctx)
{
    int r = p->d < p->n ? p->d : p->n;
    double *s, *v;
    NB_NEED(s, nb_alloc_raw(ctx, (size_t)r));
    NB_NEED(v, nb_alloc_raw(ctx, (size_t)p->n * (size_t)r));
    NB_TRY(ctx, nb_singular_vectors(NB_ROWS, p->n, p->d, p->x, s, v, ctx));
    *out = (directions){p->n, r, s, v};
    return NB_OK;
}

/* Adds weight |row of the first k vectors|^2 / k to each of n scores, k at most the rank; NULL: to none. */
static void add_scores(const directions *of, int k, double weight, double *score)
{
    int rank = 0;
    while (score && rank < k && rank < of->count && of->values[rank] > DBL_EPSILON * of->n * of->values[0]) rank++;
    nb_count_multiplications((double)of->n * rank);
    for (int j = 0; j < rank; j++) {
        const double *vector = of->vectors + (size_t)j * (size_t)of->n;
        for (int i = 0; i < of->n; i++) score[i] += weight * vector[i] * vector[i] / rank;
    }
}

static nb_status pick(const nb_points *points, int m, const void *opts, nb_picks *picks, nb_ctx *ctx)
{
    const leverage_options *o = opts;
    double *score;
    directions queries = {.count = 0}, keys = {.count = 0};
    int n = o->of == KERNEL ? nb_scene_head(points->scene)->n : points->n;
    int k = o->rank != NB_AUTO ? o->rank : o->of == POINTS ? n : m;
    NB_NEED(score, nb_alloc_reals(ctx, (size_t)points->n, 1));
    nb_scores of = nb_scores_of(points, score);
    if (o->of != KERNEL) of = (nb_scores){1, score, NULL};
    if (k > n) k = n;
    if (o->of != KERNEL)
        NB_TRY(ctx, of_points(points, &queries, ctx));
    else if (o->rows != NB_ALL_ROWS)
        NB_TRY(ctx, sampled(points, m, o, &queries, &keys, ctx));
    else
        NB_TRY(ctx, (o->svd == EXACT ? exact : randomized)(points->scene, k, &queries, &keys, ctx));
    add_scores(&queries, k, of.weight, of.queries);
    add_scores(&keys, k, of.weight, of.keys);
    return nb_picks_by_score(picks, points->n, m, score, o->take == SAMPLE, ctx);
}

static unsigned traits_of(const void *opts)
{
    const leverage_options *o = opts;
    bool random = o->take == SAMPLE || (o->of == KERNEL && o->svd == RANDOMIZED);
    unsigned traits = random ? NB_RANDOM : 0;
    return o->of == KERNEL ? nb_traits_with_rows(traits | NB_ORACLE, o->rows) : traits;
}

static const char *refusal(const nb_points *points, int m, const void *opts)
{
    const leverage_options *o = opts;
    if (o->of != KERNEL && o->svd == RANDOMIZED)
        return "svd=randomized is for of=kernel: the points' own decomposition is cheap";
    if (o->of != KERNEL && o->rows != NB_ALL_ROWS) return "rows is for of=kernel: the points' scores need no rows of S";
    if (o->rows != NB_ALL_ROWS && o->svd == RANDOMIZED)
        return "svd=randomized is for rows=all: the decomposition of a few rows is cheap";
    return nb_rows_refusal(points, o->rows, o->sample, m);
}

static const char *const references[] = {
    "Mahoney & Drineas, CUR matrix decompositions for improved data analysis, PNAS 106, 2009",
    "Gittens & Mahoney, Revisiting the Nystrom method for improved large-scale machine learning, JMLR 17, 2016",
    "Halko, Martinsson & Tropp, Finding structure with randomness, SIAM Review 53, 2011, arXiv:0909.4061",
    "Kannan, Bhattacharyya, Kacham & Woodruff, LevAttention, 2024, arXiv:2410.05462",
    "Efraimidis & Spirakis, Weighted random sampling with a reservoir, Inf. Process. Lett. 97, 2006",
    NULL};

const nb_strategy nb_strategy_leverage = {
    .component = {"leverage", "tokens by leverage scores: of S (oracle, or by sampled rows), or of the points",
                  references, options, sizeof(leverage_options)},
    .traits = NB_RANDOM | NB_ORACLE,
    .pairing = NB_JOINT,
    .traits_of = traits_of,
    .pick = pick,
    .refusal = refusal,
};
