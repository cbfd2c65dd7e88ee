/* SPDX-License-Identifier: GPL-3.0-or-later */
/* check.c - a result that somebody hands in: whether it says what its errors say, and whether these come again. */
#include "suite/json.h"

#include "base/digest.h"
#include "base/files.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

#define AGREES 1e-6 /* of the numbers, which are sums of some hundred errors with nine digits */

static nb_status find_input(const nb_suite *s, const char *path, size_t at, json_t *item, int *input, nb_ctx *ctx)
{
    const char *file = json_string_value(json_object_get(item, "file"));
    for (*input = 0; *input < s->count; ++*input)
        if (file && strcmp(s->inputs[*input].file, file) == 0) return NB_OK;
    NB_FAIL(ctx, NB_EINVAL, "%s: inputs[%zu]: file: the suite has no '%s'", path, at, file ? file : "");
}

static nb_status read_input(nb_suite_result *r, const char *path, size_t at, json_t *item, nb_ctx *ctx)
{
    int input;
    json_t *errors = json_object_get(item, "errors"), *baselines = json_object_get(item, "baseline");
    json_t *refused = json_object_get(item, "refused");
    NB_TRY(ctx, find_input(r->suite, path, at, item, &input, ctx));
    NB_REQUIRE(ctx, json_array_size(errors) == NB_SUITE_SHARES && json_array_size(baselines) == NB_SUITE_SHARES,
               NB_EINVAL, "%s: inputs[%zu]: errors and baseline: expected lists of four numbers", path, at);
    for (size_t k = 0; k < NB_SUITE_SHARES; k++) {
        nb_suite_outcome *o = &r->outcomes[input][k];
        NB_REQUIRE(ctx, o->error == 0, NB_EINVAL, "%s: inputs[%zu]: %s is there twice", path, at,
                   r->suite->inputs[input].file);
        o->error = json_number_value(json_array_get(errors, k));
        o->baseline = json_number_value(json_array_get(baselines, k));
        o->refused = json_string_value(json_array_get(refused, k));
        NB_REQUIRE(ctx, o->error > 0 && o->baseline > 0, NB_EINVAL,
                   "%s: inputs[%zu]: errors and baseline: expected numbers above 0", path, at);
    }
    return NB_OK;
}

/* The errors of all inputs of a track are there, or of none. */
static nb_status check_whole(const nb_suite_result *r, const char *path, int track, nb_ctx *ctx)
{
    const nb_suite *s = r->suite;
    for (int i = 0; i < s->count; i++) {
        if (s->models[s->inputs[i].model].track != track) continue;
        bool there = r->outcomes[i][0].error > 0;
        NB_REQUIRE(ctx, there || r->absent[track], NB_EINVAL, "%s: inputs: %s is not there", path, s->inputs[i].file);
        NB_REQUIRE(ctx, !there || !r->absent[track], NB_EINVAL, "%s: inputs: %s is there, and %s are absent", path,
                   s->inputs[i].file, s->tracks[track].name);
    }
    return NB_OK;
}

nb_status nb_suite_json_compare(const char *path, const char *place, const json_t *from, const char *key, double found,
                                nb_ctx *ctx)
{
    const json_t *says = json_object_get(from, key);
    double said = json_is_number(says) ? json_number_value(says) : NAN;
    bool same = isfinite(found) ? fabs(said - found) <= AGREES * fmax(1, fabs(found)) : json_is_null(says);
    NB_REQUIRE(ctx, same, NB_EINVAL, "%s: %s: %s: it says %.6g, and its errors give %.6g", path, place, key, said,
               found);
    return NB_OK;
}

static nb_status compare_estimate(const char *path, const char *track, const json_t *says, const nb_estimate *e,
                                  nb_ctx *ctx)
{
    NB_TRY(ctx, nb_suite_json_compare(path, track, says, "number", e->mean, ctx));
    NB_TRY(ctx, nb_suite_json_compare(path, track, says, "low", e->low, ctx));
    return nb_suite_json_compare(path, track, says, "high", e->high, ctx);
}

