/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress_worker.c - what a worker is doing, for people. */
#include "commands/progress.h"

#include "components/study.h"

#include <stdio.h>

/* Numbers, such as of landmarks, that all these rows have. */
static nb_status numbers_text(const nb_plan *plan, const nb_doing *d, const char **text, nb_ctx *ctx)
{
    const nb_axis *axes = plan->config->study->axes;
    *text = "";
    for (int axis = 0; axes[axis].key; axis++) {
        int value = nb_plan_value(plan, d->first, axis), row = d->first;
        if (axes[axis].scene || axes[axis].type != NB_AXIS_INTEGER) continue;
        while (row < d->end && nb_plan_value(plan, row, axis) == value) row++;
        if (row == d->end) NB_NEED(*text, nb_format(ctx, "%s, %s %d", *text, axes[axis].column, value));
    }
    return NB_OK;
}

/* ", kmeans, landmarks 16: the strategy's pick, 12 s"; the time from a second on. */
static nb_status work_text(const nb_plan *plan, const nb_doing *d, double now_s, const char **text, nb_ctx *ctx)
{
    const nb_phase *phase = NULL, *phases = plan->config->study->phases;
    char time[NB_QUANTITY] = "", taken[NB_QUANTITY + 2] = "";
    const char *component = "", *numbers;
    double taken_s = now_s - d->since_s;
    for (int i = 0; i < d->phase && phases[i].doing; i++) phase = i + 1 == d->phase ? &phases[i] : NULL;
    if (phase && phase->axis > NB_AXIS_PROBLEM)
        NB_NEED(component, nb_format(ctx, ", %s", nb_plan_choice(plan, d->first, phase->axis)->label));
    NB_TRY(ctx, numbers_text(plan, d, &numbers, ctx));
    if (taken_s >= 1) snprintf(taken, sizeof taken, ", %s", nb_duration_text(taken_s, time));
    NB_NEED(*text, nb_format(ctx, "%s%s: %s%s", component, numbers, phase ? phase->doing : "the start", taken));
    NB_NEED(*text, nb_clean(ctx, *text, ""));
    return NB_OK;
}

nb_status nb_progress_worker(const nb_plan *plan, const nb_doing *d, double now_s, int columns, char *text, nb_ctx *ctx)
{
    enum { LEAST = 12 }; /* columns of the problem */
    char problem[NB_PROGRESS_BYTES];
    const char *work, *whole, *of;
    if (d->first == d->end) {
        nb_screen_shorten("  nothing", columns, text, NB_PROGRESS_BYTES);
        return NB_OK;
    }
    const nb_planned_scene *scene = &plan->scenes[plan->rows[d->first].scene];
    NB_TRY(ctx, work_text(plan, d, now_s, &work, ctx));
    NB_NEED(of, nb_format(ctx, "%s head %d", scene->problem->label, scene->head));
    NB_NEED(of, nb_clean(ctx, of, ""));
    int room = columns - 2 - nb_screen_columns(work);
    nb_screen_shorten(of, room > LEAST ? room : LEAST, problem, sizeof problem);
    NB_NEED(whole, nb_format(ctx, "  %s%s", problem, work));
    nb_screen_shorten(whole, columns, text, NB_PROGRESS_BYTES);
    return NB_OK;
}
