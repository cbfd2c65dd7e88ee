/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attend.c - nysbench attend: keeps one attention open, and makes passes as it is asked. The Python package starts it
 * for what the library itself does not do: programs and plug-ins.
 *
 * Questions come on standard input, answers go to standard output, a JSON object a line, after {"ready": 1}:
 *     {"do": "open", "batch": B, "heads": H, "key_heads": K, "n": N, "d": D, "dv": DV, "causal": false}   at first
 *     {"do": "forward", "folder": F}  a pass over q.npy, k.npy, v.npy of F, (heads, n, d) or (batch, heads, n, d)
 *     {"do": "extend", "folder": F}   the next tokens, as nysbench_attention_extend
 *     {"do": "restart"}               as nysbench_attention_restart
 * A pass leaves out.npy, float32 (batch * heads, tokens, dv), in F. The answer has the "seconds", "multiplications" and
 * "bytes" of the last pass, or "error" and "status", a message and an nysbench_status. */
#include "commands/command.h"

#include "api/handle.h"
#include "base/default_seed.h"
#include "base/machine.h"
#include "commands/program.h"
#include "data/tensor.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const char *spec;
    nb_whole_value threads, seed, trial;
    nysbench *handle;
    nysbench_attention *attention; /* NULL: it is not open */
    FILE *answers;
} service;

static nb_status open_attention(service *s, const json_t *question, nb_ctx *ctx)
{
    nysbench_layer shape = {.size = sizeof shape};
    NB_REQUIRE(ctx, !s->attention, NB_EINVAL, "open: the attention is open already");
    NB_REQUIRE(ctx,
               json_unpack((json_t *)question, "{s:i, s:i, s:i, s:i, s:i, s:i, s:b}", "batch", &shape.batch, "heads",
                           &shape.heads, "key_heads", &shape.key_heads, "n", &shape.n, "d", &shape.d, "dv", &shape.dv,
                           "causal", &shape.causal) == 0,
               NB_EINVAL, "open: expected batch, heads, key_heads, n, d, dv and causal");
    nysbench_status status = nysbench_attention_new(s->handle, s->spec, &shape, (int)s->threads.value, s->seed.value,
                                                    (int)s->trial.value, &s->attention);
    return nb_program_take(status, s->handle, ctx);
}

static nb_status pass(const service *s, const json_t *question, bool extends, nb_ctx *ctx)
{
    const char *folder = json_string_value(json_object_get(question, "folder")), *path;
    nb_head_shape file;
    nb_layer layer;
    nb_scalar *out;
    NB_REQUIRE(ctx, folder, NB_EINVAL, "expected a folder with q.npy, k.npy and v.npy");
    NB_TRY(ctx, nb_head_file_shape(folder, &file, ctx));
    NB_TRY(ctx, nb_layer_load(folder, 0, file.heads, &layer, ctx));
    layer.shape.causal = s->attention->attending.shape.causal;
    const int64_t outputs[] = {file.heads, layer.shape.n, layer.shape.dv};
    NB_NEED(out, nb_alloc_scalars(ctx, (size_t)file.heads * (size_t)layer.shape.n * (size_t)layer.shape.dv));
    NB_TRY(ctx, nb_program_take(nb_attention_pass(s->attention, &layer, extends, out), s->attention->own, ctx));
    NB_NEED(path, nb_format(ctx, "%s/out.npy", folder));
    return nb_npy_save_floats(path, 3, outputs, sizeof *out, out, ctx);
}

static nb_status act(service *s, const json_t *question, nb_ctx *ctx)
{
    const char *what = json_string_value(json_object_get(question, "do"));
    NB_REQUIRE(ctx, what, NB_EINVAL, "expected an object with do, a text");
    if (strcmp(what, "open") == 0) return open_attention(s, question, ctx);
    NB_REQUIRE(ctx, s->attention, NB_EINVAL, "%s: the attention is not open", what);
    if (strcmp(what, "forward") == 0 || strcmp(what, "extend") == 0) return pass(s, question, *what == 'e', ctx);
    NB_REQUIRE(ctx, strcmp(what, "restart") == 0, NB_EINVAL, "do: expected open, forward, extend or restart, not %s",
               what);
    nysbench_attention_restart(s->attention);
    return NB_OK;
}

static json_t *number_of(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static nb_status say(const service *s, nb_status status, nb_ctx *ctx)
{
    nysbench_cost cost = {.seconds = NAN, .multiplications = NAN, .bytes = NAN};
    if (s->attention) nysbench_attention_cost(s->attention, &cost);
    json_t *answer = status == NB_OK
                         ? json_pack("{s:o, s:o, s:o}", "seconds", number_of(cost.seconds), "multiplications",
                                     number_of(cost.multiplications), "bytes", number_of(cost.bytes))
                         : json_pack("{s:s, s:i}", "error", nb_error_message(ctx), "status", (int)status);
    NB_REQUIRE(ctx, answer, NB_ENOMEM, "out of memory: an answer");
    bool written =
        json_dumpf(answer, s->answers, JSON_COMPACT) == 0 && fputc('\n', s->answers) != EOF && fflush(s->answers) == 0;
    json_decref(answer);
    nb_error_clear(ctx);
    NB_REQUIRE(ctx, written, NB_EIO, "standard output cannot be written to");
    return NB_OK;
}

static nb_status answer(service *s, const char *line, nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    json_t *question = json_loads(line, 0, NULL);
    nb_status status = act(s, question, ctx);
    json_decref(question);
    NB_TRY(ctx, say(s, status, ctx));
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

static nb_status answer_all(service *s, nb_ctx *ctx)
{
    char *line = NULL;
    size_t room = 0;
    nb_status status = NB_OK;
    fputs("{\"ready\": 1}\n", s->answers);
    fflush(s->answers);
    while (status == NB_OK && getline(&line, &room, stdin) >= 0) status = answer(s, line, ctx);
    free(line);
    return status;
}

static nb_status serve(service *s, nb_ctx *ctx)
{
    int aside = nb_program_aside(), copy = aside < 0 ? -1 : dup(aside);
    s->answers = copy < 0 ? NULL : fdopen(copy, "w");
    NB_REQUIRE(ctx, s->answers, NB_EIO, "standard output cannot be written to");
    nb_status status = answer_all(s, ctx);
    fclose(s->answers);
    nb_program_output(aside);
    nysbench_attention_free(s->attention);
    return status;
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    service s = {.threads = {.min = 1, .max = NB_MOST_THREADS, .value = nb_lesser(nb_usable_cpus(), NB_MOST_THREADS)},
                 .seed = {.max = INT64_MAX, .value = NB_DEFAULT_SEED},
                 .trial = {.max = INT_MAX}};
    nb_host host = {.seen = NULL};
    const struct poptOption options[] = {
        NB_WHOLE_OPTION("threads", 't', s.threads, "Threads", "N"), NB_WHOLE_OPTION("seed", '\0', s.seed, "Seed", "S"),
        NB_WHOLE_OPTION("trial", '\0', s.trial, "Which of its trials", "T"), NB_PLUGIN_OPTION(line), POPT_TABLEEND};
    NB_TRY(ctx, nb_parse_command(line, options, 0, ctx));
    s.spec = line->arguments[0];
    NB_TRY(ctx, nb_program_handle(&s.handle, &host, ctx));
    line->stage = NB_WORKS;
    return serve(&s, ctx);
}

NB_COMMAND(attend, "SPEC", "Make passes of one attention for the Python package", true, 0);
