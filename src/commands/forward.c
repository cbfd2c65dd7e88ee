/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forward.c - nysbench forward: one attention's outputs on the heads of a file. */
#include "cli/one_head.h"

#include "attentions/attention.h"
#include "base/machine.h"
#include "calls/heads.h"
#include "data/tensor.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char *head, *attention, *causal, *threads, *seed, *trial, *out;
    const char **plugins;
    int thread_count, trial_number, seed_number;
    bool alone; /* --causal without a value */
} request;

static nb_status own(const request *r, nb_ctx *ctx)
{
    char *texts[] = {r->head, r->attention, r->causal, r->threads, r->seed, r->trial, r->out};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i]) NB_TRY(ctx, nb_defer(ctx, free, texts[i]));
    return NB_OK;
}

/* All heads of the file, or the one that is named, with the mask that is asked for. */
static nb_status load(const request *r, nb_head_shape *file, nb_layer *layer, nb_ctx *ctx)
{
    const char *path, *spec;
    int head;
    nb_choice problem;
    nb_problem_shape shape;
    NB_TRY(ctx, nb_head_split(r->head, &path, &head, ctx));
    NB_TRY(ctx, nb_head_spec(path, head, r->causal || !r->alone ? r->causal : "true", &spec, ctx));
    NB_TRY(ctx, nb_choice_parse(&nb_problems, spec, &problem, ctx));
    NB_TRY(ctx, nb_heads_shape(&problem, &shape, ctx));
    if (shape.warning) nb_print_warning("%s", shape.warning);
    NB_TRY(ctx, nb_head_file_shape(path, file, ctx));
    NB_TRY(ctx, nb_layer_load(path, shape.first, shape.count, layer, ctx));
    if (head >= 0) file->heads = 1, file->inputs = 0;
    layer->shape.causal = shape.causal;
    layer->problem = problem.canonical;
    return NB_OK;
}

static nb_status require_possible(const nb_choice *attention, const nb_layer_shape *shape, nb_ctx *ctx)
{
    const char *why;
    NB_TRY(ctx, nb_attention_refusal(attention, shape, &why, ctx));
    NB_REQUIRE(ctx, !why, NB_EINVAL, "%s: %s", attention->label, why);
    return NB_OK;
}

static nb_status save(const request *r, const nb_head_shape *file, const nb_layer_shape *s, const nb_scalar *out,
                      nb_ctx *ctx)
{
    int64_t heads[] = {file->heads, s->n, s->dv};
    int64_t inputs[] = {file->inputs, file->inputs ? file->heads / file->inputs : 0, s->n, s->dv};
    if (file->inputs) return nb_npy_save_floats(r->out, 4, inputs, sizeof *out, out, ctx);
    return nb_npy_save_floats(r->out, 3, heads, sizeof *out, out, ctx);
}

static nb_status forward(const request *r, const nb_choice *attention, const nb_head_shape *file, const nb_layer *layer,
                         nb_ctx *ctx)
{
    const nb_layer_shape *s = &layer->shape;
    nb_team *team;
    nb_attending attending;
    nb_passed passed;
    nb_scalar *out;
    nb_stream stream = {.seed = (uint64_t)r->seed_number, .trial = r->trial_number};
    NB_NEED(out, nb_alloc_scalars(ctx, (size_t)nb_layer_heads(s) * (size_t)s->n * (size_t)s->dv));
    NB_TRY(ctx, nb_team_new(r->thread_count, &team, ctx));
    NB_TRY(ctx, nb_attention_open(attention, s, team, stream, &attending, ctx));
    NB_TRY(ctx, nb_attention_forward(&attending, layer, out, &passed, ctx));
    NB_REQUIRE(ctx, !passed.refusal, NB_EINVAL, "%s: %s", attention->label, passed.refusal);
    NB_REQUIRE(ctx, !passed.diverged, NB_ENUMERIC, "%s: %s", attention->label, passed.diverged);
    for (size_t i = 0; i < (size_t)nb_layer_heads(s) * (size_t)s->n * (size_t)s->dv; i++)
        NB_REQUIRE(ctx, isfinite(out[i]), NB_ENUMERIC, "%s: outputs are not finite", attention->label);
    NB_TRY(ctx, save(r, file, s, out, ctx));
    fprintf(strcmp(r->out, "-") == 0 ? stderr : stdout,
            "%s: %d heads, n = %d, d = %d%s; first pass %.3g ms with %d threads, workspace %.3g MB\n", attention->label,
            nb_layer_heads(s), s->n, s->d, s->causal ? ", causal" : "", 1e3 * passed.seconds, r->thread_count,
            1e-6 * passed.bytes);
    return NB_OK;
}

