/* SPDX-License-Identifier: GPL-3.0-or-later */
/* values.c - reads the kinds of values that keys have: see yaml.h. */
#include "config/yaml.h"

#include "base/builder.h"
#include "base/words.h"
#include "base/numbers.h"
#include "base/text.h"

#include <string.h>

const char *nb_list_hint(const char *text, nb_ctx *ctx)
{
    const char *end = nb_item_end(text);
    nb_string all = NB_NO_TEXT;
    if (!*end) return "";
    for (;; end = nb_item_end(text)) {
        while (*text == ' ') text++;
        int length = (int)(end - text);
        bool commas = memchr(text, ',', (size_t)length), quotes = memchr(text, '"', (size_t)length);
        const char *quote = !commas ? "" : quotes ? "'" : "\"";
        if (nb_append_item(&all, ", ", ctx, "%s%.*s%s", quote, length, text, quote) != NB_OK) return NULL;
        if (!*end) break;
        text = end + 1;
    }
    return nb_format(ctx, "; write a list in brackets: [%s]", all.text);
}

nb_status nb_read_name(const char *key, nb_yaml value, const char *hint, const char **out, nb_mistakes *mistakes)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const char *text = nb_yaml_scalar(value);
    if (!text || !*text || *text == '.' || *text == '-' || text[strspn(text, letters)])
        return nb_yaml_mistake(
            value, mistakes,
            "%s: expected letters, digits, '.', '_' and '-', beginning with a letter or digit, found '%s'%s", key,
            nb_yaml_found(value), hint);
    NB_NEED(*out, nb_strdup(mistakes->ctx, text));
    return NB_OK;
}

static nb_status read_pair(const char *what, nb_yaml key, nb_yaml value, const char *const *names, nb_yaml *values,
                           nb_mistakes *mistakes)
{
    const char *name = nb_yaml_found(key), *hint;
    int index = nb_text_index(name, names);
    if (index < 0) {
        NB_NEED(hint, nb_hint(name, names, mistakes->ctx));
        return nb_yaml_mistake(key, mistakes, "%s: key '%s' is unknown%s", what, name, hint);
    }
    if (values[index].node) return nb_yaml_mistake(key, mistakes, "%s: key '%s' appears a second time", what, name);
    if (nb_yaml_is_null(value)) return nb_yaml_mistake(key, mistakes, "%s: key '%s' has no value", what, name);
    values[index] = value;
    return NB_OK;
}

nb_status nb_read_mapping(const char *what, nb_yaml mapping, const char *const *names, nb_yaml **values,
                          nb_mistakes *mistakes)
{
    NB_NEED(*values, nb_alloc(mistakes->ctx, (size_t)nb_text_count(names) + 1, sizeof **values));
    if (mapping.node->type != YAML_MAPPING_NODE)
        return nb_yaml_mistake(mapping, mistakes, "%s: expected {%s: ...}, found %s", what, *names ? *names : "",
                               nb_yaml_scalar(mapping) ? "a text" : nb_yaml_kind(mapping));
    for (int i = 0; i < nb_yaml_pairs(mapping); i++) {
        nb_yaml key, value;
        nb_yaml_pair(mapping, i, &key, &value);
        NB_TRY(mistakes->ctx, read_pair(what, key, value, names, *values, mistakes));
    }
    return NB_OK;
}

static nb_status no_integer(const char *key, nb_yaml value, long long lo, long long hi, const char *expected,
                            nb_mistakes *mistakes)
{
    const char *text = nb_yaml_scalar(value), *hint = "";
    if (text) NB_NEED(hint, nb_list_hint(text, mistakes->ctx));
    if (text && !*hint) NB_NEED(hint, nb_range_hint(text, mistakes->ctx));
    return nb_yaml_mistake(value, mistakes, "%s: expected %s from %lld to %lld, found %s%s%s%s", key, expected, lo, hi,
                           text ? "'" : "", nb_yaml_found(value), text ? "'" : "", hint);
}

nb_status nb_read_integer(const char *key, nb_yaml value, long long lo, long long hi, long long *out,
                          nb_mistakes *mistakes)
{
    const char *text = nb_yaml_scalar(value);
    if (text && nb_parse_integer(text, lo, hi, out)) return NB_OK;
    return no_integer(key, value, lo, hi, "an integer", mistakes);
}

static nb_status read_range(const char *key, nb_yaml value, long long lo, long long hi, int *count, nb_range *out,
                            nb_mistakes *mistakes)
{
    const char *text = nb_yaml_scalar(value), *wrong = NULL;
    nb_range range = {.first = 0};
    if (text) NB_TRY(mistakes->ctx, nb_range_parse(text, &range, &wrong, mistakes->ctx));
    if (wrong && (nb_range_like(text) || strstr(text, "..")))
        return nb_yaml_mistake(value, mistakes, "%s: %s", key, wrong);
    if (!text || wrong || range.first < lo || range.last > hi)
        return no_integer(key, value, lo, hi, range.last > range.first ? "integers" : "an integer", mistakes);
    out[(*count)++] = range;
    return NB_OK;
}

