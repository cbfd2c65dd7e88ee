/* SPDX-License-Identifier: GPL-3.0-or-later */
/* component.c - from a spec to a component with its options. */
#include "components/component.h"

#include "base/builder.h"
#include "base/numbers.h"
#include "base/range.h"
#include "base/text.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum { MOST_CHOICES = 10000 }; /* of a kind in one experiment */

bool nb_component_of_caller(const nb_component *component)
{
    const nb_option *o = component->options;
    while (o && o->key && !o->of_caller) o++;
    return o && o->key;
}

const nb_component *nb_registry_find(const nb_registry *registry, const char *name)
{
    for (const nb_entry *e = registry->entries; e->component; e++)
        if (strcmp(e->component->name, name) == 0) return e->component;
    return NULL;
}

nb_status nb_registry_check(const nb_registry *registry, nb_ctx *ctx)
{
    for (const nb_entry *e = registry->entries; e->component; e++) {
        const char *slash = strrchr(e->file, '/'), *stem = slash ? slash + 1 : e->file, *dot = strrchr(stem, '.');
        int length = dot ? (int)(dot - stem) : (int)strlen(stem);
        NB_REQUIRE(ctx, strncmp(e->component->name, stem, (size_t)length) == 0 && !e->component->name[length],
                   NB_EINVAL, "%s: its %s is called '%s', expected '%.*s': the name in its record must be the file's",
                   e->file, registry->kind, e->component->name, length, stem);
    }
    return NB_OK;
}

nb_status nb_registry_names(const nb_registry *registry, const char *const **names, nb_ctx *ctx)
{
    size_t count = 0, listed = 0;
    const char **all;
    while (registry->entries[count].component) count++;
    NB_NEED(all, nb_alloc(ctx, count + 1, sizeof *all));
    for (const nb_entry *e = registry->entries; e->component; e++)
        if (!nb_component_of_caller(e->component)) all[listed++] = e->component->name;
    *names = all;
    return NB_OK;
}

nb_status nb_registry_add(const nb_registry *registry, const char *file, const nb_component *component, nb_ctx *ctx)
{
    nb_entry *at = registry->entries;
    int count = 0;
    NB_REQUIRE(ctx, !nb_registry_find(registry, component->name), NB_EINVAL, "there is %s %s '%s' already",
               nb_article(registry->kind), registry->kind, component->name);
    while (registry->entries[count].component) count++;
    NB_REQUIRE(ctx, count + 1 < registry->room, NB_EINVAL, "there is no room for more than %d %s", count,
               registry->plural);
    while (at->component && strcmp(at->component->name, component->name) < 0) at++;
    memmove(at + 1, at, (size_t)(registry->entries + count + 1 - at) * sizeof *at);
    *at = (nb_entry){file, component};
    return NB_OK;
}

static nb_status unknown_component(const nb_registry *registry, const nb_spec *spec, nb_mistakes *mistakes, nb_ctx *ctx)
{
    const char *const *names, *hint;
    NB_TRY(ctx, nb_registry_names(registry, &names, ctx));
    NB_NEED(hint, nb_hint(spec->name, names, ctx));
    return nb_mistakes_add(mistakes, spec->place, "no %s '%s'%s", registry->kind, spec->name, hint);
}

static nb_status unknown_option(const nb_component *c, const nb_argument *a, nb_mistakes *mistakes, nb_ctx *ctx)
{
    size_t count = 0;
    const char **keys, *hint;
    while (c->options[count].key) count++;
    NB_NEED(keys, nb_alloc(ctx, count + 1, sizeof *keys));
    for (size_t i = 0; i < count; i++) keys[i] = c->options[i].key;
    NB_NEED(hint, nb_hint(a->key, keys, ctx));
    return nb_mistakes_add(mistakes, a->place, "%s has no option '%s'%s", c->name, a->key, hint);
}

static const nb_option *find_option(const nb_component *c, const char *key)
{
    for (const nb_option *o = c->options; o && o->key; o++)
        if (strcmp(o->key, key) == 0) return o;
    return NULL;
}

