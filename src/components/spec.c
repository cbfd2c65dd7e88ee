/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spec.c - recursive descent over
 *
 *     spec  = name [ "(" [ argument { "," argument } ] ")" ]
 *     argument = name "=" value
 *     value = spec | word | string | range | "[" value { "," value } "]"
 *
 * A range (range.h) is read as the list of its items. */
#include "components/spec.h"

#include "base/range.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

enum { DEEPEST = 16, MOST_COMBINATIONS = 10000 };

typedef struct {
    const char *text, *at;
    nb_place start;
    nb_mistakes *mistakes;
    nb_ctx *ctx;
    int depth;
    long long in_ranges; /* items, so far */
} parser;

static nb_place here(const parser *p)
{
    return nb_place_shift(p->start, nb_text_characters(p->text, (size_t)(p->at - p->text)));
}

static void skip_blanks(parser *p)
{
    while (isspace((unsigned char)*p->at)) p->at++;
}

/* A syntax error: one mistake, and NB_EINVAL for the caller in this file. */
static nb_status syntax(parser *p, const char *expected)
{
    size_t bytes = nb_text_character(p->at);
    const char *found = "the end";
    if (*p->at) NB_NEED(found, nb_format(p->ctx, "'%.*s'", bytes ? (int)bytes : 1, p->at));
    NB_TRY(p->ctx, nb_mistakes_add(p->mistakes, here(p), "expected %s, found %s in '%s'", expected, found, p->text));
    return NB_EINVAL;
}

static bool in_word(char c)
{
    return c != '\0' && !isspace((unsigned char)c) && !strchr(",()[]=\"'\\", c);
}

static nb_status read_word(parser *p, const char *expected, const char **text)
{
    skip_blanks(p);
    size_t length = 0;
    while (in_word(p->at[length])) length++;
    if (length == 0) return syntax(p, expected);
    char *copy;
    NB_NEED(copy, nb_alloc(p->ctx, length + 1, 1));
    *text = memcpy(copy, p->at, length);
    p->at += length;
    return NB_OK;
}

static nb_status quoted(parser *p, nb_value *value)
{
    char *copy;
    NB_NEED(copy, nb_alloc(p->ctx, strlen(p->at) + 1, 1));
    value->kind = NB_STRING;
    value->text = copy;
    for (p->at++; *p->at != '"'; p->at++) {
        if (*p->at == '\\') p->at++;
        if (*p->at == '\0') return syntax(p, "a closing '\"'");
        *copy++ = *p->at;
    }
    p->at++;
    return NB_OK;
}

static nb_status parse_value(parser *p, nb_value *value);
static nb_status parse_spec(parser *p, nb_spec *spec);

static nb_status append_value(nb_value *list, int *capacity, nb_value item, nb_ctx *ctx)
{
    NB_GROW(ctx, list->items, list->count, *capacity);
    list->items[list->count++] = item;
    return NB_OK;
}

static nb_status list(parser *p, nb_value *value)
{
    int capacity = 0;
    value->kind = NB_LIST;
    do {
        nb_value item = {.kind = NB_WORD};
        p->at++;
        nb_status status = parse_value(p, &item);
        if (status == NB_OK) status = append_value(value, &capacity, item, p->ctx);
        if (status != NB_OK) return status;
        skip_blanks(p);
    } while (*p->at == ',');
    if (*p->at != ']') return syntax(p, "',' or ']'");
    p->at++;
    return NB_OK;
}

/* The "step N" behind a range is part of its text. */
static nb_status append_step(parser *p, const char **text)
{
    const char *step;
    skip_blanks(p);
    if (strncmp(p->at, "step", 4) != 0 || !isspace((unsigned char)p->at[4])) return NB_OK;
    p->at += 4;
    nb_status status = read_word(p, "a step", &step);
    if (status != NB_OK) return status;
    NB_NEED(*text, nb_format(p->ctx, "%s step %s", *text, step));
    return NB_OK;
}

static nb_status range(parser *p, nb_value *value)
{
    nb_range r;
    const char *wrong;
    int capacity = 0;
    nb_status status = append_step(p, &value->text);
    if (status != NB_OK) return status;
    NB_TRY(p->ctx, nb_range_parse(value->text, &r, &wrong, p->ctx));
    if (!wrong && (nb_range_count(&r) > MOST_COMBINATIONS || (p->in_ranges += nb_range_count(&r)) > MOST_COMBINATIONS))
        NB_NEED(wrong, nb_format(p->ctx, "'%s' makes more than %d items", value->text, MOST_COMBINATIONS));
    if (wrong) {
        NB_TRY(p->ctx, nb_mistakes_add(p->mistakes, value->place, "the range %s", wrong));
        return NB_EINVAL;
    }
    value->kind = NB_LIST;
    for (long long i = 0; i < nb_range_count(&r); i++) {
        nb_value item = {.kind = NB_WORD, .place = value->place};
        NB_NEED(item.text, nb_format(p->ctx, "%lld", nb_range_item(&r, i)));
        NB_TRY(p->ctx, append_value(value, &capacity, item, p->ctx));
    }
    return NB_OK;
}

static nb_status word_or_spec(parser *p, nb_value *value)
{
    const char *start = p->at;
    skip_blanks(p);
    if (*p->at == '\'') return syntax(p, "a value, a text between '\"'");
    nb_status status = read_word(p, "a value", &value->text);
    if (status != NB_OK) return status;
    if (nb_range_like(value->text)) return range(p, value);
    skip_blanks(p);
    if (*p->at != '(') return NB_OK;
    p->at = start;
    value->kind = NB_SPEC;
    NB_NEED(value->spec, nb_alloc(p->ctx, 1, sizeof *value->spec));
    return parse_spec(p, value->spec);
}