static nb_status empty_list(const char *key, nb_yaml value, nb_mistakes *mistakes)
{
    return nb_yaml_count(value) > 0 ? NB_OK : nb_yaml_mistake(value, mistakes, "%s: the list is empty", key);
}

nb_status nb_read_ranges(const char *key, nb_yaml value, long long lo, long long hi, int *count, nb_range **out,
                         nb_mistakes *mistakes)
{
    *count = 0;
    NB_NEED(*out, nb_alloc(mistakes->ctx, (size_t)nb_yaml_count(value) + 1, sizeof **out));
    NB_TRY(mistakes->ctx, empty_list(key, value, mistakes));
    for (int i = 0; i < nb_yaml_count(value); i++)
        NB_TRY(mistakes->ctx, read_range(key, nb_yaml_item(value, i), lo, hi, count, *out, mistakes));
    return NB_OK;
}

nb_status nb_read_reals(const char *key, nb_yaml value, double lo, double hi, int *count, double **out,
                        nb_mistakes *mistakes)
{
    nb_ctx *ctx = mistakes->ctx;
    *count = 0;
    NB_NEED(*out, nb_alloc_reals(ctx, (size_t)nb_yaml_count(value) + 1, 1));
    NB_TRY(ctx, empty_list(key, value, mistakes));
    for (int i = 0; i < nb_yaml_count(value); i++) {
        nb_yaml one = nb_yaml_item(value, i);
        const char *text = nb_yaml_scalar(one), *hint = "";
        if (text && nb_parse_real(text, lo, hi, &(*out)[*count])) {
            ++*count;
            continue;
        }
        if (text) NB_NEED(hint, nb_list_hint(text, ctx));
        NB_TRY(ctx, nb_yaml_mistake(one, mistakes, "%s: expected a number from %g to %g, found %s%s%s%s", key, lo, hi,
                                    text ? "'" : "", nb_yaml_found(one), text ? "'" : "", hint));
    }
    return NB_OK;
}

nb_status nb_read_texts(const char *key, nb_yaml value, int *count, const char ***out, nb_mistakes *mistakes)
{
    int total = nb_yaml_count(value);
    *count = 0;
    NB_NEED(*out, nb_alloc(mistakes->ctx, (size_t)total + 1, sizeof **out));
    NB_TRY(mistakes->ctx, empty_list(key, value, mistakes));
    for (int i = 0; i < total; i++) {
        nb_yaml one = nb_yaml_item(value, i);
        if (!nb_yaml_scalar(one))
            NB_TRY(mistakes->ctx,
                   nb_yaml_mistake(one, mistakes, "%s: expected a value, found %s", key, nb_yaml_kind(one)));
        else
            NB_NEED((*out)[(*count)++], nb_strdup(mistakes->ctx, nb_yaml_scalar(one)));
    }
    return NB_OK;
}

static nb_status unknown_word(const char *key, nb_yaml value, const char *const *allowed, nb_mistakes *mistakes)
{
    const char *hint;
    NB_NEED(hint, nb_list_hint(nb_yaml_scalar(value), mistakes->ctx));
    if (!*hint) NB_NEED(hint, nb_hint(nb_yaml_scalar(value), allowed, mistakes->ctx));
    return nb_yaml_mistake(value, mistakes, "%s: '%s' is unknown%s", key, nb_yaml_scalar(value), hint);
}

nb_status nb_read_words(const char *key, nb_yaml value, const char *const *allowed, const char *extra, int *count,
                        const char ***out, nb_mistakes *mistakes)
{
    int known = nb_text_count(allowed);
    const char **names;
    NB_NEED(names, nb_alloc(mistakes->ctx, (size_t)known + 2, sizeof *names));
    memcpy(names, allowed, (size_t)known * sizeof *names);
    names[known] = extra;
    NB_TRY(mistakes->ctx, nb_read_texts(key, value, count, out, mistakes));
    for (int i = 0; i < nb_yaml_count(value); i++) {
        const char *text = nb_yaml_scalar(nb_yaml_item(value, i));
        if (text && !nb_text_among(text, names))
            NB_TRY(mistakes->ctx, unknown_word(key, nb_yaml_item(value, i), names, mistakes));
    }
    return NB_OK;
}

nb_status nb_read_word(const char *key, nb_yaml value, const char *const *allowed, int *index, nb_mistakes *mistakes)
{
    const char *text = nb_yaml_scalar(value);
    int found = text ? nb_text_index(text, allowed) : -1;
    *index = found < 0 ? 0 : found;
    if (!text) return nb_yaml_mistake(value, mistakes, "%s: expected a word, found %s", key, nb_yaml_kind(value));
    return found < 0 ? unknown_word(key, value, allowed, mistakes) : NB_OK;
}