const char *nb_option_allowed(const nb_option *o, bool brief, nb_ctx *ctx)
{
    const char *kind = o->type == NB_OPTION_INT ? "integer" : "number";
    nb_string choices = NB_NO_TEXT;
    switch (o->type) {
    case NB_OPTION_BOOL: return "true or false";
    case NB_OPTION_STRING: return brief ? "text" : "a text, quoted if it has spaces, commas or brackets";
    case NB_OPTION_ENUM:
        for (int i = 0; o->choices[i]; i++)
            if (nb_append_item(&choices, brief ? " | " : ", ", ctx, "%s", o->choices[i]) != NB_OK) return NULL;
        return brief ? choices.text : nb_format(ctx, "one of %s", choices.text);
    case NB_OPTION_SPEC:
        return nb_format(ctx, "%s %s%s", nb_article(o->registry->kind), o->registry->kind,
                         brief ? " with its options" : "");
    case NB_OPTION_INT:
    case NB_OPTION_REAL: break;
    }
    return nb_format(ctx, brief ? "%s%s%s %.10g ... %.10g%s%s%s%s%s" : "%s%s%s from %.10g to %.10g%s%s%s%s%s",
                     brief ? "" : nb_article(kind), brief ? "" : " ", kind, o->lo, o->hi, o->word && !brief ? "," : "",
                     o->word ? " or " : "", o->word ? o->word : "", o->second ? " or " : "",
                     o->second ? o->second : "");
}

static bool set_int(const nb_option *o, const char *text, int *field)
{
    if (o->word && strcmp(text, o->word) == 0)
        *field = NB_AUTO;
    else if (o->second && strcmp(text, o->second) == 0)
        *field = NB_SECOND;
    else
        return nb_parse_int(text, (int)fmax(o->lo, INT_MIN), (int)fmin(o->hi, INT_MAX), field);
    return true;
}

static bool set_real(const nb_option *o, const char *text, double *field)
{
    if (o->word && strcmp(text, o->word) == 0) {
        *field = NAN;
        return true;
    }
    return nb_parse_real(text, o->lo, o->hi, field);
}

static bool set_bool(const char *text, int *field)
{
    *field = strcmp(text, "true") == 0;
    return *field || strcmp(text, "false") == 0;
}

static bool set_enum(const nb_option *o, const char *text, int *field)
{
    for (*field = 0; o->choices[*field]; ++*field)
        if (strcmp(o->choices[*field], text) == 0) return true;
    return false;
}

bool nb_option_set(const nb_option *o, const char *text, void *options)
{
    void *field = (char *)options + o->offset;
    switch (o->type) {
    case NB_OPTION_INT: return set_int(o, text, field);
    case NB_OPTION_REAL: return set_real(o, text, field);
    case NB_OPTION_BOOL: return set_bool(text, field);
    case NB_OPTION_ENUM: return set_enum(o, text, field);
    case NB_OPTION_STRING: *(const char **)field = text; return true;
    case NB_OPTION_SPEC: break;
    }
    return false;
}

/* The component that an option names; its mistakes are its own. */
static nb_status set_component(const nb_option *o, const nb_spec *spec, void *options, nb_mistakes *mistakes,
                               nb_ctx *ctx)
{
    nb_choice *choice;
    NB_NEED(choice, nb_alloc(ctx, 1, sizeof *choice));
    *(const nb_choice **)((char *)options + o->offset) = choice;
    NB_TRY(ctx, nb_choose(o->registry, spec, choice, mistakes, ctx));
    if (!choice->given) return NB_OK;
    return nb_mistakes_add(mistakes, spec->place, "%s = %s(...): a " NB_LABEL_OPTION " names the whole, not its part",
                           o->key, choice->component->name);
}

/* The same from a text, which stands for one component. */
static nb_status set_component_text(const nb_option *o, const char *text, nb_place place, void *options,
                                    nb_mistakes *mistakes, nb_ctx *ctx)
{
    nb_spec *spec, **specs;
    int count;
    NB_TRY(ctx, nb_spec_parse(text, place, &spec, mistakes, ctx));
    if (!spec) return NB_OK;
    nb_status status = nb_spec_expand(spec, &specs, &count, ctx);
    if (status != NB_OK) return nb_mistakes_take(mistakes, place, status);
    if (count != 1)
        return nb_mistakes_add(mistakes, place, "%s = \"%s\" stands for %d %s, expected one; lists need no quotes",
                               o->key, text, count, o->registry->plural);
    return set_component(o, specs[0], options, mistakes, ctx);
}

