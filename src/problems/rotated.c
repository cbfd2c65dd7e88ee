/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rotated.c - clusters whose keys lie elsewhere than their queries. Centre c of
 * the queries is from N(0, I_d), centre c of the keys is R times it, R one random
 * rotation or reflection (Haar): each side has the same clusters, but a query is
 * no nearer to its own cluster's keys than to any other's, and landmarks that
 * suit one side say nothing of the other. Points as in `clusters`; the values have
 * centres of their own. O(d^3) for R. */
#include "problems/problem.h"

#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"

typedef struct {
    int n, d, count;
    double spread;
    int order, permute;
} rotated_options;

static const nb_option options[] = {
    NB_INT(rotated_options, n, "1024", 1, 1 << 20, "tokens"),
    NB_INT(rotated_options, d, "64", 1, 1 << 11, "dimension of a head"),
    NB_INT(rotated_options, count, "16", 1, 1 << 20, "clusters; at most n"),
    NB_REAL(rotated_options, spread, "0.3", 0, 1e3,
            "standard deviation around a centre, relative to that of the centres"),
    NB_ENUM(rotated_options, order, "contiguous", nb_cluster_orders, "order of the tokens"),
    NB_PERMUTE(rotated_options),
    NB_OPTION_END};

static nb_status shape(const void *opts, nb_problem_shape *shape, nb_ctx *ctx)
{
    const rotated_options *o = opts;
    NB_REQUIRE(ctx, o->count <= o->n, NB_EINVAL, "rotated: count = %d is more than the %d tokens", o->count, o->n);
    *shape = (nb_problem_shape){.count = 1, .n = o->n, .d = o->d};
    return NB_OK;
}

/* R (d x d): Q of a normal matrix's QR, with the signs that make R's diagonal
 * positive, is Haar distributed. */
static nb_status rotation(int d, gsl_rng *rng, double *q, nb_ctx *ctx)
{
    size_t order = (size_t)d;
    double *triangle;
    int rank;
    NB_NEED(triangle, nb_alloc_raw(ctx, order * order));
    nb_draw_normals(rng, order * order, 1, q);
    NB_TRY(ctx, nb_orthonormalise(NB_COLUMNS, d, d, q, triangle, &rank, ctx));
    for (size_t j = 0; j < order; j++)
        if (triangle[j + j * order] < 0) nb_scale(order, -1, q + j * order);
    return NB_OK;
}

static nb_status make(const void *opts, int head, nb_head *out, nb_ctx *ctx)
{
    const rotated_options *o = opts;
    gsl_rng *rng = nb_ctx_rng(ctx);
    size_t d = (size_t)o->d, size = d * (size_t)o->count;
    double *centres, *image, *q;
    int *cluster;
    (void)head;
    NB_TRY(ctx, nb_head_new(o->n, o->d, out, ctx));
    NB_NEED(cluster, nb_alloc(ctx, (size_t)o->n, sizeof *cluster));
    NB_NEED(centres, nb_alloc_reals(ctx, size, 2));
    NB_NEED(q, nb_alloc_raw(ctx, d * d));
    image = centres + size;
    nb_draw_clusters(rng, o->n, o->count, o->order == NB_SHUFFLED, cluster);
    NB_TRY(ctx, rotation(o->d, rng, q, ctx));
    nb_draw_normals(rng, size, 1, centres);
    nb_gemm(NB_PLAIN, NB_PLAIN, o->d, o->count, o->d, 1, q, o->d, centres, o->d, 0, image, o->d);
    nb_draw_around(rng, o->d, o->n, centres, cluster, o->spread, out->q);
    nb_draw_around(rng, o->d, o->n, image, cluster, o->spread, out->k);
    nb_draw_normals(rng, size, 1, centres);
    nb_draw_around(rng, o->d, o->n, centres, cluster, o->spread, out->v);
    return NB_OK;
}

static const char *const references[] = {
    "Mezzadri, How to generate random matrices from the classical compact groups, Notices of the AMS 54, 2007", NULL};

const nb_problem nb_problem_rotated = {
    .component = {"rotated", "clusters whose keys are a rotation of their queries", references, options,
                  sizeof(rotated_options)},
    .random = true,
    .shape = shape,
    .make = make,
};
