/* SPDX-License-Identifier: GPL-3.0-or-later */
/* live_model.c - attention heads from a model that a program outside runs: all heads of some layers, for each of its
 * sources. The program (docs/models.md) is started once in each process and stays alive. */
#include "problems/live_model.h"

#include "base/last_words.h"
#include "base/scratch.h"
#include "problems/problem.h"

static const nb_option options[] = {
    NB_FILE(nb_model_options, run, NULL,
            "the program that runs the model, and its arguments, such as \"python3 serve.py minilm\""),
    NB_TEXT(nb_model_options, layers, "all",
            "which layers: all, half (every other one from 0 on), or the number of one, from 0"),
    NB_OPTION_FIELD(nb_model_options, source, NB_OPTION_INT, int, "all",
                    "which of the program's sources, from 0; a list takes several", .lo = 0, .hi = 1 << 20,
                    .word = "all", .selects_head = true),
    NB_REAL(nb_model_options, timeout, "60", 1e-3, 1e6,
            "seconds for one question, and for the program's start; after that it is ended, and started anew for the "
            "next"),
    NB_PERMUTE(nb_model_options),
    NB_OPTION_END};

nb_status nb_model_part_find(const nb_model_options *o, nb_model_part *part, nb_ctx *ctx)
{
    *part = (nb_model_part){.program = {o->run, o->timeout}};
    NB_TRY(ctx, nb_model_describe(&part->program, &part->model, ctx));
    return nb_model_layers(o->layers, part->model.layers, &part->layer_count, &part->layers, ctx);
}

static nb_status shape(const void *opts, nb_problem_shape *shape, nb_ctx *ctx)
{
    const nb_model_options *o = opts;
    nb_model_part part;
    const char **names;
    NB_TRY(ctx, nb_model_part_find(o, &part, ctx));
    const nb_model *m = &part.model;
    int each = part.layer_count * m->heads;
    bool one = o->source != NB_AUTO;
    NB_REQUIRE(ctx, !one || o->source < m->source_count, NB_EINVAL, "%s: source = %d is not one of its sources 0 to %d",
               o->run, o->source, m->source_count - 1);
    *shape = (nb_problem_shape){.first = one ? o->source * each : 0,
                                .count = one ? each : m->source_count * each,
                                .n = m->n,
                                .d = m->d,
                                .each = each,
                                .shared = m->heads / m->key_heads,
                                .causal = m->causal,
                                .origins = {.model = m->name, .layer = o->layers}};
    size_t heads = (size_t)m->source_count * (size_t)each;
    NB_NEED(names, nb_alloc(ctx, heads, sizeof *names));
    for (size_t h = 0; h < heads; h++) names[h] = m->sources[h / (size_t)each];
    shape->origins.sources = names + shape->first;
    return NB_OK;
}

/* Loads the head through a file in that folder. */
static nb_status load(const nb_model_part *part, int head, const char *folder, nb_head *out, nb_ctx *ctx)
{
    const char *path;
    int heads = part->model.heads, each = part->layer_count * heads, *layer = &part->layers[head % each / heads];
    NB_NEED(path, nb_format(ctx, "%s/heads.safetensors", folder));
    NB_TRY(ctx, nb_model_write_heads(&part->program, &part->model, head / each, 1, layer, path, ctx));
    return nb_head_load(path, head % heads, out, ctx);
}

static nb_status make(const void *opts, int head, nb_head *out, nb_ctx *ctx)
{
    nb_model_part part;
    const char *folder;
    NB_TRY(ctx, nb_model_part_find(opts, &part, ctx));
    NB_TRY(ctx, nb_temporary_folder(&folder, ctx));
    NB_TRY(ctx, nb_error_hide_chance(load(&part, head, folder, out, ctx), folder, ctx));
    out->causal = part.model.causal;
    return NB_OK;
}

static const char *const references[] = {"the program that it asks; the safetensors format", NULL};

const nb_problem nb_problem_live_model = {
    .component = {NB_PROBLEM_MODEL, "attention heads of a model that a program of your own runs", references, options,
                  sizeof(nb_model_options)},
    .shape = shape,
    .make = make,
    .checked_later = true,
};
