/* ridge_leverage.c - tokens by their ridge leverage scores.
 *
 *     l_i = (K (K + lambda I)^-1)_ii = sum_k w_k / (w_k + lambda) v_ik^2
 *
 * for the eigenpairs (w, v) of a kernel K of the points themselves
 * (measure/similarity.h). of = kernel, an oracle: K = S S' for queries, S'S for keys,
 * so w = s^2 and v are S's singular vectors; of a token, the mean of both. Eigenvalues
 * of at most eps n w_1 (gram and kernel: s of at most eps n s_1) are 0. lambda = auto:
 * the sum of the eigenvalues after the m-th, over m, so that the scores sum to at most
 * 2 m; a number is in units of trace(K) / n. Cost: exp and gauss one eigendecomposition
 * of K, kernel the scene's SVD of S, gram O(n d^2) by the SVD of the points.
 *
 * recursive: Musco & Musco's algorithm. The tokens are halved at random until
 * c = 2 m (1 + log m) are left, which are a sample with weights 1. Level by level
 * upwards, with M the sampled rows and columns of K, weighted, and b_i those of token i,
 *
 *     l_i ~ (K_ii - b_i' (M + lambda I)^-1 b_i) / lambda, at most 1,
 *
 * and but for the last level token i stays in the sample with probability
 * p = min(1, (1 + log m) l_i) and weight p^-1/2. auto: the tail of M, times the ratio
 * of the two levels' sizes, over m. lambda is at least 1e-8 trace(K) / n here, since
 * the differences lose eps K_ii. O(n c d + n c^2), no n x n matrix. */
#include "strategy.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "measure/similarity.h"

#include <float.h>
#include <gsl/gsl_randist.h>
#include <math.h>

enum { MOST = 4096, TILE = 256 }; /* tokens of a dense K; tokens whose b_i are formed at once */

typedef struct {
    int of, recursive, take;
    double lambda, bandwidth;
} ridge_leverage_options;

/* The kernels of the points, in the order of nb_similarity_kind, and S. */
enum { KERNEL = NB_SIMILARITY_COUNT };
static const char *const ofs[] = {"exp", "gauss", "gram", "kernel", NULL};
enum { SAMPLE, TOP };
static const char *const takes[] = {"sample", "top", NULL};

static const nb_option options[] = {
    NB_ENUM(ridge_leverage_options, of, "exp", ofs, "kernel of the points: exp(x.y/sqrt d), gauss, gram, x.y; kernel: S S' and S'S, an oracle"),
    NB_BOOL(ridge_leverage_options, recursive, "false", "scores by recursive halving, for any number of tokens"),
    NB_ENUM(ridge_leverage_options, take, "sample", takes, "draw in proportion to the scores, or take the largest"),
    NB_REAL_OR(ridge_leverage_options, lambda, "auto", "auto", 1e-100, 1e100, "in units of trace(K)/n; auto: the sum of the eigenvalues after the m-th, over m"),
    NB_REAL_OR(ridge_leverage_options, bandwidth, "median", "median", 1e-100, 1e100, "of gauss: h in exp(-|x-y|^2/(2h^2)); median: of the distances"),
    NB_OPTION_END};

/* The sum of those after the first k, in descending order. */
static double tail(int count, const double *values, int k)
{
    return k < count ? nb_sum((size_t)(count - k), values + k) : 0;
}

/* Adds weight * l to the scores; vectors n x count. */
static void add_scores(int n, int count, const double *values, const double *vectors, double lambda, double weight,
                       double *score)
{
    for (int k = 0; k < count && values[k] > 0; k++) {
        const double *v = vectors + (size_t)k * (size_t)n;
        double factor = weight * values[k] / (values[k] + lambda);
        for (int i = 0; i < n; i++) score[i] += factor * v[i] * v[i];
    }
}

static double dense_lambda(const ridge_leverage_options *o, int n, int m, int count, const double *values)
{
    return isnan(o->lambda) ? tail(count, values, m) / m : o->lambda * nb_sum((size_t)count, values) / n;
}

/* value <- value^power, or 0 where value is rounding, in descending order. */
static void clean(int n, int count, double power, double *values)
{
    double rounding = DBL_EPSILON * n * values[0];
    for (int k = 0; k < count; k++) values[k] = values[k] > rounding ? pow(values[k], power) : 0;
}

static nb_status of_kernel(const nb_points *p, int m, const ridge_leverage_options *o, double *score, nb_ctx *ctx)
{
    const nb_spectrum *s;
    double *squares;
    NB_NEED(squares, nb_alloc_reals(ctx, (size_t)p->n, 1));
    NB_TRY(ctx, nb_scene_singular_vectors(p->scene, p->n, &s, ctx));
    nb_add((size_t)p->n, s->values, squares);
    clean(p->n, p->n, 2, squares);
    double lambda = dense_lambda(o, p->n, m, p->n, squares), weight = p->side == NB_SIDE_JOINT ? 0.5 : 1;
    if (p->side != NB_SIDE_KEYS) add_scores(p->n, p->n, squares, s->left, lambda, weight, score);
    if (p->side != NB_SIDE_QUERIES) add_scores(p->n, p->n, squares, s->right, lambda, weight, score);
    return NB_OK;
}

