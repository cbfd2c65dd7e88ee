/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sink.c - a few tokens that everyone attends to, the first ones. With a random
 * unit vector u and normal points whose part along u is taken away,
 *     q_i = g_i + a u,    k_i = h_i + a u for a sink, h_i for any other token,
 * a^2 = strength sqrt(d): every query scores a sink by exactly `strength` higher
 * than without, so of s sinks among n tokens it gives the share
 *     s e^strength / (s e^strength + n - s)
 * to the sinks, but for the variation of g.h/sqrt(d). */
#include "problems/problem.h"

#include "linalg/vector.h"

#include <math.h>

typedef struct {
    int n, d, sinks;
    double strength;
    int permute;
} sink_options;

static const nb_option options[] = {
    NB_INT(sink_options, n, "1024", 1, 1 << 20, "tokens"),
    NB_INT(sink_options, d, "64", 1, 1 << 14, "dimension of a head"),
    NB_INT(sink_options, sinks, "4", 0, 1 << 20, "tokens that everyone attends to, the first; at most n"),
    NB_REAL(sink_options, strength, "6", 0, 300, "how much higher the score q.k/sqrt(d) of a sink is"),
    NB_PERMUTE(sink_options),
    NB_OPTION_END};

static nb_status shape(const void *opts, nb_problem_shape *shape, nb_ctx *ctx)
{
    const sink_options *o = opts;
    NB_REQUIRE(ctx, o->sinks <= o->n, NB_EINVAL, "sink: sinks = %d is more than the %d tokens", o->sinks, o->n);
    *shape = (nb_problem_shape){.count = 1, .n = o->n, .d = o->d};
    return NB_OK;
}

/* x (d x n) normal, with a part along u of `along` in its first `count` columns and 0 in the others. */
static void draw(const sink_options *o, const double *u, double along, int count, gsl_rng *rng, double *x)
{
    size_t d = (size_t)o->d;
    nb_draw_normals(rng, d * (size_t)o->n, 1, x);
    for (int i = 0; i < o->n; i++) {
        double *point = x + (size_t)i * d, add = (i < count ? along : 0) - nb_dot(d, u, point);
        for (size_t l = 0; l < d; l++) point[l] += add * u[l];
    }
}

static nb_status make(const void *opts, int head, nb_head *out, nb_ctx *ctx)
{
    const sink_options *o = opts;
    size_t d = (size_t)o->d;
    double *u, a = sqrt(o->strength * sqrt(o->d));
    (void)head;
    NB_TRY(ctx, nb_head_new(o->n, o->d, out, ctx));
    NB_NEED(u, nb_alloc_raw(ctx, d));
    nb_draw_normals(nb_ctx_rng(ctx), d, 1, u);
    nb_scale(d, 1 / sqrt(nb_sum_of_squares(d, u)), u);
    draw(o, u, a, o->n, nb_ctx_rng(ctx), out->q);
    draw(o, u, a, o->sinks, nb_ctx_rng(ctx), out->k);
    nb_draw_normals(nb_ctx_rng(ctx), d * (size_t)o->n, 1, out->v);
    return NB_OK;
}

static const char *const references[] = {
    "Xiao et al., Efficient streaming language models with attention sinks, ICLR 2024", NULL};

const nb_problem nb_problem_sink = {
    .component = {"sink", "a few tokens that everyone attends to", references, options, sizeof(sink_options)},
    .random = true,
    .shape = shape,
    .make = make,
};
