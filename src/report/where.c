/* SPDX-License-Identifier: GPL-3.0-or-later */
/* where.c - see where.h */
#include "report/where.h"

#include "base/items.h"
#include "base/numbers.h"
#include "base/range.h"
#include "base/text.h"
#include "components/registry.h"
#include "components/study.h"
#include "report/labels.h"

#include <float.h>
#include <string.h>

/* A measured number is not what rows are selected by. */
static bool selects(const nb_column *column)
{
    return column->type != NB_COLUMN_REAL || column->identity;
}

/* *column <- the frame's; for the name of a column of labels that of their components. */
static nb_status find_column(const nb_frame *f, const char *name, const nb_column **column, nb_ctx *ctx)
{
    int count = 0;
    const nb_column *all, *found;
    const char **names, *hint;
    NB_TRY(ctx, nb_columns_with_labels(f->columns, &all, ctx));
    found = nb_column_find(all, name);
    for (*column = f->columns; found && (*column)->offset != found->offset;) ++*column;
    if (found && selects(found)) return NB_OK;
    NB_NEED(names, nb_alloc(ctx, (size_t)nb_column_count(all) + 1, sizeof *names));
    for (const nb_column *c = all; c->name; c++)
        if (selects(c)) names[count++] = c->name;
    NB_NEED(hint, nb_hint(name, names, ctx));
    NB_FAIL(ctx, NB_EINVAL, "no column '%s' that rows can be selected by%s", name, hint);
}

typedef struct {
    const nb_frame *frame;
    const char *name; /* as the condition has it: perhaps that of the column's labels */
    const nb_column *column;
    const nb_registry *registry; /* of the components that the column names; NULL: it names none */
    nb_codes codes;
} values;

/* Tables mark the label of an oracle; the label is the rest. */
static nb_status without_mark(const char **text, nb_ctx *ctx)
{
    const char *mark = strstr(*text, NB_ORACLE_MARK);
    if (mark && strcmp(mark, NB_ORACLE_MARK) == 0) NB_NEED(*text, nb_format(ctx, "%.*s", (int)(mark - *text), *text));
    return NB_OK;
}

/* Of the column, and what of the text is to be looked for among them. */
static nb_status find_values(const nb_frame *f, const char *name, const char **text, values *v, nb_ctx *ctx)
{
    *v = (values){.frame = f, .name = name};
    NB_TRY(ctx, find_column(f, name, &v->column, ctx));
    v->registry = nb_column_registry(f->columns, v->column->name);
    if (v->registry) NB_TRY(ctx, without_mark(text, ctx));
    return nb_frame_codes(f, v->column->name, &v->codes, ctx);
}

static const void *field(const values *v, int value)
{
    return (const char *)nb_frame_row(v->frame, v->codes.first[value]) + v->column->offset;
}

static const char *text_of(const values *v, int value)
{
    const char *text = *(const char *const *)field(v, value);
    return text ? text : "";
}

/* What each is called in tables; NULL-terminated. */
static nb_status name_values(const values *v, const char ***names, nb_ctx *ctx)
{
    const char **texts;
    NB_NEED(*names, nb_alloc(ctx, (size_t)v->codes.count + 1, sizeof **names));
    if (v->registry) {
        NB_NEED(texts, nb_alloc(ctx, (size_t)v->codes.count + 1, sizeof *texts));
        for (int i = 0; i < v->codes.count; i++) texts[i] = text_of(v, i);
        return nb_labels_apart(v->registry, v->frame->labels, v->codes.count, texts, *names, ctx);
    }
    for (int i = 0; i < v->codes.count; i++)
        if (v->column->type == NB_COLUMN_REAL)
            NB_NEED((*names)[i], nb_real_copy(ctx, *(const double *)field(v, i)));
        else
            NB_TRY(ctx, nb_label_of(v->frame, v->column->name, v->codes.first[i], &(*names)[i], ctx));
    return NB_OK;
}

/* *there: its component is in this program. */
static nb_status choose(const values *v, int value, nb_choice *choice, bool *there, nb_ctx *ctx)
{
    nb_status status = nb_choice_parse(v->registry, text_of(v, value), choice, ctx);
    if (status == NB_ENOMEM) return status;
    nb_error_clear(ctx);
    *there = status == NB_OK;
    return NB_OK;
}

/* By what the text says of options; *mistake: it is no spec, for this reason. */
static nb_status match_specs(const values *v, const char *text, bool *means, const char **mistake, nb_ctx *ctx)
{
    nb_choice_part *parts;
    nb_mistakes mistakes;
    int count;
    nb_mistakes_init(&mistakes, ctx);
    NB_TRY(ctx, nb_choice_parts_read(v->registry, text, (nb_place){0}, &count, &parts, &mistakes, ctx));
    *mistake = mistakes.count ? mistakes.texts[0] : NULL;
    for (int i = 0; i < v->codes.count && count > 0; i++) {
        nb_choice choice;
        bool there;
        NB_TRY(ctx, choose(v, i, &choice, &there, ctx));
        for (int p = 0; p < count && there && !means[i]; p++)
            NB_TRY(ctx, nb_choice_part_matches(&parts[p], &choice, &means[i], ctx));
    }
    return NB_OK;
}