static nb_status parse_value(parser *p, nb_value *value)
{
    skip_blanks(p);
    value->place = here(p);
    if (p->depth >= DEEPEST) return syntax(p, "at most 16 levels of brackets");
    p->depth++;
    nb_status status = *p->at == '"' ? quoted(p, value) : *p->at == '[' ? list(p, value) : word_or_spec(p, value);
    p->depth--;
    return status;
}

static nb_status argument(parser *p, nb_spec *spec, int *capacity)
{
    NB_GROW(p->ctx, spec->arguments, spec->count, *capacity);
    nb_argument *a = &spec->arguments[spec->count];
    if (spec->count == NB_MOST_OPTIONS) return syntax(p, "at most 64 options");
    skip_blanks(p);
    a->place = here(p);
    nb_status status = read_word(p, "an option's name", &a->key);
    if (status != NB_OK) return status;
    skip_blanks(p);
    if (*p->at != '=') return syntax(p, "'='");
    p->at++;
    spec->count++;
    return parse_value(p, &a->value);
}

static nb_status parse_spec(parser *p, nb_spec *spec)
{
    int capacity = 0;
    skip_blanks(p);
    spec->place = here(p);
    nb_status status = read_word(p, "a name", &spec->name);
    if (status != NB_OK) return status;
    skip_blanks(p);
    if (*p->at != '(') return NB_OK;
    p->at++;
    skip_blanks(p);
    for (bool first = true; *p->at != ')' || !first; first = false) {
        status = argument(p, spec, &capacity);
        if (status != NB_OK) return status;
        skip_blanks(p);
        if (*p->at == ')') break;
        if (*p->at != ',') return syntax(p, "',' or ')'");
        p->at++;
    }
    p->at++;
    return NB_OK;
}

nb_status nb_spec_parse(const char *text, nb_place place, nb_spec **spec, nb_mistakes *mistakes, nb_ctx *ctx)
{
    parser p = {.text = text, .at = text, .start = place, .mistakes = mistakes, .ctx = ctx};
    nb_spec *parsed;
    *spec = NULL;
    NB_NEED(parsed, nb_alloc(ctx, 1, sizeof *parsed));
    int before = mistakes->count;
    while (*p.at && (*p.at == '\n' || *p.at == '\t' || !nb_text_is_control(p.at)))
        p.at++; /* a file's name may have these two */
    nb_status status = *p.at ? syntax(&p, "no control characters") : NB_OK;
    if (status == NB_OK) p.at = text;
    if (status == NB_OK) status = parse_spec(&p, parsed);
    if (status == NB_OK) skip_blanks(&p);
    if (status == NB_OK && *p.at) status = syntax(&p, "the end");
    if (status == NB_OK) *spec = parsed;
    return mistakes->count > before ? NB_OK : status;
}

/* All list-free forms of a value, then of a spec; each calls the other. */
static nb_status expand_value(const nb_value *value, nb_value *forms, nb_ctx *ctx)
{
    int capacity = 0;
    *forms = (nb_value){.kind = NB_LIST, .place = value->place};
    if (value->kind == NB_SPEC) {
        nb_spec **specs;
        int count;
        NB_TRY(ctx, nb_spec_expand(value->spec, &specs, &count, ctx));
        for (int i = 0; i < count; i++) {
            nb_value form = *value;
            form.spec = specs[i];
            NB_TRY(ctx, append_value(forms, &capacity, form, ctx));
        }
        return NB_OK;
    }
    if (value->kind != NB_LIST) return append_value(forms, &capacity, *value, ctx);
    for (int i = 0; i < value->count; i++) {
        nb_value inner;
        NB_TRY(ctx, expand_value(&value->items[i], &inner, ctx));
        NB_REQUIRE(ctx, inner.count <= MOST_COMBINATIONS - forms->count, NB_EINVAL,
                   "a list stands for more than %d values", MOST_COMBINATIONS);
        for (int j = 0; j < inner.count; j++) NB_TRY(ctx, append_value(forms, &capacity, inner.items[j], ctx));
    }
    return NB_OK;
}

/* The combination number `index` of the arguments' forms. */
static nb_status combination(const nb_spec *spec, const nb_value *forms, int index, nb_spec **out, nb_ctx *ctx)
{
    nb_spec *copy;
    NB_NEED(copy, nb_alloc(ctx, 1, sizeof *copy));
    *copy = *spec;
    NB_NEED(copy->arguments, nb_alloc(ctx, (size_t)spec->count + 1, sizeof *copy->arguments));
    for (int a = spec->count - 1; a >= 0; a--) {
        copy->arguments[a] = spec->arguments[a];
        copy->arguments[a].value = forms[a].items[index % forms[a].count];
        index /= forms[a].count;
    }
    *out = copy;
    return NB_OK;
}

nb_status nb_spec_expand(const nb_spec *spec, nb_spec ***specs, int *count, nb_ctx *ctx)
{
    nb_value *forms;
    long long total = 1;
    NB_NEED(forms, nb_alloc(ctx, (size_t)spec->count + 1, sizeof *forms));
    for (int a = 0; a < spec->count; a++) {
        NB_TRY(ctx, expand_value(&spec->arguments[a].value, &forms[a], ctx));
        total *= forms[a].count;
        NB_REQUIRE(ctx, total <= MOST_COMBINATIONS, NB_EINVAL, "the lists of '%s' make more than %d combinations",
                   spec->name, MOST_COMBINATIONS);
    }
    NB_NEED(*specs, nb_alloc(ctx, (size_t)total, sizeof **specs));
    for (int i = 0; i < (int)total; i++) NB_TRY(ctx, combination(spec, forms, i, &(*specs)[i], ctx));
    *count = (int)total;
    return NB_OK;
}
