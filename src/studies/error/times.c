/* SPDX-License-Identifier: GPL-3.0-or-later */
/* times.c - each row keeps the time of its strategy; a strategy without rows is tried. */
#include "studies/error/times.h"

#include "run/store.h"
#include "studies/error/calibration.h"
#include "studies/error/cost.h"

#include <math.h>
#include <string.h>

static const double TRY_S = 1.5; /* for strategies without rows */

typedef struct { /* how long strategies take */
    int count;
    nb_pick_time *low, *likely, *high;
} pick_times;

static nb_status make_room(int count, pick_times *t, nb_ctx *ctx)
{
    t->count = 0;
    NB_NEED(t->low, nb_alloc(ctx, (size_t)count + 1, sizeof *t->low));
    NB_NEED(t->likely, nb_alloc(ctx, (size_t)count + 1, sizeof *t->likely));
    NB_NEED(t->high, nb_alloc(ctx, (size_t)count + 1, sizeof *t->high));
    return NB_OK;
}

static void add_time(pick_times *t, nb_pick_time least, nb_pick_time most)
{
    nb_pick_time *low = &t->low[t->count], *likely = &t->likely[t->count], *high = &t->high[t->count];
    *low = *likely = least;
    *high = most;
    low->seconds = least.seconds / NB_PREDICTION_MARGIN;
    high->seconds = most.seconds * NB_PREDICTION_MARGIN;
    likely->n_power = (least.n_power + most.n_power) / 2;
    likely->m_power = (least.m_power + most.m_power) / 2;
    t->count++;
}

static bool known(const pick_times *t, const nb_choice *strategy)
{
    for (int i = 0; i < t->count; i++)
        if (t->low[i].strategy == strategy) return true;
    return false;
}

/* Each row of such a strategy includes the time of the scene's singular vectors, however many rows share them; the
 * rest says nothing. */
static bool shares_spectrum(unsigned traits)
{
    return traits & NB_ORACLE && !(traits & NB_SQUARE);
}

/* The times in the store's rows, of the strategies of `methods`. */
static void take_stored(int count, const nb_store_mean *stored, int method_count, const nb_error_method *const *methods,
                        pick_times *times)
{
    for (int i = 0; i < count; i++)
        for (int c = 0; c < method_count; c++) {
            const nb_choice *strategy = methods[c]->strategy;
            unsigned traits = nb_strategy_traits(strategy);
            if (shares_spectrum(traits) || strcmp(strategy->canonical, stored[i].component) != 0) continue;
            nb_pick_time one = {.strategy = strategy,
                                .n = stored[i].n,
                                .m = stored[i].number,
                                .seconds = stored[i].mean,
                                .n_power = nb_pick_n_power(traits),
                                .m_power = 1};
            add_time(times, one, one);
        }
}

/* Collects one method of each strategy that has pending rows. */
static nb_status strategies_of(const nb_plan *plan, const bool *pending, int *count, const nb_error_method ***methods,
                               nb_ctx *ctx)
{
    bool *used;
    const nb_error_method *all = nb_error_methods(plan);
    NB_NEED(*methods, nb_alloc(ctx, (size_t)plan->method_count + 1, sizeof **methods));
    NB_NEED(used, nb_alloc(ctx, (size_t)plan->method_count + 1, sizeof *used));
    *count = 0;
    for (int i = 0; i < plan->row_count; i++) used[plan->rows[i].method] = used[plan->rows[i].method] || pending[i];
    for (int i = 0; i < plan->method_count; i++) /* sorted by strategy */
        if (used[i] && (*count == 0 || (*methods)[*count - 1]->strategy != all[i].strategy))
            (*methods)[(*count)++] = &all[i];
    return NB_OK;
}