/* By what tables, figures and messages call them. */
static nb_status match_names(const values *v, const char *text, bool *means, nb_ctx *ctx)
{
    const char **names;
    NB_TRY(ctx, name_values(v, &names, ctx));
    for (int i = 0; i < v->codes.count; i++) {
        nb_choice choice;
        bool there;
        NB_TRY(ctx, choose(v, i, &choice, &there, ctx));
        means[i] = nb_text_same(text, names[i]) ||
                   (there && (nb_text_same(text, choice.label) || nb_text_same(text, choice.full)));
    }
    return NB_OK;
}

static bool any(const values *v, const bool *means)
{
    int i = 0;
    while (i < v->codes.count && !means[i]) i++;
    return i < v->codes.count;
}

/* Whether the text begins as a spec of a component that there is. */
static nb_status names_component(const values *v, const char *text, bool *yes, nb_ctx *ctx)
{
    const char *name;
    NB_NEED(name, nb_format(ctx, "%.*s", (int)strcspn(text, "( "), text));
    *yes = nb_registry_find(v->registry, name);
    return NB_OK;
}

static nb_status match_components(const values *v, const char *text, bool *means, nb_ctx *ctx)
{
    const char *mistake;
    bool known;
    NB_TRY(ctx, match_specs(v, text, means, &mistake, ctx));
    if (any(v, means)) return NB_OK;
    NB_TRY(ctx, match_names(v, text, means, ctx));
    NB_TRY(ctx, names_component(v, text, &known, ctx));
    NB_REQUIRE(ctx, any(v, means) || !mistake || !known, NB_EINVAL, "%s", mistake);
    return NB_OK;
}

static nb_status match_labels(const values *v, const char *text, bool *means, nb_ctx *ctx)
{
    const char **names;
    NB_TRY(ctx, name_values(v, &names, ctx));
    for (int i = 0; i < v->codes.count; i++) means[i] = nb_text_same(text, names[i]);
    return NB_OK;
}

static nb_status match_texts(const values *v, const char *text, bool *means, nb_ctx *ctx)
{
    (void)ctx;
    for (int i = 0; i < v->codes.count; i++) means[i] = strcmp(text_of(v, i), text) == 0;
    return NB_OK;
}

static nb_status match_reals(const values *v, const char *text, bool *means, nb_ctx *ctx)
{
    double real;
    NB_REQUIRE(ctx, nb_parse_real(text, -DBL_MAX, DBL_MAX, &real), NB_EINVAL, "%s=%s: expected a number", v->name,
               text);
    for (int i = 0; i < v->codes.count; i++) means[i] = *(const double *)field(v, i) == real;
    return NB_OK;
}

static nb_status match_numbers(const values *v, const char *text, bool *means, nb_ctx *ctx)
{
    nb_range range;
    const char *wrong;
    NB_TRY(ctx, nb_range_parse(text, &range, &wrong, ctx));
    NB_REQUIRE(ctx, !wrong, NB_EINVAL, "%s=%s: expected a whole number, or a range as 8..64 step 8", v->name, text);
    for (int i = 0; i < v->codes.count; i++)
        means[i] = nb_range_holds(&range, v->column->type == NB_COLUMN_INT ? *(const int *)field(v, i)
                                                                           : *(const long long *)field(v, i));
    return NB_OK;
}

static nb_status match(const values *v, const char *text, bool *means, nb_ctx *ctx)
{
    if (strcmp(v->name, v->column->name) != 0) return match_labels(v, text, means, ctx);
    if (v->registry) return match_components(v, text, means, ctx);
    if (v->column->type == NB_COLUMN_TEXT) return match_texts(v, text, means, ctx);
    return v->column->type == NB_COLUMN_REAL ? match_reals(v, text, means, ctx) : match_numbers(v, text, means, ctx);
}

/* The names of those marked, the first of them; `means` NULL: of all. */
static nb_status list_names(const values *v, const bool *means, const char **list, nb_ctx *ctx)
{
    enum { SHOWN = 10 };
    const char **names;
    int count = 0;
    NB_TRY(ctx, name_values(v, &names, ctx));
    *list = "";
    for (int i = 0; i < v->codes.count; i++) {
        if (means && !means[i]) continue;
        if (count++ < SHOWN)
            NB_NEED(*list, nb_format(ctx, "%s%s%s", *list, count > 1 ? ", " : "", *names[i] ? names[i] : "''"));
    }
    if (count > SHOWN) NB_NEED(*list, nb_format(ctx, "%s, ...", *list));
    return NB_OK;
}

