/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ridge_leverage.c - tokens by their ridge leverage scores (K (K + lambda I)^-1)_ii in a
 * kernel K of the points themselves (nystrom/ridge_scores.h, nystrom/psd_kernel.h).
 *
 * of = kernel, an oracle unless it looks at some rows alone: K = S S' for queries, S'S for keys, so
 * l_i = sum_k s_k^2 / (s_k^2 + lambda) u_ik^2 with S's singular triplets, and lambda's
 * tail is one of squares; of a token, the mean of both. Cost: exp and gauss one
 * eigendecomposition of K, or O(n m^2 log^2 m) by recursive halving, kernel the
 * scene's SVD of S, gram O(n d^2) by the SVD of the points, whose squared singular
 * values are K's eigenvalues. With rows = r, S'S is that of r rows of S, each times the root of its weight, S S'
 * that of the kernel at r keys: r n d for the entries and O(n r^2). */
#include "strategy.h"

#include "linalg/basis.h"
#include "nystrom/ridge_scores.h"

typedef struct {
    int of, recursive, take, rows, sample;
    double lambda, bandwidth;
} ridge_leverage_options;

/* The kernels of the points, in the order of nb_similarity_kind, and S. */
enum { KERNEL = NB_SIMILARITY_COUNT };
static const char *const ofs[] = {"exp", "gauss", "gram", "kernel", NULL};
enum { SAMPLE, TOP };
static const char *const takes[] = {"sample", "top", NULL};

static const nb_option options[] = {
    NB_ENUM(ridge_leverage_options, of, "exp", ofs,
            "kernel of the points: exp(x.y/sqrt d), gauss or gram (x.y); kernel: S S' and S'S (oracle with rows=all)"),
    NB_BOOL(ridge_leverage_options, recursive, "false", "scores by recursive halving, for any number of tokens"),
    NB_ENUM(ridge_leverage_options, take, "sample", takes, "draw in proportion to the scores, or take the largest"),
    NB_REAL_OR(ridge_leverage_options, lambda, "auto", "auto", 1e-100, 1e100,
               "in units of trace(K)/n; auto: the sum of the eigenvalues after the m-th, over m"),
    NB_REAL_OR(ridge_leverage_options, bandwidth, "median", "median", 1e-100, 1e100,
               "for of=gauss: h in exp(-|x-y|^2/(2h^2)); median: the median distance"),
    NB_ORACLE_ROWS_OPTIONS(ridge_leverage_options),
    NB_OPTION_END};

static nb_status of_kernel(const nb_points *p, int m, double lambda, double *score, nb_ctx *ctx)
{
    const nb_spectrum *s;
    int n = nb_scene_head(p->scene)->n;
    nb_scores of = nb_scores_of(p, score);
    NB_TRY(ctx, nb_scene_singular_vectors(p->scene, n, &s, ctx));
    nb_eigenpairs left = {n, s->count, s->values, s->left, true}, right = {n, s->count, s->values, s->right, true};
    if (of.queries) NB_TRY(ctx, nb_ridge_add_scores(&left, m, lambda, of.weight, of.queries, ctx));
    if (of.keys) NB_TRY(ctx, nb_ridge_add_scores(&right, m, lambda, of.weight, of.keys, ctx));
    return NB_OK;
}

static nb_status of_sampled(const nb_points *p, int m, const ridge_leverage_options *o, double *score, nb_ctx *ctx)
{
    nb_sight sight;
    nb_scores of = nb_scores_of(p, score);
    double *const to[] = {of.queries, of.keys};
    NB_TRY(ctx, nb_strategy_look(p, o->rows, o->sample, m, &sight, ctx));
    for (int keys = 0; keys < 2; keys++) {
        double *values, *vectors;
        if (!to[keys]) continue;
        NB_TRY(ctx, nb_sight_vectors(&sight, keys, &values, &vectors, ctx));
        nb_eigenpairs pairs = {sight.n, sight.k, values, vectors, true};
        NB_TRY(ctx, nb_ridge_add_scores(&pairs, m, o->lambda, of.weight, to[keys], ctx));
    }
    return NB_OK;
}

