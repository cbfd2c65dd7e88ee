/* SPDX-License-Identifier: GPL-3.0-or-later */
/* optimized.c - free points, moved along the gradient of the subspace part of `nystromformer`.
 *
 * Minimises f of nystrom/subspace.h, the square of the least error that any core
 * reaches with factors `nystromformer`, over the landmarks K~ and Q~ themselves, by
 * GSL's vector_bfgs2 from the landmarks of another strategy: at best a local minimum,
 * so its gain is a lower bound on what can be gained; floor_rank gives an upper bound. With X that is not the best one
 * the error itself may rise. In the end both are compared entry by entry, and
 * the start is returned if it is no worse.
 *
 * A step takes one to three values with gradients, 4 n^2 m flops and O(n m (m + d))
 * each. It is an oracle, unless it looks at some rows alone: with rows = k, f is that of k rows of S, k n d for their
 * entries, and a value with its gradient takes 4 k n m flops. */
#include "strategy.h"

#include "components/registry.h"
#include "kernels/kernel.h"
#include "linalg/descent.h"
#include "nystrom/subspace.h"

#include <string.h>

typedef struct {
    const nb_choice *start;
    int steps, rows, sample;
} optimized_options;

static const nb_option options[] = {
    NB_COMPONENT(optimized_options, start, "segment_means", &nb_strategies, "the strategy whose landmarks are moved"),
    NB_INT(optimized_options, steps, "100", 0, 100000, "at most that many steps of the minimiser"),
    NB_ORACLE_ROWS_OPTIONS(optimized_options), NB_OPTION_END};

enum { MOST_TOKENS = 2048 };
static const double SMALL_ENOUGH = 1e-13; /* f, of which 1e-14 is rounding */

static nb_status value_at(void *self, const double *points, double *value, nb_ctx *ctx)
{
    return nb_subspace_value(self, points, value, ctx);
}

static nb_status gradient_at(void *self, double *gradient, nb_ctx *ctx)
{
    return nb_subspace_gradient(self, gradient, ctx);
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

static nb_status open_subspace(const nb_points *queries, const optimized_options *o, int m, nb_subspace **out,
                               nb_ctx *ctx)
{
    nb_row_sample *some;
    if (o->rows == NB_ALL_ROWS) return nb_subspace_new(queries->scene, NULL, m, out, ctx);
    NB_NEED(some, nb_alloc(ctx, 1, sizeof *some));
    int k = nb_rows_of(o->rows, m, queries->n);
    NB_TRY(ctx, nb_strategy_sample(queries, (nb_sampling)o->sample, k, some, ctx));
    return nb_subspace_new(queries->scene, some, m, out, ctx);
}

static nb_status pick_both(const nb_points *queries, const nb_points *keys, int m, const void *opts,
                           nb_picks *of_queries, nb_picks *of_keys, nb_ctx *ctx)
{
    const optimized_options *o = opts;
    double *start, *end, *to, before, after;
    size_t half = (size_t)keys->d * (size_t)m;
    nb_slope slope = {.count = 2 * half, .value = value_at, .gradient = gradient_at, .enough = SMALL_ENOUGH};
    nb_subspace *f;
    NB_NEED(start, nb_alloc_reals(ctx, slope.count, 1));
    NB_NEED(end, nb_alloc_reals(ctx, slope.count, 1));
    NB_TRY(ctx, open_subspace(queries, o, m, &f, ctx));
    slope.self = f;
    NB_TRY(ctx, start_points(o->start, queries, keys, m, start, ctx));
    memcpy(end, start, slope.count * sizeof *end);
    /* f from K~, Q~ of the start down to a local minimum */
    NB_TRY(ctx, nb_descend(&slope, o->steps, end, ctx));
    /* the errors of both, entry by entry */
    NB_TRY(ctx, nb_subspace_error(f, start, &before, ctx));
    NB_TRY(ctx, nb_subspace_error(f, end, &after, ctx));
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
    unsigned start = nb_strategy_traits(o->start) & ~(unsigned)NB_BLIND,
             of_all = (start & (NB_RANDOM | NB_ELSEWHERE)) | NB_ORACLE | NB_SQUARE;
    return nb_traits_with_rows(of_all, o->rows) | (o->rows == NB_ALL_ROWS ? 0 : start & ~(unsigned)NB_NESTED);
}

static const char *refusal(const nb_points *points, int m, const void *opts)
{
    const optimized_options *o = opts;
    const nb_strategy *start = (const nb_strategy *)o->start->component;
    const char *no_rows = nb_rows_refusal(points, o->rows, o->sample, m);
    if (!((const nb_kernel *)nb_scene_kernel_choice(points->scene)->component)->pull_back)
        return "optimized: this kernel has no gradient";
    if (nb_scene_head(points->scene)->causal) return "optimized: free points have no place under a causal mask";
    if (nb_rows_of(o->rows, m, points->n) < m)
        return "optimized: rows is below m, and any F has fewer rows in its range";
    if (o->rows == NB_ALL_ROWS && points->n > MOST_TOKENS)
        return "optimized: each step costs 4 n^2 m flops and more; n is at most 2048; or take rows=auto";
    if (no_rows) return no_rows;
    return start->refusal ? start->refusal(points, m, o->start->options) : NULL;
}

/* Three values a step, each with some 60 m^3 for decompositions. */
static double multiplications(const void *opts, int n, int d, int m)
{
    const optimized_options *o = opts;
    double rows = nb_rows_of(o->rows, m, n), tokens = n, size = m;
    return 3.0 * o->steps * (2 * rows * tokens * size + 8 * tokens * size * (d + 2 * size) + 60 * size * size * size);
}

static const char *const references[] = {
    "Golub & Pereyra, The differentiation of pseudo-inverses and nonlinear least squares problems whose variables "
    "separate, SIAM J. Numer. Anal. 10, 1973",
    "Fletcher, Practical methods of optimization, 1987, sections 2.6 and 3.2 (vector_bfgs2 of the GNU Scientific "
    "Library)",
    NULL};

const nb_strategy nb_strategy_optimized = {
    .component = {"optimized",
                  "free points moved down the gradient of nystromformer's subspace part (oracle, or by sampled rows)",
                  references, options, sizeof(optimized_options)},
    .traits = NB_ORACLE,
    .pairing = NB_BOTH,
    .traits_of = traits_of,
    .pick_both = pick_both,
    .refusal = refusal,
    .multiplications = multiplications,
    .explanation =
        "What falls is the subspace part with factors nystromformer, the least error that any core reaches with\n"
        "these points; with another core the error may rise. It ends in a local minimum at best, so what it gains is\n"
        "a lower bound on what there is to win; floor_rank gives an upper bound. With rows=k it falls over\n"
        "k rows, and over the others it may rise.",
};
