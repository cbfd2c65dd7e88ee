/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jobs.c - the rows of a job are sorted into parts by a key. */
#include "run/jobs.h"

#include <string.h>

static const nb_cell *cell_of(const nb_plan *plan, int row)
{
    return &plan->cells[plan->rows[row].cell];
}

static bool same_strategy(const nb_plan *plan, int a, int b)
{
    return cell_of(plan, a)->strategy == cell_of(plan, b)->strategy;
}

static bool same_core(const nb_plan *plan, int a, int b)
{
    return cell_of(plan, a)->core == cell_of(plan, b)->core;
}

static bool same_block(const nb_plan *plan, int a, int b)
{
    return plan->rows[a].trial == plan->rows[b].trial && same_strategy(plan, a, b) &&
           cell_of(plan, a)->pairing == cell_of(plan, b)->pairing;
}

static bool same_picks(const nb_plan *plan, int a, int b)
{
    return same_block(plan, a, b) && cell_of(plan, a)->m == cell_of(plan, b)->m;
}

static bool same_row(const nb_plan *plan, int a, int b)
{
    (void)plan;
    return a == b;
}

typedef bool same_fn(const nb_plan *plan, int a, int b);

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
static nb_status part_one(const nb_plan *plan, const nb_job *job, int row, same_fn *same, nb_job **parts, nb_ctx *ctx)
{
    nb_job *like, *others;
    NB_TRY(ctx, job_new(job->count, &like, ctx));
    NB_TRY(ctx, job_new(job->count, &others, ctx));
    for (int i = 0; i < job->count; i++) {
        nb_job *part = same(plan, job->rows[i], row) ? like : others;
        part->rows[part->count++] = job->rows[i];
    }
    *parts = others->count && like->count ? like : NULL;
    if (*parts) like->next = others;
    return NB_OK;
}

/* One part for each run of rows that are the same; NULL where that is but one. */
static nb_status part_all(const nb_plan *plan, const nb_job *job, same_fn *same, nb_job **parts, nb_ctx *ctx)
{
    nb_job **last = parts;
    *parts = NULL;
    for (int i = 0, next; i < job->count; i = next) {
        for (next = i + 1; next < job->count && same(plan, job->rows[i], job->rows[next]);) next++;
        if (i == 0 && next == job->count) return NB_OK;
        NB_TRY(ctx, job_new(next - i, last, ctx));
        (*last)->count = next - i;
        memcpy((*last)->rows, job->rows + i, (size_t)(next - i) * sizeof *job->rows);
        last = &(*last)->next;
    }
    return NB_OK;
}

/* The same rows, for a fresh worker: what died may have been spoilt by what it did before. */
static nb_status again(const nb_job *job, nb_job **parts, nb_ctx *ctx)
{
    NB_TRY(ctx, job_new(job->count, parts, ctx));
    (*parts)->count = job->count;
    memcpy((*parts)->rows, job->rows, (size_t)job->count * sizeof *job->rows);
    return NB_OK;
}

/* A position that makes no sense was overwritten, by whoever died. */
static bool can_be(const nb_plan *plan, nb_position at)
{
    return at.phase > NB_AT_START && at.phase < NB_PHASE_COUNT && at.first >= 0 && at.first < at.end &&
           at.end <= plan->row_count;
}

nb_status nb_job_divide(const nb_plan *plan, const nb_job *job, nb_position at, nb_job **parts, nb_ctx *ctx)
{
    static same_fn *const finer[] = {same_block, same_picks, same_row};
    bool known = can_be(plan, at);
    *parts = NULL;
    if (known && at.phase == NB_AT_PICK) NB_TRY(ctx, part_one(plan, job, at.first, same_strategy, parts, ctx));
    if (known && at.phase == NB_AT_CORE) NB_TRY(ctx, part_one(plan, job, at.first, same_core, parts, ctx));
    if (!*parts && !job->fresh) return again(job, parts, ctx);
    for (size_t i = 0; i < sizeof finer / sizeof *finer && !*parts; i++) {
        bool common = known && (at.phase == NB_AT_SCENE || (at.phase == NB_AT_PICK && finer[i] == same_row));
        if (!common) NB_TRY(ctx, part_all(plan, job, finer[i], parts, ctx));
    }
    return NB_OK;
}

nb_status nb_suspects_new(const nb_plan *plan, nb_suspects *suspects, nb_ctx *ctx)
{
    NB_NEED(suspects->strategies, nb_alloc(ctx, (size_t)plan->config->strategies.count, sizeof *suspects->strategies));
    NB_NEED(suspects->cores, nb_alloc(ctx, (size_t)plan->config->cores.count, sizeof *suspects->cores));
    return NB_OK;
}

void nb_suspects_add(const nb_plan *plan, nb_position at, nb_suspects *suspects)
{
    if (!can_be(plan, at)) return;
    if (at.phase == NB_AT_PICK)
        suspects->strategies[cell_of(plan, at.first)->strategy - plan->config->strategies.items] = true;
    if (at.phase == NB_AT_CORE) suspects->cores[cell_of(plan, at.first)->core - plan->config->cores.items] = true;
}

static bool is_suspect(const nb_plan *plan, const nb_suspects *s, int row)
{
    const nb_cell *cell = cell_of(plan, row);
    return s->strategies[cell->strategy - plan->config->strategies.items] ||
           s->cores[cell->core - plan->config->cores.items];
}

/* Blocks of the same trial, strategy and pairing stay whole. */
nb_status nb_job_part_suspects(const nb_plan *plan, const nb_suspects *suspects, nb_job *job, nb_job **parts,
                               nb_ctx *ctx)
{
    nb_job *theirs;
    int kept = 0;
    *parts = NULL;
    NB_TRY(ctx, job_new(job->count, &theirs, ctx));
    for (int i = 0; i < job->count; i++) {
        int row = job->rows[i];
        if (is_suspect(plan, suspects, row))
            theirs->rows[theirs->count++] = row;
        else
            job->rows[kept++] = row;
    }
    job->count = kept;
    if (theirs->count == 0) return NB_OK;
    NB_TRY(ctx, part_all(plan, theirs, same_block, parts, ctx));
    if (!*parts) *parts = theirs;
    return NB_OK;
}