/* Returns the next letter that may be in a figure's file name: a letter, digit, dot or sign. Bytes of UTF-8 count as
 * letters. */
static const char *next_letter(const char *text)
{
    while (*text && !isalnum((unsigned char)*text) && !strchr(".-+", *text) && (unsigned char)*text < 0x80) text++;
    return text;
}

/* Figures of labels that differ in blanks and the like alone would have the same files. */
static bool look_alike(const char *a, const char *b)
{
    for (a = next_letter(a), b = next_letter(b); *a && *a == *b; a = next_letter(a + 1), b = next_letter(b + 1))
        ;
    return *a == *b;
}

/* Returns what is wrong with a label; NULL: nothing. */
static const char *wrong_label(const nb_value *value)
{
    if (value->kind != NB_WORD && value->kind != NB_STRING)
        return "a text, quoted if it has spaces, commas or brackets";
    if (!*next_letter(value->text)) return "a text with a letter or a digit";
    if (strlen(value->text) > NB_MOST_LABEL) return "a text of at most 200 bytes";
    for (const char *at = value->text; *at; at++)
        if (nb_text_is_control(at)) return "a text on one line, without control characters";
    return NULL;
}

static nb_status set_label(const nb_component *c, const nb_argument *a, const char **label, nb_mistakes *mistakes)
{
    const char *allowed = wrong_label(&a->value);
    if (allowed)
        return nb_mistakes_add(mistakes, a->value.place, "%s: " NB_LABEL_OPTION " is not %s", c->name, allowed);
    *label = a->value.text;
    return NB_OK;
}

static bool is_label(const nb_component *c, const char *key)
{
    return strcmp(key, NB_LABEL_OPTION) == 0 && !find_option(c, key);
}

static nb_status set_argument(const nb_component *c, const nb_argument *a, void *options, nb_mistakes *mistakes,
                              nb_ctx *ctx)
{
    const nb_option *o = find_option(c, a->key);
    if (!o) return unknown_option(c, a, mistakes, ctx);
    if (o->type == NB_OPTION_SPEC && a->value.kind == NB_SPEC)
        return set_component(o, a->value.spec, options, mistakes, ctx);
    if (o->type == NB_OPTION_SPEC && a->value.kind == NB_WORD)
        return set_component(o, &(nb_spec){.name = a->value.text, .place = a->value.place}, options, mistakes, ctx);
    if (o->type == NB_OPTION_SPEC && a->value.kind == NB_STRING)
        return set_component_text(o, a->value.text, nb_place_shift(a->value.place, 1), options, mistakes, ctx);
    if (a->value.kind == NB_WORD || (a->value.kind == NB_STRING && o->type == NB_OPTION_STRING))
        if (nb_option_set(o, a->value.text, options)) return NB_OK;
    const char *range, *hint = "", *given = a->value.kind == NB_SPEC ? a->value.spec->name : a->value.text;
    NB_NEED(range, nb_option_allowed(o, false, ctx));
    if (o->type == NB_OPTION_INT) NB_NEED(hint, nb_range_hint(given, ctx));
    return nb_mistakes_add(mistakes, a->value.place, "%s: %s = %s%s%s is not %s%s", c->name, o->key,
                           a->value.kind == NB_STRING ? "\"" : "", given,
                           a->value.kind == NB_STRING ? "\""
                           : a->value.kind == NB_SPEC ? "(...)"
                                                      : "",
                           range, hint);
}

/* Returns whether the key is among the first `count` arguments. */
static bool given(const nb_spec *spec, int count, const char *key)
{
    for (int i = 0; i < count; i++)
        if (strcmp(spec->arguments[i].key, key) == 0) return true;
    return false;
}

static nb_status set_defaults(const nb_component *c, const nb_spec *spec, void *options, nb_mistakes *mistakes,
                              nb_ctx *ctx)
{
    for (const nb_option *o = c->options; o && o->key; o++) {
        if (!o->initial && !given(spec, spec->count, o->key))
            NB_TRY(ctx,
                   nb_mistakes_add(mistakes, spec->place, "%s needs the option '%s': %s", c->name, o->key, o->help));
        if (o->type == NB_OPTION_SPEC) {
            if (o->initial && !given(spec, spec->count, o->key))
                NB_TRY(ctx, set_component_text(o, o->initial, spec->place, options, mistakes, ctx));
            continue;
        }
        NB_REQUIRE(ctx, !o->initial || nb_option_set(o, o->initial, options), NB_EBUG,
                   "%s: the default %s = %s is not allowed", c->name, o->key, o->initial);
    }
    return NB_OK;
}

