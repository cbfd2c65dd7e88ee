/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heavy_tail.c - every entry of Q, K and V from Student's t with `dof` degrees of
 * freedom, divided so that its quartiles are those of N(0, 1): most entries are
 * like `gaussian`'s, a few are far out. (A scale by the variance would shrink the
 * middle, and there is none for dof <= 2.) The fewer degrees, the more queries
 * attend to one key alone. */
#include "problems/problem.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>

typedef struct {
    int n, d;
    double dof;
    int permute;
} heavy_tail_options;

static const nb_option options[] = {
    NB_INT(heavy_tail_options, n, "1024", 1, 1 << 20, "tokens"),
    NB_INT(heavy_tail_options, d, "64", 1, 1 << 14, "dimension of a head"),
    NB_REAL(heavy_tail_options, dof, "4", 0.1, 1e6, "degrees of freedom: P(|x| > t) falls like t^-dof"),
    NB_PERMUTE(heavy_tail_options), NB_OPTION_END};

static nb_status shape(const void *opts, nb_problem_shape *shape, nb_ctx *ctx)
{
    const heavy_tail_options *o = opts;
    (void)ctx;
    *shape = (nb_problem_shape){.count = 1, .n = o->n, .d = o->d};
    return NB_OK;
}

static void draw(const heavy_tail_options *o, gsl_rng *rng, double *x)
{
    double factor = gsl_cdf_ugaussian_Pinv(0.75) / gsl_cdf_tdist_Pinv(0.75, o->dof);
    for (size_t i = 0; i < (size_t)o->n * (size_t)o->d; i++) x[i] = factor * gsl_ran_tdist(rng, o->dof);
}

static nb_status make(const void *opts, int head, nb_head *out, nb_ctx *ctx)
{
    const heavy_tail_options *o = opts;
    (void)head;
    NB_TRY(ctx, nb_head_new(o->n, o->d, out, ctx));
    draw(o, nb_ctx_rng(ctx), out->q);
    draw(o, nb_ctx_rng(ctx), out->k);
    draw(o, nb_ctx_rng(ctx), out->v);
    return NB_OK;
}

static const char *const references[] = {
    "Bondarenko, Nagel & Blankevoort, Understanding and overcoming the challenges of efficient transformer "
    "quantization, EMNLP 2021 (outliers)",
    NULL};

const nb_problem nb_problem_heavy_tail = {
    .component = {"heavy_tail", "entries from Student's t distribution, a few of them far out", references, options,
                  sizeof(heavy_tail_options)},
    .random = true,
    .shape = shape,
    .make = make,
};
