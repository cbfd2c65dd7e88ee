/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forecast.c - the store keeps how fast this program was on its rows (`speed`),
 * and each row the time of its strategy. */
#include "run/forecast.h"

#include "base/machine.h"
#include "studies/error/calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TRY_S = 1.5,
                    LEAST_S =
                        0.5; /* for strategies that no row tells about; from which on a run's time tells something */

/* Operations over rates are that far from the time that they take on an idle machine: runs of
 * the experiments took 0.8 to 1.3 of it. What earlier rows tell is as far from another hour's load. */
static const double MARGIN = 1.3;

static const double LEAST_SHARE =
    0.1; /* of a run's time that is not its strategies', whatever these are said to take */
static const char SPEED[] = "speed";

static void set_machine(nb_forecast *f, double machine)
{
    f->low.machine = machine / MARGIN;
    f->likely.machine = machine;
    f->high.machine = machine * MARGIN;
}

/* Whether the rows told, and the calibration where they did not. */
static nb_status find_machine(nb_store *store, bool thorough, nb_forecast *f, nb_ctx *ctx)
{
    const char *kept = NULL;
    double machine;
    set_machine(f, 1);
    f->source = "guessed";
    if (store) NB_TRY(ctx, nb_store_get(store, SPEED, &kept, ctx));
    double speed = kept ? strtod(kept, NULL) : 0;
    if (isfinite(speed) && speed > 0) {
        set_machine(f, speed);
        f->source = "from the rows that are there";
        return NB_OK;
    }
    if (!thorough) return NB_OK;
    f->source = "from a calibration";
    NB_TRY(ctx, nb_calibrate_machine(&machine, ctx));
    set_machine(f, machine);
    f->load = nb_load();
    f->cores = nb_all_cores();
    return NB_OK;
}

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
    low->seconds = least.seconds / MARGIN;
    high->seconds = most.seconds * MARGIN;
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

/* Such a strategy's rows have the time of the scene's singular vectors in each, however
 * many share them, and by what is left they tell nothing. */
static bool shares_spectrum(unsigned traits)
{
    return traits & NB_ORACLE && !(traits & NB_SQUARE);
}

/* The times that the store's rows tell, of the strategies of `cells`. */
static void take_stored(int count, const nb_store_pick *stored, int cell_count, const nb_cell *const *cells,
                        pick_times *times)
{
    for (int i = 0; i < count; i++)
        for (int c = 0; c < cell_count; c++) {
            const nb_choice *strategy = cells[c]->strategy;
            unsigned traits = nb_strategy_traits(strategy);
            if (shares_spectrum(traits) || strcmp(strategy->canonical, stored[i].strategy) != 0) continue;
            nb_pick_time one = {.strategy = strategy,
                                .n = stored[i].n,
                                .m = stored[i].m,
                                .seconds = stored[i].seconds,
                                .n_power = nb_pick_n_power(traits),
                                .m_power = 1};
            add_time(times, one, one);
        }
}

