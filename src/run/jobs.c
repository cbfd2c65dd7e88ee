/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jobs.c - the rows of a job are sorted into parts by a key. */
#include "run/jobs.h"

#include "components/plugin.h"
#include "components/registry.h"

#include <string.h>

enum { FROM_OUTSIDE = 1, DEADLY }; /* flags of suspects */

typedef struct { /* in what rows are the same */
    const nb_plan *plan;
    bool trial;
    unsigned axes; /* bits */
    bool row;      /* all */
} sameness;

static bool same(const sameness *s, int a, int b)
{
    if (s->row) return a == b;
    if (s->trial && s->plan->rows[a].trial != s->plan->rows[b].trial) return false;
    for (int axis = 0; s->axes >> axis; axis++)
        if ((s->axes >> axis & 1) && nb_plan_value(s->plan, a, axis) != nb_plan_value(s->plan, b, axis)) return false;
    return true;
}

static nb_status job_new(int most, nb_job **job, nb_ctx *ctx)
{
    NB_NEED(*job, nb_alloc(ctx, 1, sizeof **job));
    NB_NEED((*job)->rows, nb_alloc(ctx, (size_t)most, sizeof *(*job)->rows));
    (*job)->fresh = true;
    return NB_OK;
}

nb_status nb_job_rest(const nb_job *job, const bool *left, nb_job **rest, nb_ctx *ctx)
{
    NB_TRY(ctx, job_new(job->count, rest, ctx));
    for (int i = 0; i < job->count; i++)
        if (left[job->rows[i]]) (*rest)->rows[(*rest)->count++] = job->rows[i];
    (*rest)->attempts = job->attempts;
    return NB_OK;
}

/* Those that are the same as `row` and, unless there are none, the others. */
static nb_status part_one(const sameness *in, const nb_job *job, int row, nb_job **parts, nb_ctx *ctx)
{
    nb_job *like, *others;
    NB_TRY(ctx, job_new(job->count, &like, ctx));
    NB_TRY(ctx, job_new(job->count, &others, ctx));
    for (int i = 0; i < job->count; i++) {
        nb_job *part = same(in, job->rows[i], row) ? like : others;
        part->rows[part->count++] = job->rows[i];
    }
    *parts = others->count && like->count ? like : NULL;
    if (*parts) like->next = others;
    return NB_OK;
}

/* One part for each run of rows that are the same; NULL if that is but one. */
static nb_status part_all(const sameness *in, const nb_job *job, nb_job **parts, nb_ctx *ctx)
{
    nb_job **last = parts;
    *parts = NULL;
    for (int i = 0, next; i < job->count; i = next) {
        for (next = i + 1; next < job->count && same(in, job->rows[i], job->rows[next]);) next++;
        if (i == 0 && next == job->count) return NB_OK;
        NB_TRY(ctx, job_new(next - i, last, ctx));
        (*last)->count = next - i;
        memcpy((*last)->rows, job->rows + i, (size_t)(next - i) * sizeof *job->rows);
        last = &(*last)->next;
    }
    return NB_OK;
}

/* The same rows, for a fresh worker: what died may have been damaged by what ran before. */
static nb_status again(const nb_job *job, nb_job **parts, nb_ctx *ctx)
{
    NB_TRY(ctx, job_new(job->count, parts, ctx));
    (*parts)->count = job->count;
    memcpy((*parts)->rows, job->rows, (size_t)job->count * sizeof *job->rows);
    return NB_OK;
}

/* Returns the study's phase at a position; NULL for a position that makes no sense, since what died has overwritten
 * it. */
static const nb_phase *phase_at(const nb_plan *plan, nb_position at)
{
    const nb_phase *phases = plan->config->study->phases;
    int count = 0;
    while (phases[count].doing) count++;
    bool good =
        at.phase > NB_AT_START && at.phase <= count && at.first >= 0 && at.first < at.end && at.end <= plan->row_count;
    return good ? &phases[at.phase - 1] : NULL;
}

