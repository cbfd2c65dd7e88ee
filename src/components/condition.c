/* SPDX-License-Identifier: GPL-3.0-or-later */
/* condition.c - see condition.h */
#include "components/condition.h"

#include "base/builder.h"
#include "base/numbers.h"
#include "base/range.h"
#include "base/text.h"
#include "base/words.h"

#include <ctype.h>
#include <float.h>
#include <string.h>

/* Returns the '=' behind the name of a column at the beginning of the text; NULL: it begins with none. */
static const char *equals_of(const char *text, const char *end)
{
    while (text < end && isspace((unsigned char)*text)) text++;
    const char *at = text;
    while (at < end && (isalnum((unsigned char)*at) || *at == '_')) at++;
    const char *name_end = at;
    while (at < end && isspace((unsigned char)*at)) at++;
    return name_end > text && at < end && *at == '=' ? at : NULL;
}

nb_status nb_conditions_split(const char *text, int *count, nb_condition_text **parts, nb_ctx *ctx)
{
    size_t most = 2; /* and the one that ends them */
    for (const char *at = text; *at; at++) most += *at == ',';
    NB_NEED(*parts, nb_alloc(ctx, most, sizeof **parts));
    *count = 0;
    for (const char *from = text, *end; from; from = *end ? end + 1 : NULL) {
        const char *equals;
        nb_condition_text *part = &(*parts)[*count];
        end = nb_item_end(from);
        equals = equals_of(from, end);
        NB_REQUIRE(ctx, equals, NB_EINVAL, "expected COLUMN=VALUE, found '%.*s'", (int)(end - from), from);
        while (*end && end[1] && !equals_of(end + 1, nb_item_end(end + 1))) end = nb_item_end(end + 1);
        NB_NEED(part->column, nb_item_text(from, equals, ctx));
        NB_NEED(part->text, nb_format(ctx, "%.*s", (int)(end - equals - 1), equals + 1));
        ++*count;
    }
    return NB_OK;
}

/* A measured number is not what rows are selected by. */
static bool selects(const nb_column *column)
{
    return column->type != NB_COLUMN_REAL || column->identity;
}

nb_status nb_selector_find(const nb_study *study, const char *name, nb_selector *found, nb_ctx *ctx)
{
    int count = 0;
    const nb_column *all, *column;
    const char **names, *hint;
    *found = (nb_selector){.name = name};
    NB_TRY(ctx, nb_columns_with_labels(study->columns, &all, ctx));
    column = nb_column_find(all, name);
    if (column && selects(column)) {
        for (found->column = study->columns; found->column->offset != column->offset;) ++found->column;
        found->name = column->name;
        found->axis = nb_axis_of_column(study, found->column->name);
        found->registry = nb_column_registry(study->columns, found->column->name);
        return NB_OK;
    }
    NB_NEED(names, nb_alloc(ctx, (size_t)nb_column_count(all) + 1, sizeof *names));
    for (const nb_column *c = all; c->name; c++)
        if (selects(c)) names[count++] = c->name;
    NB_NEED(hint, nb_hint(name, names, ctx));
    NB_FAIL(ctx, NB_EINVAL, "no column '%s' that rows can be selected by%s", name, hint);
}

bool nb_selector_is_measured(const nb_selector *selector)
{
    return nb_column_is_measured(selector->column) || strcmp(selector->column->name, "status") == 0;
}

static bool is_of_labels(const nb_selector *s)
{
    return strcmp(s->name, s->column->name) != 0;
}

/* A text with the candidates that it may mean. */
typedef struct {
    const nb_candidates *among;
    const char *what, *text;
    nb_place place;
    nb_mistakes *mistakes;
    nb_ctx *ctx;
} question;

static bool any_marked(const nb_candidates *among, const bool *means)
{
    int i = 0;
    while (i < among->count && !means[i]) i++;
    return i < among->count;
}

/* Returns the option by which the text names heads, which a row's problem does not show; NULL: none. */
static const nb_option *head_option(int count, const nb_choice_part *parts)
{
    for (int p = 0; p < count; p++)
        for (int g = 0; g < parts[p].count; g++)
            if (parts[p].given[g]->selects_head) return parts[p].given[g];
    return NULL;
}

/* Marks the candidates that agree with what the text says of options; `wrong` gets why it is no spec. */
static nb_status mark_specs(const question *q, bool *means, nb_mistakes *wrong)
{
    nb_choice_part *parts;
    int count;
    NB_TRY(q->ctx, nb_choice_parts_read(q->among->column.registry, q->text, q->place, &count, &parts, wrong, q->ctx));
    const nb_option *head = head_option(count, parts);
    if (head)
        return nb_mistakes_add(wrong, q->place, "%s%s: the column 'head' names heads, not the option '%s'", q->what,
                               q->among->column.name, head->key);
    for (int i = 0; i < q->among->count && count > 0; i++) {
        const nb_choice *choice = q->among->items[i].choice;
        for (int p = 0; p < count && choice && !means[i]; p++)
            NB_TRY(q->ctx, nb_choice_part_matches(&parts[p], choice, &means[i], q->ctx));
    }
    return NB_OK;
}

