/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prediction.c - the store keeps how fast this program was on its rows (`speed`), and what was predicted of the last
 * call against what it took (`predicted`). */
#include "run/prediction.h"

#include "base/numbers.h"
#include "base/machine.h"
#include "run/speed.h"
#include "run/store.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double LEAST_S = 0.5; /* a shorter run says nothing about speed */

/* The margin of operations over rates against the time on an idle machine: runs of the experiments took 0.8 to 1.3
 * of it. Times from earlier rows are off by as much under another hour's load. */
static const double MARGIN = NB_PREDICTION_MARGIN;

/* Least share of a run's time that is not the study's own, whatever the study says. */
static const double LEAST_SHARE = 0.1;
static const char SPEED[] = "speed", PREDICTED[] = "predicted";

static void set_machine(nb_prediction *f, double machine)
{
    f->low.machine = machine / MARGIN;
    f->likely.machine = machine;
    f->high.machine = machine * MARGIN;
}

/* Finds the machine's speed from earlier rows, or by calibration. */
static nb_status find_machine(nb_store *store, bool thorough, nb_prediction *f, nb_ctx *ctx)
{
    const char *kept = NULL;
    double machine;
    set_machine(f, 1);
    f->source = "guessed";
    if (store) NB_TRY(ctx, nb_store_get(store, SPEED, &kept, ctx));
    double speed;
    if (kept && nb_parse_real(kept, DBL_MIN, DBL_MAX, &speed)) {
        set_machine(f, speed);
        f->source = "from the rows measured so far";
        return NB_OK;
    }
    if (!thorough) return NB_OK;
    f->source = "from a calibration";
    NB_TRY(ctx, nb_calibrate_machine(&machine, ctx));
    set_machine(f, machine);
    f->load = nb_load();
    f->cpus = nb_all_cpus();
    return NB_OK;
}

nb_cost nb_cost_of(const nb_plan *plan, const nb_unit *unit, const bool *pending)
{
    return plan->config->study->cost(plan, unit, pending, NULL);
}

nb_status nb_prediction_make(const nb_plan *plan, const bool *pending, nb_store *store, bool thorough, nb_prediction *f,
                             nb_ctx *ctx)
{
    const nb_study *study = plan->config->study;
    int first = 0;
    *f = (nb_prediction){.plan = plan};
    while (first < plan->row_count && !pending[first]) first++;
    NB_TRY(ctx, find_machine(store, thorough && first < plan->row_count, f, ctx));
    if (first == plan->row_count || !study->calibrate) return NB_OK;
    return study->calibrate(plan, pending, store, thorough, f, ctx);
}

/* Returns the worker that is free first. */
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

/* Predicts the time with so many workers, each taking the next unit when it is free; costs, if not NULL, are kept. */
static nb_status pass_time(const nb_prediction *f, const nb_speeds *speeds, const bool *pending, const nb_predicted *of,
                           nb_cost *costs, double *wall_s, nb_ctx *ctx)
{
    double *free_s;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(free_s, nb_alloc_reals(ctx, (size_t)of->workers + 1, 1));
    *wall_s = 0;
    for (int i = 0; i < of->unit_count; i++) {
        nb_cost cost = f->plan->config->study->cost(f->plan, &of->units[i], pending, speeds);
        double *next = &free_s[first_free(of->workers, free_s)];
        *next += cost.seconds;
        *wall_s = fmax(*wall_s, *next);
        if (costs) costs[i] = cost;
    }
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

/* Returns how many times longer so many workers take beside that load: all share the CPUs. */
static double slowdown(const nb_prediction *f, int workers)
{
    if (!(f->load > 0)) return 1;
    return fmax(1, (workers + f->load) / f->cpus) / fmax(1, (double)workers / f->cpus);
}

nb_status nb_predict(const nb_prediction *f, const bool *pending, int workers, nb_predicted *out, nb_ctx *ctx)
{
    double *bytes;
    nb_cost *costs;
    *out = (nb_predicted){.unit_count = 0};
    NB_TRY(ctx, nb_units_find(f->plan, pending, &out->units, &out->unit_count, ctx));
    out->workers = workers < out->unit_count ? workers : out->unit_count;
    NB_NEED(out->unit_s, nb_alloc_reals(ctx, (size_t)out->unit_count + 1, 1));
    NB_NEED(bytes, nb_alloc_reals(ctx, (size_t)out->unit_count + 1, 1));
    NB_NEED(costs, nb_alloc(ctx, (size_t)out->unit_count + 1, sizeof *costs));
    NB_TRY(ctx, pass_time(f, &f->low, pending, out, NULL, &out->low_s, ctx));
    NB_TRY(ctx, pass_time(f, &f->high, pending, out, NULL, &out->high_s, ctx));
    NB_TRY(ctx, pass_time(f, &f->likely, pending, out, costs, &out->wall_s, ctx));
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

nb_status nb_prediction_learn(const nb_plan *plan, const bool *ran, int workers, double taken_s, nb_store *store,
                              nb_ctx *ctx)
{
    nb_prediction f;
    nb_predicted predicted;
    const char *text;
    double rest_s = 0;
    if (taken_s < LEAST_S) return NB_OK;
    NB_TRY(ctx, nb_prediction_make(plan, ran, store, false, &f, ctx));
    NB_TRY(ctx, nb_predict(&f, ran, workers, &predicted, ctx));
    for (int i = 0; i < predicted.unit_count; i++) {
        nb_cost cost = plan->config->study->cost(plan, &predicted.units[i], ran, &f.likely);
        rest_s += cost.seconds - cost.own_s;
    }
    if (!(rest_s > 0)) return NB_OK;
    double worked_s = taken_s * predicted.total_s / predicted.wall_s, own_s = predicted.total_s - rest_s;
    double machine = f.likely.machine * fmax(worked_s - own_s, LEAST_SHARE * worked_s) / rest_s;
    NB_NEED(text, nb_format(ctx, "%.6g", machine));
    return nb_store_set(store, SPEED, text, ctx);
}

nb_status nb_prediction_keep(nb_past_prediction past, nb_store *store, nb_ctx *ctx)
{
    const char *text;
    if (past.taken_s < LEAST_S) return NB_OK;
    NB_NEED(text, nb_format(ctx, "%.6g %.6g %.6g", past.low_s, past.high_s, past.taken_s));
    return nb_store_set(store, PREDICTED, text, ctx);
}

nb_status nb_prediction_past(nb_store *store, nb_past_prediction *past, nb_ctx *ctx)
{
    const char *text;
    *past = (nb_past_prediction){.known = false};
    NB_TRY(ctx, nb_store_get(store, PREDICTED, &text, ctx));
    if (!text) return NB_OK;
    past->known = sscanf(text, "%lf %lf %lf", &past->low_s, &past->high_s, &past->taken_s) == 3;
    NB_REQUIRE(ctx, past->known, NB_EIO, "%s: '%s' is not what was predicted and what it took", store->path, text);
    return NB_OK;
}
