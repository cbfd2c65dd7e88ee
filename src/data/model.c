/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model.c - see model.h */
#include "data/model.h"

#include "base/files.h"
#include "base/numbers.h"
#include "base/scratch.h"
#include "base/server.h"
#include "base/text.h"
#include "data/asking.h"
#include "data/head.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* `question` is taken over. */
static nb_status ask(const nb_model_program *p, json_t *question, const json_t **answer, nb_ctx *ctx)
{
    nb_service service = {.start_s = p->timeout, .timeout_s = p->timeout};
    nb_reply reply;
    char **words;
    NB_REQUIRE(ctx, question, NB_EINVAL, "%s: a question cannot be written as JSON", p->run);
    NB_TRY(ctx, nb_defer_json(ctx, question));
    NB_TRY(ctx, nb_asking_words(p->run, NULL, &words, &service.variable, ctx));
    service.words = words;
    NB_TRY(ctx, nb_server_ask(&service, question, &reply, ctx));
    NB_REQUIRE(ctx, reply.answer, NB_EIO, "%s: %s", reply.name ? reply.name : p->run, reply.trouble);
    *answer = reply.answer;
    return NB_OK;
}

typedef struct {
    const nb_model_program *program;
    const json_t *answer;
    nb_ctx *ctx;
} reader;

static nb_status read_int(const reader *r, const char *key, int initial, int most, int *out)
{
    const json_t *value = json_object_get(r->answer, key);
    json_int_t number = json_integer_value(value);
    *out = initial;
    if (!value && initial > 0) return NB_OK;
    NB_REQUIRE(r->ctx, json_is_integer(value) && number >= 1 && number <= most, NB_EINVAL,
               "%s: describe: expected '%s', an integer from 1 to %d", r->program->run, key, most);
    *out = (int)number;
    return NB_OK;
}

static nb_status read_name(const reader *r, const json_t *value, const char *what, const char **out)
{
    const char *text = json_string_value(value);
    NB_REQUIRE(r->ctx, text && *text, NB_EINVAL, "%s: describe: expected %s, a text that is not empty", r->program->run,
               what);
    NB_NEED(text, nb_clean(r->ctx, text, ""));
    NB_NEED(*out, nb_strdup(r->ctx, text));
    return NB_OK;
}

static nb_status read_sources(const reader *r, nb_model *m)
{
    const json_t *list = json_object_get(r->answer, "sources");
    const char **names;
    size_t count = json_array_size(list);
    NB_REQUIRE(r->ctx, count > 0 && count <= NB_MOST_HEADS, NB_EINVAL,
               "%s: describe: expected 'sources', a list of at least one name", r->program->run);
    NB_NEED(names, nb_alloc(r->ctx, count, sizeof *names));
    for (size_t i = 0; i < count; i++) {
        NB_TRY(r->ctx, read_name(r, json_array_get(list, i), "each of 'sources'", &names[i]));
        for (size_t j = 0; j < i; j++)
            NB_REQUIRE(r->ctx, strcmp(names[i], names[j]) != 0, NB_EINVAL,
                       "%s: describe: the source '%s' is there twice", r->program->run, names[i]);
    }
    m->source_count = (int)count;
    m->sources = names;
    return NB_OK;
}

static nb_status read_rest(const reader *r, nb_model *m)
{
    const json_t *causal = json_object_get(r->answer, "causal"), *seconds = json_object_get(r->answer, "seconds");
    NB_REQUIRE(r->ctx, json_is_boolean(causal), NB_EINVAL, "%s: describe: expected 'causal', true or false",
               r->program->run);
    m->causal = json_is_true(causal);
    NB_REQUIRE(r->ctx, !seconds || (json_is_number(seconds) && json_number_value(seconds) >= 0), NB_EINVAL,
               "%s: describe: expected 'seconds', a number of at least 0", r->program->run);
    m->pass_s = seconds ? json_number_value(seconds) : NAN;
    NB_REQUIRE(r->ctx, m->heads % m->key_heads == 0, NB_EINVAL,
               "%s: describe: %d query heads cannot share %d key heads: their number must be a multiple of it",
               r->program->run, m->heads, m->key_heads);
    double heads = (double)m->layers * m->heads * m->source_count;
    NB_REQUIRE(r->ctx, heads <= NB_MOST_HEADS, NB_EINVAL, "%s: describe: %.0f heads in all, and at most %d are allowed",
               r->program->run, heads, NB_MOST_HEADS);
    return NB_OK;
}

nb_status nb_model_describe(const nb_model_program *p, nb_model *m, nb_ctx *ctx)
{
    enum { MOST = 1 << 20 };
    const json_t *answer;
    NB_TRY(ctx, ask(p, json_pack("{s:s}", "do", "describe"), &answer, ctx));
    const reader r = {p, answer, ctx};
    *m = (nb_model){.pass_s = NAN};
    NB_TRY(ctx, read_name(&r, json_object_get(answer, "model"), "'model'", &m->name));
    NB_TRY(ctx, read_int(&r, "layers", 0, MOST, &m->layers));
    NB_TRY(ctx, read_int(&r, "heads", 0, MOST, &m->heads));
    NB_TRY(ctx, read_int(&r, "key_heads", m->heads, MOST, &m->key_heads));
    NB_TRY(ctx, read_int(&r, "n", 0, INT_MAX, &m->n));
    NB_TRY(ctx, read_int(&r, "d", 0, MOST, &m->d));
    NB_TRY(ctx, read_int(&r, "dv", m->d, MOST, &m->dv));
    NB_TRY(ctx, read_sources(&r, m));
    return read_rest(&r, m);
}

