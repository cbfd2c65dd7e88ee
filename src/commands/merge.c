/* SPDX-License-Identifier: GPL-3.0-or-later */
/* merge.c - nysbench merge OUT [RUN...]: shards, or other runs of one config, united. */
#include "commands/command.h"

#include "base/files.h"
#include "base/gnuplot.h"
#include "base/machine.h"
#include "base/words.h"
#include "base/text.h"
#include "commands/experiment.h"
#include "run/merge.h"
#include "run/provenance.h"
#include "run/run_folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const char *folder;
    nb_shard shard; /* count 0: it is none */
} source;

typedef struct { /* the command line's */
    const char *out;
    nb_whole_value shards;
    int mixed, quiet;
} choices;

typedef struct {
    int count;
    source *items;
    bool own;      /* they are the shards within OUT */
    bool programs; /* those that the config names may be started */
    const char *config;
    nb_experiment e; /* that of all of them, in OUT */
    nb_merge merge;
    nb_ctx *rows; /* holds the runs' rows until OUT has them */
} merger;

static nb_status check_same_config(const merger *m, const char *folder, const char *config, nb_ctx *ctx)
{
    const char *a = m->config, *b = config;
    int line = 1;
    while (*a && *a == *b) line += *a == '\n', a++, b++;
    if (!*a && !*b) return NB_OK;
    while (a > m->config && a[-1] != '\n') a--, b--;
    NB_FAIL(ctx, NB_EINVAL,
            "%s and %s are runs of different configs: line %d of their " NB_CONFIG_FILE " is '%.*s' and '%.*s'",
            m->items[0].folder, folder, line, (int)strcspn(a, "\n"), a, (int)strcspn(b, "\n"), b);
}

static nb_status read_config(merger *m, const char *folder, nb_ctx *ctx)
{
    const char *path, *config;
    NB_TRY(ctx, nb_run_path(folder, NB_CONFIG_FILE, &path, ctx));
    NB_TRY(ctx, nb_read_file(path, &config, ctx));
    if (m->config) return check_same_config(m, folder, config, ctx);
    m->config = config;
    NB_TRY(ctx, nb_experiment_of_run(folder, m->programs, &m->e.config, &m->e.plan, ctx));
    return nb_merge_init(&m->e.plan, m->count + 1, &m->merge, ctx);
}

/* The measured rows of a run; of one without any, none. */
static nb_status read_rows(const merger *m, nb_store *store, int manifest_count, const nb_signed *manifests,
                           nb_row_list *rows, const nb_manifest ***by)
{
    long long *ids;
    int id_count, measured = 0;
    *rows = (nb_row_list){.count = 0};
    for (int i = 0; i < manifest_count; i++) measured += manifests[i].rows;
    if (measured == 0) return NB_OK;
    NB_TRY(m->rows, nb_store_rows(store, rows, m->rows));
    NB_TRY(m->rows, nb_store_signatures(store, &id_count, &ids, m->rows));
    NB_REQUIRE(m->rows, id_count == rows->count, NB_EIO, "%s: is being planned anew: try again", store->path);
    NB_NEED(*by, nb_alloc(m->rows, (size_t)rows->count, sizeof **by));
    for (int i = 0; i < rows->count; i++) {
        int k = 0;
        while (k < manifest_count && manifests[k].id != ids[i]) k++;
        if (k < manifest_count) (*by)[i] = &manifests[k].manifest;
    }
    return NB_OK;
}

static nb_status add_run(merger *m, const char *folder, bool yields, nb_store *store, int manifest_count,
                         const nb_signed *manifests)
{
    nb_row_list rows;
    const nb_manifest **by = NULL;
    NB_TRY(m->rows, read_rows(m, store, manifest_count, manifests, &rows, &by));
    return nb_merge_add(&m->merge, folder, yields, &rows, by, m->rows);
}

/* Rows of other data than now are other rows. */
static nb_status check_inputs(const merger *m, const char *folder, int count, const nb_signed *manifests, nb_ctx *ctx)
{
    const char **lines;
    for (int i = 0; i < count; i++) {
        if (manifests[i].rows == 0) continue;
        NB_TRY(ctx, nb_manifest_changes(manifests[i].manifest.text, m->e.plan.inputs, &lines, ctx));
        NB_REQUIRE(ctx, !lines[0], NB_EINVAL, "%s: its rows were measured on other data: %s", folder, lines[0]);
    }
    return NB_OK;
}