/* Of each strategy that has pending rows, one cell. */
static nb_status strategies_of(const nb_plan *plan, const bool *pending, int *count, const nb_cell ***cells,
                               nb_ctx *ctx)
{
    bool *used;
    NB_NEED(*cells, nb_alloc(ctx, (size_t)plan->cell_count + 1, sizeof **cells));
    NB_NEED(used, nb_alloc(ctx, (size_t)plan->cell_count + 1, sizeof *used));
    *count = 0;
    for (int i = 0; i < plan->row_count; i++) used[plan->rows[i].cell] = used[plan->rows[i].cell] || pending[i];
    for (int i = 0; i < plan->cell_count; i++) {
        bool before = false;
        for (int k = 0; k < *count; k++) before = before || (*cells)[k]->strategy == plan->cells[i].strategy;
        if (used[i] && !before) (*cells)[(*count)++] = &plan->cells[i];
    }
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

static nb_status try_the_rest(nb_forecast *f, int scene, int count, const nb_cell *const *cells, bool thorough,
                              pick_times *times, nb_ctx *ctx)
{
    const nb_cell **rest;
    nb_tried *tried;
    int asked = 0;
    NB_NEED(rest, nb_alloc(ctx, (size_t)count + 1, sizeof *rest));
    NB_NEED(tried, nb_alloc(ctx, (size_t)count + 1, sizeof *tried));
    for (int i = 0; i < count; i++)
        if (!known(times, cells[i]->strategy)) rest[asked++] = cells[i];
    if (thorough) NB_TRY(ctx, nb_calibrate_picks(f->plan, scene, asked, rest, TRY_S, tried, ctx));
    for (int i = 0; i < asked; i++) {
        bool there = thorough && isfinite(tried[i].seconds);
        if (there) take_tried(&tried[i], times);
        if (!there || tried[i].unfinished)
            NB_NEED(f->unknown, nb_format(ctx, "%s%s%s", f->unknown ? f->unknown : "", f->unknown ? ", " : "",
                                          rest[i]->strategy->label));
    }
    return NB_OK;
}

/* The pending scene with the most tokens: what is tried is nearest to what takes longest. */
static int largest_scene(const nb_plan *plan, const bool *pending, int first)
{
    int scene = plan->rows[first].scene;
    for (int i = first; i < plan->row_count; i++)
        if (pending[i] && !plan->scenes[plan->rows[i].scene].refusal &&
            plan->scenes[plan->rows[i].scene].n > plan->scenes[scene].n)
            scene = plan->rows[i].scene;
    return scene;
}

nb_status nb_forecast_make(const nb_plan *plan, const bool *pending, nb_store *store, bool thorough, nb_forecast *f,
                           nb_ctx *ctx)
{
    const nb_cell **cells;
    nb_store_pick *stored = NULL;
    pick_times times;
    int count, stored_count = 0, first = 0;
    *f = (nb_forecast){.plan = plan};
    while (first < plan->row_count && !pending[first]) first++;
    NB_TRY(ctx, find_machine(store, thorough && first < plan->row_count, f, ctx));
    if (first == plan->row_count) return NB_OK;
    NB_TRY(ctx, strategies_of(plan, pending, &count, &cells, ctx));
    if (store) NB_TRY(ctx, nb_store_picks(store, &stored_count, &stored, ctx));
    NB_TRY(ctx, make_room(stored_count + 2 * count, &times, ctx));
    take_stored(stored_count, stored, count, cells, &times);
    NB_TRY(ctx, try_the_rest(f, largest_scene(plan, pending, first), count, cells, thorough, &times, ctx));
    f->low.count = f->likely.count = f->high.count = times.count;
    f->low.picks = times.low;
    f->likely.picks = times.likely;
    f->high.picks = times.high;
    return NB_OK;
}

/* The worker that is free first. */
static int first_free(int workers, const double *free_s)
{
    int first = 0;
    for (int i = 1; i < workers; i++)
        if (free_s[i] < free_s[first]) first = i;
    return first;
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* With so many workers, which take the next unit when they are free; costs, if not NULL, are kept. */
static nb_status pass_time(const nb_forecast *f, const nb_speeds *speeds, const bool *pending, int workers,
                           const nb_foreseen *of, nb_cost *costs, double *wall_s, nb_ctx *ctx)
{
    double *free_s;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(free_s, nb_alloc_reals(ctx, (size_t)workers, 1));
    *wall_s = 0;
    for (int i = 0; i < of->unit_count; i++) {
        nb_cost cost = nb_cost_at(f->plan, &of->units[i], pending, speeds);
        double *next = &free_s[first_free(workers, free_s)];
        *next += cost.seconds;
        *wall_s = fmax(*wall_s, *next);
        if (costs) costs[i] = cost;
    }
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

/* How many times longer so many workers take beside that load: all share the cores. */
static double slowdown(const nb_forecast *f, int workers)
{
    if (!(f->load > 0)) return 1;
    return fmax(1, (workers + f->load) / f->cores) / fmax(1, (double)workers / f->cores);
}

nb_status nb_foresee(const nb_forecast *f, const bool *pending, int workers, nb_foreseen *out, nb_ctx *ctx)
{
    double *bytes;
    nb_cost *costs;
    *out = (nb_foreseen){.unit_count = 0};
    NB_TRY(ctx, nb_units_find(f->plan, pending, &out->units, &out->unit_count, ctx));
    out->workers = workers < out->unit_count ? workers : out->unit_count;
    NB_NEED(out->unit_s, nb_alloc_reals(ctx, (size_t)out->unit_count + 1, 1));
    NB_NEED(bytes, nb_alloc_reals(ctx, (size_t)out->unit_count + 1, 1));
    NB_NEED(costs, nb_alloc(ctx, (size_t)out->unit_count + 1, sizeof *costs));
    NB_TRY(ctx, pass_time(f, &f->low, pending, workers, out, NULL, &out->low_s, ctx));
    NB_TRY(ctx, pass_time(f, &f->high, pending, workers, out, NULL, &out->high_s, ctx));
    NB_TRY(ctx, pass_time(f, &f->likely, pending, workers, out, costs, &out->wall_s, ctx));
    double slower = slowdown(f, out->workers);
    out->high_s *= slower;
    out->wall_s *= sqrt(slower); /* between the two */
    for (int i = 0; i < out->unit_count; i++) {
        out->unit_s[i] = sqrt(slower) * costs[i].seconds;
        out->total_s += out->unit_s[i];
        bytes[i] = costs[i].bytes;
    }
    qsort(bytes, (size_t)out->unit_count, sizeof *bytes, descending);
    out->bytes = bytes[0];
    for (int i = 0; i < out->workers; i++) out->all_bytes += bytes[i];
    return NB_OK;
}

nb_status nb_forecast_learn(const nb_plan *plan, const bool *ran, int workers, double taken_s, nb_store *store,
                            nb_ctx *ctx)
{
    nb_forecast f;
    nb_foreseen foreseen;
    const char *text;
    double rest_s = 0;
    if (taken_s < LEAST_S) return NB_OK;
    NB_TRY(ctx, nb_forecast_make(plan, ran, store, false, &f, ctx));
    NB_TRY(ctx, nb_foresee(&f, ran, workers, &foreseen, ctx));
    for (int i = 0; i < foreseen.unit_count; i++) {
        nb_cost cost = nb_cost_at(plan, &foreseen.units[i], ran, &f.likely);
        rest_s += cost.seconds - cost.pick_s;
    }
    if (!(rest_s > 0)) return NB_OK;
    double worked_s = taken_s * foreseen.total_s / foreseen.wall_s, picks_s = foreseen.total_s - rest_s;
    double machine = f.likely.machine * fmax(worked_s - picks_s, LEAST_SHARE * worked_s) / rest_s;
    NB_NEED(text, nb_format(ctx, "%.6g", machine));
    return nb_store_set(store, SPEED, text, ctx);
}
