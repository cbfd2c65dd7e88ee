/* SPDX-License-Identifier: GPL-3.0-or-later */
/* preview.c - see experiment.h */
#include "commands/experiment.h"

#include "base/machine.h"
#include "run/provenance.h"
#include "run/run_folder.h"

#include <string.h>

int nb_preview_workers(int jobs)
{
    int cpus = nb_usable_cpus();
    return jobs < 1 ? 1 : jobs < cpus ? jobs : cpus;
}

static nb_status count_others(nb_store *store, int blas_threads, int *others, nb_ctx *ctx)
{
    nb_signed *by;
    nb_program here;
    int count;
    NB_TRY(ctx, nb_program_here(blas_threads, &here, ctx));
    NB_TRY(ctx, nb_store_programs(store, &count, &by, ctx));
    for (int i = 0; i < count; i++)
        if (!nb_program_same(&by[i].manifest.program, &here)) *others += by[i].rows;
    return NB_OK;
}

static nb_status preview_rows(nb_start *start, nb_store *store, bool measured, nb_preview *o, nb_ctx *ctx)
{
    const nb_experiment *e = start->e;
    nb_workers *workers = &start->workers;
    bool *pending;
    nb_terms terms = {.only = start->only};
    NB_TRY(ctx, nb_start_statuses(start->choices, &terms.retry, ctx));
    NB_NEED(pending, nb_alloc(ctx, (size_t)e->plan.row_count + 1, sizeof *pending));
    memset(pending, true, (size_t)e->plan.row_count * sizeof *pending);
    if (store) NB_TRY(ctx, nb_store_standing(store, &e->plan, terms.retry, pending, &o->standing, ctx));
    if (store) NB_TRY(ctx, count_others(store, workers->blas_threads, &o->others, ctx));
    o->to_run = nb_terms_take_only(&terms, &e->plan, pending);
    nb_workers_alone(&e->plan, workers);
    NB_TRY(ctx, nb_workers_fit(&e->plan, pending, workers, ctx));
    if (measured && o->to_run > 0) NB_TRY(ctx, nb_find_machine(store, &o->machine, ctx));
    return nb_predict(&e->plan, pending, o->machine, nb_preview_workers(workers->jobs), &o->times, ctx);
}

nb_status nb_preview_make(nb_start *start, bool measured, nb_preview *o, nb_ctx *ctx)
{
    const nb_experiment *e = start->e;
    const char *path;
    nb_store store;
    nb_ctx *own; /* the store is closed before the run opens it to write */
    *o = (nb_preview){.e = e, .machine = {.rate = NB_USUAL_RATE}};
    NB_TRY(ctx, nb_run_path(e->folder, NB_STORE_FILE, &path, ctx));
    if (start->choices->fresh || !nb_run_exists(e->folder, ctx)) return preview_rows(start, NULL, measured, o, ctx);
    NB_NEED(own, nb_ctx_child(ctx));
    nb_status status = nb_store_open(path, false, e->config.study, &store, own);
    if (status != NB_OK &&
        !nb_run_exists(e->folder, ctx)) { /* killed while it made the store, which is empty now that it was opened */
        nb_ctx_release(own, 0);
        nb_error_clear(ctx);
        return preview_rows(start, NULL, measured, o, ctx);
    }
    if (status == NB_OK) status = preview_rows(start, &store, measured, o, ctx);
    nb_ctx_release(own, 0);
    return status;
}

const char *nb_preview_time(const nb_predicted *f, double share, char text[NB_TIME_RANGE])
{
    char low[NB_QUANTITY], high[NB_QUANTITY];
    nb_duration_text(share * f->low_s, low);
    nb_duration_text(share * f->high_s, high);
    snprintf(text, NB_TIME_RANGE, strcmp(low, high) == 0 ? "%s" : "%s to %s", low, high);
    return text;
}

void nb_preview_print(FILE *out, const char *before, const nb_preview *o)
{
    const nb_predicted *f = &o->times;
    char time[NB_TIME_RANGE], bytes[NB_QUANTITY];
    fprintf(out, "%s%d scene%s to run with %d worker%s: about %s, up to %s of memory\n", before, f->unit_count,
            f->unit_count == 1 ? "" : "s", f->workers, f->workers == 1 ? "" : "s", nb_preview_time(f, 1, time),
            nb_bytes_text(f->all_bytes, bytes));
}

nb_status nb_preview_check(const nb_command *command, const nb_preview *o, double max_hours, nb_ctx *ctx)
{
    char predicted[NB_TIME_RANGE];
    if (o->times.low_s <= 3600 * max_hours) return NB_OK; /* refused only if it would take longer on an idle machine */
    NB_FAIL(ctx, NB_EINVAL, "%s: predicted to take %s with %d worker%s; --max-hours allows %g h, so nothing was run",
            command->name, nb_preview_time(&o->times, 1, predicted), o->times.workers, o->times.workers == 1 ? "" : "s",
            max_hours);
}
