/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jobs.c - a job is a range of the plan, so it is divided where neighbours differ. */
#include "run/jobs.h"

#include "components/plugin.h"
#include "components/registry.h"

#include <limits.h>
#include <math.h>

enum { SAME_DATA = -2, SAME_TRIAL }; /* levels coarser than the study's */

/* Returns whether two rows share what a level says. */
static bool share_work(const nb_plan *plan, int a, int b, int level)
{
    const nb_planned_row *x = &plan->rows[a], *y = &plan->rows[b];
    if (x->scene != y->scene) return false;
    if (x->trial != y->trial) return level == SAME_DATA && !plan->scenes[x->scene].random;
    if (level < 0) return true;
    unsigned axes = plan->config->study->levels[level];
    for (int axis = 0; axes >> axis; axis++)
        if ((axes >> axis & 1) && nb_plan_value(plan, a, axis) != nb_plan_value(plan, b, axis)) return false;
    return axes != 0 || a == b;
}

bool nb_jobs_has(const nb_jobs *j, const nb_job *job, int row)
{
    return row >= job->first && row < job->end && j->rows[row] != NB_ROW_DONE && j->apart[row] == job->apart;
}

bool nb_jobs_any(const nb_jobs *j, nb_job *job)
{
    while (job->first < job->end && !nb_jobs_has(j, job, job->first)) job->first++;
    return job->first < job->end;
}

/* Returns where the rows end that share with the job's first what the level says. */
static int end_of(const nb_jobs *j, const nb_job *job, int level)
{
    int end = job->first;
    while (end < job->end && share_work(j->plan, job->first, end, level)) end++;
    return end;
}

int nb_jobs_count_together(const nb_jobs *j, const nb_job *job)
{
    int count = 0;
    for (int i = job->first, end = end_of(j, job, SAME_TRIAL); i < end; i++) count += nb_jobs_has(j, job, i);
    return count;
}

static nb_status push_job(nb_jobs *j, nb_job job)
{
    if (!nb_jobs_any(j, &job)) return NB_OK;
    NB_GROW(j->ctx, j->queue, j->queued, j->room);
    j->queue[j->queued++] = job;
    return NB_OK;
}

/* Queues the parts of a job by a level, if there are so many: each for a process of its own. */
static nb_status divide_job(nb_jobs *j, const nb_job *job, int level, int least)
{
    int before = j->queued;
    for (int end = job->end, first; end > job->first; end = first) {
        for (first = end - 1; first > job->first && share_work(j->plan, first - 1, end - 1, level);) first--;
        NB_TRY(j->ctx, push_job(j, (nb_job){.first = first, .end = end, .apart = job->apart, .alone = true}));
    }
    if (j->queued - before < least) j->queued = before;
    return NB_OK;
}

/* Returns whether one of a row's components, of its scene or its method, comes from outside and runs in the worker. */
static bool is_from_outside(const nb_plan *plan, int row, bool scene)
{
    for (const nb_axis *axis = plan->config->study->axes; axis->key; axis++) {
        bool isolated = axis->registry == &nb_strategies || axis->registry == &nb_cores;
        if (axis->type == NB_AXIS_COMPONENT && axis->scene == scene && !isolated &&
            nb_plugin_within(nb_plan_choice(plan, row, (int)(axis - plan->config->study->axes))))
            return true;
    }
    return false;
}

nb_status nb_jobs_new(const nb_plan *plan, const bool *pending, nb_jobs *j, nb_ctx *ctx)
{
    *j = (nb_jobs){.plan = plan, .ctx = ctx};
    NB_NEED(j->rows, nb_alloc(ctx, (size_t)plan->row_count, 1));
    NB_NEED(j->apart, nb_alloc(ctx, (size_t)plan->row_count, sizeof *j->apart));
    NB_NEED(j->deadly, nb_alloc(ctx, (size_t)plan->method_count, sizeof *j->deadly));
    for (int i = 0; i < plan->row_count; i++) j->rows[i] = pending[i] ? NB_ROW_LEFT : NB_ROW_DONE;
    return nb_units_find(plan, pending, &j->units, &j->unit_count, ctx);
}