static void take_tried(const nb_tried *t, pick_times *times)
{
    nb_pick_time least = {.strategy = t->strategy,
                          .n = t->n,
                          .m = t->m,
                          .seconds = t->seconds,
                          .n_power = t->n_least,
                          .m_power = t->m_least},
                 most = least;
    most.n_power = t->n_most;
    most.m_power = t->m_most;
    add_time(times, least, most);
    if (!isfinite(t->large_s)) return;
    least.n = most.n = t->large_n;
    least.m = most.m = t->large_m;
    least.seconds = most.seconds = t->large_s;
    add_time(times, least, most);
}

/* `room` is that of the prediction's list. */
static nb_status add_untimed(nb_prediction *f, int room, const char *name, const char *reason, nb_ctx *ctx)
{
    if (!f->untimed) NB_NEED(f->untimed, nb_alloc(ctx, (size_t)room, sizeof *f->untimed));
    for (int i = 0; i < f->untimed_count; i++) {
        nb_untimed *u = &f->untimed[i];
        if (strcmp(u->reason, reason) != 0) continue;
        if (u->count++ < NB_MOST_UNTIMED) NB_NEED(u->names, nb_format(ctx, "%s, %s", u->names, name));
        return NB_OK;
    }
    f->untimed[f->untimed_count++] = (nb_untimed){1, name, reason};
    return NB_OK;
}

static nb_status try_the_rest(nb_prediction *f, int scene, int count, const nb_error_method *const *methods,
                              bool thorough, pick_times *times, nb_ctx *ctx)
{
    const nb_error_method **rest;
    nb_tried *tried;
    int asked = 0;
    NB_NEED(rest, nb_alloc(ctx, (size_t)count + 1, sizeof *rest));
    NB_NEED(tried, nb_alloc(ctx, (size_t)count + 1, sizeof *tried));
    for (int i = 0; i < count; i++)
        if (!known(times, methods[i]->strategy)) rest[asked++] = methods[i];
    if (!thorough) return NB_OK;
    NB_TRY(ctx, nb_calibrate_picks(f->plan, scene, asked, rest, TRY_S, tried, ctx));
    for (int i = 0; i < asked; i++) {
        if (isfinite(tried[i].seconds)) take_tried(&tried[i], times);
        if (*tried[i].reason) NB_TRY(ctx, add_untimed(f, asked, rest[i]->strategy->label, tried[i].reason, ctx));
    }
    return NB_OK;
}

/* The pending scene with the most tokens, which is nearest to the longest work. */
static int largest_scene(const nb_plan *plan, const bool *pending, int first)
{
    int scene = plan->rows[first].scene;
    for (int i = first; i < plan->row_count; i++)
        if (pending[i] && !plan->scenes[plan->rows[i].scene].refusal &&
            plan->scenes[plan->rows[i].scene].n > plan->scenes[scene].n)
            scene = plan->rows[i].scene;
    return scene;
}

nb_status nb_error_calibrate(const nb_plan *plan, const bool *pending, nb_store *store, bool thorough, nb_prediction *p,
                             nb_ctx *ctx)
{
    const nb_error_method **methods;
    nb_store_mean *stored = NULL;
    nb_pick_times *times[3];
    pick_times t;
    int count, stored_count = 0, first = 0;
    while (!pending[first]) first++;
    NB_TRY(ctx, strategies_of(plan, pending, &count, &methods, ctx));
    if (store) NB_TRY(ctx, nb_store_means(store, "select_s", "strategy", "landmarks", &stored_count, &stored, ctx));
    NB_TRY(ctx, make_room(stored_count + 2 * count, &t, ctx));
    take_stored(stored_count, stored, count, methods, &t);
    NB_TRY(ctx, try_the_rest(p, largest_scene(plan, pending, first), count, methods, thorough, &t, ctx));
    for (int i = 0; i < 3; i++) {
        NB_NEED(times[i], nb_alloc(ctx, 1, sizeof *times[i]));
        *times[i] = (nb_pick_times){t.count, i == 0 ? t.low : i == 1 ? t.likely : t.high};
    }
    p->low.own = times[0];
    p->likely.own = times[1];
    p->high.own = times[2];
    return NB_OK;
}
