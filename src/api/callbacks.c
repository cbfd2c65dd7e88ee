/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callbacks.c - functions of the caller's as strategies and cores: what they are given, and what they leave. */
#include "api/handle.h"
#include "components/registry.h"
#include "cores/callback.h"
#include "strategies/callback.h"

/* `code` is what the function has returned. */
static nb_status check_return(const nb_added *added, int code, char *message, size_t size, nb_ctx *ctx)
{
    message[size - 1] = '\0';
    NB_REQUIRE(ctx, code == 0, NB_EINVAL, "%s: %s", added->name,
               *message ? message : "it has returned another number than 0, and no message");
    return NB_OK;
}

/* Finds what the function has left of side i. */
static nb_status take_side(const nb_callback_pick *p, const nysbench_pick *c, int i, nb_picks *picks, nb_ctx *ctx)
{
    const char *name, *array = c->kind == NYSBENCH_POINTS ? "free_points" : "tokens";
    NB_NEED(name, nb_format(ctx, "%s: %s[%d]", p->added->name, array, i));
    if (c->kind == NYSBENCH_POINTS) return nb_given_points(name, c->m, c->d, c->free_points[i], picks, ctx);
    return nb_given_tokens(name, c->kind == NYSBENCH_GROUPS, c->m, c->n, c->tokens[i], picks, ctx);
}

static nb_status take_all(const nb_callback_pick *p, const nysbench_pick *c, nb_ctx *ctx)
{
    const char *name = p->added->name;
    NB_REQUIRE(ctx, c->kind >= NYSBENCH_TOKENS && c->kind <= NYSBENCH_POINTS, NB_EINVAL,
               "%s: kind is %d, allowed are NYSBENCH_TOKENS, NYSBENCH_GROUPS and NYSBENCH_POINTS", name, (int)c->kind);
    NB_REQUIRE(ctx, c->sides == 1 || (c->sides == 2 && p->keys), NB_EINVAL, "%s: sides is %d, allowed %s", name,
               c->sides, p->keys ? "are 1 and 2" : "is 1, but with the pairing both");
    NB_REQUIRE(ctx, !p->keys || c->sides == 2 || c->kind != NYSBENCH_POINTS, NB_EINVAL,
               "%s: sides is 1; free points are needed for each side", name);
    NB_TRY(ctx, take_side(p, c, 0, p->picks, ctx));
    if (c->sides == 2) return take_side(p, c, 1, p->of_keys, ctx);
    if (p->keys) *p->of_keys = *p->picks;
    return NB_OK;
}

static nb_status pick(const nb_callback_pick *p, nb_ctx *ctx)
{
    const nb_points *points = p->points;
    const nb_head *head = nb_scene_head(points->scene);
    bool joint = !p->keys && points->side == NB_SIDE_JOINT;
    nysbench_pick c = {.side = p->keys ? nb_pairing_names[NB_BOTH] : nb_side_names[points->side],
                       .m = p->m,
                       .n = points->n,
                       .d = points->d,
                       .causal = head->causal,
                       .seed = p->seed,
                       .points = p->keys ? NULL : points->x,
                       .queries = p->keys ? points->x
                                  : joint ? head->q
                                          : NULL,
                       .keys = p->keys ? p->keys->x
                               : joint ? head->k
                                       : NULL,
                       .sides = 1};
    for (int i = 0; i < (p->keys ? 2 : 1); i++) {
        NB_NEED(c.tokens[i], nb_alloc(ctx, (size_t)c.n, sizeof *c.tokens[i]));
        NB_NEED(c.free_points[i], nb_alloc_reals(ctx, (size_t)c.m, (size_t)c.d));
    }
    int code = ((nysbench_pick_function)p->added->function)(&c, p->added->user);
    NB_TRY(ctx, check_return(p->added, code, c.message, sizeof c.message, ctx));
    return take_all(p, &c, ctx);
}

static nb_status compute(const nb_callback_core *core, nb_ctx *ctx)
{
    nysbench_middle c = {.m = core->m,
                         .n = core->factors.n,
                         .causal = core->factors.causal,
                         .seed = core->seed,
                         .f = core->factors.f,
                         .a = core->factors.a,
                         .b = core->factors.b,
                         .x = core->x};
    int code = ((nysbench_core_function)core->added->function)(&c, core->added->user);
    return check_return(core->added, code, c.message, sizeof c.message, ctx);
}

static nb_status add(const nysbench *h, nb_added added, const char **spec)
{
    int id;
    NB_REQUIRE(h->ctx, spec, NB_EINVAL, "spec is NULL");
    *spec = NULL;
    NB_REQUIRE(h->ctx, added.name && *added.name, NB_EINVAL, "name is NULL or empty");
    NB_REQUIRE(h->ctx, added.function, NB_EINVAL, "the function is NULL");
    NB_TRY(h->ctx, nb_added_put(&added, &id, h->ctx));
    *spec = nb_format(h->results, "%s(id=%d)", nb_added_component(added.kind)->name, id);
    if (!*spec) nb_added_remove(id);
    return *spec ? NB_OK : NB_ENOMEM;
}

nysbench_status nysbench_add_strategy(nysbench *handle, const char *name, int deterministic, nysbench_pick_function f,
                                      void *user, const char **spec)
{
    NB_CALL(handle, false,
            add(handle,
                (nb_added){0, &nb_strategies, name, deterministic, (nb_any_function *)pick, (nb_any_function *)f, user},
                spec));
}

nysbench_status nysbench_add_core(nysbench *handle, const char *name, int deterministic, nysbench_core_function f,
                                  void *user, const char **spec)
{
    NB_CALL(handle, false,
            add(handle,
                (nb_added){0, &nb_cores, name, deterministic, (nb_any_function *)compute, (nb_any_function *)f, user},
                spec));
}

/* Strategies and cores are numbered together and have specs of the same form. */
static nb_status take_out(const char *spec, nb_ctx *ctx)
{
    nb_choice choice;
    NB_REQUIRE(ctx, spec, NB_EINVAL, "spec is NULL");
    NB_TRY(ctx, nb_choice_parse(&nb_strategies, spec, &choice, ctx));
    NB_REQUIRE(ctx,
               choice.component == nb_added_component(&nb_strategies) &&
                   nb_added_remove(((const nb_added_options *)choice.options)->id),
               NB_EINVAL,
               "%s: expected a spec that nysbench_add_strategy or nysbench_add_core has given, and that has not been "
               "removed",
               spec);
    return NB_OK;
}

nysbench_status nysbench_remove(nysbench *handle, const char *spec)
{
    NB_CALL(handle, false, take_out(spec, handle->ctx));
}
