/* SPDX-License-Identifier: GPL-3.0-or-later */
/* optimized.c - free points, moved along the gradient of the subspace part of `nystromformer`.
 *
 * Minimises f of nystrom/subspace.h, the square of the least error that any core
 * reaches with factors `nystromformer`, over the landmarks K~ and Q~ themselves, by
 * GSL's vector_bfgs2 from the landmarks of another strategy: at best a local minimum,
 * so what it wins bounds what there is to win from below, as floor_rank does from
 * above. With X that is not the best one the error itself may rise. In the end both are compared entry by entry, and
 * the start is returned where it is no worse.
 *
 * A step takes one to three values with gradients, 4 n^2 m flops and O(n m (m + d))
 * each. */
#include "strategy.h"

#include "components/registry.h"
#include "kernels/kernel.h"
#include "linalg/linalg.h"
#include "nystrom/subspace.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <string.h>

typedef struct {
    const nb_choice *start;
    int steps;
} optimized_options;

static const nb_option options[] = {
    NB_COMPONENT(optimized_options, start, "segment_means", &nb_strategies, "the strategy whose landmarks are moved"),
    NB_INT(optimized_options, steps, "100", 0, 100000, "at most that many steps of the minimiser"), NB_OPTION_END};

enum { MOST_TOKENS = 2048 };
static const double SMALL_ENOUGH = 1e-13; /* f, of which 1e-14 is rounding */

typedef struct {
    nb_subspace *subspace;
    size_t count;     /* 2 d m numbers */
    double *at;       /* where `value` was asked for last */
    double value;     /* NaN: nowhere yet */
    nb_status status; /* of the first evaluation that failed */
    nb_ctx *ctx;
} work;

static double value_at(const gsl_vector *x, void *self)
{
    work *w = self;
    size_t size = w->count * sizeof *w->at;
    if (w->status != NB_OK || (!isnan(w->value) && memcmp(w->at, x->data, size) == 0)) return w->value;
    memcpy(w->at, x->data, size);
    w->status = nb_subspace_value(w->subspace, w->at, &w->value, w->ctx);
    if (w->status != NB_OK) w->value = NAN;
    return w->value;
}

static void gradient_at(const gsl_vector *x, void *self, gsl_vector *gradient)
{
    work *w = self;
    value_at(x, w);
    if (w->status == NB_OK) w->status = nb_subspace_gradient(w->subspace, gradient->data, w->ctx);
    if (w->status != NB_OK) gsl_vector_set_all(gradient, NAN);
}

static void both_at(const gsl_vector *x, void *self, double *value, gsl_vector *gradient)
{
    *value = value_at(x, self);
    gradient_at(x, self, gradient);
}

static void free_minimizer(void *minimizer)
{
    gsl_multimin_fdfminimizer_free(minimizer);
}

/* Downhill from x, which becomes the end. It ends where ten steps lower f by less than
 * a thousandth. */
static nb_status descend(work *w, int steps, double *x, nb_ctx *ctx)
{
    enum { LOOK = 10 };
    gsl_vector_view at = gsl_vector_view_array(x, w->count);
    gsl_multimin_function_fdf function = {value_at, gradient_at, both_at, w->count, w};
    double length = nb_frobenius(w->count, x), before = INFINITY;
    gsl_multimin_fdfminimizer *s = gsl_multimin_fdfminimizer_alloc(gsl_multimin_fdfminimizer_vector_bfgs2, w->count);
    NB_REQUIRE(ctx, s, NB_ENOMEM, "out of memory: the minimiser of %zu numbers", w->count);
    NB_TRY(ctx, nb_defer(ctx, free_minimizer, s));
    gsl_multimin_fdfminimizer_set(s, &function, &at.vector, length > 0 ? 0.01 * length : 0.01, 0.1);
    for (int step = 0; step < steps && w->status == NB_OK && s->f > SMALL_ENOUGH; step++) {
        if (step % LOOK == 0 && !(s->f < 0.999 * before)) break;
        if (step % LOOK == 0) before = s->f;
        if (gsl_multimin_fdfminimizer_iterate(s) != GSL_SUCCESS) break; /* no progress: a minimum, to rounding */
    }
    memcpy(x, s->x->data, w->count * sizeof *x);
    return w->status;
}