static nb_status of_gram(const nb_points *p, int m, const ridge_leverage_options *o, double *score, nb_ctx *ctx)
{
    int r = p->d < p->n ? p->d : p->n;
    double *u, *s, *vt, *v;
    NB_NEED(u, nb_alloc_raw(ctx, (size_t)p->d * (size_t)r));
    NB_NEED(s, nb_alloc_raw(ctx, (size_t)r));
    NB_NEED(vt, nb_alloc_raw(ctx, (size_t)p->n * (size_t)r));
    NB_NEED(v, nb_alloc_raw(ctx, (size_t)p->n * (size_t)r));
    NB_TRY(ctx, nb_svd(p->d, p->n, p->x, u, s, vt, ctx));
    nb_transpose(r, p->n, vt, v);
    clean(p->n, r, 2, s);
    add_scores(p->n, r, s, v, dense_lambda(o, p->n, m, r, s), 1, score);
    return NB_OK;
}

static nb_status of_matrix(const nb_similarity *k, int m, const ridge_leverage_options *o, double *score, nb_ctx *ctx)
{
    double *v, *w;
    NB_NEED(v, nb_alloc_raw(ctx, (size_t)k->n * (size_t)k->n));
    NB_NEED(w, nb_alloc_raw(ctx, (size_t)k->n));
    nb_similarity_matrix(k, v);
    NB_TRY(ctx, nb_symmetric_eigen(k->n, v, w, ctx));
    clean(k->n, k->n, 1, w);
    add_scores(k->n, k->n, w, v, dense_lambda(o, k->n, m, k->n, w), 1, score);
    return NB_OK;
}

typedef struct {
    const nb_similarity *kernel;
    int m;
    const double *diagonal; /* n: K_ii */
    double lambda, least;   /* NaN: from the sample; the least that is allowed */
    int *order;             /* n: a random permutation; a level of size s is its first s */
    int size;               /* of the level that the sample is from */
    int count, *sample;     /* sampled tokens */
    double *weight;         /* theirs */
    double *score;          /* n: in `order` */
} recursion;

static double level_lambda(const recursion *r, int size, const double *values)
{
    if (!isnan(r->lambda)) return fmax(r->lambda, r->least);
    return fmax(tail(r->count, values, r->m) / r->m * size / r->size, r->least);
}

/* out (count x tokens): column i is b_i, K(sample, tokens[i]) weighted. */
static void sampled_columns(const recursion *r, int tokens, const int *token, double *out)
{
    for (int i = 0; i < tokens; i++) {
        double *b = out + (size_t)i * (size_t)r->count;
        nb_similarity_some(r->kernel, token[i], r->count, r->sample, b);
        for (int a = 0; a < r->count; a++) b[a] *= r->weight[a];
    }
}

/* r->score of the first `size` tokens, from the sample of the level below. */
static nb_status score_level(recursion *r, int size, nb_ctx *ctx)
{
    int s = r->count;
    double *vectors, *values, *b, *c;
    NB_NEED(vectors, nb_alloc_raw(ctx, (size_t)s * (size_t)s));
    NB_NEED(values, nb_alloc_raw(ctx, (size_t)s));
    NB_NEED(b, nb_alloc_raw(ctx, (size_t)s * TILE));
    NB_NEED(c, nb_alloc_raw(ctx, (size_t)s * TILE));
    sampled_columns(r, s, r->sample, vectors);
    for (int j = 0; j < s; j++) nb_scale((size_t)s, r->weight[j], vectors + (size_t)j * (size_t)s);
    if (s > 0) NB_TRY(ctx, nb_symmetric_eigen(s, vectors, values, ctx));
    double lambda = level_lambda(r, size, values);
    for (int first = 0; first < size; first += TILE) {
        int tokens = size - first < TILE ? size - first : TILE;
        sampled_columns(r, tokens, r->order + first, b);
        if (s > 0) nb_gemm(NB_TRANSPOSED, NB_PLAIN, s, tokens, s, 1, vectors, s, b, s, 0, c, s);
        for (int i = 0; i < tokens; i++) {
            double left = r->diagonal[r->order[first + i]];
            for (int a = 0; a < s; a++) {
                double y = c[(size_t)i * (size_t)s + (size_t)a];
                left -= y * y / (fmax(values[a], 0) + lambda);
            }
            r->score[first + i] = fmin(1, fmax(0, left / lambda));
        }
    }
    return NB_OK;
}

static void sample_level(recursion *r, int size, double oversampling, gsl_rng *rng)
{
    r->count = 0;
    r->size = size;
    for (int i = 0; i < size; i++) {
        double p = fmin(1, oversampling * r->score[i]);
        if (!(gsl_rng_uniform(rng) < p)) continue;
        r->sample[r->count] = r->order[i];
        r->weight[r->count++] = 1 / sqrt(p);
    }
}