/* Marks the candidates that tables, figures and messages call by this text, or that rows have as it stands: a component
 * that the program does not have, too. */
static nb_status mark_labels(const question *q, bool *means)
{
    for (int i = 0; i < q->among->count; i++) {
        const nb_choice *choice = q->among->items[i].choice;
        const char *full = "";
        if (choice) NB_TRY(q->ctx, nb_choice_full(choice, &full, q->ctx));
        means[i] = nb_text_same(q->text, q->among->items[i].label) || strcmp(q->text, q->among->items[i].text) == 0 ||
                   (choice && (nb_text_same(q->text, choice->label) || nb_text_same(q->text, full)));
    }
    return NB_OK;
}

static void mark_texts(const question *q, bool *means)
{
    bool by_label = is_of_labels(&q->among->column);
    for (int i = 0; i < q->among->count; i++)
        means[i] = nb_text_same(q->text, q->among->items[i].label) ||
                   (!by_label && strcmp(q->text, q->among->items[i].text) == 0);
}

static nb_status mark_reals(const question *q, bool *means)
{
    double real;
    if (!nb_parse_real(q->text, -DBL_MAX, DBL_MAX, &real))
        return nb_mistakes_add(q->mistakes, q->place, "%s%s=%s: expected a number", q->what, q->among->column.name,
                               q->text);
    for (int i = 0; i < q->among->count; i++) means[i] = q->among->items[i].real == real;
    return NB_OK;
}

static nb_status mark_integers(const question *q, bool *means)
{
    nb_range range;
    const char *wrong, *hint;
    NB_TRY(q->ctx, nb_range_parse(q->text, &range, &wrong, q->ctx));
    if (wrong && (nb_range_like(q->text) || strstr(q->text, "..")))
        return nb_mistakes_add(q->mistakes, q->place, "%s%s: %s", q->what, q->among->column.name, wrong);
    if (wrong) {
        NB_NEED(hint, nb_range_hint(q->text, q->ctx));
        return nb_mistakes_add(q->mistakes, q->place, "%s%s=%s: expected a whole number, or a range as 8..64 step 8%s",
                               q->what, q->among->column.name, q->text, hint);
    }
    for (int i = 0; i < q->among->count; i++) means[i] = nb_range_holds(&range, q->among->items[i].integer);
    return NB_OK;
}

nb_status nb_candidates_list(const nb_candidates *c, const bool *marked, const char **list, nb_ctx *ctx)
{
    enum { SHOWN = 10 };
    bool integers = c->column.column->type == NB_COLUMN_INT || c->column.column->type == NB_COLUMN_SEED;
    int count = 0;
    nb_string all = NB_NO_TEXT;
    for (int i = 0, last; i < c->count && count <= SHOWN; i = last + 1) {
        last = i;
        if (marked && !marked[i]) continue;
        while (integers && !marked && last + 1 < c->count && c->items[last + 1].integer == c->items[last].integer + 1)
            last++;
        if (last < i + 2) last = i;
        const char *label = count == SHOWN ? "..." : *c->items[i].label ? c->items[i].label : "''";
        NB_TRY(ctx, nb_append_item(&all, ", ", ctx, "%s", label));
        if (last > i && count < SHOWN) NB_TRY(ctx, nb_append(&all, ctx, "..%s", c->items[last].label));
        count++;
    }
    *list = all.text;
    return NB_OK;
}

/* Returns the label, or the name in the registry, that may be meant; NULL: none is near, or it is a number. */
static nb_status find_near(const question *q, const char **near)
{
    const char **labels, *const *names;
    *near = NULL;
    if (!q->among->column.registry) return NB_OK;
    NB_NEED(labels, nb_alloc(q->ctx, (size_t)q->among->count + 1, sizeof *labels));
    for (int i = 0; i < q->among->count; i++) labels[i] = q->among->items[i].label;
    *near = nb_near(q->text, labels);
    if (*near || q->among->count > 0) return NB_OK;
    NB_TRY(q->ctx, nb_registry_names(q->among->column.registry, &names, q->ctx));
    *near = nb_near(q->text, names);
    return NB_OK;
}

/* Tells of a text that means no candidate: with the one that may be meant, or with those that there are. */
static nb_status tell_absent(const question *q)
{
    const nb_selector *s = &q->among->column;
    const char *list, *near, *hint;
    bool text = s->column->type == NB_COLUMN_TEXT && !s->registry; /* which a row may lack */
    if (!*q->text && !(text && q->among->open))
        return nb_mistakes_add(q->mistakes, q->place, "%s%s: a value is missing", q->what, s->name);
    if (s->axis && s->axis->type == NB_AXIS_WORD && !nb_text_among(q->text, s->axis->words)) {
        NB_NEED(hint, nb_hint(q->text, s->axis->words, q->ctx));
        return nb_mistakes_add(q->mistakes, q->place, "%s%s: '%s' is unknown%s", q->what, s->name, q->text, hint);
    }
    if (q->among->open) return NB_OK;
    NB_TRY(q->ctx, find_near(q, &near));
    if (near)
        return nb_mistakes_add(q->mistakes, q->place, "%s%s=%s: the run has no such row; did you mean '%s'?", q->what,
                               s->name, q->text, near);
    NB_TRY(q->ctx, nb_candidates_list(q->among, NULL, &list, q->ctx));
    return nb_mistakes_add(q->mistakes, q->place, "%s%s=%s: the run has no such row; it has %s", q->what, s->name,
                           q->text, list);
}

