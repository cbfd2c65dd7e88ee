/* bad_kinds.c - cores, kernels and problems that break one promise each, for
 * tests/cli/plugins.bats. */
#include "cores/core.h"
#include "kernels/kernel.h"
#include "problems/problem.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

static const char *const references[] = {"none: made to fail", NULL};
static const nb_option options[] = {NB_OPTION_END};

#define CORE(symbol, traits_, ...) \
    static nb_status compute_##symbol(nb_factors *f, const void *o, double *x, nb_ctx *ctx) \
    { \
        (void)o, (void)ctx; \
        for (int i = 0; i < nb_factors_m(f) * nb_factors_m(f); i++) x[i] = 0; \
        __VA_ARGS__; \
        return NB_OK; \
    } \
    static const nb_core core_##symbol = {.component = {#symbol, "breaks a promise", references, options, 0}, \
                                          .traits = traits_, \
                                          .compute = compute_##symbol};
CORE(not_finite, 0, x[0] = NAN)
CORE(not_repeatable, 0, static int calls; x[0] = calls++)
CORE(writes_a, 0, ((double *)nb_factors_a(f))[0] += 1)
CORE(no_filter, NB_CORE_FILTER, x[0] = 1; if (nb_factors_m(f) > 1) x[1] = 7)
/* The middle of nocore is I. */
CORE(no_middle, 0, const double *a = nb_factors_a(f); if (nb_factors_m(f) > 1 && a[0] == 1 && a[1] == 0) x[0] = NAN)
CORE(leaks, 0, NB_REQUIRE(ctx, nb_alloc(ctx, 3, 3), NB_EINVAL, "something else"))

/* Entries v; what follows may spoil them. */
#define KERNEL(symbol, stochastic_, v, ...) \
    static nb_status fill_##symbol(const nb_tile *t, const void *o, double *out, nb_ctx *ctx) \
    { \
        (void)o, (void)ctx; \
        for (int i = 0; i < t->queries; i++) \
            for (int j = 0; j < t->keys; j++) out[i * t->ld + j] = t->causal && j > t->positions[i] ? 0 : (v); \
        __VA_ARGS__; \
        return NB_OK; \
    } \
    static const nb_kernel kernel_##symbol = {.component = {#symbol, "breaks a promise", references, options, 0}, \
                                              .stochastic = stochastic_, \
                                              .fill = fill_##symbol};
KERNEL(by_tile, false, t->queries)
KERNEL(too_far, false, 1, out[t->keys] = 3)
KERNEL(no_sum, true, 0.5 / (t->causal ? t->positions[i] + 1 : t->keys))
KERNEL(no_mask, false, 1, for (int j = 0; j < t->keys; j++) out[j] = 1)
KERNEL(nan_entries, false, NAN)

static nb_status fill_slope(const nb_tile *t, const void *o, double *out, nb_ctx *ctx)
{
    (void)o, (void)ctx;
    for (int i = 0; i < t->queries; i++)
        for (int j = 0; j < t->keys; j++)
            out[i * t->ld + j] = t->causal && j > t->positions[i] ? 0 : sin(t->q[i * t->d] + t->k[j * t->d]);
    return NB_OK;
}

static nb_status pull_back(const nb_tile *t, const void *o, const double *out, double *slope, double *dq, double *dk,
                           nb_ctx *ctx)
{
    (void)o, (void)ctx, (void)out, (void)slope;
    for (int i = 0; i < t->queries * t->d; i++) dq[i] = 1;
    for (int i = 0; i < t->keys * t->d; i++) dk[i] = 1;
    return NB_OK;
}

static const nb_kernel kernel_wrong_slope = {.component = {"wrong_slope", "breaks a promise", references, options, 0},
                                             .fill = fill_slope,
                                             .pull_back = pull_back};

static nb_status shape(const void *o, nb_problem_shape *s, nb_ctx *ctx)
{
    (void)o, (void)ctx;
    *s = (nb_problem_shape){.count = 1, .n = 9, .d = 2};
    return NB_OK;
}

#define PROBLEM(symbol, n_, random_, value, ...) \
    static nb_status make_##symbol(const void *o, int head, nb_head *out, nb_ctx *ctx) \
    { \
        (void)o, (void)head; \
        NB_TRY(ctx, nb_head_new(n_, 2, out, ctx)); \
        for (int i = 0; i < 2 * n_; i++) out->q[i] = out->k[i] = out->v[i] = (value); \
        __VA_ARGS__; \
        return NB_OK; \
    } \
    static const nb_problem problem_##symbol = {{#symbol, "breaks a promise", references, options, 0}, \
                                                .random = random_, \
                                                .shape = shape, \
                                                .make = make_##symbol};
PROBLEM(other_shape, 8, false, i)
PROBLEM(other_width, 9, false, i, out->d = 1)
PROBLEM(holds_nan, 9, false, i, out->q[3] = INFINITY)
PROBLEM(draws_elsewhere, 9, true, gsl_ran_gaussian(nb_ctx_rng(ctx), 1), static int calls; out->k[0] = calls++)
PROBLEM(not_random, 9, true, i)
PROBLEM(crashes, 9, false, i, *(volatile int *)8 = 1)

NB_PLUGIN({"core", &core_not_finite.component}, {"core", &core_not_repeatable.component},
          {"core", &core_writes_a.component}, {"core", &core_no_filter.component}, {"core", &core_leaks.component},
          {"core", &core_no_middle.component}, {"kernel", &kernel_by_tile.component},
          {"kernel", &kernel_too_far.component}, {"kernel", &kernel_no_sum.component},
          {"kernel", &kernel_no_mask.component}, {"kernel", &kernel_nan_entries.component},
          {"kernel", &kernel_wrong_slope.component}, {"problem", &problem_other_shape.component},
          {"problem", &problem_other_width.component}, {"problem", &problem_holds_nan.component},
          {"problem", &problem_draws_elsewhere.component}, {"problem", &problem_not_random.component},
          {"problem", &problem_crashes.component});
