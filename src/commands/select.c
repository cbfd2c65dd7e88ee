/* SPDX-License-Identifier: GPL-3.0-or-later */
/* select.c - nysbench select: one strategy's landmarks on one head, as a run picks them. */
#include "commands/program.h"

#include "data/tensor.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN = 32 };

static void summarise(FILE *out, const nysbench *handle, const nysbench_landmarks *l, bool keys)
{
    const int64_t *tokens = keys ? l->keys.tokens : l->queries.tokens;
    fprintf(out, "%s: %d %s from %d %s of dimension %d; pairing %s, seed %lld, trial %d, %.3g s\n", handle->strategy,
            l->m,
            l->kind == NYSBENCH_TOKENS   ? "tokens"
            : l->kind == NYSBENCH_GROUPS ? "means"
                                         : "points",
            l->n, keys ? "keys" : "queries", l->d, nb_pairing_names[handle->pairing], handle->seed, handle->trial,
            l->select_s);
    for (int j = 0; tokens && j < l->m && j < SHOWN; j++) fprintf(out, "%s%lld", j ? " " : "", (long long)tokens[j]);
    if (tokens) fprintf(out, "%s\n", l->m > SHOWN ? " ..." : "");
    if (l->note) fprintf(out, "%s\n", l->note);
}

/* Under a kernel of the queries alone there may be no keys. */
static nb_status require_keys(void *self, const nb_problem_shape *shape, nb_given *given, nb_ctx *ctx)
{
    (void)self, (void)given;
    NB_REQUIRE(ctx, !shape->keyless, NB_EINVAL, "%s; --side keys needs keys, --side queries does not", shape->keyless);
    return NB_OK;
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    static const char *const sides[] = {"queries", "keys", NULL};
    nb_head_request asked;
    nb_host host = {.seen = NULL};
    nysbench *handle;
    nysbench_landmarks landmarks;
    nb_word_value side = {.words = sides};
    char *out = NULL;
    const struct poptOption options[] = {
        NB_ONE_HEAD_OPTIONS(asked, line),
        NB_WORD_OPTION("side", '\0', side, "Which side's landmarks to write (default: queries)", "queries|keys"),
        NB_OUTPUT_OPTION(out, "Tokens as int64 (m), or points as float64 (m, d); '-' is standard output"),
        POPT_TABLEEND};
    nb_head_request_init(&asked);
    NB_TRY(ctx, nb_parse_command(line, options, 0, ctx));
    NB_REQUIRE(ctx, out, NB_EINVAL, "select: -o is missing: a .npy file, or '-' for standard output");
    bool keys = side.value == 1;
    NB_TRY(ctx, nb_head_request_finish(&asked, ctx));
    NB_TRY(ctx, nb_program_handle(&handle, &host, ctx));
    if (keys) host.seen = require_keys;
    int aside = nb_program_aside();
    NB_TRY(ctx, nb_program_end(line, handle, nysbench_select(handle, &asked.request, &landmarks), aside, ctx));
    const nysbench_side *of = keys ? &landmarks.keys : &landmarks.queries;
    int64_t shape[] = {landmarks.m, landmarks.d}; /* tokens as integers, of groups the means, and points */
    NB_TRY(ctx, of->tokens ? nb_npy_save_integers(out, 1, shape, of->tokens, ctx)
                           : nb_npy_save_reals(out, 2, shape, of->points, ctx));
    summarise(strcmp(out, "-") == 0 ? stderr : stdout, handle, &landmarks, keys);
    return NB_OK;
}

NB_COMMAND(select, "--head FILE ...", "Pick landmarks once and write them", true, NB_YOUR_OWN + 40);