/* What names a component that there is, but is no spec of it, has that mistake; what names none may be a label. */
static nb_status mark_components(const question *q, bool *means)
{
    const char *name;
    nb_mistakes wrong = {.ctx = q->ctx};
    NB_TRY(q->ctx, mark_specs(q, means, &wrong));
    if (any_marked(q->among, means)) return NB_OK;
    NB_TRY(q->ctx, mark_labels(q, means));
    if (any_marked(q->among, means)) return NB_OK;
    NB_NEED(name, nb_format(q->ctx, "%.*s", (int)strcspn(q->text, "( "), q->text));
    if (wrong.count == 0) return tell_absent(q);
    if (nb_registry_find(q->among->column.registry, name)) return nb_mistakes_append(q->mistakes, &wrong);
    question closed = *q;
    nb_candidates labelled = *q->among;
    labelled.open = labelled.open && labelled.count == 0; /* then the labels are not known */
    closed.among = &labelled;
    return tell_absent(&closed);
}

static nb_status mark_item(question *q, bool *means)
{
    const nb_selector *s = &q->among->column;
    int before = q->mistakes->count;
    const char *oracle = s->registry ? strstr(q->text, NB_ORACLE_MARK) : NULL;
    if (oracle && strcmp(oracle, NB_ORACLE_MARK) == 0)
        NB_NEED(q->text, nb_format(q->ctx, "%.*s", (int)(oracle - q->text), q->text));
    if (s->registry && !is_of_labels(s)) return mark_components(q, means);
    if (!*q->text && s->column->type != NB_COLUMN_TEXT) return tell_absent(q);
    if (s->column->type == NB_COLUMN_REAL)
        NB_TRY(q->ctx, mark_reals(q, means));
    else if (s->column->type != NB_COLUMN_TEXT)
        NB_TRY(q->ctx, mark_integers(q, means));
    else
        mark_texts(q, means);
    return q->mistakes->count > before || any_marked(q->among, means) ? NB_OK : tell_absent(q);
}

nb_status nb_candidates_mark(const nb_candidates *among, const char *what, const char *text, nb_place place,
                             bool *means, nb_mistakes *mistakes)
{
    nb_ctx *ctx = mistakes->ctx;
    const char *inside, *item;
    bool *item_means;
    NB_NEED(item, nb_item_text(text, text + strlen(text), ctx));
    NB_TRY(ctx, nb_list_inside(item, &inside, ctx));
    for (const char *at = inside, *end; at; at = *end ? end + 1 : NULL) {
        end = nb_item_end(at);
        NB_NEED(item, nb_format(ctx, "%.*s", (int)(end - at), at));
        NB_TRY(ctx, nb_candidates_mark(among, what, item, place, means, mistakes));
    }
    if (inside) return NB_OK;
    question q = {among, what, item, place, mistakes, ctx};
    NB_NEED(item_means, nb_alloc(ctx, (size_t)among->count + 1, sizeof *item_means));
    NB_TRY(ctx, mark_item(&q, item_means));
    for (int i = 0; i < among->count; i++) means[i] = means[i] || item_means[i];
    return NB_OK;
}

nb_status nb_candidates_match(const nb_candidates *among, const char *text, bool *means, nb_ctx *ctx)
{
    nb_mistakes mistakes = {.ctx = ctx};
    NB_TRY(ctx, nb_candidates_mark(among, "", text, (nb_place){.source = NULL}, means, &mistakes));
    NB_REQUIRE(ctx, mistakes.count == 0, NB_EINVAL, "%s", mistakes.texts[0]);
    return NB_OK;
}

nb_status nb_candidates_pick(const nb_candidates *among, const char *text, int *index, nb_ctx *ctx)
{
    bool *means;
    const char *list;
    int count = 0;
    *index = -1;
    NB_NEED(means, nb_alloc(ctx, (size_t)among->count + 1, sizeof *means));
    NB_TRY(ctx, nb_candidates_match(among, text, means, ctx));
    for (int i = 0; i < among->count; i++)
        if (means[i] && (count++ == 0 || nb_text_same(text, among->items[i].label))) *index = i;
    if (count < 2 || nb_text_same(text, among->items[*index].label)) return NB_OK; /* its label, and others' spec */
    NB_TRY(ctx, nb_candidates_list(among, means, &list, ctx));
    NB_FAIL(ctx, NB_EINVAL, "%s=%s means %d values: %s; name one", among->column.name, text, count, list);
}
