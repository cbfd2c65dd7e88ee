/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shard_states.c - see experiment.h */
#include "commands/experiment.h"

#include "base/files.h"
#include "run/provenance.h"
#include "run/run_folder.h"

#include <string.h>

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
