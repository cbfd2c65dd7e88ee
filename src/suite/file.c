/* SPDX-License-Identifier: GPL-3.0-or-later */
/* file.c - a result is one file, from whose errors its numbers can be computed again. */
#include "suite/json.h"

#include "base/digest.h"
#include "base/files.h"
#include "run/provenance.h"

#include <math.h>
#include <string.h>

/* Significant digits of the numbers in a file. */
enum { DIGITS = 9 };

json_t *nb_suite_json_real(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *nb_suite_json_text(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *pack_method(const nb_suite_result *r)
{
    const nb_suite_method *m = &r->method;
    json_t *references = json_array();
    for (int i = 0; m->references && m->references[i]; i++)
        json_array_append_new(references, json_string(m->references[i]));
    json_t *declared = json_array();
    if (m->declared & NB_SUITE_SAYS_LINEAR) json_array_append_new(declared, json_string("linear"));
    if (m->declared & NB_SUITE_SAYS_TRAINED) json_array_append_new(declared, json_string("trained"));
    return json_pack(
        "{s:s, s:s, s:s, s:o, s:b, s:o, s:o, s:b, s:s, s:o, s:b, s:b, s:o}", "text", m->text, "spec", m->spec, "label",
        m->label, "size", nb_suite_json_text(m->size), "counted", !m->sizes && !m->uncounted, "tuned",
        nb_suite_json_text(m->tuned), "linear", m->linear < 0 ? json_null() : json_boolean(m->linear), "trained",
        (m->traits & NB_ATTENTION_UNTRAINED) != 0, "sees", nb_suite_needs_earlier_alone(m) ? "earlier" : "all",
        "declared", declared, "oracle", (m->traits & NB_ATTENTION_ORACLE) != 0, "random",
        (m->traits & NB_ATTENTION_RANDOM) != 0, "references", references);
}

static json_t *pack_setting(const nb_suite *s, int m, int share, const nb_suite_setting *own,
                            const nb_suite_setting *baseline)
{
    return json_pack("{s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "model", s->models[m].name, "share",
                     nb_suite_parts[share], "attention", nb_suite_json_text(own->text), "multiplications",
                     nb_suite_json_real(own->text ? own->multiplications : NAN), "bytes",
                     nb_suite_json_real(own->text ? own->bytes : NAN), "growth",
                     nb_suite_json_real(own->text ? own->growth : NAN), "refused", nb_suite_json_text(own->why),
                     "baseline", baseline->text, "baseline_multiplications",
                     nb_suite_json_real(baseline->multiplications));
}

static json_t *pack_settings(const nb_suite_result *r)
{
    json_t *list = json_array();
    for (int m = 0; m < r->suite->model_count; m++)
        for (int k = 0; k < NB_SUITE_SHARES && !r->absent[r->suite->models[m].track]; k++)
            json_array_append_new(list, pack_setting(r->suite, m, k, &r->settings[m][k], &r->baselines[m][k]));
    return list;
}

static json_t *pack_input(const nb_suite *s, int input, const nb_suite_outcome outcomes[NB_SUITE_SHARES])
{
    const nb_suite_input *i = &s->inputs[input];
    json_t *errors = json_array(), *baselines = json_array(), *refused = json_array();
    bool any = false;
    for (int k = 0; k < NB_SUITE_SHARES; k++) {
        json_array_append_new(errors, nb_suite_json_real(outcomes[k].error));
        json_array_append_new(baselines, nb_suite_json_real(outcomes[k].baseline));
        json_array_append_new(refused, nb_suite_json_text(outcomes[k].refused));
        any = any || outcomes[k].refused;
    }
    json_t *item = json_pack("{s:s, s:s, s:i, s:s, s:o, s:o}", "model", s->models[i->model].name, "source", i->source,
                             "layer", i->layer, "file", i->file, "errors", errors, "baseline", baselines);
    if (any) json_object_set(item, "refused", refused);
    json_decref(refused);
    return item;
}

static json_t *pack_inputs(const nb_suite_result *r)
{
    json_t *list = json_array();
    for (int i = 0; i < r->suite->count; i++)
        if (nb_suite_is_measured(r, i)) json_array_append_new(list, pack_input(r->suite, i, r->outcomes[i]));
    return list;
}

static nb_status pack_track(const nb_suite_result *r, int track, json_t **to, nb_ctx *ctx)
{
    nb_estimate e;
    double nine;
    json_t *shares = json_array();
    for (int k = 0; k < NB_SUITE_SHARES; k++) {
        NB_TRY(ctx, nb_suite_estimate(r, track, k, &e, ctx));
        json_array_append_new(shares, json_pack("{s:i, s:o, s:o, s:o}", "share", nb_suite_parts[k], "number",
                                                nb_suite_json_real(e.mean), "low", nb_suite_json_real(e.low), "high",
                                                nb_suite_json_real(e.high)));
    }
    NB_TRY(ctx, nb_suite_estimate(r, track, -1, &e, ctx));
    NB_TRY(ctx, nb_suite_nine_in_ten(r, track, &nine, ctx));
    *to = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:i, s:o, s:o}", "track", r->suite->tracks[track].name, "baseline",
                    r->suite->tracks[track].baseline, "number", nb_suite_json_real(e.mean), "low",
                    nb_suite_json_real(e.low), "high", nb_suite_json_real(e.high), "nine_in_ten",
                    nb_suite_json_real(nine), "sources", e.sources, "absent", nb_suite_json_text(r->absent[track]),
                    "shares", shares);
    return NB_OK;
}

