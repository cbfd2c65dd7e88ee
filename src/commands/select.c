/* SPDX-License-Identifier: GPL-3.0-or-later */
/* select.c - nysbench select: one strategy's landmarks on one head, as a run picks them. */
#include "cli/one_head.h"

#include "studies/error/runner.h"
#include "nystrom/picks_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 32 };

static void summarise(FILE *out, const nb_one_head_plan *one, const nb_picks *picks, const char *side,
                      const nb_landmarks *l)
{
    const nb_error_method *c = nb_error_methods(&one->plan);
    fprintf(out, "%s: %d %s from %d %s of dimension %d; pairing %s, seed %lld, trial %d, %.3g s\n", c->strategy->label,
            picks->m,
            picks->kind == NB_TOKENS   ? "tokens"
            : picks->kind == NB_GROUPS ? "means"
                                       : "points",
            one->shape.n, side, one->shape.d, nb_pairing_names[c->pairing], one->config.seed, one->trial, l->select_s);
    for (int j = 0; picks->kind == NB_TOKENS && j < picks->m && j < SHOWN; j++)
        fprintf(out, "%s%d", j ? " " : "", picks->tokens[j]);
    if (picks->kind == NB_TOKENS) fprintf(out, "%s\n", picks->m > SHOWN ? " ..." : "");
    if (l->note) fprintf(out, "%s\n", l->note);
}

static nb_status pick(nb_one_head_plan *one, bool keys, const char *path, nb_ctx *ctx)
{
    nb_head head;
    nb_scene *scene;
    nb_landmarks landmarks;
    gsl_rng *rng;
    NB_TRY(ctx, nb_random_new(&rng, ctx));
    NB_TRY(ctx, nb_plan_head(&one->plan, 0, one->trial, rng, &head, ctx));
    NB_TRY(ctx, nb_run_make_scene(&one->plan, 0, &head, &scene, ctx));
    NB_TRY(ctx, nb_run_pick(&one->plan, scene, one->trial, nb_error_methods(&one->plan), rng, &landmarks, ctx));
    NB_REQUIRE(ctx, !landmarks.refusal, NB_EINVAL, "%s: %s", nb_error_methods(&one->plan)->strategy->label,
               landmarks.refusal);
    const nb_picks *picks = keys ? &landmarks.keys : &landmarks.queries;
    NB_TRY(ctx, nb_picks_save(path, picks, head.d, head.n, keys ? head.k : head.q, ctx));
    summarise(strcmp(path, "-") == 0 ? stderr : stdout, one, picks, keys ? "keys" : "queries", &landmarks);
    return NB_OK;
}

/* Under a kernel of the queries alone there may be none. */
static nb_status require_keys(const nb_one_head_plan *one, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, !one->shape.keyless, NB_EINVAL, "%s; --side keys needs keys, --side queries does not",
               one->shape.keyless);
    return NB_OK;
}

static int run(const nb_command *command, int argc, const char **argv, nb_ctx *ctx)
{
    nb_one_head_texts t = {.head = NULL};
    nb_one_head_plan one;
    char *side = NULL, *out = NULL;
    struct poptOption options[] = {
        NB_HELP_OPTION,
        NB_ONE_HEAD_OPTIONS(t),
        {"side", '\0', POPT_ARG_STRING, &side, 0, "Which side's landmarks to write (default: queries)", "queries|keys"},
        {"out", 'o', POPT_ARG_STRING, &out, 0,
         "Tokens as int64 (m), or points as float64 (m, d); '-' is standard output", "FILE.npy"},
        POPT_TABLEEND};
    const char **arguments;
    int code = nb_command_parse(command, argc, argv, options, (nb_arguments){0, 0, &arguments}, ctx);
    nb_status status = nb_command_plugins(t.plugins, ctx), owned = nb_one_head_own(&t, ctx);
    if (side && nb_defer(ctx, free, side) != NB_OK) owned = NB_ENOMEM;
    if (out && nb_defer(ctx, free, out) != NB_OK) owned = NB_ENOMEM;
    if (code != NB_GO_ON) return code;
    bool keys = side && strcmp(side, "keys") == 0;
    if (side && !keys && strcmp(side, "queries") != 0) {
        nb_print_error("select: --side '%s' is unknown; allowed: queries, keys", side);
        return NB_EXIT_USAGE;
    }
    if (!out) {
        nb_print_error("select: -o is missing: a .npy file, or '-' for standard output");
        return NB_EXIT_USAGE;
    }
    if (status == NB_OK) status = owned;
    if (status == NB_OK) status = nb_one_head_begin(&t, &one, ctx);
    if (status == NB_OK && keys) status = require_keys(&one, ctx);
    if (status == NB_OK) status = nb_one_head_finish(&t, NULL, 0, &one, ctx);
    if (status != NB_OK) return nb_print_failure(ctx, NB_EXIT_USAGE);
    return pick(&one, keys, out, ctx) == NB_OK ? NB_EXIT_OK : nb_print_failure(ctx, NB_EXIT_FAILED);
}

const nb_command nb_command_select = {"select", "--head FILE ...", "Pick landmarks once and write them", run, true,
                                      110};
