/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prediction.c - the time of a run:
 *
 * 1. The study counts the work of each unit, in multiplications.
 * 2. The rows that the store has, or else a small product, tell how many of them this machine does in a second.
 * 3. Each worker takes the next unit when it is free.
 *
 * The store keeps what was predicted of the last call against what it took (`predicted`), and the rate of its rows on
 * which kind of CPU (`rate`). */
#include "run/prediction.h"

#include "base/clock.h"
#include "base/machine.h"
#include "components/plugin.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "run/run_study.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ORDER = 384, TRIES = 20 };    /* of the product */
static const double MACHINE_S = 0.5; /* after which the product is not tried again */
static const double LEAST_S = 0.5;   /* a shorter run says nothing about a prediction */
static const char PREDICTED[] = "predicted", RATE[] = "rate";

nb_cost nb_cost_of(const nb_plan *plan, const nb_unit *unit, const bool *pending)
{
    const nb_study *study = plan->config->study;
    nb_plugin_call(&study->component, "cost");
    nb_cost cost = nb_run_study_of(study)->cost(plan, unit, pending);
    nb_plugin_return(&study->component);
    return cost;
}

double nb_cost_s(const nb_cost *cost, double rate)
{
    return cost->given_s + cost->multiplications / rate;
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
    *machine = (nb_machine_speed){
        .rate = (double)square * (ORDER + NB_EXPONENTIAL) / least, .load = nb_load(), .cpus = nb_all_cpus()};
    return NB_OK;
}

nb_status nb_find_machine(nb_store *store, nb_machine_speed *machine, nb_ctx *ctx)
{
    const char *text = NULL;
    char cpu[NB_CPU_NAME], *end;
    if (store) NB_TRY(ctx, nb_store_get(store, RATE, &text, ctx));
    if (!text) return nb_measure_machine(machine, ctx);
    double rate = strtod(text, &end);
    NB_REQUIRE(ctx, rate > 0 && *end == ' ', NB_EIO, "%s: '%s' is not a rate and the CPU that it is of", store->path,
               text);
    nb_cpu_name(cpu);
    if (strcmp(end + 1, cpu) != 0) return nb_measure_machine(machine, ctx);
    *machine = (nb_machine_speed){.rate = rate, .kept = true, .load = nb_load(), .cpus = nb_all_cpus()};
    return NB_OK;
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
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
    /* How many times longer so many workers take beside the load: all share the CPUs */
    double slower = machine.load > 0 ? fmax(1, (out->workers + machine.load) / machine.cpus) /
                                           fmax(1, (double)out->workers / machine.cpus)
                                     : 1;
    for (int i = 0; i < out->unit_count; i++) {
        nb_cost cost = nb_cost_of(plan, &out->units[i], pending);
        double *next = &free_s[gsl_stats_min_index(free_s, 1, (size_t)out->workers)]; /* the worker free first */
        out->unit_s[i] = sqrt(slower) * nb_cost_s(&cost, machine.rate); /* between an idle machine and the load */
        out->total_s += out->unit_s[i];
        out->total.multiplications += cost.multiplications;
        out->total.given_s += cost.given_s;
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

/* Holds where as many workers were busy as predicted. */
double nb_rate_of(const nb_predicted *p, double share, double taken_s)
{
    double busy_s = taken_s * p->total_s / p->wall_s, computing_s = busy_s - share * p->total.given_s;
    return computing_s > busy_s / 2 ? share * p->total.multiplications / computing_s : NAN;
}

nb_status nb_prediction_keep(const nb_predicted *p, double share, double taken_s, nb_store *store, nb_ctx *ctx)
{
    const char *text;
    char cpu[NB_CPU_NAME];
    double rate = nb_rate_of(p, share, taken_s);
    if (taken_s < LEAST_S) return NB_OK;
    NB_NEED(text, nb_format(ctx, "%.6g %.6g %.6g", share * p->low_s, share * p->high_s, taken_s));
    NB_TRY(ctx, nb_store_set(store, PREDICTED, text, ctx));
    if (!(rate > 0)) return NB_OK;
    nb_cpu_name(cpu);
    NB_NEED(text, nb_format(ctx, "%.6g %s", rate, cpu));
    return nb_store_set(store, RATE, text, ctx);
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