/* The landmarks of `start`, K~ and Q~. */
static nb_status start_points(const nb_choice *start, const nb_points *queries, const nb_points *keys, int m,
                              double *points, nb_ctx *ctx)
{
    nb_picks of_queries, of_keys;
    NB_TRY(ctx, nb_strategy_start(start, queries, m, &of_queries, &of_keys, ctx));
    NB_TRY(ctx, nb_picks_landmarks(&of_keys, keys->d, keys->n, keys->x, points, ctx));
    return nb_picks_landmarks(&of_queries, keys->d, keys->n, queries->x, points + (size_t)keys->d * (size_t)m, ctx);
}

static nb_status pick_both(const nb_points *queries, const nb_points *keys, int m, const void *opts,
                           nb_picks *of_queries, nb_picks *of_keys, nb_ctx *ctx)
{
    const optimized_options *o = opts;
    double *start, *end, *to, before, after;
    size_t half = (size_t)keys->d * (size_t)m;
    work w = {.count = 2 * half, .value = NAN, .ctx = ctx};
    NB_NEED(start, nb_alloc_reals(ctx, w.count, 1));
    NB_NEED(end, nb_alloc_reals(ctx, w.count, 1));
    NB_NEED(w.at, nb_alloc_reals(ctx, w.count, 1));
    NB_TRY(ctx, start_points(o->start, queries, keys, m, start, ctx));
    NB_TRY(ctx, nb_subspace_new(queries->scene, m, &w.subspace, ctx));
    memcpy(end, start, w.count * sizeof *end);
    NB_TRY(ctx, descend(&w, o->steps, end, ctx));
    NB_TRY(ctx, nb_subspace_error(w.subspace, start, &before, ctx));
    NB_TRY(ctx, nb_subspace_error(w.subspace, end, &after, ctx));
    const double *best = after < before ? end : start;
    NB_NEED(to, nb_picks_points(of_keys, keys->d, m));
    memcpy(to, best, half * sizeof *to);
    NB_NEED(to, nb_picks_points(of_queries, keys->d, m));
    memcpy(to, best + half, half * sizeof *to);
    return NB_OK;
}

static unsigned traits_of(const void *opts)
{
    const optimized_options *o = opts;
    return (nb_strategy_traits(o->start) & NB_RANDOM) | NB_ORACLE | NB_SQUARE;
}

static const char *refusal(const nb_points *points, int m, const void *opts)
{
    const optimized_options *o = opts;
    const nb_strategy *start = (const nb_strategy *)o->start->component;
    if (!((const nb_kernel *)nb_scene_kernel_choice(points->scene)->component)->pull_back)
        return "optimized: this kernel has no gradient";
    if (nb_scene_head(points->scene)->causal) return "optimized: free points have no place under a causal mask";
    if (points->n > MOST_TOKENS) return "optimized: each step costs 4 n^2 m flops and more; n is at most 2048";
    return start->refusal ? start->refusal(points, m, o->start->options) : NULL;
}

static const char *const references[] = {
    "Golub & Pereyra, The differentiation of pseudo-inverses and nonlinear least squares problems whose variables "
    "separate, SIAM J. Numer. Anal. 10, 1973",
    "Fletcher, Practical methods of optimization, 1987, sections 2.6 and 3.2 (vector_bfgs2 of the GNU Scientific "
    "Library)",
    NULL};

const nb_strategy nb_strategy_optimized = {
    .component = {"optimized", "free points moved down the gradient of nystromformer's subspace part (oracle)",
                  references, options, sizeof(optimized_options)},
    .traits = NB_ORACLE,
    .pairing = NB_BOTH,
    .traits_of = traits_of,
    .pick_both = pick_both,
    .refusal = refusal,
    .explanation =
        "What falls is the subspace part with factors nystromformer, the least error that any core reaches with\n"
        "these points; with another core the error may rise. It ends in a local minimum at best, so what it gains is\n"
        "a lower bound on what there is to win; floor_rank gives an upper bound.",
};
