/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callback.c - landmarks that a function picks which the calling program has added (components/added.h).
 *
 * Its seed is that of a component whose canonical text is the function's name: the function draws the same as it does
 * behind a `command` if that is the command's text, and whatever its number is. */
#include "strategies/callback.h"

static const nb_option options[] = {NB_ADDED_OPTIONS};

static unsigned long seed_of(const nb_callback_pick *p, nb_ctx *ctx)
{
    nb_stream stream = p->points->stream;
    if (p->added->deterministic) return 0;
    stream.role = p->keys ? nb_pairing_names[NB_BOTH] : nb_side_names[p->points->side];
    stream.component = p->added->name;
    stream.m = p->m;
    nb_random_seed(nb_ctx_rng(ctx), &stream);
    return gsl_rng_get(nb_ctx_rng(ctx));
}

static nb_status call(nb_callback_pick p, const void *opts, nb_ctx *ctx)
{
    nb_added added;
    NB_TRY(ctx, nb_added_find(&nb_strategies, ((const nb_added_options *)opts)->id, &added, ctx));
    p.added = &added;
    p.seed = seed_of(&p, ctx);
    return ((nb_callback_pick_function *)added.act)(&p, ctx);
}

static nb_status pick(const nb_points *points, int m, const void *opts, nb_picks *picks, nb_ctx *ctx)
{
    return call((nb_callback_pick){.points = points, .picks = picks, .m = m}, opts, ctx);
}

static nb_status pick_both(const nb_points *queries, const nb_points *keys, int m, const void *opts,
                           nb_picks *of_queries, nb_picks *of_keys, nb_ctx *ctx)
{
    return call((nb_callback_pick){.points = queries, .keys = keys, .picks = of_queries, .of_keys = of_keys, .m = m},
                opts, ctx);
}

static nb_status check(const void *opts, nb_ctx *ctx)
{
    nb_added added;
    return nb_added_find(&nb_strategies, ((const nb_added_options *)opts)->id, &added, ctx);
}

/* One that is not there, as in rows that another process has left, may have drawn. */
static unsigned traits_of(const void *opts)
{
    int id = ((const nb_added_options *)opts)->id;
    return (nb_added_deterministic(&nb_strategies, id) ? 0 : NB_RANDOM) | NB_ELSEWHERE;
}

static const char *const references[] = {"the function that the program has added", NULL};

const nb_strategy nb_strategy_callback = {
    .component = {"callback", "landmarks that a function of the calling program picks", references, options,
                  sizeof(nb_added_options)},
    .traits = NB_RANDOM | NB_ELSEWHERE,
    .pairing = NB_JOINT,
    .traits_of = traits_of,
    .pick = pick,
    .pick_both = pick_both,
    .check = check,
};