static nb_status of_gram(const nb_points *p, int m, double lambda, double *score, nb_ctx *ctx)
{
    int r = p->d < p->n ? p->d : p->n;
    double *s, *v;
    NB_NEED(s, nb_alloc_raw(ctx, (size_t)r));
    NB_NEED(v, nb_alloc_raw(ctx, (size_t)p->n * (size_t)r));
    /* X = U s V': V are the eigenvectors of X'X, s^2 its eigenvalues */
    NB_TRY(ctx, nb_singular_vectors(NB_ROWS, p->n, p->d, p->x, s, v, ctx));
    return nb_ridge_add_scores(&(nb_eigenpairs){p->n, r, s, v, true}, m, lambda, 1, score, ctx);
}

static nb_status pick(const nb_points *points, int m, const void *opts, nb_picks *picks, nb_ctx *ctx)
{
    const ridge_leverage_options *o = opts;
    nb_similarity kernel;
    double *score;
    NB_NEED(score, nb_alloc_reals(ctx, (size_t)points->n, 1));
    if (o->of == KERNEL && o->rows != NB_ALL_ROWS) {
        NB_TRY(ctx, of_sampled(points, m, o, score, ctx));
    } else if (o->of == KERNEL) {
        NB_TRY(ctx, of_kernel(points, m, o->lambda, score, ctx));
    } else if (o->of == NB_GRAM && !o->recursive) {
        NB_TRY(ctx, of_gram(points, m, o->lambda, score, ctx));
    } else {
        NB_TRY(ctx, nb_similarity_init(&kernel, (nb_similarity_kind)o->of, o->bandwidth, points->n, points->d,
                                       points->x, ctx));
        NB_TRY(ctx, (o->recursive ? nb_ridge_recursive : nb_ridge_scores)(&kernel, m, o->lambda, score, ctx));
    }
    return nb_picks_by_score(picks, points->n, m, score, o->take == SAMPLE, ctx);
}

static unsigned traits_of(const void *opts)
{
    const ridge_leverage_options *o = opts;
    bool dense = o->of == KERNEL || (o->of != NB_GRAM && !o->recursive);
    unsigned traits = (o->take == SAMPLE || o->recursive ? NB_RANDOM : 0) | (dense ? NB_EIGEN : 0);
    return o->of == KERNEL ? nb_traits_with_rows(traits | NB_ORACLE, o->rows) : traits;
}

static const char *refusal(const nb_points *points, int m, const void *opts)
{
    const ridge_leverage_options *o = opts;
    if (o->of == KERNEL && o->recursive)
        return "recursive halving needs a positive semi-definite kernel of one set of points, not S";
    if (o->of != KERNEL && o->rows != NB_ALL_ROWS) return "rows is for of=kernel: other kernels need no rows of S";
    if (nb_scene_head(points->scene)->n > NB_DENSE && o->of == KERNEL && o->rows == NB_ALL_ROWS)
        return "ridge leverage in S needs all its singular vectors: at most 4096 tokens; or take rows=auto";
    if (points->n > NB_DENSE && o->of != KERNEL && o->of != NB_GRAM && !o->recursive)
        return "all eigenvectors of the kernel: at most 4096 points; take recursive=true";
    return nb_rows_refusal(points, o->rows, o->sample, m);
}

static const char *const references[] = {
    "Alaoui & Mahoney, Fast randomized kernel ridge regression with statistical guarantees, NIPS 2015, arXiv:1411.0306",
    "Musco & Musco, Recursive sampling for the Nystrom method, NIPS 2017, arXiv:1605.07583", NULL};

const nb_strategy nb_strategy_ridge_leverage = {
    .component = {"ridge_leverage",
                  "tokens by ridge leverage scores of a kernel of the points, or of S (oracle, or by sampled rows)",
                  references, options, sizeof(ridge_leverage_options)},
    .traits = NB_RANDOM,
    .pairing = NB_JOINT,
    .traits_of = traits_of,
    .pick = pick,
    .refusal = refusal,
    .explanation =
        "recursive=true is after Musco & Musco's algorithm 3, with parameters of this project's own: its samples are\n"
        "larger, so that the scores are near those of recursive=false. For m landmarks the authors' code halves to\n"
        "about m tokens, takes lambda from the tail after the k-th eigenvalue, k = m / (4 log m), and keeps a token "
        "with\nprobability l log m; here it is 2 m (1 + log m) tokens, the tail after the m-th, and l (1 + log m).",
};
