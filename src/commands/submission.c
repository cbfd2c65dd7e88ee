/* SPDX-License-Identifier: GPL-3.0-or-later */
/* submission.c - see submission.h */
#include "commands/submission.h"

#include "base/files.h"
#include "run/provenance.h"
#include "run/run_folder.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

nb_status nb_submission_save(const nb_submission *s, nb_ctx *ctx)
{
    json_t *sent = json_array();
    int failed = !sent;
    for (int i = 0; i < s->sent_count; i++) failed |= json_array_append_new(sent, json_integer(s->sent[i]));
    json_t *all = json_pack("{s:i, s:i, s:o, s:s?, s:s?, s:I}", "shards", s->shards, "minutes", s->minutes, "sent",
                            sent, "array_job", s->array, "merge_job", s->merge, "user", (json_int_t)s->user);
    char *text = all && !failed ? json_dumps(all, JSON_INDENT(2)) : NULL;
    json_decref(all);
    NB_REQUIRE(ctx, text, NB_ENOMEM, "out of memory: a submission");
    NB_TRY(ctx, nb_defer(ctx, free, text));
    return nb_run_write_text(s->folder, NB_SUBMISSION_FILE, text, ctx);
}

static nb_status load(const char *folder, const char *path, nb_submission *s, nb_ctx *ctx)
{
    const char *text;
    json_error_t error;
    json_t *sent, *shard, *array, *merge;
    json_int_t user;
    size_t i;
    NB_TRY(ctx, nb_read_file(path, &text, ctx));
    json_t *all = json_loads(text, 0, &error);
    NB_REQUIRE(ctx, all, NB_EIO, "%s:%d: %s", path, error.line, error.text);
    NB_TRY(ctx, nb_defer_json(ctx, all));
    *s = (nb_submission){.folder = folder};
    NB_REQUIRE(ctx,
               json_unpack_ex(all, &error, 0, "{s:i, s:i, s:o, s:o, s:o, s:I}", "shards", &s->shards, "minutes",
                              &s->minutes, "sent", &sent, "array_job", &array, "merge_job", &merge, "user", &user) == 0,
               NB_EIO, "%s: is not a submission: %s", path, error.text);
    s->user = (uid_t)user;
    NB_NEED(s->sent, nb_alloc(ctx, json_array_size(sent), sizeof *s->sent));
    json_array_foreach(sent, i, shard) s->sent[s->sent_count++] = (int)json_integer_value(shard);
    s->array = json_string_value(array);
    s->merge = json_string_value(merge);
    return NB_OK;
}

/* Folders that are not there yet end the list: they are numbered from 1 on. One without its
 * file was prepared and not submitted. */
nb_status nb_submissions_load(const char *run, int *count, nb_submission **submissions, nb_ctx *ctx)
{
    int most = 0;
    struct stat info;
    const char *folder, *path;
    *count = 0;
    do NB_NEED(folder, nb_format(ctx, "%s/" NB_SUBMISSIONS_FOLDER "/%d", run, ++most));
    while (stat(folder, &info) == 0);
    NB_NEED(*submissions, nb_alloc(ctx, (size_t)most, sizeof **submissions));
    for (int i = 1; i < most; i++) {
        NB_NEED(folder, nb_format(ctx, "%s/" NB_SUBMISSIONS_FOLDER "/%d", run, i));
        NB_NEED(path, nb_format(ctx, "%s/" NB_SUBMISSION_FILE, folder));
        if (nb_is_file(path)) NB_TRY(ctx, load(folder, path, &(*submissions)[(*count)++], ctx));
    }
    return NB_OK;
}

static nb_status look_into(const char *folder, const nb_plan *part, const nb_program *here, nb_shard_state *state,
                           nb_ctx *ctx)
{
    nb_store store;
    nb_standing standing;
    nb_signed *by;
    int count;
    const char *path;
    NB_TRY(ctx, nb_folder_is_locked(folder, &state->locked, ctx));
    NB_TRY(ctx, nb_run_path(folder, NB_STORE_FILE, &path, ctx));
    NB_TRY(ctx, nb_store_open(path, false, part->config->study, &store, ctx));
    NB_TRY(ctx, nb_store_standing(&store, part, NULL, NULL, &standing, ctx));
    NB_TRY(ctx, nb_store_programs(&store, &count, &by, ctx));
    for (int i = 0; i < count; i++) /* whether the builds match is checked on the machines that run it */
        state->other_build |= strcmp(by[i].manifest.program.executable, here->executable) != 0;
    state->done = standing.done;
    state->failed = standing.failed + standing.diverged + standing.crashed + standing.timed_out;
    return NB_OK;
}

nb_status nb_shard_states(const char *run, const nb_plan *plan, const int *of, int count, nb_shard_state **states,
                          nb_ctx *ctx)
{
    nb_program here;
    NB_TRY(ctx, nb_program_here(1, &here, ctx));
    NB_NEED(*states, nb_alloc(ctx, (size_t)count + 1, sizeof **states));
    for (int i = 1; i <= count; i++) {
        nb_shard_state *state = &(*states)[i];
        const char *folder;
        nb_plan part;
        nb_mark mark = nb_ctx_mark(ctx);
        nb_status status = nb_shard_plan(plan, of, i, &part, ctx);
        state->planned = part.row_count;
        if (status == NB_OK) status = nb_run_shard_folder(run, (nb_shard){i, count}, &folder, ctx);
        if (status == NB_OK && nb_run_exists(folder, ctx)) status = look_into(folder, &part, &here, state, ctx);
        nb_ctx_release(ctx, mark);
        NB_TRY(ctx, status);
    }
    return NB_OK;
}

static nb_status ask(const nb_submission *s, int count, nb_shard_state *states, nb_ctx *ctx)
{
    nb_slurm_task *tasks;
    int task_count;
    NB_TRY(ctx, nb_slurm_queue(s->user, &task_count, &tasks, ctx));
    for (int t = 0; t < task_count; t++) {
        int i = tasks[t].index;
        if (i < 1 || i > count || strcmp(tasks[t].job, s->array) != 0) continue;
        states[i].sent = s; /* where an earlier one's is still there, that is the one that counts */
        states[i].queue = tasks[t].state;
    }
    return NB_OK;
}

nb_status nb_shard_states_ask(int submission_count, const nb_submission *submissions, int count, nb_shard_state *states,
                              nb_ctx *ctx)
{
    bool unfinished = false;
    for (int s = 0; s < submission_count; s++)
        for (int i = 0; i < submissions[s].sent_count && submissions[s].shards == count; i++) {
            int shard = submissions[s].sent[i];
            if (shard < 1 || shard > count || !submissions[s].array) continue;
            states[shard].sent = &submissions[s];
            unfinished = unfinished || states[shard].done < states[shard].planned;
        }
    for (int s = 0; s < submission_count && unfinished; s++)
        if (submissions[s].shards == count && submissions[s].array)
            NB_TRY(ctx, ask(&submissions[s], count, states, ctx));
    return NB_OK;
}
