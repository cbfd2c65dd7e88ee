/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outcomes.c - the outcomes of a method, from the rows of the experiment. */
#include "suite/suite.h"

#include "base/text.h"
#include "rows/statement.h"

#include <math.h>
#include <string.h>

enum { PROBLEM, ATTENTION, STATUS, REASON, OUTPUT_ERROR, BASELINE_MEAN };

typedef struct { /* of a setting on an input */
    int count;
    double logs, mean;
    const char *refused, *failed; /* the last reason */
} tally;

/* The input whose file a problem names; -1: none. */
static int input_of(const nb_suite *s, const char *problem)
{
    for (int i = 0; i < s->count; i++) {
        const char *name = strrchr(s->inputs[i].file, '/');
        if (strstr(problem, name ? name + 1 : s->inputs[i].file)) return i;
    }
    return -1;
}

static void add(tally *t, const nb_grid *g, int row)
{
    const char *status = nb_grid_at(g, row, STATUS)->text;
    double error = nb_grid_at(g, row, OUTPUT_ERROR)->real, mean = nb_grid_at(g, row, BASELINE_MEAN)->real;
    if (isfinite(mean)) t->mean = mean;
    t->count++;
    t->logs += log(error);
    if (strcmp(status, "ok") == 0 && isfinite(error)) return;
    const char *reason = nb_grid_at(g, row, REASON)->text;
    *(strcmp(status, "skipped") == 0 ? &t->refused : &t->failed) = reason && *reason ? reason : status;
}

/* Adds a row to all shares at which its attention stands. */
static void add_row(const nb_suite_setting *settings, tally tallies[NB_SUITE_SHARES], const nb_grid *g, int row)
{
    const char *attention = nb_grid_at(g, row, ATTENTION)->text;
    for (int k = 0; k < NB_SUITE_SHARES; k++)
        if (settings[k].attention.component && strcmp(settings[k].attention.canonical, attention) == 0)
            add(&tallies[k], g, row);
}

static nb_status take_input(nb_suite_result *r, int i, const tally own[NB_SUITE_SHARES],
                            const tally baseline[NB_SUITE_SHARES], nb_ctx *ctx)
{
    const nb_suite_input *input = &r->suite->inputs[i];
    const char *place;
    NB_TRY(ctx, nb_suite_place(r->suite, i, &place, ctx));
    for (int k = 0; k < NB_SUITE_SHARES; k++) {
        const nb_suite_setting *setting = &r->settings[input->model][k];
        const tally *t = &own[k], *b = &baseline[k];
        nb_suite_outcome *o = &r->outcomes[i][k];
        const char *lack = b->failed ? b->failed : b->refused ? b->refused : b->count == 0 ? "there is no row" : NULL;
        NB_REQUIRE(ctx, !lack, NB_EIO, "%s: the baseline at 1/%d: %s", place, nb_suite_parts[k], lack);
        NB_REQUIRE(ctx, !setting->attention.component || t->count > 0, NB_EIO, "%s: there is no row of %s", place,
                   setting->attention.label);
        NB_REQUIRE(ctx, !t->failed, NB_EINVAL, "%s: %s: %s", setting->attention.label, place, t->failed);
        o->baseline = exp(b->logs / b->count);
        o->refused = setting->why ? setting->why : t->refused;
        o->error = o->refused ? b->mean : exp(t->logs / t->count);
    }
    return NB_OK;
}

nb_status nb_suite_take(nb_suite_result *r, const nb_relation *relation, nb_ctx *ctx)
{
    const nb_suite *s = r->suite;
    nb_grid g;
    tally(*own)[NB_SUITE_SHARES], (*baseline)[NB_SUITE_SHARES];
    NB_TRY(ctx, nb_sql_ask(relation, "suite.errors", NULL, &g, ctx));
    NB_NEED(own, nb_alloc(ctx, (size_t)s->count, sizeof *own));
    NB_NEED(baseline, nb_alloc(ctx, (size_t)s->count, sizeof *baseline));
    for (int row = 0; row < g.count; row++) {
        int i = input_of(s, nb_grid_at(&g, row, PROBLEM)->text);
        if (i < 0) continue;
        int model = s->inputs[i].model;
        add_row(r->settings[model], own[i], &g, row);
        add_row(r->baselines[model], baseline[i], &g, row);
    }
    for (int i = 0; i < s->count; i++)
        if (nb_suite_is_measured(r, i)) NB_TRY(ctx, take_input(r, i, own[i], baseline[i], ctx));
    return NB_OK;
}