static bool is_input(const nb_suite *s, const char *name)
{
    for (int i = 0; name && i < s->count; i++) {
        const char *slash = strrchr(s->inputs[i].file, '/');
        if (strcmp(slash ? slash + 1 : s->inputs[i].file, name) == 0) return true;
    }
    return false;
}

/* Packs the files that the rows were computed from, plug-ins and programs, but for the heads: those of the manifest. */
static nb_status pack_code(const nb_suite *s, const char *rows, json_t **code, nb_ctx *ctx)
{
    const char *path;
    json_t *manifest, *item;
    size_t at;
    NB_NEED(path, nb_format(ctx, "%s/manifest.json", rows));
    NB_TRY(ctx, nb_read_json(path, &manifest, ctx));
    *code = json_array();
    json_array_foreach(json_object_get(manifest, "files"), at, item)
    {
        const char *file = json_string_value(json_object_get(item, "path")), *slash = file ? strrchr(file, '/') : NULL;
        const char *name = slash ? slash + 1 : file;
        if (name && !is_input(s, name))
            json_array_append_new(*code,
                                  json_pack("{s:s, s:O}", "file", name, "sha256", json_object_get(item, "sha256")));
    }
    return NB_OK;
}

nb_status nb_suite_json_origin(const nb_suite *s, const char *rows, json_t **digest, json_t **code, nb_ctx *ctx)
{
    const char *path, *text;
    long long bytes;
    NB_NEED(path, nb_format(ctx, "%s/rows.csv", rows));
    NB_TRY(ctx, nb_digest_file(path, &text, &bytes, ctx));
    *digest = json_string(text);
    return pack_code(s, rows, code, ctx);
}

nb_status nb_suite_json_program(json_t **facts, nb_ctx *ctx)
{
    nb_program program;
    NB_TRY(ctx, nb_program_here(1, &program, ctx));
    return nb_provenance(&program, false, facts, ctx);
}

static nb_status pack(const nb_suite_result *r, const char *rows, json_t **to, nb_ctx *ctx)
{
    json_t *facts, *digest, *code, *tracks = json_array();
    for (int t = 0; t < r->suite->track_count; t++) {
        json_t *track;
        NB_TRY(ctx, pack_track(r, t, &track, ctx));
        json_array_append_new(tracks, track);
    }
    digest = json_null();
    if (rows)
        NB_TRY(ctx, nb_suite_json_origin(r->suite, rows, &digest, &code, ctx));
    else
        code = json_array();
    NB_TRY(ctx, nb_suite_json_program(&facts, ctx));
    *to = json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:O}", "suite", r->suite->version, "form",
                    r->suite->form, "list_sha256", r->suite->digest, "method", pack_method(r), "tracks", tracks,
                    "settings", pack_settings(r), "inputs", pack_inputs(r), "rows_sha256", digest, "code", code,
                    "program", facts);
    NB_REQUIRE(ctx, *to, NB_ENOMEM, "out of memory: a result");
    return nb_defer_json(ctx, *to);
}

static nb_status print_value(FILE *out, const json_t *value, nb_ctx *ctx)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(DIGITS));
    NB_REQUIRE(ctx, text, NB_ENOMEM, "out of memory: a result");
    fputs(text, out);
    free(text);
    return NB_OK;
}

/* A line for each key, and for each item of a list. */
nb_status nb_suite_json_print(FILE *out, const void *what, nb_ctx *ctx)
{
    json_t *all = (json_t *)what, *value, *item;
    const char *key, *between = "{\n";
    size_t at;
    json_object_foreach(all, key, value)
    {
        fprintf(out, "%s\"%s\": ", between, key);
        between = ",\n";
        if (!json_is_array(value)) {
            NB_TRY(ctx, print_value(out, value, ctx));
            continue;
        }
        putc('[', out);
        json_array_foreach(value, at, item)
        {
            fputs(at ? ",\n " : "\n ", out);
            NB_TRY(ctx, print_value(out, item, ctx));
        }
        putc(']', out);
    }
    fputs("}\n", out);
    return NB_OK;
}

nb_status nb_suite_write(const nb_suite_result *r, const char *rows, const char *path, nb_ctx *ctx)
{
    json_t *all;
    NB_TRY(ctx, pack(r, rows, &all, ctx));
    return nb_write_file(path, nb_suite_json_print, all, ctx);
}