static int check(const nb_command *command, request *r)
{
    if (!r->head || !r->out) {
        nb_print_error("forward: %s is missing",
                       r->head ? "-o: a .npy file, or '-' for standard output," : "--head FILE");
        return NB_EXIT_USAGE;
    }
    r->thread_count = nb_lesser(nb_usable_cpus(), NB_MOST_THREADS);
    r->seed_number = 20260101;
    int code = nb_command_number(command, "--threads", r->threads, 1, NB_MOST_THREADS, &r->thread_count);
    if (code == NB_GO_ON) code = nb_command_number(command, "--seed", r->seed, 0, INT_MAX, &r->seed_number);
    if (code == NB_GO_ON) code = nb_command_number(command, "--trial", r->trial, 0, INT_MAX, &r->trial_number);
    return code;
}

static int run(const nb_command *command, int argc, const char **argv, nb_ctx *ctx)
{
    request r = {.head = NULL};
    struct poptOption options[] = {
        NB_HELP_OPTION,
        {"head", '\0', POPT_ARG_STRING, &r.head, 0,
         "A .safetensors file or a folder of .npy files: all its heads, or one of them", "FILE[:H]"},
        {"attention", 'a', POPT_ARG_STRING, &r.attention, 0,
         "What computes the outputs: see `list attentions` (default: streamed, which is exact)", "SPEC"},
        {"causal", '\0', POPT_ARG_STRING | POPT_ARGFLAG_OPTIONAL, &r.causal, 0,
         "Whether a query sees only the keys up to its own (default: auto, as the file says; alone: true)",
         "true|false|auto"},
        {"threads", 't', POPT_ARG_STRING, &r.threads, 0, "Threads (default: all CPUs that there are)", "N"},
        {"seed", '\0', POPT_ARG_STRING, &r.seed, 0, "Seed, as in an experiment (default: 20260101)", "S"},
        {"trial", '\0', POPT_ARG_STRING, &r.trial, 0, "Which of its trials (default: 0)", "T"},
        {"out", 'o', POPT_ARG_STRING, &r.out, 0,
         "The outputs, float32 of the shape of q, with V's dimension; '-' is standard output", "FILE.npy"},
        NB_PLUGIN_OPTION(r.plugins),
        POPT_TABLEEND};
    const char **arguments;
    nb_choice attention;
    nb_head_shape file;
    nb_layer layer;
    int code = nb_command_parse(command, argc, argv, options, (nb_arguments){0, 0, &arguments}, ctx);
    for (int i = 1; i < argc; i++) r.alone = r.alone || strcmp(argv[i], "--causal") == 0;
    nb_status status = nb_command_plugins(r.plugins, ctx), owned = own(&r, ctx);
    if (code != NB_GO_ON) return code;
    code = check(command, &r);
    if (code != NB_GO_ON) return code;
    if (status == NB_OK) status = owned;
    if (status == NB_OK)
        status = nb_choice_parse(&nb_attentions, r.attention ? r.attention : "streamed", &attention, ctx);
    if (status == NB_OK) status = nb_attention_check(&attention, ctx);
    if (status == NB_OK) status = load(&r, &file, &layer, ctx);
    if (status == NB_OK) status = require_possible(&attention, &layer.shape, ctx);
    if (status != NB_OK) return nb_print_failure(ctx, NB_EXIT_USAGE);
    status = forward(&r, &attention, &file, &layer, ctx);
    if (status == NB_OK) return NB_EXIT_OK;
    return nb_print_failure(ctx, status == NB_EINVAL ? NB_EXIT_USAGE : NB_EXIT_FAILED);
}

const nb_command nb_command_forward = {"forward",
                                       "--head FILE --attention SPEC -o FILE.npy",
                                       "Compute one attention's outputs for the heads of a file",
                                       run,
                                       true,
                                       125};