static nb_status check_track(nb_suite_result *r, const char *path, int track, const json_t *says, nb_ctx *ctx)
{
    const char *name = r->suite->tracks[track].name, *given = json_string_value(json_object_get(says, "track"));
    const json_t *shares = json_object_get(says, "shares");
    nb_estimate e;
    double nine;
    NB_REQUIRE(ctx, given && strcmp(given, name) == 0, NB_EINVAL, "%s: tracks[%d]: track: expected '%s'", path, track,
               name);
    NB_REQUIRE(ctx, json_array_size(shares) == NB_SUITE_SHARES, NB_EINVAL, "%s: %s: shares: expected four", path, name);
    NB_TRY(ctx, check_whole(r, path, track, ctx));
    NB_TRY(ctx, nb_suite_estimate(r, track, -1, &e, ctx));
    NB_TRY(ctx, compare_estimate(path, name, says, &e, ctx));
    NB_TRY(ctx, nb_suite_json_compare(path, name, says, "sources", e.sources, ctx));
    NB_TRY(ctx, nb_suite_nine_in_ten(r, track, &nine, ctx));
    NB_TRY(ctx, nb_suite_json_compare(path, name, says, "nine_in_ten", nine, ctx));
    for (size_t k = 0; k < NB_SUITE_SHARES; k++) {
        NB_TRY(ctx, nb_suite_estimate(r, track, (int)k, &e, ctx));
        NB_TRY(ctx, nb_suite_json_compare(path, name, json_array_get(shares, k), "share", nb_suite_parts[k], ctx));
        NB_TRY(ctx, compare_estimate(path, name, json_array_get(shares, k), &e, ctx));
    }
    return NB_OK;
}

static bool lists(const json_t *list, const char *text)
{
    size_t at;
    json_t *item;
    json_array_foreach(list, at,
                       item) if (json_is_string(item) && strcmp(json_string_value(item), text) == 0) return true;
    return false;
}

static nb_status read_properties(const char *path, json_t *from, nb_suite_method *m, nb_ctx *ctx)
{
    static const struct {
        const char *key;
        unsigned trait;
    } flags[] = {{"trained", NB_ATTENTION_UNTRAINED},
                 {"oracle", NB_ATTENTION_ORACLE},
                 {"random", NB_ATTENTION_RANDOM},
                 {NULL, 0}};
    const json_t *linear = json_object_get(from, "linear"), *declared = json_object_get(from, "declared");
    const char *sees = json_string_value(json_object_get(from, "sees"));
    for (int i = 0; flags[i].key; i++) {
        const json_t *flag = json_object_get(from, flags[i].key);
        NB_REQUIRE(ctx, json_is_boolean(flag), NB_EINVAL, "%s: method: %s: expected true or false", path, flags[i].key);
        if (json_is_true(flag)) m->traits |= flags[i].trait;
    }
    NB_REQUIRE(ctx, json_is_boolean(linear) || json_is_null(linear), NB_EINVAL,
               "%s: method: linear: expected true, false or null", path);
    m->linear = json_is_null(linear) ? -1 : json_is_true(linear);
    NB_REQUIRE(ctx, sees && (strcmp(sees, "all") == 0 || strcmp(sees, "earlier") == 0), NB_EINVAL,
               "%s: method: sees: expected 'all' or 'earlier'", path);
    if (strcmp(sees, "earlier") == 0) m->traits |= NB_ATTENTION_CAUSAL;
    if (lists(declared, "linear")) m->declared |= NB_SUITE_SAYS_LINEAR;
    if (lists(declared, "trained")) m->declared |= NB_SUITE_SAYS_TRAINED;
    return NB_OK;
}

static nb_status read_references(json_t *from, nb_suite_method *m, nb_ctx *ctx)
{
    json_t *list = json_object_get(from, "references");
    size_t count = json_array_size(list), at;
    const char **references;
    NB_NEED(references, nb_alloc(ctx, count + 1, sizeof *references));
    for (at = 0; at < count && json_is_string(json_array_get(list, at)); at++)
        references[at] = json_string_value(json_array_get(list, at));
    m->references = references;
    return NB_OK;
}

