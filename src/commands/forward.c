/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forward.c - nysbench forward: one attention's outputs on the heads of a file. */
#include "commands/command.h"

#include "api/handle.h"
#include "api/one_head.h"
#include "base/default_seed.h"
#include "base/machine.h"
#include "calls/heads.h"
#include "commands/program.h"
#include "data/tensor.h"

#include <limits.h>
#include <string.h>

typedef struct {
    char *head, *attention, *out;
    nb_word_value causal;
    nb_whole_value threads, seed, trial;
    const char *spec; /* of the attention */
} request;

/* All heads of the file, or the one that is named, with the mask that is asked for. */
static nb_status load(const request *r, nb_head_shape *file, nb_layer *layer, nb_ctx *ctx)
{
    const char *path, *spec;
    int head;
    nb_choice problem;
    nb_problem_shape shape;
    NB_TRY(ctx, nb_head_split(r->head, &path, &head, ctx));
    NB_TRY(ctx, nb_head_spec(path, head, nb_causal_of(&r->causal), &spec, ctx));
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

static void summarise(const request *r, const nysbench_attention *attention, const nb_layer_shape *s)
{
    nysbench_cost cost;
    nysbench_attention_cost(attention, &cost);
    fprintf(strcmp(r->out, "-") == 0 ? stderr : stdout,
            "%s: %d heads, n = %d, d = %d%s; first pass %.3g ms with %d threads, workspace %.3g MB\n",
            attention->choice.label, nb_layer_heads(s), s->n, s->d, s->causal ? ", causal" : "", 1e3 * cost.seconds,
            (int)r->threads.value, 1e-6 * cost.bytes);
}

static nb_status pass(const request *r, nysbench_attention *attention, const nb_head_shape *file, const nb_layer *layer,
                      nb_ctx *ctx)
{
    const nb_layer_shape *s = &layer->shape;
    int64_t heads[] = {file->heads, s->n, s->dv};
    int64_t inputs[] = {file->inputs, file->inputs ? file->heads / file->inputs : 0, s->n, s->dv};
    nb_scalar *out;
    NB_NEED(out, nb_alloc_scalars(ctx, (size_t)nb_layer_heads(s) * (size_t)s->n * (size_t)s->dv));
    int aside = nb_program_aside();
    nysbench_status status = nb_attention_pass(attention, layer, false, out);
    nb_program_output(aside);
    NB_TRY(ctx, nb_program_take(status, attention->own, ctx));
    NB_TRY(ctx, file->inputs ? nb_npy_save_floats(r->out, 4, inputs, sizeof *out, out, ctx)
                             : nb_npy_save_floats(r->out, 3, heads, sizeof *out, out, ctx));
    summarise(r, attention, s);
    return NB_OK;
}

static nb_status forward(const request *r, nysbench *handle, const nb_head_shape *file, const nb_layer *layer,
                         nb_ctx *ctx)
{
    const nb_layer_shape *s = &layer->shape;
    const nysbench_layer shape = {.size = sizeof shape,
                                  .batch = s->batch,
                                  .heads = s->heads,
                                  .key_heads = s->key_heads,
                                  .n = s->n,
                                  .d = s->d,
                                  .dv = s->dv,
                                  .causal = s->causal};
    nysbench_attention *attention;
    int aside = nb_program_aside();
    nysbench_status status = nysbench_attention_new(handle, r->spec, &shape, (int)r->threads.value, r->seed.value,
                                                    (int)r->trial.value, &attention);
    nb_program_output(aside);
    NB_TRY(ctx, nb_program_take(status, handle, ctx));
    nb_status passed = pass(r, attention, file, layer, ctx);
    nysbench_attention_free(attention);
    return passed;
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    request r = {.threads = {.min = 1, .max = NB_MOST_THREADS, .value = nb_lesser(nb_usable_cpus(), NB_MOST_THREADS)},
                 .seed = {.max = INT64_MAX, .value = NB_DEFAULT_SEED},
                 .trial = {.max = INT_MAX},
                 .causal = {.words = nb_causal_words, .value = 2}};
    const struct poptOption options[] = {
        NB_TEXT_OPTION("head", '\0', r.head,
                       "A .safetensors file or a folder of .npy files: all its heads, or one of them", "FILE[:H]"),
        NB_TEXT_OPTION("attention", 'a', r.attention,
                       "What computes the outputs: see `list attentions` (default: streamed, which is exact)", "SPEC"),
        {"causal", '\0', POPT_ARG_STRING | POPT_ARGFLAG_OPTIONAL, &r.causal.text, NB_TAKES_WORD,
         "Whether a query sees only the keys up to its own (default: auto, as the file says; alone: true)",
         "true|false|auto"},
        NB_WHOLE_OPTION("threads", 't', r.threads, "Threads (default: all CPUs that there are)", "N"),
        NB_WHOLE_OPTION("seed", '\0', r.seed, "Seed, as in an experiment (default: " NB_DEFAULT_SEED_TEXT ")", "S"),
        NB_WHOLE_OPTION("trial", '\0', r.trial, "Which of its trials (default: 0)", "T"),
        NB_OUTPUT_OPTION(r.out, "The outputs, float32 of the shape of q, with V's dimension; '-' is standard output"),
        NB_PLUGIN_OPTION(line),
        POPT_TABLEEND};
    nysbench *handle;
    nb_host host = {.seen = NULL};
    nb_choice attention; /* what is wrong with it is said before a large file is read */
    nb_head_shape file;
    nb_layer layer;
    for (int i = 1; i < line->argc; i++)
        if (strcmp(line->argv[i], "--causal") == 0) r.causal.value = 0; /* alone: true */
    NB_TRY(ctx, nb_parse_command(line, options, 0, ctx));
    NB_REQUIRE(ctx, r.head && r.out, NB_EINVAL, "forward: %s is missing",
               r.head ? "-o: a .npy file, or '-' for standard output," : "--head FILE");
    r.spec = r.attention ? r.attention : "streamed";
    NB_TRY(ctx, nb_program_handle(&handle, &host, ctx));
    NB_TRY(ctx, nb_attention_choose(handle, r.spec, &attention, ctx));
    NB_TRY(ctx, load(&r, &file, &layer, ctx));
    line->stage = NB_ASKS;
    return forward(&r, handle, &file, &layer, ctx);
}

NB_COMMAND(forward, "--head FILE --attention SPEC -o FILE.npy", "Compute one attention's outputs for a file's heads",
           true, NB_YOUR_OWN + 60);
