/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clusters.c - tokens around common centres.
 *
 * Centre c has a query mean and a key mean, each from N(0, I_d); token i of
 * cluster c(i) has q_i = query mean + spread * noise, k_i and v_i likewise. The
 * clusters are of equal size, but for one token, and lie one after the other
 * (contiguous: neighbours alike) or in random order (shuffled: position says
 * nothing). */
#include "problems/problem.h"

typedef struct {
    int n, d, count;
    double spread;
    int order, permute;
} clusters_options;

static const nb_option options[] = {
    NB_INT(clusters_options, n, "1024", 1, 1 << 20, "tokens"),
    NB_INT(clusters_options, d, "64", 1, 1 << 14, "dimension of a head"),
    NB_INT(clusters_options, count, "16", 1, 1 << 20, "clusters; at most n"),
    NB_REAL(clusters_options, spread, "0.3", 0, 1e3,
            "standard deviation around a centre, relative to that of the centres"),
    NB_ENUM(clusters_options, order, "contiguous", nb_cluster_orders, "order of the tokens"),
    NB_PERMUTE(clusters_options),
    NB_OPTION_END};

static nb_status shape(const void *opts, nb_problem_shape *shape, nb_ctx *ctx)
{
    const clusters_options *o = opts;
    NB_REQUIRE(ctx, o->count <= o->n, NB_EINVAL, "clusters: count = %d is more than the %d tokens", o->count, o->n);
    *shape = (nb_problem_shape){.count = 1, .n = o->n, .d = o->d};
    return NB_OK;
}

/* x (d x n): each token its cluster's centre and noise. */
static nb_status draw(const clusters_options *o, const int *cluster, double *x, nb_ctx *ctx)
{
    double *centres;
    NB_NEED(centres, nb_alloc_reals(ctx, (size_t)o->d, (size_t)o->count));
    nb_draw_normals(nb_ctx_rng(ctx), (size_t)o->d * (size_t)o->count, 1, centres);
    nb_draw_around(nb_ctx_rng(ctx), o->d, o->n, centres, cluster, o->spread, x);
    return NB_OK;
}

static nb_status make(const void *opts, int head, nb_head *out, nb_ctx *ctx)
{
    const clusters_options *o = opts;
    int *cluster;
    (void)head;
    NB_TRY(ctx, nb_head_new(o->n, o->d, out, ctx));
    NB_NEED(cluster, nb_alloc(ctx, (size_t)o->n, sizeof *cluster));
    nb_draw_clusters(nb_ctx_rng(ctx), o->n, o->count, o->order == NB_SHUFFLED, cluster);
    NB_TRY(ctx, draw(o, cluster, out->q, ctx));
    NB_TRY(ctx, draw(o, cluster, out->k, ctx));
    return draw(o, cluster, out->v, ctx);
}

static const char *const references[] = {
    "Zhang, Tsang & Kwok, Improved Nystrom low-rank approximation and error analysis, ICML 2008 (clustered data)",
    NULL};

const nb_problem nb_problem_clusters = {
    .component = {"clusters", "tokens around common centres, in order or shuffled", references, options,
                  sizeof(clusters_options)},
    .random = true,
    .shape = shape,
    .make = make,
};
