/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arrays.c - a head in the caller's memory as a problem; a matrix of n rows of d numbers is one of n columns in this
 * code. */
#include "api/handle.h"

#include "linalg/vector.h"

#include <math.h>

typedef struct {
    nb_head head;
    int number;
} arrays_options;

static const nb_option options[] = {NB_OPTION_END};

static nb_status shape(const void *opts, nb_problem_shape *out, nb_ctx *ctx)
{
    const arrays_options *o = opts;
    (void)ctx;
    *out = (nb_problem_shape){.first = o->number,
                              .count = 1,
                              .n = o->head.n,
                              .d = o->head.d,
                              .each = 1,
                              .shared = 1,
                              .causal = o->head.causal,
                              .keyless = o->head.k ? NULL : "there are no keys (k is NULL)",
                              .valueless = o->head.v ? NULL : "there are no values (v is NULL)"};
    return NB_OK;
}

static nb_status make(const void *opts, int head, nb_head *out, nb_ctx *ctx)
{
    (void)head, (void)ctx;
    *out = ((const arrays_options *)opts)->head;
    return NB_OK;
}

static const nb_problem arrays = {
    .component = {.name = "arrays", .options = options, .options_size = sizeof(arrays_options)},
    .shape = shape,
    .make = make,
};

static nb_status check_finite(const char *name, int n, int d, const double *x, nb_ctx *ctx)
{
    size_t count = (size_t)n * (size_t)d, at = 0;
    if (!x || nb_all_finite(count, x)) return NB_OK;
    while (isfinite(x[at])) at++;
    NB_FAIL(ctx, NB_ENUMERIC, "%s: token %zu, coordinate %zu is NaN or Inf", name, at / (size_t)d, at % (size_t)d);
}

static nb_status check(const nysbench_request *r, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, r->q, NB_EINVAL, "q is NULL: arrays need the queries");
    NB_REQUIRE(ctx, r->n >= 1 && r->d >= 1, NB_EDIM, "q is of shape (n, d) = (%d, %d), expected 1 x 1 at least", r->n,
               r->d);
    NB_REQUIRE(ctx, r->dv >= 0 && !r->v == (r->dv == 0), NB_EDIM, "dv = %d, and v is %s; expected %s", r->dv,
               r->v ? "given" : "NULL", r->v ? "1 at least" : "0");
    NB_REQUIRE(ctx, r->k || !r->v, NB_EINVAL, "v is given, and k is NULL: values need keys");
    NB_REQUIRE(ctx, r->head >= 0, NB_EINVAL, "head is %d, expected 0 or more", r->head);
    NB_REQUIRE(ctx, r->causal >= -1 && r->causal <= 1, NB_EINVAL, "causal is %d, expected 1, 0 or -1", r->causal);
    NB_TRY(ctx, check_finite("q", r->n, r->d, r->q, ctx));
    NB_TRY(ctx, check_finite("k", r->n, r->d, r->k, ctx));
    return check_finite("v", r->n, r->dv, r->v, ctx);
}

nb_status nb_arrays_choice(const nysbench_request *r, nb_choice *problem, nb_ctx *ctx)
{
    arrays_options *o;
    NB_TRY(ctx, check(r, ctx));
    NB_NEED(o, nb_alloc(ctx, 1, sizeof *o));
    *o = (arrays_options){.head = {.n = r->n,
                                   .d = r->d,
                                   .dv = r->dv,
                                   .q = (double *)(uintptr_t)r->q, /* a scene reads them */
                                   .k = (double *)(uintptr_t)r->k,
                                   .v = (double *)(uintptr_t)r->v,
                                   .causal = r->causal == 1},
                          .number = r->head};
    *problem = nb_choice_named(&arrays.component, o, r->problem ? r->problem : arrays.component.name);
    return NB_OK;
}