const char *nb_quoted(const char *text, nb_ctx *ctx)
{
    char *quoted = nb_alloc(ctx, 2 * strlen(text) + 3, 1), *to = quoted;
    if (!quoted) return NULL;
    *to++ = '"';
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') *to++ = '\\';
        *to++ = *text;
    }
    *to = '"';
    return quoted;
}

static const char *quoted_where_needed(const char *text, nb_ctx *ctx)
{
    bool plain = *text && !nb_range_like(text) && text[strcspn(text, " \t\r\n\v\f,()[]=\"'\\")] == '\0';
    return plain ? text : nb_quoted(text, ctx);
}

static const char *option_text(const void *options, const nb_option *o, int digits, nb_ctx *ctx)
{
    const void *field = (const char *)options + o->offset;
    switch (o->type) {
    case NB_OPTION_INT: {
        int value = *(const int *)field;
        if (o->word && value == NB_AUTO) return o->word;
        return o->second && value == NB_SECOND ? o->second : nb_format(ctx, "%d", value);
    }
    case NB_OPTION_REAL: {
        double value = *(const double *)field;
        if (o->word && isnan(value)) return o->word;
        return digits > 0 ? nb_format(ctx, "%.*g", digits, value) : nb_real_copy(ctx, value);
    }
    case NB_OPTION_BOOL: return *(const int *)field ? "true" : "false";
    case NB_OPTION_ENUM: return o->choices[*(const int *)field];
    case NB_OPTION_STRING: return quoted_where_needed(*(const char *const *)field, ctx);
    case NB_OPTION_SPEC: {
        const nb_choice *choice = *(const nb_choice *const *)field;
        return digits > 0 ? choice->canonical : choice->label;
    }
    }
    return NULL;
}

nb_status nb_option_text(const void *options, const nb_option *option, int digits, const char **text, nb_ctx *ctx)
{
    NB_NEED(*text, option_text(options, option, digits, ctx));
    return NB_OK;
}

typedef enum { CANONICAL, RESOLVED, LABEL, FULL, DRAWN } form;

/* Returns the last `parts` parts of a path; a slash at its end begins no part. */
static const char *last_parts(const char *path, int parts)
{
    for (const char *at = path + strlen(path); at > path; at--)
        if (at[-1] == '/' && at[0] && --parts == 0) return at;
    return path;
}

/* parts: of paths, in a LABEL. */
static nb_status describe(const nb_choice *choice, form f, int parts, const char **text, nb_ctx *ctx)
{
    const nb_component *c = choice->component;
    nb_string arguments = NB_NO_TEXT;
    for (const nb_option *o = c->options; o && o->key; o++) {
        const char *value;
        if ((o->selects_head && f != RESOLVED) || (o->reorders && f == DRAWN)) continue;
        NB_TRY(ctx, nb_option_text(choice->options, o, f == LABEL || f == FULL ? 0 : 17, &value, ctx));
        bool shown = (!o->newer && (f == CANONICAL || f == RESOLVED)) || (f == FULL && o == c->options);
        if (!shown && o->initial && strcmp(value, o->initial) == 0) continue;
        if (f == LABEL && o->type == NB_OPTION_STRING) {
            const char *path = *(const char *const *)((const char *)choice->options + o->offset);
            NB_NEED(value, quoted_where_needed(last_parts(path, parts), ctx));
        }
        NB_TRY(ctx, nb_append_item(&arguments, ", ", ctx, "%s=%s", o->key, value));
    }
    NB_NEED(*text, *arguments.text ? nb_format(ctx, "%s(%s)", c->name, arguments.text) : nb_strdup(ctx, c->name));
    return NB_OK;
}

