/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callback.c - X that a function computes which the calling program has added (components/added.h).
 *
 * Its seed is that of a core whose canonical text is the function's name, as with the strategy `callback`. core_s does
 * not include forming F and B. */
#include "cores/callback.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"

static const nb_option options[] = {NB_ADDED_OPTIONS};

static nb_status compute(nb_factors *factors, const void *opts, double *x, nb_ctx *ctx)
{
    nb_added added;
    nb_callback_core call = {.added = &added, .m = nb_factors_m(factors)};
    size_t square = (size_t)call.m * (size_t)call.m;
    NB_TRY(ctx, nb_added_find(&nb_cores, ((const nb_added_options *)opts)->id, &added, ctx));
    NB_TRY(ctx, nb_factors_form(factors, &call.factors, ctx));
    if (!added.deterministic) NB_TRY(ctx, nb_factors_seed(factors, added.name, &call.seed, ctx));
    NB_NEED(call.x, nb_alloc_reals(ctx, square, 1));
    NB_TRY(ctx, ((nb_callback_core_function *)added.act)(&call, ctx));
    nb_transpose(call.m, call.m, call.x, x);
    return nb_all_finite(square, x) ? NB_OK : nb_factors_note_diverged(factors, "X has NaN or Inf", ctx);
}

static const char *refusal(const nb_factors *factors, const void *opts)
{
    (void)opts;
    return nb_factors_form_refusal(factors);
}

/* One that is not there, as in rows that another process has left, may have drawn. */
static unsigned traits_of(const void *opts)
{
    int id = ((const nb_added_options *)opts)->id;
    return (nb_added_deterministic(&nb_cores, id) ? 0 : NB_CORE_RANDOM) | NB_CORE_ELSEWHERE;
}

static nb_status ready(const void *opts, nb_ctx *ctx)
{
    nb_added added;
    return nb_added_find(&nb_cores, ((const nb_added_options *)opts)->id, &added, ctx);
}

static const char *const references[] = {"the function that the program has added", NULL};

const nb_core nb_core_callback = {
    .component = {"callback", "X that a function of the calling program computes from F, A and B", references, options,
                  sizeof(nb_added_options)},
    .traits = NB_CORE_RANDOM | NB_CORE_ELSEWHERE,
    .traits_of = traits_of,
    .compute = compute,
    .refusal = refusal,
    .ready = ready,
};
