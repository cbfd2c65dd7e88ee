/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prediction.c - the time of a run:
 *
 * 1. The study counts the work of each unit, in seconds of the reference machine.
 * 2. A small product tells how much slower this machine is.
 * 3. Each worker takes the next unit when it is free.
 *
 * The store keeps what was predicted of the last call against what it took (`predicted`). */
#include "run/prediction.h"

#include "base/clock.h"
#include "base/machine.h"
#include "components/plugin.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ORDER = 384, TRIES = 20 };         /* of the product */
static const double MACHINE_S = 0.5;      /* after which the product is not tried again */
static const double REFERENCE_S = 4.9e-3; /* seconds on the reference machine */
static const double LEAST_S = 0.5;        /* a shorter run says nothing about a prediction */
static const char PREDICTED[] = "predicted";

nb_cost nb_cost_of(const nb_plan *plan, const nb_unit *unit, const bool *pending)
{
    const nb_study *study = plan->config->study;
    nb_plugin_call(&study->component, "cost");
    nb_cost cost = study->cost(plan, unit, pending);
    nb_plugin_return(&study->component);
    return cost;
}

nb_status nb_measure_machine(nb_machine_speed *machine, nb_ctx *ctx)
{
    size_t square = (size_t)ORDER * ORDER;
    double *a, *b, *c, least = INFINITY, begun_s = nb_clock_s();
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(a, nb_alloc_reals(ctx, square, 3));
    b = a + square;
    c = b + square;
    for (size_t i = 0; i < 2 * square; i++) a[i] = 1e-3 * (double)(i % 997);
    for (int i = 0; i < TRIES && (i < 2 || nb_clock_s() - begun_s < MACHINE_S); i++) {
        double start_s = nb_work_s();
        nb_gemm(NB_TRANSPOSED, NB_PLAIN, ORDER, ORDER, ORDER, 1e-3, a, ORDER, b, ORDER, 0, c, ORDER);
        for (size_t j = 0; j < ORDER; j++) a[j] = fmin(1, nb_exp_sum(ORDER, c + j * ORDER, 0)); /* as in a pass */
        least = fmin(least, nb_work_s() - start_s);
    }
    nb_ctx_release(ctx, mark);
    *machine = (nb_machine_speed){.slowness = least / REFERENCE_S, .load = nb_load(), .cpus = nb_all_cpus()};
    return NB_OK;
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Returns how many times longer so many workers take beside that load: all share the CPUs. */
static double slowdown(nb_machine_speed machine, int workers)
{
    if (!(machine.load > 0)) return 1;
    return fmax(1, (workers + machine.load) / machine.cpus) / fmax(1, (double)workers / machine.cpus);
}

nb_status nb_predict(const nb_plan *plan, const bool *pending, nb_machine_speed machine, int workers, nb_predicted *out,
                     nb_ctx *ctx)
{
    double *free_s;
    *out = (nb_predicted){.unit_count = 0};
    NB_TRY(ctx, nb_units_find(plan, pending, &out->units, &out->unit_count, ctx));
    out->workers = workers < out->unit_count ? workers : out->unit_count;
    NB_NEED(out->unit_s, nb_alloc_reals(ctx, (size_t)out->unit_count + 1, 1));
    NB_NEED(out->unit_bytes, nb_alloc_reals(ctx, (size_t)out->unit_count + 1, 1));
    NB_NEED(free_s, nb_alloc_reals(ctx, (size_t)out->workers + 1, 1));
    double slower = slowdown(machine, out->workers);
    for (int i = 0; i < out->unit_count; i++) {
        nb_cost cost = nb_cost_of(plan, &out->units[i], pending);
        double idle_s = cost.fixed_s + machine.slowness * (cost.seconds - cost.fixed_s);
        double *next = &free_s[gsl_stats_min_index(free_s, 1, (size_t)out->workers)]; /* the worker free first */
        out->unit_s[i] = sqrt(slower) * idle_s; /* between an idle machine and the load */
        out->total_s += out->unit_s[i];
        *next += out->unit_s[i];
        out->wall_s = fmax(out->wall_s, *next);
        out->unit_bytes[i] = cost.bytes;
    }
    out->low_s = out->wall_s / sqrt(slower) / NB_PREDICTION_MARGIN;
    out->high_s = out->wall_s * sqrt(slower) * NB_PREDICTION_MARGIN;
    qsort(out->unit_bytes, (size_t)out->unit_count, sizeof *out->unit_bytes, descending);
    out->bytes = out->unit_bytes[0];
    for (int i = 0; i < out->workers; i++) out->all_bytes += out->unit_bytes[i];
    return NB_OK;
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