static nb_status read_source(merger *m, source *s, nb_ctx *ctx)
{
    nb_store store;
    nb_signed *manifests;
    const char *path, *shard;
    int count;
    NB_TRY(ctx, read_config(m, s->folder, ctx));
    NB_TRY(ctx, nb_run_path(s->folder, NB_STORE_FILE, &path, ctx));
    NB_TRY(ctx, nb_store_open(path, false, m->e.config.study, &store, ctx));
    NB_TRY(ctx, nb_store_manifests(&store, &count, &manifests, ctx));
    NB_TRY(ctx, check_inputs(m, s->folder, count, manifests, ctx));
    NB_TRY(ctx, nb_store_get(&store, "shard", &shard, ctx));
    if (shard) NB_TRY(ctx, nb_shard_parse(shard, path, &s->shard, ctx));
    return add_run(m, s->folder, false, &store, count, manifests);
}

/* A shard that was killed before it had a store and a config counts as one that has nothing yet. */
static nb_status find_own(const choices *c, merger *m, nb_ctx *ctx)
{
    nb_shard *shards;
    const char *config;
    int count;
    NB_TRY(ctx, nb_run_shards(c->out, &count, &shards, ctx));
    NB_NEED(m->items, nb_alloc(ctx, (size_t)count, sizeof *m->items));
    for (int i = 0; i < count; i++) {
        source *s = &m->items[m->count];
        if (c->shards.text && shards[i].count != c->shards.value) continue;
        NB_TRY(ctx, nb_run_shard_folder(c->out, shards[i], &s->folder, ctx));
        NB_TRY(ctx, nb_run_path(s->folder, NB_CONFIG_FILE, &config, ctx));
        s->shard = shards[i];
        m->count += nb_run_exists(s->folder, ctx) && nb_is_file(config);
    }
    m->own = true;
    NB_REQUIRE(ctx, access(c->out, F_OK) == 0, NB_EINVAL, "%s: there is no such folder", c->out);
    NB_REQUIRE(ctx, m->count > 0, NB_EINVAL, "%s: has no shard with results in " NB_SHARDS_FOLDER "/%s%s", c->out,
               c->shards.text ? " of " : "", c->shards.text ? c->shards.text : "");
    return NB_OK;
}

static nb_status find_named(const char **folders, merger *m, nb_ctx *ctx)
{
    m->count = nb_text_count(folders);
    NB_NEED(m->items, nb_alloc(ctx, (size_t)m->count, sizeof *m->items));
    for (int i = 0; i < m->count; i++) m->items[i].folder = folders[i];
    return NB_OK;
}

static nb_status refuse_conflicts(const merger *m, nb_ctx *ctx)
{
    const nb_merge *merge = &m->merge;
    for (int i = 0; i < merge->conflict_count && i < NB_CONFLICTS_SHOWN; i++)
        nb_print_error("conflict: %s", merge->conflicts[i]);
    NB_REQUIRE(ctx, merge->conflict_count == 0, NB_EINVAL, "rows with different results: %d; nothing is merged",
               merge->conflict_count);
    return NB_OK;
}

/* All results are one program's. */
static nb_status check_builds(const merger *m, nb_ctx *ctx)
{
    const nb_merge *merge = &m->merge;
    int first = 0;
    while (first < m->e.plan.row_count && !merge->by[first]) first++;
    for (int i = first + 1; i < m->e.plan.row_count; i++) {
        if (!merge->by[i] || merge->by[i] == merge->by[first]) continue;
        const nb_program *a = &merge->by[first]->program, *b = &merge->by[i]->program;
        const char *text_a, *text_b;
        if (nb_program_same(a, b)) continue;
        NB_TRY(ctx, nb_program_text_against(a, b, &text_a, ctx));
        NB_TRY(ctx, nb_program_text_against(b, a, &text_b, ctx));
        NB_FAIL(ctx, NB_EINVAL, "%s was run by %s, %s %s, %s; --mixed merges them",
                merge->names[merge->from[first] - 1], text_a, merge->names[merge->from[i] - 1],
                nb_program_difference(a, b), text_b);
    }
    return NB_OK;
}

/* Rows that OUT holds and no run does stay, and count as those of a run. */
static nb_status add_out(merger *m, nb_store *store, bool mixed, nb_ctx *ctx)
{
    nb_signed *manifests;
    int count;
    NB_TRY(ctx, nb_store_manifests(store, &count, &manifests, ctx));
    NB_TRY(ctx, add_run(m, m->e.folder, true, store, count, manifests));
    if (!mixed) NB_TRY(ctx, check_builds(m, ctx));
    return refuse_conflicts(m, ctx);
}

/* Each row with what signed it where it was measured. */
static nb_status write_rows(const merger *m, nb_store *store, nb_ctx *ctx)
{
    const nb_merge *merge = &m->merge;
    const nb_manifest *by = NULL;
    for (int i = 0; i < m->e.plan.row_count; i++) {
        if (!merge->from[i] || merge->from[i] > m->count) continue;
        if (merge->by[i] != by) nb_store_sign(store, by = merge->by[i]);
        NB_TRY(ctx, nb_store_write(store, i, m->e.config.wanted, merge->rows[i], ctx));
    }
    return NB_OK;
}