nb_status nb_choice_describe(nb_choice *choice, nb_ctx *ctx)
{
    NB_TRY(ctx, describe(choice, CANONICAL, 1, &choice->canonical, ctx));
    NB_TRY(ctx, describe(choice, LABEL, 1, &choice->label, ctx));
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): describe has set it */
    choice->plain = strcmp(choice->label, choice->component->name) == 0;
    if (choice->given) choice->label = choice->given;
    return describe(choice, RESOLVED, 1, &choice->resolved, ctx);
}

nb_status nb_choice_written(const nb_choice *choice, const char **text, nb_ctx *ctx)
{
    const char *label;
    *text = choice->resolved;
    if (!choice->given) return NB_OK;
    size_t length = strlen(choice->resolved);
    bool bare = choice->resolved[length - 1] != ')';
    NB_NEED(label, nb_quoted(choice->given, ctx));
    NB_NEED(*text, nb_format(ctx, "%.*s%s" NB_LABEL_OPTION "=%s)", (int)(bare ? length : length - 1), choice->resolved,
                             bare ? "(" : ", ", label));
    return NB_OK;
}

nb_status nb_choice_of_stranger(const char *text, nb_choice *choice, bool *labelled, nb_ctx *ctx)
{
    nb_mistakes mistakes = {.ctx = ctx};
    nb_spec *spec;
    const char *end, *canonical;
    NB_TRY(ctx, nb_spec_parse(text, (nb_place){.source = NULL}, &spec, &mistakes, ctx));
    const nb_argument *last = spec && spec->count > 0 ? &spec->arguments[spec->count - 1] : NULL;
    *labelled = last && strcmp(last->key, NB_LABEL_OPTION) == 0 && last->value.kind == NB_STRING;
    if (!*labelled) return NB_OK;
    NB_NEED(end, nb_quoted(last->value.text, ctx));
    NB_NEED(end, nb_format(ctx, "%s" NB_LABEL_OPTION "=%s)", spec->count == 1 ? "(" : ", ", end));
    *labelled = nb_text_ends(text, end);
    if (!*labelled) return NB_OK;
    NB_NEED(canonical, nb_format(ctx, "%.*s%s", (int)(strlen(text) - strlen(end)), text, spec->count == 1 ? "" : ")"));
    *choice = nb_choice_named(NULL, NULL, canonical);
    choice->given = choice->label = last->value.text;
    return NB_OK;
}

/* Options that count with a value of another one only. */
static nb_status check_company(const nb_component *c, const void *options, nb_place place, nb_mistakes *mistakes,
                               nb_ctx *ctx)
{
    void *initial;
    NB_NEED(initial, nb_alloc(ctx, 1, c->options_size + 1));
    for (const nb_option *o = c->options; o && o->key; o++) {
        const nb_option *other = o->for_key ? find_option(c, o->for_key) : NULL;
        const char *value, *has, *kept;
        if (!o->for_key) continue;
        NB_REQUIRE(ctx, other && o->initial, NB_EBUG,
                   "%s: option '%s' is for '%s', which is not there, or has no default", c->name, o->key, o->for_key);
        NB_TRY(ctx, nb_option_text(options, other, 0, &has, ctx));
        NB_REQUIRE(ctx, nb_option_set(o, o->initial, initial), NB_EBUG, "%s: the default %s = %s is not allowed",
                   c->name, o->key, o->initial);
        NB_TRY(ctx, nb_option_text(options, o, 0, &value, ctx));
        NB_TRY(ctx, nb_option_text(initial, o, 0, &kept, ctx));
        if (strcmp(has, o->for_value) != 0 && strcmp(value, kept) != 0)
            NB_TRY(ctx, nb_mistakes_add(mistakes, place, "%s: %s = %s is for %s=%s alone; here %s=%s", c->name, o->key,
                                        value, o->for_key, o->for_value, o->for_key, has));
    }
    return NB_OK;
}

nb_status nb_choice_label(const nb_choice *choice, int parts, const char **text, nb_ctx *ctx)
{
    return describe(choice, LABEL, parts, text, ctx);
}

nb_status nb_choice_full(const nb_choice *choice, const char **text, nb_ctx *ctx)
{
    *text = choice->given;
    return choice->given ? NB_OK : describe(choice, FULL, 1, text, ctx);
}

