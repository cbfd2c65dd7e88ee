/* SPDX-License-Identifier: GPL-3.0-or-later */
/* low_rank.c - queries and keys in a common subspace of r dimensions, and noise:
 *     q_i = sqrt(d/r) U a_i + noise e_i,   k_i likewise,
 * U d x r a random orthonormal basis, a and e of N(0, 1). The mean square of a
 * coordinate is 1 + noise^2; without noise the scores q.k/sqrt(d) have standard
 * deviation sqrt(d/r) and rank r. V is normal, of full rank. */
#include "problems/problem.h"

#include "linalg/basis.h"
#include "linalg/linalg.h"

#include <math.h>

typedef struct {
    int n, d, rank;
    double noise;
    int permute;
} low_rank_options;

static const nb_option options[] = {
    NB_INT(low_rank_options, n, "1024", 1, 1 << 20, "tokens"),
    NB_INT(low_rank_options, d, "64", 1, 1 << 14, "dimension of a head"),
    NB_INT(low_rank_options, rank, "8", 1, 1 << 14, "r, dimension of the subspace; at most d"),
    NB_REAL(low_rank_options, noise, "0.1", 0, 1e3,
            "standard deviation of the noise in each coordinate; the signal's is 1"),
    NB_PERMUTE(low_rank_options),
    NB_OPTION_END};

static nb_status shape(const void *opts, nb_problem_shape *shape, nb_ctx *ctx)
{
    const low_rank_options *o = opts;
    NB_REQUIRE(ctx, o->rank <= o->d, NB_EINVAL, "low_rank: rank = %d is more than the dimension d = %d", o->rank, o->d);
    *shape = (nb_problem_shape){.count = 1, .n = o->n, .d = o->d};
    return NB_OK;
}

/* x (d x n) from the basis (d x r); a is scratch, r x n. */
static void draw(const low_rank_options *o, const double *basis, double *a, gsl_rng *rng, double *x)
{
    nb_draw_normals(rng, (size_t)o->rank * (size_t)o->n, 1, a);
    nb_draw_normals(rng, (size_t)o->d * (size_t)o->n, o->noise, x);
    nb_gemm(NB_PLAIN, NB_PLAIN, o->d, o->n, o->rank, sqrt((double)o->d / o->rank), basis, o->d, a, o->rank, 1, x, o->d);
}

static nb_status make(const void *opts, int head, nb_head *out, nb_ctx *ctx)
{
    const low_rank_options *o = opts;
    size_t d = (size_t)o->d, r = (size_t)o->rank;
    double *basis, *triangle, *a;
    int rank;
    (void)head;
    NB_TRY(ctx, nb_head_new(o->n, o->d, out, ctx));
    NB_NEED(basis, nb_alloc_raw(ctx, d * r));
    NB_NEED(triangle, nb_alloc_raw(ctx, r * r));
    NB_NEED(a, nb_alloc_raw(ctx, r * (size_t)o->n));
    nb_draw_normals(nb_ctx_rng(ctx), d * r, 1, basis);
    NB_TRY(ctx, nb_orthonormalise(NB_COLUMNS, o->d, o->rank, basis, triangle, &rank, ctx));
    draw(o, basis, a, nb_ctx_rng(ctx), out->q);
    draw(o, basis, a, nb_ctx_rng(ctx), out->k);
    nb_draw_normals(nb_ctx_rng(ctx), d * (size_t)o->n, 1, out->v);
    return NB_OK;
}

static const char *const references[] = {
    "Bhojanapalli et al., Low-rank bottleneck in multi-head attention models, ICML 2020",
    "Wang et al., Linformer: self-attention with linear complexity, arXiv:2006.04768", NULL};

const nb_problem nb_problem_low_rank = {
    .component = {"low_rank", "queries and keys in a common subspace, with noise", references, options,
                  sizeof(low_rank_options)},
    .random = true,
    .shape = shape,
    .make = make,
};
