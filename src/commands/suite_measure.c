/* SPDX-License-Identifier: GPL-3.0-or-later */
/* suite_measure.c - see suite_measure.h */
#include "commands/suite_measure.h"

#include "base/digest.h"
#include "base/files.h"
#include "commands/command.h"
#include "commands/program.h"
#include "run/run_folder.h"

#include <jansson.h>
#include <string.h>

/* Whether there are rows that another program has measured. */
static nb_status find_others(const char *rows, bool *others, nb_ctx *ctx)
{
    const char *path, *here;
    long long bytes;
    json_t *manifest;
    *others = false;
    NB_NEED(path, nb_format(ctx, "%s/manifest.json", rows));
    if (!nb_is_file(path)) return NB_OK;
    NB_TRY(ctx, nb_read_json(path, &manifest, ctx));
    NB_TRY(ctx, nb_digest_file("/proc/self/exe", &here, &bytes, ctx));
    const char *executable = json_string_value(json_object_get(manifest, "executable"));
    *others = !executable || strcmp(executable, here) != 0;
    return NB_OK;
}

nb_status nb_measure_experiment(const char *experiment, const char *rows, const char *jobs, nb_relation **relation,
                                int *exit, nb_ctx *ctx)
{
    const char *other;
    bool others;
    NB_TRY(ctx, find_others(rows, &others, ctx));
    const char *argv[] = {"run", experiment, "--out", rows, "--quiet", NULL, NULL, NULL, NULL};
    int count = 5;
    if (others) argv[count++] = "--fresh";
    if (jobs) argv[count++] = "--jobs", argv[count++] = jobs;
    int aside = nb_program_aside();
    *exit = nb_run_command(nb_command_named("run"), count, argv, ctx);
    nb_program_output(aside);
    if (*exit != NB_EXIT_OK && *exit != NB_EXIT_FAILED) return NB_OK;
    *exit = NB_EXIT_OK; /* rows that failed are a matter of the method */
    return nb_command_rows(rows, relation, &other, ctx);
}

/* The folder of a result's rows: its file's name without the ending. */
static nb_status folder_of(const char *path, const char **folder, nb_ctx *ctx)
{
    NB_NEED(*folder, nb_format(ctx, "%.*s", (int)(strlen(path) - strlen(".json")), path));
    return nb_make_folder(*folder, ctx);
}

static nb_status measure_track(nb_suite_result *r, int track, const char *program, const nb_block_terms *terms,
                               const char *folder, const char **rows, nb_suite_damage *to, int *exit, nb_ctx *ctx)
{
    const nb_suite_damaged *d = r->suite->tracks[track].damaged;
    const char *name = r->suite->tracks[track].name, *experiment;
    nb_relation *relation;
    if (!d || r->absent[track]) return NB_OK;
    to->refused = r->settings[d->model][d->share].why;
    if (to->refused) return NB_OK;
    NB_NEED(experiment, nb_format(ctx, "%s/damage-%s.yaml", folder, name));
    NB_NEED(*rows, nb_format(ctx, "%s/damage-%s", folder, name));
    NB_TRY(ctx, nb_suite_write_damage_experiment(r, track, program, terms->limit_s, experiment, ctx));
    NB_TRY(ctx, nb_measure_experiment(experiment, *rows, terms->jobs, &relation, exit, ctx));
    return *exit == NB_EXIT_OK ? nb_suite_take_damage(r, track, relation, to, ctx) : NB_OK;
}

nb_status nb_measure_damage(const nb_suite_result *result, const char *program, const nb_block_terms *terms,
                            const char *path, int *exit, nb_ctx *ctx)
{
    nb_suite_result r = *result;
    nb_suite_damage *damage;
    const char *folder, **rows;
    size_t tracks = (size_t)r.suite->track_count;
    NB_NEED(damage, nb_alloc(ctx, tracks, sizeof *damage));
    NB_NEED(rows, nb_alloc(ctx, tracks, sizeof *rows));
    NB_TRY(ctx, folder_of(path, &folder, ctx));
    for (int t = 0; t < r.suite->track_count && *exit == NB_EXIT_OK; t++)
        NB_TRY(ctx, measure_track(&r, t, program, terms, folder, &rows[t], &damage[t], exit, ctx));
    r.damage = damage;
    return *exit == NB_EXIT_OK ? nb_suite_add_damage(&r, rows, path, ctx) : NB_OK;
}

nb_status nb_measure_times(const nb_suite_result *result, const nb_block_terms *terms, const char *path, int *exit,
                           nb_ctx *ctx)
{
    nb_suite_result r = *result;
    nb_suite_timing *timing;
    const char *folder, *experiment, *rows;
    nb_relation *relation;
    NB_TRY(ctx, folder_of(path, &folder, ctx));
    NB_NEED(experiment, nb_format(ctx, "%s/timed.yaml", folder));
    NB_NEED(rows, nb_format(ctx, "%s/timed", folder));
    NB_TRY(ctx, nb_suite_write_times_experiment(&r, experiment, ctx));
    NB_TRY(ctx, nb_measure_experiment(experiment, rows, terms->jobs, &relation, exit, ctx));
    if (*exit != NB_EXIT_OK) return NB_OK;
    NB_NEED(timing, nb_alloc(ctx, (size_t)r.suite->model_count, sizeof *timing));
    NB_TRY(ctx, nb_suite_take_times(&r, relation, timing, ctx));
    r.timing = timing;
    return nb_suite_add_times(&r, rows, path, ctx);
}