/* With the name that may be meant, or with those that there are. */
static nb_status tell_absent(const values *v, const char *text, nb_ctx *ctx)
{
    const char *list, **names;
    NB_TRY(ctx, name_values(v, &names, ctx));
    const char *near = v->registry ? nb_near(text, names) : NULL;
    NB_REQUIRE(ctx, !near, NB_EINVAL, "%s=%s: the run has no such row; did you mean '%s'?", v->name, text, near);
    NB_TRY(ctx, list_names(v, NULL, &list, ctx));
    NB_FAIL(ctx, NB_EINVAL, "%s=%s: the run has no such row; it has %s", v->name, text, list);
}

/* A flag for each value. */
static nb_status meaning(const values *v, const char *text, bool **means, nb_ctx *ctx)
{
    NB_NEED(*means, nb_alloc(ctx, (size_t)v->codes.count + 1, sizeof **means));
    NB_TRY(ctx, match(v, text, *means, ctx));
    return any(v, *means) ? NB_OK : tell_absent(v, text, ctx);
}

nb_status nb_where_values(const nb_frame *f, const char *name, const char *text, bool *means, nb_ctx *ctx)
{
    values v;
    bool *these;
    const char *inside, *item;
    NB_TRY(ctx, nb_list_inside(text, &inside, ctx));
    for (const char *at = inside, *end; at; at = *end ? end + 1 : NULL) {
        end = nb_item_end(at);
        NB_NEED(item, nb_item_text(at, end, ctx));
        NB_REQUIRE(ctx, *item, NB_EINVAL, "%s=%s: an item of the list is empty", name, text);
        NB_TRY(ctx, nb_where_values(f, name, item, means, ctx));
    }
    if (inside) return NB_OK;
    NB_TRY(ctx, find_values(f, name, &text, &v, ctx));
    NB_TRY(ctx, meaning(&v, text, &these, ctx));
    for (int i = 0; i < v.codes.count; i++) means[i] = means[i] || these[i];
    return NB_OK;
}

/* Of several that the text means as a spec, keeps the one that it is the name of, if there is one. */
static nb_status prefer_name(const values *v, const char *text, bool *means, nb_ctx *ctx)
{
    const char **names;
    NB_TRY(ctx, name_values(v, &names, ctx));
    for (int i = 0; i < v->codes.count; i++) {
        if (!means[i] || !nb_text_same(text, names[i])) continue;
        memset(means, 0, (size_t)v->codes.count * sizeof *means);
        means[i] = true;
    }
    return NB_OK;
}

nb_status nb_where_value(const nb_frame *f, const char *name, const char *text, int *value, nb_ctx *ctx)
{
    values v;
    bool *means;
    const char *list;
    int count = 0;
    NB_TRY(ctx, find_values(f, name, &text, &v, ctx));
    NB_TRY(ctx, meaning(&v, text, &means, ctx));
    NB_TRY(ctx, prefer_name(&v, text, means, ctx));
    for (int i = 0; i < v.codes.count; i++)
        if (means[i] && count++ == 0) *value = i;
    if (count == 1) return NB_OK;
    NB_TRY(ctx, list_names(&v, means, &list, ctx));
    NB_FAIL(ctx, NB_EINVAL, "%s=%s means %d values: %s; name one", v.name, text, count, list);
}

static nb_status name_of(const char *condition, const char **name, nb_ctx *ctx)
{
    const char *equals = strchr(condition, '=');
    NB_REQUIRE(ctx, equals, NB_EINVAL, "expected COLUMN=VALUE, found '%s'", condition);
    NB_NEED(*name, nb_format(ctx, "%.*s", (int)(equals - condition), condition));
    return NB_OK;
}

/* A column is taken once, where it comes first, with the values of all conditions on it. */
nb_status nb_where(const nb_frame *f, const char *const *conditions, nb_frame *out, nb_ctx *ctx)
{
    nb_selection rows;
    if (!conditions || !conditions[0]) {
        *out = *f;
        return NB_OK;
    }
    NB_TRY(ctx, nb_frame_all(f, &rows, ctx));
    for (int i = 0; conditions[i]; i++) {
        const char *name, *other;
        const nb_column *column;
        bool *means, taken = false;
        NB_TRY(ctx, name_of(conditions[i], &name, ctx));
        for (int j = 0; j < i && !taken; j++) {
            NB_TRY(ctx, name_of(conditions[j], &other, ctx));
            taken = strcmp(name, other) == 0;
        }
        if (taken) continue;
        NB_NEED(means, nb_alloc(ctx, (size_t)f->count + 1, sizeof *means));
        for (int j = i; conditions[j]; j++) {
            NB_TRY(ctx, name_of(conditions[j], &other, ctx));
            if (strcmp(name, other) == 0)
                NB_TRY(ctx, nb_where_values(f, name, strchr(conditions[j], '=') + 1, means, ctx));
        }
        NB_TRY(ctx, find_column(f, name, &column, ctx));
        NB_TRY(ctx, nb_frame_where(f, rows, column->name, means, &rows, ctx));
    }
    return nb_frame_take(f, rows, out, ctx);
}