/* OUT's store may hold rows of several programs; mixing them was checked before. */
static nb_status write_out(merger *m, const choices *c, const nb_command_line *line, nb_store *store, nb_ctx *ctx)
{
    static const char *const none[] = {NULL};
    const char *path;
    bool *pending;
    nb_program program;
    nb_manifest manifest;
    const nb_invocation how = {line->argv, {.blas_threads = 1}, m->e.config.plot_count > 0};
    int pending_count;
    NB_TRY(ctx, nb_program_here(1, &program, ctx));
    NB_TRY(ctx, nb_manifest_make(&program, &how, &m->e.plan, &manifest, ctx));
    NB_TRY(ctx, nb_run_check_folder(m->e.folder, ctx));
    NB_TRY(ctx, nb_make_folder(m->e.folder, ctx));
    NB_TRY(ctx, nb_lock_folder(m->e.folder, ctx));
    NB_TRY(ctx, nb_run_path(m->e.folder, NB_STORE_FILE, &path, ctx));
    NB_TRY(ctx, nb_store_open(path, true, m->e.config.study, store, ctx));
    NB_TRY(ctx, nb_store_plan(store, &m->e.plan, &(nb_terms){.program = &program, .mixed = true, .retry = none},
                              &pending, &pending_count, ctx));
    NB_TRY(ctx, add_out(m, store, c->mixed, ctx));
    NB_TRY(ctx, nb_run_write_text(m->e.folder, NB_CONFIG_FILE, m->config, ctx));
    NB_TRY(ctx, nb_run_write_text(m->e.folder, NB_MANIFEST_FILE, manifest.text, ctx));
    NB_TRY(ctx, nb_store_begin(store, ctx));
    NB_TRY(ctx, write_rows(m, store, ctx));
    return nb_store_commit(store, ctx);
}

/* Returns how many shards there are, where all runs are shards of one such number; else 0. */
static int shard_count(const merger *m)
{
    int count = m->items[0].shard.count;
    for (int i = 1; i < m->count; i++)
        if (m->items[i].shard.count != count) return 0;
    return count;
}

static nb_status print_missing_shards(const merger *m, int shards, nb_ctx *ctx)
{
    int *of, *planned, *missing;
    const char *config, *folder;
    nb_string command = NB_NO_TEXT;
    bool runs = false;
    NB_TRY(ctx, nb_run_path(m->e.folder, NB_CONFIG_FILE, &config, ctx));
    NB_TRY(ctx, nb_shell_add(ctx, &command, program_invocation_name, "run", config, "--out", m->e.folder, NULL));
    NB_TRY(ctx, nb_shards_assign(&m->e.plan, shards, &of, ctx));
    NB_NEED(planned, nb_alloc(ctx, (size_t)shards + 1, sizeof *planned));
    NB_NEED(missing, nb_alloc(ctx, (size_t)shards + 1, sizeof *missing));
    for (int i = 0; i < m->e.plan.row_count; i++) {
        planned[of[i]]++;
        missing[of[i]] += !m->merge.from[i];
    }
    for (int s = 1; s <= shards; s++) {
        if (missing[s] == 0) continue;
        fprintf(stderr, "nysbench: missing: shard %d/%d: %d of its %d rows", s, shards, missing[s], planned[s]);
        NB_TRY(ctx, nb_run_shard_folder(m->e.folder, (nb_shard){s, shards}, &folder, ctx));
        if (m->own) NB_TRY(ctx, nb_folder_is_locked(folder, &runs, ctx));
        if (m->own && runs) fputs("; it is running", stderr);
        if (m->own && !runs) fprintf(stderr, "; %s --shard %d/%d", command.text, s, shards);
        fputc('\n', stderr);
    }
    return NB_OK;
}

/* *missing: planned rows that no run holds. */
static nb_status print_missing(const merger *m, int *missing, nb_ctx *ctx)
{
    enum { SHOWN = 5 };
    int shards = shard_count(m);
    *missing = 0;
    for (int i = 0; i < m->e.plan.row_count; i++) {
        nb_any_row row;
        const char *what;
        if (m->merge.from[i] || (*missing)++ >= SHOWN || shards) continue;
        nb_plan_row(&m->e.plan, i, &row);
        NB_TRY(ctx, nb_row_text(m->e.config.study, &row, &what, ctx));
        fprintf(stderr, "nysbench: missing: %s\n", what);
    }
    if (*missing && shards) NB_TRY(ctx, print_missing_shards(m, shards, ctx));
    if (*missing) fprintf(stderr, "nysbench: %d of %d rows are in none of the runs\n", *missing, m->e.plan.row_count);
    return NB_OK;
}