/* Fills the options of the choice's component, and the label. */
static nb_status fill(const nb_spec *spec, nb_choice *choice, nb_mistakes *mistakes, nb_ctx *ctx)
{
    const nb_component *c = choice->component;
    NB_NEED(choice->options, nb_alloc(ctx, 1, c->options_size + 1));
    NB_TRY(ctx, set_defaults(c, spec, choice->options, mistakes, ctx));
    for (int i = 0; i < spec->count; i++) {
        if (given(spec, i, spec->arguments[i].key))
            NB_TRY(ctx, nb_mistakes_add(mistakes, spec->arguments[i].place, "%s: option '%s' is given twice", c->name,
                                        spec->arguments[i].key));
        else if (is_label(c, spec->arguments[i].key))
            NB_TRY(ctx, set_label(c, &spec->arguments[i], &choice->given, mistakes));
        else
            NB_TRY(ctx, set_argument(c, &spec->arguments[i], choice->options, mistakes, ctx));
    }
    return NB_OK;
}

nb_status nb_choose(const nb_registry *registry, const nb_spec *spec, nb_choice *choice, nb_mistakes *mistakes,
                    nb_ctx *ctx)
{
    *choice = (nb_choice){.component = NULL};
    const nb_component *c = nb_registry_find(registry, spec->name);
    if (!c) return unknown_component(registry, spec, mistakes, ctx);
    int before = mistakes->count;
    nb_choice filled = {.component = c};
    NB_TRY(ctx, fill(spec, &filled, mistakes, ctx));
    if (mistakes->count > before) return NB_OK;
    NB_TRY(ctx, check_company(c, filled.options, spec->place, mistakes, ctx));
    if (mistakes->count > before) return NB_OK;
    NB_TRY(ctx, nb_choice_describe(&filled, ctx));
    *choice = filled;
    return NB_OK;
}

nb_status nb_choice_drawn(const nb_choice *choice, const char **text, nb_ctx *ctx)
{
    nb_mistakes mistakes = {.ctx = ctx};
    nb_choice given = {.component = choice->component};
    nb_spec *spec;
    *text = choice->canonical;
    if (!choice->component->options || !choice->component->options->key) return NB_OK;
    NB_TRY(ctx, nb_spec_parse(choice->canonical, (nb_place){.source = NULL}, &spec, &mistakes, ctx));
    if (spec) NB_TRY(ctx, fill(spec, &given, &mistakes, ctx));
    NB_REQUIRE(ctx, mistakes.count == 0, NB_EBUG, "%s does not read back", choice->canonical);
    return describe(&given, DRAWN, 1, text, ctx);
}

nb_choice nb_choice_named(const nb_component *component, void *options, const char *name)
{
    return (nb_choice){component, options, name, name, name, false, NULL};
}

int nb_choices_find(const nb_choices *choices, const nb_choice *choice)
{
    for (int i = 0; i < choices->count; i++)
        if (strcmp(choices->items[i].resolved, choice->resolved) == 0) return i;
    return -1;
}

nb_status nb_choices_label(nb_choices *choices, const nb_choice *of, nb_ctx *ctx)
{
    for (int i = 0; i < choices->count; i++) {
        nb_choice *other = &choices->items[i];
        bool same = strcmp(other->canonical, of->canonical) == 0;
        NB_REQUIRE(ctx, same || (!of->given && !other->given) || !look_alike(other->label, of->label), NB_EINVAL,
                   "'%s' and '%s' are labels of different ones, %s and %s; they must differ in letters or digits",
                   other->label, of->label, other->resolved, of->resolved);
        if (!same || !of->given) continue;
        NB_REQUIRE(ctx, !other->given || strcmp(other->given, of->given) == 0, NB_EINVAL,
                   "%s has two labels, '%s' and '%s'", of->canonical, other->given, of->given);
        other->label = other->given = of->given;
    }
    return NB_OK;
}

nb_status nb_choices_append(nb_choices *choices, nb_choice choice, nb_ctx *ctx)
{
    NB_GROW(ctx, choices->items, choices->count, choices->capacity);
    choices->items[choices->count++] = choice;
    return NB_OK;
}

