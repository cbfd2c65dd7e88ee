/* SPDX-License-Identifier: GPL-3.0-or-later */
/* smooth.c - neighbours alike: each coordinate is an AR(1) process along the
 * tokens,
 *     x_0 = scale e_0,   x_i = r x_{i-1} + sqrt(1 - r^2) scale e_i,   e ~ N(0, 1),
 * stationary with marginals N(0, scale^2) and correlation r^h at lag h. Queries,
 * keys and values are independent of each other. Any one token is drawn as
 * `gaussian` draws it: what differs comes from the order alone. */
#include "problems/problem.h"

#include <math.h>

typedef struct {
    int n, d;
    double correlation, scale;
    int permute;
} smooth_options;

static const nb_option options[] = {
    NB_INT(smooth_options, n, "1024", 1, 1 << 20, "tokens"),
    NB_INT(smooth_options, d, "64", 1, 1 << 14, "dimension of a head"),
    NB_REAL(smooth_options, correlation, "0.95", 0, 1,
            "r, between the same coordinate of neighbouring tokens; it fades over 1/(1 - r) tokens"),
    NB_REAL(smooth_options, scale, "1", 0, 1e3, "standard deviation of every coordinate"),
    NB_PERMUTE(smooth_options),
    NB_OPTION_END};

static nb_status shape(const void *opts, nb_problem_shape *shape, nb_ctx *ctx)
{
    const smooth_options *o = opts;
    (void)ctx;
    *shape = (nb_problem_shape){.count = 1, .n = o->n, .d = o->d};
    return NB_OK;
}

static void draw(const smooth_options *o, gsl_rng *rng, double *x)
{
    size_t d = (size_t)o->d, count = d * (size_t)o->n;
    double r = o->correlation, fresh = sqrt((1 - r) * (1 + r));
    nb_draw_normals(rng, count, o->scale, x);
    for (size_t i = d; i < count; i++) x[i] = r * x[i - d] + fresh * x[i];
}

static nb_status make(const void *opts, int head, nb_head *out, nb_ctx *ctx)
{
    const smooth_options *o = opts;
    (void)head;
    NB_TRY(ctx, nb_head_new(o->n, o->d, out, ctx));
    draw(o, nb_ctx_rng(ctx), out->q);
    draw(o, nb_ctx_rng(ctx), out->k);
    draw(o, nb_ctx_rng(ctx), out->v);
    return NB_OK;
}

static const char *const references[] = {
    "Brockwell & Davis, Time Series: Theory and Methods, 2nd ed., 1991, section 3.1 (AR(1))", NULL};

const nb_problem nb_problem_smooth = {
    .component = {"smooth", "neighbouring tokens are alike: AR(1) along the sequence", references, options,
                  sizeof(smooth_options)},
    .random = true,
    .shape = shape,
    .make = make,
};