/* A run of another config would be shown no more. Shards within OUT are of the config that OUT had last. */
static nb_status check_out(const merger *m, nb_ctx *ctx)
{
    const char *path, *config;
    NB_TRY(ctx, nb_run_path(m->e.folder, NB_CONFIG_FILE, &path, ctx));
    if (m->own || access(path, F_OK) != 0) return NB_OK;
    NB_TRY(ctx, nb_read_file(path, &config, ctx));
    return check_same_config(m, m->e.folder, config, ctx);
}

static nb_status merge_runs(merger *m, const choices *c, const nb_command_line *line, nb_store *store, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_run_path(m->e.folder, NB_CONFIG_FILE, &m->e.path, ctx)); /* what repeats a row of OUT */
    NB_NEED(m->e.out, nb_strdup(ctx, m->e.folder));
    m->e.limits = c->mixed ? "--mixed" : "";
    NB_NEED(m->rows, nb_ctx_child(ctx));
    for (int i = 0; i < m->count; i++) NB_TRY(ctx, read_source(m, &m->items[i], ctx));
    NB_TRY(ctx, check_out(m, ctx));
    if (!c->mixed) NB_TRY(ctx, check_builds(m, ctx));
    NB_TRY(ctx, refuse_conflicts(m, ctx));
    NB_TRY(ctx, write_out(m, c, line, store, ctx));
    nb_ctx_release(m->rows, 0);
    return NB_OK;
}

static nb_status report(const merger *m, nb_store *store, bool quiet, bool *whole, nb_ctx *ctx)
{
    const char *version;
    int failures, missing;
    bool gnuplot = m->e.config.plot_count == 0 || nb_gnuplot_version(&version, ctx);
    if (!gnuplot) nb_warn_without_gnuplot(m->e.folder);
    NB_TRY(ctx, nb_tell_results(&m->e, store, NULL, &(nb_telling){quiet, gnuplot ? nb_usable_cpus() : 0, NULL},
                                &failures, ctx));
    NB_TRY(ctx, print_missing(m, &missing, ctx));
    if (m->merge.replaced)
        fprintf(stderr, "nysbench: %d row%s had failed in %s and now ha%s the results of the runs\n", m->merge.replaced,
                m->merge.replaced == 1 ? "" : "s", m->e.folder, m->merge.replaced == 1 ? "s" : "ve");
    if (m->merge.kept)
        fprintf(stderr, "nysbench: %d row%s failed in the runs, so the results that %s has are kept\n", m->merge.kept,
                m->merge.kept == 1 ? "" : "s", m->e.folder);
    *whole = failures == 0 && missing == 0;
    return NB_OK;
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    choices c = {.shards = {.min = 1, .max = NB_MOST_SHARDS}};
    merger m = {.count = 0};
    nb_store store;
    bool whole;
    const struct poptOption options[] = {
        NB_WHOLE_OPTION("shards", '\0', c.shards,
                        "Without RUN: only OUT's shards I/N of that N (default: all shards in OUT)", "N"),
        NB_FLAG_OPTION("mixed", '\0', c.mixed,
                       "Merge results of different builds of the program, BLAS kernels or numbers of BLAS threads"),
        NB_FLAG_OPTION("quiet", 'q', c.quiet, "No table"),
        NB_PLUGIN_OPTION(line),
        NB_PROGRAMS_OPTION(line),
        POPT_TABLEEND};
    NB_TRY(ctx, nb_parse_command(line, options, 0, ctx));
    m.programs = line->programs;
    const char **runs = line->arguments + 1;
    NB_REQUIRE(ctx, !c.shards.text || !runs[0], NB_EINVAL,
               "merge: --shards is for OUT's own shards, where no RUN is named");
    for (int i = 0; runs[i]; i++) NB_TRY(ctx, nb_check_run(runs[i], ctx));
    c.out = m.e.folder = line->arguments[0];
    NB_TRY(ctx, runs[0] ? find_named(runs, &m, ctx) : find_own(&c, &m, ctx));
    NB_TRY(ctx, merge_runs(&m, &c, line, &store, ctx));
    line->stage = NB_WORKS;
    NB_TRY(ctx, report(&m, &store, c.quiet, &whole, ctx));
    line->exit = whole ? NB_EXIT_OK : NB_EXIT_FAILED;
    return NB_OK;
}

NB_COMMAND(merge, "OUT [RUN...]", "Merge shards, or runs of one config", true, NB_MORE + 20);