/* Adds an option to the labels of a sweep if the choices do not agree in it. */
static nb_status add_swept(const nb_option *o, int count, nb_choice *swept, nb_string *labels, nb_ctx *ctx)
{
    const char **values;
    bool differ = false;
    NB_NEED(values, nb_alloc(ctx, (size_t)count, sizeof *values));
    for (int i = 0; i < count; i++) {
        NB_TRY(ctx, nb_option_text(swept[i].options, o, 0, &values[i], ctx));
        differ = differ || strcmp(values[i], values[0]) != 0;
    }
    for (int i = 0; i < count && differ; i++)
        NB_TRY(ctx, nb_append(&labels[i], ctx, ", %s=%s", o->key,
                              o->type == NB_OPTION_STRING ? last_parts(values[i], 1) : values[i]));
    return NB_OK;
}

/* The choices of a spec with lists; those that are labelled are told apart. */
static nb_status label_swept(int count, nb_choice *swept, nb_place place, nb_mistakes *mistakes, nb_ctx *ctx)
{
    nb_string *labels;
    if (count == 0) return NB_OK;
    NB_NEED(labels, nb_alloc(ctx, (size_t)count, sizeof *labels));
    for (int i = 0; i < count; i++) {
        if (!swept[i].given) return NB_OK;
        labels[i] = (nb_string)NB_NO_TEXT;
        NB_TRY(ctx, nb_append(&labels[i], ctx, "%s", swept[i].given));
    }
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): there are count > 0 of them */
    for (const nb_option *o = swept->component->options; count > 1 && o && o->key; o++)
        if (!o->selects_head) NB_TRY(ctx, add_swept(o, count, swept, labels, ctx));
    for (int i = 0; i < count; i++) {
        swept[i].label = swept[i].given = labels[i].text;
        if (labels[i].length > NB_MOST_LABEL)
            return nb_mistakes_add(mistakes, place, "the label '%s' has more than %d bytes with what it sweeps",
                                   labels[i].text, NB_MOST_LABEL);
    }
    return NB_OK;
}

nb_status nb_choices_list_spec(nb_choices *choices, const nb_registry *registry, const nb_spec *spec,
                               nb_mistakes *mistakes, nb_ctx *ctx)
{
    nb_spec **specs;
    int count;
    nb_status status = nb_spec_expand(spec, &specs, &count, ctx);
    if (status != NB_OK) return nb_mistakes_take(mistakes, spec->place, status);
    if (count > MOST_CHOICES - choices->count)
        return nb_mistakes_add(mistakes, spec->place, "there are more than %d %s", MOST_CHOICES, registry->plural);
    int before = mistakes->count, first = choices->count;
    for (int i = 0; i < count; i++) {
        nb_choice choice;
        NB_TRY(ctx, nb_choose(registry, specs[i], &choice, mistakes, ctx));
        if (mistakes->count > before) return NB_OK;
        NB_TRY(ctx, nb_choices_append(choices, choice, ctx));
    }
    return count ? label_swept(count, choices->items + first, spec->place, mistakes, ctx) : NB_OK;
}

nb_status nb_choices_list(nb_choices *choices, const nb_registry *registry, const char *text, nb_place place,
                          nb_mistakes *mistakes, nb_ctx *ctx)
{
    nb_spec *spec;
    NB_TRY(ctx, nb_spec_parse(text, place, &spec, mistakes, ctx));
    return spec ? nb_choices_list_spec(choices, registry, spec, mistakes, ctx) : NB_OK;
}

nb_status nb_choices_add(nb_choices *choices, const nb_registry *registry, const char *text, nb_place place,
                         nb_mistakes *mistakes, nb_ctx *ctx)
{
    nb_choices all = {.count = 0};
    NB_TRY(ctx, nb_choices_list(&all, registry, text, place, mistakes, ctx));
    for (int i = 0; i < all.count; i++)
        if (nb_choices_find(choices, &all.items[i]) < 0) NB_TRY(ctx, nb_choices_append(choices, all.items[i], ctx));
    return NB_OK;
}