static nb_status read_method(const char *path, json_t *from, nb_suite_method *m, nb_ctx *ctx)
{
    m->text = json_string_value(json_object_get(from, "text"));
    m->spec = json_string_value(json_object_get(from, "spec"));
    m->label = json_string_value(json_object_get(from, "label"));
    m->size = json_string_value(json_object_get(from, "size"));
    m->tuned = json_string_value(json_object_get(from, "tuned"));
    if (json_is_false(json_object_get(from, "counted"))) m->sizes = path;
    NB_REQUIRE(ctx, m->text && m->spec && m->label, NB_EINVAL, "%s: method: expected text, spec and label", path);
    NB_REQUIRE(ctx, !m->tuned || nb_text_among(m->tuned, nb_suite_tunings), NB_EINVAL,
               "%s: method: tuned: '%s'; expected none, development, test or null", path, m->tuned);
    NB_TRY(ctx, read_references(from, m, ctx));
    return read_properties(path, from, m, ctx);
}

double nb_suite_json_number(const json_t *from, const char *key)
{
    const json_t *value = json_object_get(from, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static nb_status read_setting(nb_suite_result *r, const char *path, size_t at, const json_t *item, nb_ctx *ctx)
{
    const nb_suite *s = r->suite;
    const char *name = json_string_value(json_object_get(item, "model"));
    json_int_t part = json_integer_value(json_object_get(item, "share"));
    int m = 0, k = 0;
    while (m < s->model_count && !(name && strcmp(s->models[m].name, name) == 0)) m++;
    while (k < NB_SUITE_SHARES && nb_suite_parts[k] != part) k++;
    NB_REQUIRE(ctx, m < s->model_count && k < NB_SUITE_SHARES, NB_EINVAL,
               "%s: settings[%zu]: expected a model of the suite, and a share of 4, 8, 16 or 32", path, at);
    r->settings[m][k] = (nb_suite_setting){.text = json_string_value(json_object_get(item, "attention")),
                                           .multiplications = nb_suite_json_number(item, "multiplications"),
                                           .bytes = nb_suite_json_number(item, "bytes"),
                                           .growth = nb_suite_json_number(item, "growth"),
                                           .why = json_string_value(json_object_get(item, "refused"))};
    return NB_OK;
}

static const char *text_or(const json_t *value, const char *other)
{
    return json_is_string(value) ? json_string_value(value) : other;
}

nb_status nb_suite_check(const nb_suite *s, const char *path, nb_suite_result *r, nb_ctx *ctx)
{
    json_t *all, *item;
    size_t at;
    NB_TRY(ctx, nb_read_json(path, &all, ctx));
    const char *digest = json_string_value(json_object_get(all, "list_sha256"));
    json_t *tracks = json_object_get(all, "tracks");
    NB_REQUIRE(ctx, digest && strcmp(digest, s->digest) == 0, NB_EINVAL,
               "%s: it is of another list of heads than suite %s, %s form: it says suite %s, %s form", path, s->version,
               s->form, text_or(json_object_get(all, "suite"), "?"), text_or(json_object_get(all, "form"), "?"));
    NB_REQUIRE(ctx, (int)json_array_size(tracks) == s->track_count, NB_EINVAL, "%s: tracks: expected %d", path,
               s->track_count);
    *r = (nb_suite_result){.suite = s};
    NB_TRY(ctx, read_method(path, json_object_get(all, "method"), &r->method, ctx));
    NB_NEED(r->absent, nb_alloc(ctx, (size_t)s->track_count, sizeof *r->absent));
    NB_NEED(r->outcomes, nb_alloc(ctx, (size_t)s->count, sizeof *r->outcomes));
    NB_NEED(r->settings, nb_alloc(ctx, (size_t)s->model_count, sizeof *r->settings));
    for (int t = 0; t < s->track_count; t++)
        r->absent[t] = json_string_value(json_object_get(json_array_get(tracks, (size_t)t), "absent"));
    json_array_foreach(json_object_get(all, "inputs"), at, item) NB_TRY(ctx, read_input(r, path, at, item, ctx));
    json_array_foreach(json_object_get(all, "settings"), at, item) NB_TRY(ctx, read_setting(r, path, at, item, ctx));
    for (int t = 0; t < s->track_count; t++)
        NB_TRY(ctx, check_track(r, path, t, json_array_get(tracks, (size_t)t), ctx));
    return nb_suite_json_blocks(path, all, r, ctx);
}

typedef struct {
    const char *digest;
    int input;
} drawn;

static int by_digest(const void *a, const void *b)
{
    return strcmp(((const drawn *)a)->digest, ((const drawn *)b)->digest);
}

nb_status nb_suite_choose(const nb_suite *s, const char *path, double share, const bool **chosen, nb_ctx *ctx)
{
    const char *file;
    long long bytes;
    drawn *order;
    bool *to;
    NB_TRY(ctx, nb_digest_file(path, &file, &bytes, ctx));
    NB_NEED(order, nb_alloc(ctx, (size_t)s->count + 1, sizeof *order));
    NB_NEED(to, nb_alloc(ctx, (size_t)s->count + 1, sizeof *to));
    for (int i = 0; i < s->count; i++) {
        const char *text;
        NB_NEED(text, nb_format(ctx, "%s %s", file, s->inputs[i].file));
        NB_TRY(ctx, nb_digest_text(text, &order[i].digest, ctx));
        order[i].input = i;
    }
    for (int m = 0; m < s->model_count; m++) {
        const nb_suite_model *model = &s->models[m];
        qsort(order + model->first, (size_t)model->count, sizeof *order, by_digest);
        for (int i = 0; i < ceil(share * model->count); i++) to[order[model->first + i].input] = true;
    }
    *chosen = to;
    return NB_OK;
}

/* `declared`: its author says so, since the program cannot know. */
static nb_status compare_property(const char *path, const char *key, bool declared, int says, int is, nb_ctx *ctx)
{
    static const char *const words[] = {"not known", "false", "true"};
    NB_REQUIRE(ctx, declared || says == is, NB_EINVAL, "%s: method: %s: it says %s, and this program finds: %s", path,
               key, words[says + 1], words[is + 1]);
    return NB_OK;
}

static nb_status compare_properties(const char *path, const nb_suite_method *says, const nb_suite_method *is,
                                    nb_ctx *ctx)
{
    bool elsewhere = is->traits & NB_ATTENTION_ELSEWHERE;
    unsigned both = says->traits ^ is->traits;
    NB_TRY(ctx, compare_property(path, "linear", says->declared & NB_SUITE_SAYS_LINEAR && is->linear < 0, says->linear,
                                 is->linear, ctx));
    NB_TRY(ctx, compare_property(path, "trained", says->declared & NB_SUITE_SAYS_TRAINED && elsewhere,
                                 (says->traits & NB_ATTENTION_UNTRAINED) != 0,
                                 (is->traits & NB_ATTENTION_UNTRAINED) != 0, ctx));
    NB_REQUIRE(ctx, !(both & NB_ATTENTION_ORACLE), NB_EINVAL, "%s: method: oracle: this program finds another", path);
    NB_REQUIRE(ctx, nb_suite_needs_earlier_alone(says) == nb_suite_needs_earlier_alone(is), NB_EINVAL,
               "%s: method: sees: this program finds '%s'", path, nb_suite_needs_earlier_alone(is) ? "earlier" : "all");
    return NB_OK;
}

nb_status nb_suite_agree(const nb_suite_result *says, const nb_suite_result *again, double tolerance, const char *path,
                         nb_ctx *ctx)
{
    const nb_suite *s = says->suite;
    NB_TRY(ctx, compare_properties(path, &says->method, &again->method, ctx));
    for (int t = 0; t < s->track_count; t++)
        NB_REQUIRE(ctx, !says->absent[t] == !again->absent[t], NB_EINVAL,
                   "%s: %s: it is %s, and this program finds: %s", path, s->tracks[t].name,
                   says->absent[t] ? "absent" : "there", again->absent[t] ? again->absent[t] : "it is not absent");
    for (int i = 0; i < s->count; i++) {
        const char *place;
        NB_TRY(ctx, nb_suite_place(s, i, &place, ctx));
        for (int k = 0; k < NB_SUITE_SHARES && nb_suite_is_measured(again, i); k++) {
            const nb_suite_outcome *a = &says->outcomes[i][k], *b = &again->outcomes[i][k];
            NB_REQUIRE(ctx, fabs(a->error - b->error) <= tolerance * b->error, NB_EINVAL,
                       "%s: %s at 1/%d: it says an error of %.6g, and again it is %.6g", path, place, nb_suite_parts[k],
                       a->error, b->error);
            NB_REQUIRE(ctx, fabs(a->baseline - b->baseline) <= tolerance * b->baseline, NB_EINVAL,
                       "%s: %s at 1/%d: it says %.6g for the baseline, and again it is %.6g", path, place,
                       nb_suite_parts[k], a->baseline, b->baseline);
        }
    }
    return NB_OK;
}