nb_status nb_model_layers(const char *text, int count, int *chosen, int **layers, nb_ctx *ctx)
{
    int one = 0, step = strcmp(text, "all") == 0 ? 1 : strcmp(text, "half") == 0 ? 2 : 0;
    NB_REQUIRE(ctx, step || nb_parse_int(text, 0, count - 1, &one), NB_EINVAL,
               "layers = %s: expected all, half (every other one from 0 on) or one of the layers 0 to %d", text,
               count - 1);
    *chosen = step ? (count + step - 1) / step : 1;
    NB_NEED(*layers, nb_alloc(ctx, (size_t)*chosen, sizeof **layers));
    for (int i = 0; i < *chosen; i++) (*layers)[i] = step ? i * step : one;
    return NB_OK;
}

/* NULL: no memory. */
static json_t *list_of(int count, const int *values)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        if (json_array_append_new(list, json_integer(values[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static nb_status check_heads(const nb_model_program *p, const nb_model *m, int layers, const char *path, nb_ctx *ctx)
{
    nb_head_shape s;
    NB_TRY(ctx, nb_head_file_shape(path, &s, ctx));
    NB_REQUIRE(ctx, s.heads == layers * m->heads && s.key_heads == layers * m->key_heads, NB_EDIM,
               "%s: heads: expected q of %d heads and k, v of %d, found %d and %d", p->run, layers * m->heads,
               layers * m->key_heads, s.heads, s.key_heads);
    NB_REQUIRE(ctx, s.n == m->n && s.d == m->d && s.dv == m->dv, NB_EDIM,
               "%s: heads: expected n = %d, d = %d, dv = %d, as described, found %d, %d, %d", p->run, m->n, m->d, m->dv,
               s.n, s.d, s.dv);
    return NB_OK;
}

nb_status nb_model_write_heads(const nb_model_program *p, const nb_model *m, int source, int count, const int *layers,
                               const char *path, nb_ctx *ctx)
{
    const json_t *answer;
    size_t each = (size_t)m->heads * (size_t)m->d + (size_t)m->key_heads * (size_t)(m->d + m->dv);
    nb_status status = ask(p,
                           json_pack("{s:s, s:i, s:o, s:s}", "do", "heads", "source", source, "layers",
                                     list_of(count, layers), "file", path),
                           &answer, ctx);
    if (status == NB_OK) status = check_heads(p, m, count, path, ctx);
    if (status == NB_OK) return NB_OK;
    unlink(path);
    return nb_scratch_end((size_t)count * (size_t)m->n * each * sizeof(float), status, ctx);
}

/* "skipped" or "diverged" with the reason; false: it is neither. */
static bool is_outcome(const char *key, const json_t *value, nb_model_outcome *outcome)
{
    static const char *const keys[] = {"skipped", "diverged", NULL};
    int which = nb_text_index(key, keys);
    if (which < 0 || !json_is_string(value)) return false;
    *outcome = (nb_model_outcome){keys[which], json_string_value(value)};
    return true;
}

static nb_status read_effect(const nb_model_program *p, const json_t *answer, const char *const *names, double *values,
                             nb_model_outcome *outcome, nb_ctx *ctx)
{
    const char *key;
    json_t *value;
    int known = 0;
    json_object_foreach((json_t *)answer, key, value)
    {
        int at = nb_text_index(key, names);
        if (is_outcome(key, value, outcome)) continue;
        NB_REQUIRE(ctx, at >= 0 && (json_is_number(value) || json_is_null(value)), NB_EINVAL, "%s: effect: %s '%s'",
                   p->run, at < 0 ? "there is no column" : "expected a number or null as", key);
        if (json_is_number(value)) values[at] = json_number_value(value);
        known += json_is_number(value);
    }
    NB_REQUIRE(ctx, known > 0 || outcome->reason, NB_EINVAL, "%s: effect: the answer has no value", p->run);
    if (outcome->reason) NB_NEED(outcome->reason, nb_strdup(ctx, outcome->reason));
    return NB_OK;
}

/* NULL: no memory. */
static json_t *question_of(const nb_model_question *q)
{
    json_t *plugins = json_array();
    json_t *question = json_pack("{s:s, s:i, s:o, s:s, s:I, s:i, s:o}", "do", "effect", "source", q->source, "layers",
                                 list_of(q->layer_count, q->layers), "attention", q->attention, "seed",
                                 (json_int_t)q->seed, "trial", q->trial, "plugins", plugins);
    for (int i = 0; question && q->plugins[i]; i++)
        if (json_array_append_new(plugins, json_string(q->plugins[i])) != 0) {
            json_decref(question);
            return NULL;
        }
    if (question && !*q->plugins) json_object_del(question, "plugins");
    return question;
}

nb_status nb_model_ask_effect(const nb_model_program *p, const nb_model_question *q, const char *const *names,
                              double *values, nb_model_outcome *outcome, nb_ctx *ctx)
{
    const json_t *answer;
    int count = 0;
    *outcome = (nb_model_outcome){"ok", NULL};
    while (names[count]) values[count++] = NAN;
    nb_status status = ask(p, question_of(q), &answer, ctx);
    if (status == NB_OK) status = read_effect(p, answer, names, values, outcome, ctx);
    if (status == NB_OK || status == NB_ENOMEM || status == NB_EHOST) return status;
    for (int i = 0; i < count; i++) values[i] = NAN;
    *outcome = (nb_model_outcome){.status = "failed"};
    NB_NEED(outcome->reason, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    return NB_OK;
}