nb_status nb_job_divide(const nb_plan *plan, const nb_job *job, nb_position at, nb_job **parts, nb_ctx *ctx)
{
    const nb_phase *phase = phase_at(plan, at);
    const unsigned *levels = plan->config->study->levels;
    *parts = NULL;
    if (phase && phase->axis >= 0) {
        const sameness component = {.plan = plan, .axes = 1u << phase->axis};
        NB_TRY(ctx, part_one(&component, job, at.first, parts, ctx));
    }
    if (!*parts && !job->fresh) return again(job, parts, ctx);
    for (int level = 0; !*parts && (!phase || level < phase->levels); level++) {
        const sameness finer = {.plan = plan, .trial = true, .axes = levels[level], .row = levels[level] == 0};
        NB_TRY(ctx, part_all(&finer, job, parts, ctx));
        if (finer.row) break;
    }
    return NB_OK;
}

nb_status nb_suspects_new(const nb_plan *plan, nb_suspects *suspects, nb_ctx *ctx)
{
    const nb_axis *axes = plan->config->study->axes;
    *suspects = (nb_suspects){{NULL}};
    for (int axis = 0; axes[axis].key; axis++) {
        const nb_choices *choices = &plan->config->lists[axis].choices;
        bool isolated = axes[axis].registry == &nb_strategies || axes[axis].registry == &nb_cores;
        if (axes[axis].type != NB_AXIS_COMPONENT) continue;
        NB_NEED(suspects->flags[axis], nb_alloc(ctx, (size_t)choices->count + 1, sizeof *suspects->flags[axis]));
        for (int i = 0; i < choices->count && !isolated; i++)
            if (nb_plugin_within(&choices->items[i])) suspects->flags[axis][i] = FROM_OUTSIDE;
    }
    return NB_OK;
}

void nb_suspects_add(const nb_plan *plan, nb_position at, nb_suspects *suspects)
{
    const nb_phase *phase = phase_at(plan, at);
    if (phase && phase->axis >= 0) suspects->flags[phase->axis][nb_plan_value(plan, at.first, phase->axis)] = DEADLY;
}

/* Returns whether a row may harm others. Unless `alone`, a component from outside that all rows of a scene share does
 * not count: it cannot be separated from any of them. */
static bool is_suspect(const nb_plan *plan, const nb_suspects *s, int row, bool alone)
{
    const nb_axis *axes = plan->config->study->axes;
    for (int axis = 0; axis < NB_MOST_AXES; axis++) {
        char flag = s->flags[axis] ? s->flags[axis][nb_plan_value(plan, row, axis)] : 0;
        if (flag == DEADLY || (flag == FROM_OUTSIDE && (alone || !axes[axis].scene))) return true;
    }
    return false;
}

bool nb_job_is_apart(const nb_plan *plan, const nb_suspects *suspects, const nb_job *job)
{
    int i = 0;
    while (i < job->count && !is_suspect(plan, suspects, job->rows[i], true)) i++;
    return i < job->count;
}

/* Rows that share the coarsest level of work are not separated. */
nb_status nb_job_part_suspects(const nb_plan *plan, const nb_suspects *suspects, nb_job *job, nb_job **parts,
                               nb_ctx *ctx)
{
    nb_job *theirs;
    int kept = 0;
    unsigned coarse = plan->config->study->levels[0];
    const sameness block = {.plan = plan, .trial = true, .axes = coarse, .row = coarse == 0};
    *parts = NULL;
    NB_TRY(ctx, job_new(job->count, &theirs, ctx));
    for (int i = 0; i < job->count; i++) {
        int row = job->rows[i];
        if (is_suspect(plan, suspects, row, false))
            theirs->rows[theirs->count++] = row;
        else
            job->rows[kept++] = row;
    }
    job->count = kept;
    if (theirs->count == 0) return NB_OK;
    NB_TRY(ctx, part_all(&block, theirs, parts, ctx));
    if (!*parts) *parts = theirs;
    return NB_OK;
}
