/* forecast.c - the store keeps how fast this program was on its rows (`speed`),
 * and each row the time of its strategy. */
#include "experiment/forecast.h"

#include "experiment/calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TRY_S = 1.5, LEAST_S = 0.5; /* for strategies that no row tells about; from which on a run's time tells something */

static const double LEAST_SHARE = 0.1; /* of a run's time that is not its strategies', whatever these are said to take */
static const char SPEED[] = "speed";

/* Whether the rows told, and the calibration where they did not. */
static nb_status find_machine(nb_store *store, bool thorough, nb_forecast *f, nb_ctx *ctx)
{
    const char *kept = NULL;
    f->speeds.machine = 1;
    f->source = "guessed";
    if (store) NB_TRY(ctx, nb_store_get(store, SPEED, &kept, ctx));
    double speed = kept ? strtod(kept, NULL) : 0;
    if (isfinite(speed) && speed > 0) {
        f->speeds.machine = speed;
        f->source = "from the rows that are there";
        return NB_OK;
    }
    if (!thorough) return NB_OK;
    f->source = "from a calibration";
    return nb_calibrate_machine(&f->speeds.machine, ctx);
}

static bool known(const nb_speeds *s, const nb_choice *strategy)
{
    for (int i = 0; i < s->count; i++)
        if (s->picks[i].strategy == strategy) return true;
    return false;
}

/* Such a strategy's rows have the time of the scene's singular vectors in each, however
 * many share them, and by what is left they tell nothing. */
static bool shares_spectrum(unsigned traits)
{
    return traits & NB_ORACLE && !(traits & NB_SQUARE);
}

/* The times that the store's rows tell, of the strategies of `cells`. */
static void take_stored(int count, const nb_store_pick *stored, int cell_count, const nb_cell *const *cells, nb_forecast *f,
                        nb_pick_time *times)
{
    for (int i = 0; i < count; i++)
        for (int c = 0; c < cell_count; c++) {
            const nb_choice *strategy = cells[c]->strategy;
            unsigned traits = nb_strategy_traits(strategy);
            if (shares_spectrum(traits) || strcmp(strategy->canonical, stored[i].strategy) != 0) continue;
            times[f->speeds.count++] = (nb_pick_time){.strategy = strategy, .n = stored[i].n, .m = stored[i].m,
                                                      .seconds = stored[i].seconds,
                                                      .n_power = nb_pick_n_power(traits), .m_power = 1};
        }
}

/* Of each strategy that has pending rows, one cell. */
static nb_status strategies_of(const nb_plan *plan, const bool *pending, int *count, const nb_cell ***cells, nb_ctx *ctx)
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

static nb_status try_the_rest(nb_forecast *f, int scene, int count, const nb_cell *const *cells, bool thorough,
                              nb_pick_time *times, nb_ctx *ctx)
{
    const nb_cell **rest;
    nb_pick_time *tried;
    int asked = 0;
    NB_NEED(rest, nb_alloc(ctx, (size_t)count + 1, sizeof *rest));
    NB_NEED(tried, nb_alloc(ctx, (size_t)count + 1, sizeof *tried));
    for (int i = 0; i < count; i++)
        if (!known(&f->speeds, cells[i]->strategy)) rest[asked++] = cells[i];
    if (thorough) NB_TRY(ctx, nb_calibrate_picks(f->plan, scene, asked, rest, TRY_S, tried, ctx));
    for (int i = 0; i < asked; i++) {
        bool there = thorough && isfinite(tried[i].seconds);
        if (there) times[f->speeds.count++] = tried[i];
        if (!there || tried[i].unfinished)
            NB_NEED(f->unknown, nb_format(ctx, "%s%s%s", f->unknown ? f->unknown : "", f->unknown ? ", " : "", rest[i]->strategy->label));
    }
    return NB_OK;
}

nb_status nb_forecast_make(const nb_plan *plan, const bool *pending, nb_store *store, bool thorough, nb_forecast *f, nb_ctx *ctx)
{
    const nb_cell **cells;
    nb_store_pick *stored = NULL;
    nb_pick_time *times;
    int count, stored_count = 0, first = 0;
    *f = (nb_forecast){.plan = plan};
    while (first < plan->row_count && !pending[first]) first++;
    NB_TRY(ctx, find_machine(store, thorough && first < plan->row_count, f, ctx));
    if (first == plan->row_count) return NB_OK;
    NB_TRY(ctx, strategies_of(plan, pending, &count, &cells, ctx));
    if (store) NB_TRY(ctx, nb_store_picks(store, &stored_count, &stored, ctx));
    NB_NEED(times, nb_alloc(ctx, (size_t)(stored_count + count), sizeof *times));
    f->speeds.picks = times;
    take_stored(stored_count, stored, count, cells, f, times);
    return try_the_rest(f, plan->rows[first].scene, count, cells, thorough, times, ctx);
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

nb_status nb_foresee(const nb_forecast *f, const bool *pending, int workers, nb_foreseen *out, nb_ctx *ctx)
{
    double *free_s, *bytes;
    *out = (nb_foreseen){.unit_count = 0};
    NB_TRY(ctx, nb_units_find(f->plan, pending, &out->units, &out->unit_count, ctx));
    out->workers = workers < out->unit_count ? workers : out->unit_count;
    NB_NEED(out->unit_s, nb_alloc_reals(ctx, (size_t)out->unit_count + 1, 1));
    NB_NEED(bytes, nb_alloc_reals(ctx, (size_t)out->unit_count + 1, 1));
    NB_NEED(free_s, nb_alloc_reals(ctx, (size_t)workers, 1));
    for (int i = 0; i < out->unit_count; i++) {
        nb_cost cost = nb_cost_at(f->plan, &out->units[i], pending, &f->speeds);
        double *next = &free_s[first_free(workers, free_s)];
        out->unit_s[i] = cost.seconds;
        bytes[i] = cost.bytes;
        out->total_s += cost.seconds;
        *next += cost.seconds;
        out->wall_s = fmax(out->wall_s, *next);
    }
    qsort(bytes, (size_t)out->unit_count, sizeof *bytes, descending);
    out->bytes = bytes[0];
    for (int i = 0; i < out->workers; i++) out->all_bytes += bytes[i];
    return NB_OK;
}

nb_status nb_forecast_learn(const nb_plan *plan, const bool *ran, int workers, double taken_s, nb_store *store, nb_ctx *ctx)
{
    nb_forecast f;
    nb_foreseen foreseen;
    const char *text;
    double rest_s = 0;
    if (taken_s < LEAST_S) return NB_OK;
    NB_TRY(ctx, nb_forecast_make(plan, ran, store, false, &f, ctx));
    NB_TRY(ctx, nb_foresee(&f, ran, workers, &foreseen, ctx));
    for (int i = 0; i < foreseen.unit_count; i++) {
        nb_cost cost = nb_cost_at(plan, &foreseen.units[i], ran, &f.speeds);
        rest_s += cost.seconds - cost.pick_s;
    }
    if (!(rest_s > 0)) return NB_OK;
    double worked_s = taken_s * foreseen.total_s / foreseen.wall_s, picks_s = foreseen.total_s - rest_s;
    double machine = f.speeds.machine * fmax(worked_s - picks_s, LEAST_SHARE * worked_s) / rest_s;
    NB_NEED(text, nb_format(ctx, "%.6g", machine));
    return nb_store_set(store, SPEED, text, ctx);
}