static nb_status recursion_init(recursion *r, const nb_similarity *kernel, int m, const ridge_leverage_options *o, nb_ctx *ctx)
{
    size_t n = (size_t)kernel->n;
    double *diagonal;
    NB_NEED(diagonal, nb_alloc_raw(ctx, n));
    nb_similarity_diagonal(kernel, diagonal);
    double mean = nb_sum(n, diagonal) / kernel->n;
    NB_REQUIRE(ctx, isfinite(mean), NB_ENUMERIC, "the trace of a kernel is not finite");
    *r = (recursion){.kernel = kernel, .m = m, .diagonal = diagonal, .lambda = o->lambda * mean, .least = 1e-8 * mean};
    NB_NEED(r->order, nb_alloc(ctx, n, sizeof *r->order));
    NB_NEED(r->sample, nb_alloc(ctx, n, sizeof *r->sample));
    NB_NEED(r->weight, nb_alloc_raw(ctx, n));
    NB_NEED(r->score, nb_alloc_raw(ctx, n));
    for (int i = 0; i < kernel->n; i++) r->order[i] = i;
    gsl_ran_shuffle(nb_ctx_rng(ctx), r->order, n, sizeof *r->order);
    return NB_OK;
}

static int half(int size)
{
    return (size + 1) / 2;
}

static nb_status recursive(const nb_similarity *kernel, int m, const ridge_leverage_options *o, double *score, nb_ctx *ctx)
{
    int n = kernel->n, level = 0;
    double oversampling = 1 + log(m);
    recursion r;
    NB_TRY(ctx, recursion_init(&r, kernel, m, o, ctx));
    if (!(r.least > 0)) return NB_OK; /* K = 0 */
    for (r.size = n; r.size > 2 * m * oversampling; r.size = half(r.size)) level++;
    for (r.count = 0; r.count < r.size; r.count++) {
        r.sample[r.count] = r.order[r.count];
        r.weight[r.count] = 1;
    }
    do {
        int size = n;
        if (level > 0) level--;
        for (int l = 0; l < level; l++) size = half(size);
        nb_mark mark = nb_ctx_mark(ctx);
        NB_TRY(ctx, score_level(&r, size, ctx));
        nb_ctx_release(ctx, mark);
        if (level > 0) sample_level(&r, size, oversampling, nb_ctx_rng(ctx));
    } while (level > 0);
    for (int i = 0; i < n; i++) score[r.order[i]] = r.score[i];
    return NB_OK;
}

static nb_status pick(const nb_points *points, int m, const void *opts, nb_picks *picks, nb_ctx *ctx)
{
    const ridge_leverage_options *o = opts;
    nb_similarity kernel;
    double *score;
    NB_NEED(score, nb_alloc_reals(ctx, (size_t)points->n, 1));
    if (o->of == KERNEL) {
        NB_TRY(ctx, of_kernel(points, m, o, score, ctx));
    } else if (o->of == NB_GRAM && !o->recursive) {
        NB_TRY(ctx, of_gram(points, m, o, score, ctx));
    } else {
        NB_TRY(ctx, nb_similarity_init(&kernel, (nb_similarity_kind)o->of, o->bandwidth, points->n, points->d, points->x, ctx));
        NB_TRY(ctx, o->recursive ? recursive(&kernel, m, o, score, ctx) : of_matrix(&kernel, m, o, score, ctx));
    }
    return nb_picks_by_score(picks, points->n, m, score, o->take == SAMPLE, ctx);
}

static unsigned traits_of(const void *opts)
{
    const ridge_leverage_options *o = opts;
    return (o->take == SAMPLE || o->recursive ? NB_RANDOM : 0) | (o->of == KERNEL ? NB_ORACLE : 0);
}

static const char *refusal(const nb_points *points, int m, const void *opts)
{
    const ridge_leverage_options *o = opts;
    (void)m;
    if (o->of == KERNEL && o->recursive) return "recursive halving needs a positive semi-definite kernel of one set of points, not S";
    if (points->n > MOST && o->of == KERNEL) return "ridge leverage in S needs all its singular vectors: at most 4096 tokens";
    if (points->n > MOST && o->of != NB_GRAM && !o->recursive) return "all eigenvectors of the kernel: at most 4096 tokens; take recursive=true";
    return NULL;
}

static const char *const references[] = {
    "Alaoui & Mahoney, Fast randomized kernel ridge regression with statistical guarantees, NIPS 2015, arXiv:1411.0306",
    "Musco & Musco, Recursive sampling for the Nystrom method, NIPS 2017, arXiv:1605.07583", NULL};

const nb_strategy nb_strategy_ridge_leverage = {
    .component = {"ridge_leverage", "tokens by ridge leverage scores of a kernel of the points, or of S (oracle)", references,
                  options, sizeof(ridge_leverage_options)},
    .abi = NB_STRATEGY_ABI,
    .traits = NB_RANDOM,
    .pairing = NB_INDEPENDENT,
    .traits_of = traits_of,
    .pick = pick,
    .refusal = refusal,
};