static nb_status read_part(const nb_registry *registry, const nb_spec *spec, nb_choice_part *part,
                           nb_mistakes *mistakes, nb_ctx *ctx)
{
    *part = (nb_choice_part){.component = nb_registry_find(registry, spec->name)};
    if (!part->component) return unknown_component(registry, spec, mistakes, ctx);
    NB_NEED(part->options, nb_alloc(ctx, 1, part->component->options_size + 1));
    NB_NEED(part->given, nb_alloc(ctx, (size_t)spec->count + 1, sizeof *part->given));
    for (int i = 0; i < spec->count; i++) {
        if (is_label(part->component, spec->arguments[i].key)) {
            if (spec->count > 1) continue;
            return nb_mistakes_add(mistakes, spec->arguments[i].place,
                                   "%s: a " NB_LABEL_OPTION " selects nothing; name other options, or none",
                                   part->component->name);
        }
        NB_TRY(ctx, set_argument(part->component, &spec->arguments[i], part->options, mistakes, ctx));
        const nb_option *option = find_option(part->component, spec->arguments[i].key);
        if (option) part->given[part->count++] = option;
    }
    return NB_OK;
}

nb_status nb_choice_parts_of(const nb_registry *registry, const nb_spec *spec, int *count, nb_choice_part **parts,
                             nb_mistakes *mistakes, nb_ctx *ctx)
{
    nb_spec **specs;
    int before = mistakes->count, total;
    *count = 0;
    nb_status status = nb_spec_expand(spec, &specs, &total, ctx);
    if (status != NB_OK) return nb_mistakes_take(mistakes, spec->place, status);
    NB_NEED(*parts, nb_alloc(ctx, (size_t)total, sizeof **parts));
    for (int i = 0; i < total && mistakes->count == before; i++)
        NB_TRY(ctx, read_part(registry, specs[i], &(*parts)[i], mistakes, ctx));
    if (mistakes->count == before) *count = total;
    return NB_OK;
}

nb_status nb_choice_parts_read(const nb_registry *registry, const char *text, nb_place place, int *count,
                               nb_choice_part **parts, nb_mistakes *mistakes, nb_ctx *ctx)
{
    nb_spec *spec;
    *count = 0;
    NB_TRY(ctx, nb_spec_parse(text, place, &spec, mistakes, ctx));
    return spec ? nb_choice_parts_of(registry, spec, count, parts, mistakes, ctx) : NB_OK;
}

nb_status nb_choice_part_text(const nb_choice_part *part, const char **text, nb_ctx *ctx)
{
    nb_string arguments = NB_NO_TEXT;
    const char *value;
    for (int i = 0; i < part->count; i++) {
        NB_TRY(ctx, nb_option_text(part->options, part->given[i], 17, &value, ctx));
        NB_TRY(ctx, nb_append_item(&arguments, ", ", ctx, "%s=%s", part->given[i]->key, value));
    }
    NB_NEED(*text, part->count ? nb_format(ctx, "%s(%s)", part->component->name, arguments.text)
                               : nb_strdup(ctx, part->component->name));
    return NB_OK;
}

nb_status nb_choice_part_matches(const nb_choice_part *part, const nb_choice *choice, bool *matches, nb_ctx *ctx)
{
    *matches = part->component == choice->component;
    for (int i = 0; i < part->count && *matches; i++) {
        const char *wanted, *had;
        NB_TRY(ctx, nb_option_text(part->options, part->given[i], 17, &wanted, ctx));
        NB_TRY(ctx, nb_option_text(choice->options, part->given[i], 17, &had, ctx));
        *matches = strcmp(wanted, had) == 0;
    }
    return NB_OK;
}

nb_status nb_choice_parse(const nb_registry *registry, const char *text, nb_choice *choice, nb_ctx *ctx)
{
    nb_mistakes mistakes = {.ctx = ctx};
    nb_choices choices = {.count = 0};
    NB_TRY(ctx, nb_choices_add(&choices, registry, text, (nb_place){.source = NULL}, &mistakes, ctx));
    NB_REQUIRE(ctx, mistakes.count == 0, NB_EINVAL, "%s", mistakes.texts[0]);
    NB_REQUIRE(ctx, choices.count == 1, NB_EINVAL, "'%s' stands for %d %s, expected one", text, choices.count,
               registry->plural);
    *choice = choices.items[0];
    return NB_OK;
}

nb_status nb_choice_recall(const nb_registry *registry, const char *text, nb_choice *choice, bool *there, nb_ctx *ctx)
{
    nb_status status = nb_choice_parse(registry, text, choice, ctx);
    *there = status == NB_OK;
    if (status == NB_ENOMEM) return status;
    nb_error_clear(ctx);
    return NB_OK;
}
