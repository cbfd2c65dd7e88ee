/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prepare.c - all that can be refused is refused before a file is written. */
#include "commands/experiment.h"

#include "base/fields.h"
#include "base/files.h"
#include "base/text.h"
#include "run/provenance.h"
#include "run/run_folder.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *const nb_retry_statuses[] = {"failed", "timeout", "crashed", "diverged", NULL};

nb_status nb_start_statuses(const nb_start_choices *choices, const char *const **statuses, nb_ctx *ctx)
{
    const char **list = NULL;
    int count = 0, room = 0;
    for (int i = 0; choices->retry && choices->retry[i]; i++) {
        char *rest, *word;
        NB_NEED(rest, nb_strdup(ctx, choices->retry[i]));
        while ((word = strsep(&rest, ","))) {
            NB_REQUIRE(ctx, nb_text_among(word, nb_retry_statuses), NB_EINVAL,
                       "%s: expected failed, timeout, crashed or diverged, or several separated by commas",
                       nb_spell_quoted(ctx, "retry", word));
            NB_GROW(ctx, list, count, room);
            list[count++] = word;
        }
    }
    NB_GROW(ctx, list, count, room);
    list[count] = NULL;
    *statuses = list;
    return NB_OK;
}

/* An old store is kept under a name that says when it was put aside. */
static nb_status put_aside(const char *path, nb_ctx *ctx)
{
    char moment[32];
    const char *aside, *journal, *journal_aside;
    time_t now = time(NULL);
    struct tm utc;
    if (!nb_is_file(path)) return NB_OK;
    strftime(moment, sizeof moment, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &utc));
    NB_NEED(aside, nb_format(ctx, "%s.%s.%d.old", path, moment, (int)getpid()));
    NB_NEED(journal, nb_format(ctx, "%s-journal", path)); /* what a killed run left; it belongs to the store */
    NB_NEED(journal_aside, nb_format(ctx, "%s-journal", aside));
    if (nb_is_file(journal))
        NB_REQUIRE(ctx, rename(journal, journal_aside) == 0, nb_file_status(errno), "%s: cannot be renamed: %s",
                   journal, strerror(errno));
    NB_REQUIRE(ctx, rename(path, aside) == 0, nb_file_status(errno), "%s: cannot be renamed: %s", path,
               strerror(errno));
    return NB_OK;
}

/* Rows are run again where their data have changed: says which, and what became of them. */
static nb_status tell_replaced(nb_store *store, const nb_inputs *inputs, nb_ctx *ctx)
{
    nb_signed *old;
    const char **lines;
    int count, rows = 0;
    NB_TRY(ctx, nb_store_find_replaced(store, &count, &old, ctx));
    for (int i = 0; i < count; i++) {
        NB_TRY(ctx, nb_manifest_changes(old[i].manifest.text, inputs, &lines, ctx));
        for (int l = 0; lines[l]; l++) fprintf(stderr, "nysbench: warning: %s\n", lines[l]);
        rows += old[i].hidden;
    }
    if (rows > 0)
        fprintf(stderr,
                "nysbench: warning: %d rows measured on earlier contents of the same files stay in %s, unused; the "
                "data are measured anew as they are now\n",
                rows, store->path);
    return NB_OK;
}

/* Says once in each folder what a program's rows are taken to depend on. */
static nb_status tell_unfollowed(nb_store *store, const nb_inputs *inputs, nb_ctx *ctx)
{
    for (int i = 0; i < inputs->program_count; i++) {
        const nb_program_files *p = &inputs->programs[i];
        const char *key, *told;
        NB_NEED(key, nb_format(ctx, "told of %s", p->run));
        NB_TRY(ctx, nb_store_get(store, key, &told, ctx));
        if (told) continue;
        nb_print_warning("%s: its rows are measured again if this command%s%s changes; environment variables, other "
                         "files and modules that it reads are not compared: if they change, %s measures all rows again",
                         p->run, p->count ? " or the content of " : "", p->names, nb_field(ctx, "fresh", NB_IS_SET));
        NB_TRY(ctx, nb_store_set(store, key, "yes", ctx));
    }
    return NB_OK;
}

static nb_status open_and_plan(const nb_start *start, const nb_program *program, nb_store *store, bool **pending,
                               int *pending_count, nb_ctx *ctx)
{
    const char *path;
    const nb_experiment *e = start->e;
    nb_terms terms = {.program = program, .mixed = start->choices->mixed, .only = start->only};
    NB_TRY(ctx, nb_start_statuses(start->choices, &terms.retry, ctx));
    NB_TRY(ctx, nb_make_folder(e->folder, ctx));
    NB_TRY(ctx, nb_run_path(e->folder, NB_STORE_FILE, &path, ctx));
    NB_TRY(ctx, nb_lock_folder(e->folder, ctx));
    if (start->choices->fresh) NB_TRY(ctx, put_aside(path, ctx));
    NB_TRY(ctx, nb_store_open(path, true, e->config.study, store, ctx));
    if (store->fresh) { /* nothing was measured yet */
        NB_NEED(*pending, nb_alloc(ctx, (size_t)e->plan.row_count, sizeof **pending));
        memset(*pending, true, (size_t)e->plan.row_count * sizeof **pending);
        *pending_count = nb_terms_take_only(&terms, &e->plan, *pending);
        return NB_OK;
    }
    NB_TRY(ctx, nb_store_plan(store, &e->plan, &terms, pending, pending_count, ctx));
    return tell_replaced(store, e->plan.inputs, ctx);
}

nb_status nb_prepare_store(const nb_experiment *e, nb_store *store, nb_ctx *ctx)
{
    const char *const none[] = {NULL};
    bool *pending;
    int count;
    return store->fresh
               ? nb_store_plan(store, &e->plan, &(nb_terms){.mixed = true, .retry = none}, &pending, &count, ctx)
               : NB_OK;
}

nb_status nb_prepare(const nb_start *start, nb_store *store, bool **pending, int *pending_count, nb_ctx *ctx)
{
    const nb_experiment *e = start->e;
    nb_invocation how = {start->line->argv, start->workers, e->config.plot_count > 0};
    const char *resolved;
    nb_program program;
    nb_manifest *manifest;
    nb_unit *units;
    int unit_count;
    NB_TRY(ctx, nb_program_here(start->workers.blas_threads, &program, ctx));
    NB_TRY(ctx, open_and_plan(start, &program, store, pending, pending_count, ctx));
    NB_TRY(ctx, nb_config_text(&e->config, false, &resolved, ctx));
    NB_TRY(ctx, nb_run_write_text(e->folder, NB_CONFIG_FILE, resolved, ctx));
    if (e->shard.count) NB_TRY(ctx, nb_store_set(store, "shard", e->shard_text, ctx));
    NB_TRY(ctx, tell_unfollowed(store, e->plan.inputs, ctx));
    if (*pending_count == 0) return NB_OK;
    NB_TRY(ctx, nb_units_find(&e->plan, *pending, &units, &unit_count, ctx));
    how.workers.jobs = nb_workers_started(&how.workers, unit_count);
    NB_NEED(manifest, nb_alloc(ctx, 1, sizeof *manifest));
    NB_TRY(ctx, nb_manifest_make(&program, &how, &e->plan, manifest, ctx));
    nb_store_sign(store, manifest);
    return nb_run_write_text(e->folder, NB_MANIFEST_FILE, manifest->text, ctx);
}
