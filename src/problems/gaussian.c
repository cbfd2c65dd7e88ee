/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gaussian.c - every entry of Q, K and V drawn from N(0, scale^2).
 *
 * The problem without structure: the scores q.k/sqrt(d) have standard deviation
 * scale^2. */
#include "problems/problem.h"

typedef struct {
    int n, d;
    double scale;
    int permute;
} gaussian_options;

static const nb_option options[] = {
    NB_INT(gaussian_options, n, "1024", 1, 1 << 20, "tokens"),
    NB_INT(gaussian_options, d, "64", 1, 1 << 14, "dimension of a head"),
    NB_REAL(gaussian_options, scale, "1", 0, 1e3, "standard deviation of every coordinate"),
    NB_PERMUTE(gaussian_options), NB_OPTION_END};

static nb_status shape(const void *opts, nb_problem_shape *shape, nb_ctx *ctx)
{
    const gaussian_options *o = opts;
    (void)ctx;
    *shape = (nb_problem_shape){.count = 1, .n = o->n, .d = o->d};
    return NB_OK;
}

static nb_status make(const void *opts, int head, nb_head *out, nb_ctx *ctx)
{
    const gaussian_options *o = opts;
    size_t count = (size_t)o->n * (size_t)o->d;
    (void)head;
    NB_TRY(ctx, nb_head_new(o->n, o->d, out, ctx));
    nb_draw_normals(nb_ctx_rng(ctx), count, o->scale, out->q);
    nb_draw_normals(nb_ctx_rng(ctx), count, o->scale, out->k);
    nb_draw_normals(nb_ctx_rng(ctx), count, o->scale, out->v);
    return NB_OK;
}

static const char *const references[] = {"Xiong et al., Nystromformer, AAAI 2021 (efficiency on random inputs)", NULL};

const nb_problem nb_problem_gaussian = {
    .component = {"gaussian", "independent normal queries and keys", references, options, sizeof(gaussian_options)},
    .random = true,
    .shape = shape,
    .make = make,
};