static int scene_of(const nb_jobs *j, int row)
{
    return j->plan->rows[row].scene;
}

/* Returns the number of units of the next job. A worker waits for its next job while the sink keeps rows, so a job is
 * not to be shorter than that; but the last jobs are to end together. */
static int count_units(const nb_jobs *j, int worker_count)
{
    static const double LEAST_S = 0.02;
    enum { JOBS_LEFT = 4 }; /* for each worker, at least */
    const nb_unit *next = &j->units[j->next_unit];
    int count = 1, left = j->unit_count - j->next_unit, scene = scene_of(j, next->first);
    if (scene != j->pace_scene || j->unit_s <= 0) return 1;
    double most = fmin(LEAST_S / j->unit_s, (double)left / JOBS_LEFT / worker_count);
    while (count < most && scene_of(j, next[count].first) == scene) count++;
    return count;
}

void nb_jobs_note_pace(nb_jobs *j, const nb_job *job, double seconds)
{
    if (job->units == 0) return;
    j->pace_scene = scene_of(j, job->end - 1);
    j->unit_s = seconds / job->units;
}

/* Makes a job of the next units, and others of those rows in it that are kept apart. */
static nb_status take_units(nb_jobs *j, int worker_count, nb_job *job)
{
    int units = count_units(j, worker_count), first = j->units[j->next_unit].first;
    j->next_unit += units;
    *job = (nb_job){.first = first,
                    .end = j->units[j->next_unit - 1].end,
                    .alone = is_from_outside(j->plan, first, true),
                    .units = units};
    for (int i = first; i < job->end; i++)
        if (j->rows[i] != NB_ROW_DONE)
            j->apart[i] = j->deadly[j->plan->rows[i].method] || is_from_outside(j->plan, i, false);
    return divide_job(j, &(nb_job){.first = first, .end = job->end, .apart = true}, 0, 1);
}

nb_status nb_jobs_next(nb_jobs *j, int worker_count, nb_job *job, bool *found)
{
    for (*found = false; !*found && (j->queued > 0 || j->next_unit < j->unit_count); *found = nb_jobs_any(j, job)) {
        if (j->queued > 0)
            *job = j->queue[--j->queued];
        else
            NB_TRY(j->ctx, take_units(j, worker_count, job));
    }
    return NB_OK;
}

nb_status nb_jobs_put_back(nb_jobs *j, const nb_job *job)
{
    return push_job(j, *job);
}

const nb_phase *nb_phase_of(const nb_plan *plan, int phase)
{
    static const nb_phase unknown = {"the start", -1, INT_MAX, false};
    const nb_phase *p = plan->config->study->phases;
    for (int i = 1; p->doing; p++, i++)
        if (i == phase) return p;
    return &unknown;
}

nb_status nb_jobs_take_back(nb_jobs *j, const nb_job *job, const nb_phase *phase, bool outside, bool *blamed)
{
    const unsigned *levels = j->plan->config->study->levels;
    nb_job flown = *job, rest = *job;
    int queued = j->queued;
    *blamed = false;
    if (!nb_jobs_any(j, &flown)) return NB_OK;
    bool of_data = phase->levels == 0;
    rest.first = flown.end = end_of(j, &flown, of_data ? SAME_DATA : SAME_TRIAL);
    flown.units = rest.units = 0;
    NB_TRY(j->ctx, push_job(j, rest));
    if (!job->alone || j->queued > queued || (outside && !job->again)) {
        flown.alone = true;
        flown.again = job->again || outside;
        return push_job(j, flown);
    }
    for (int level = 0; j->queued == queued && level < phase->levels; level++) {
        NB_TRY(j->ctx, divide_job(j, &flown, level, 2));
        if (levels[level] == 0) break;
    }
    *blamed = j->queued == queued;
    for (int i = flown.first; i < flown.end && !of_data && *blamed; i++)
        if (nb_jobs_has(j, &flown, i)) j->deadly[j->plan->rows[i].method] = true;
    return NB_OK;
}
