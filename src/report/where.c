/* SPDX-License-Identifier: GPL-3.0-or-later */
/* where.c - see where.h. What a condition means is found among the distinct values of its column. */
#include "report/where.h"

#include "base/builder.h"
#include "base/text.h"
#include "base/words.h"
#include "base/numbers.h"
#include "base/range.h"
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

/* *column <- the study's; for the name of a column of labels that of their components. */
static nb_status find_column(const nb_relation *r, const char *name, const nb_column **column, nb_ctx *ctx)
{
    int count = 0;
    const nb_column *all, *found;
    const char **names, *hint;
    NB_TRY(ctx, nb_columns_with_labels(r->study->columns, &all, ctx));
    found = nb_column_find(all, name);
    for (*column = r->study->columns; found && (*column)->offset != found->offset;) ++*column;
    if (found && selects(found)) return NB_OK;
    NB_NEED(names, nb_alloc(ctx, (size_t)nb_column_count(all) + 1, sizeof *names));
    for (const nb_column *c = all; c->name; c++)
        if (selects(c)) names[count++] = c->name;
    NB_NEED(hint, nb_hint(name, names, ctx));
    NB_FAIL(ctx, NB_EINVAL, "no column '%s' that rows can be selected by%s", name, hint);
}

typedef struct {
    const char *name; /* as the condition has it: perhaps that of the column's labels */
    const nb_column *column;
    const nb_registry *registry; /* of the components that the column names; NULL: it names none */
    const char *sql;             /* what rows with one value agree in */
    int count;
    nb_grid cells;      /* see nb_relation_values */
    const char **names; /* what each is called in tables; NULL-terminated */
} values;

static const char *text_of(const values *v, int value)
{
    const char *text = nb_grid_at(&v->cells, value, NB_VALUE)->text;
    return text ? text : "";
}

static nb_status name_values(const nb_relation *r, values *v, nb_ctx *ctx)
{
    const char **texts;
    bool *drawn; /* no model is: rows of drawn data have none, and '' as its label */
    NB_NEED(drawn, nb_alloc(ctx, (size_t)v->count + 1, sizeof *drawn));
    NB_NEED(v->names, nb_alloc(ctx, (size_t)v->count + 1, sizeof *v->names));
    NB_NEED(texts, nb_alloc(ctx, (size_t)v->count + 1, sizeof *texts));
    for (int i = 0; i < v->count; i++) {
        const nb_cell *cell = nb_grid_at(&v->cells, i, NB_VALUE);
        texts[i] = text_of(v, i);
        NB_NEED(v->names[i], v->column->type == NB_COLUMN_TEXT   ? texts[i]
                             : v->column->type == NB_COLUMN_REAL ? nb_real_copy(ctx, cell->real)
                                                                 : nb_format(ctx, "%lld", cell->integer));
    }
    if (strcmp(v->column->name, "model") == 0) return nb_label_strata(v->count, texts, drawn, v->names, ctx);
    return v->registry ? nb_labels_apart(v->registry, r->labels, v->count, texts, v->names, ctx) : NB_OK;
}

/* Finds the values in order of appearance. */
static nb_status find_values(const nb_relation *r, const char *among, const char *name, values *v, nb_ctx *ctx)
{
    *v = (values){.name = name};
    NB_TRY(ctx, find_column(r, name, &v->column, ctx));
    const nb_column *c = v->column;
    v->registry = nb_column_registry(r->study->columns, c->name);
    NB_TRY(ctx, nb_key_sql(c, &v->sql, ctx));
    NB_TRY(ctx, nb_relation_values(r, c->name, among, &v->cells, ctx));
    v->count = v->cells.count;
    return name_values(r, v, ctx);
}

/* Marks the values that agree with what the text says of options; *mistake: it is no spec, for this reason. */
static nb_status match_specs(const values *v, const char *text, bool *means, const char **mistake, nb_ctx *ctx)
{
    nb_choice_part *parts;
    nb_mistakes mistakes = {.ctx = ctx};
    int count;
    NB_TRY(ctx, nb_choice_parts_read(v->registry, text, (nb_place){0}, &count, &parts, &mistakes, ctx));
    *mistake = mistakes.count ? mistakes.texts[0] : NULL;
    for (int i = 0; i < v->count && count > 0; i++) {
        nb_choice choice;
        bool there;
        NB_TRY(ctx, nb_choice_recall(v->registry, text_of(v, i), &choice, &there, ctx));
        for (int p = 0; p < count && there && !means[i]; p++)
            NB_TRY(ctx, nb_choice_part_matches(&parts[p], &choice, &means[i], ctx));
    }
    return NB_OK;
}

/* Marks the values that tables, figures and messages call by this text. */
static nb_status match_names(const values *v, const char *text, bool *means, nb_ctx *ctx)
{
    for (int i = 0; i < v->count; i++) {
        nb_choice choice;
        bool there;
        NB_TRY(ctx, nb_choice_recall(v->registry, text_of(v, i), &choice, &there, ctx));
        means[i] = nb_text_same(text, v->names[i]) ||
                   (there && (nb_text_same(text, choice.label) || nb_text_same(text, choice.full)));
    }
    return NB_OK;
}

static bool any(const values *v, const bool *means)
{
    int i = 0;
    while (i < v->count && !means[i]) i++;
    return i < v->count;
}

static nb_status match_components(const values *v, const char *text, bool *means, nb_ctx *ctx)
{
    const char *mistake, *name; /* that of its component, if it is a spec */
    NB_TRY(ctx, match_specs(v, text, means, &mistake, ctx));
    if (any(v, means)) return NB_OK;
    NB_TRY(ctx, match_names(v, text, means, ctx));
    NB_NEED(name, nb_format(ctx, "%.*s", (int)strcspn(text, "( "), text));
    NB_REQUIRE(ctx, any(v, means) || !mistake || !nb_registry_find(v->registry, name), NB_EINVAL, "%s", mistake);
    return NB_OK;
}

static bool is_of_labels(const values *v)
{
    return strcmp(v->name, v->column->name) != 0;
}

static nb_status match_texts(const values *v, const char *text, bool *means)
{
    for (int i = 0; i < v->count; i++)
        means[i] = nb_text_same(text, v->names[i]) || (!is_of_labels(v) && strcmp(text_of(v, i), text) == 0);
    return NB_OK;
}

static nb_status match_reals(const values *v, const char *text, bool *means, nb_ctx *ctx)
{
    double real;
    NB_REQUIRE(ctx, nb_parse_real(text, -DBL_MAX, DBL_MAX, &real), NB_EINVAL, "%s=%s: expected a number", v->name,
               text);
    for (int i = 0; i < v->count; i++) means[i] = nb_grid_at(&v->cells, i, NB_VALUE)->real == real;
    return NB_OK;
}

static nb_status match_numbers(const values *v, const char *text, bool *means, nb_ctx *ctx)
{
    nb_range range;
    const char *wrong;
    NB_TRY(ctx, nb_range_parse(text, &range, &wrong, ctx));
    NB_REQUIRE(ctx, !wrong, NB_EINVAL, "%s=%s: expected a whole number, or a range as 8..64 step 8", v->name, text);
    for (int i = 0; i < v->count; i++) means[i] = nb_range_holds(&range, nb_grid_at(&v->cells, i, NB_VALUE)->integer);
    return NB_OK;
}

static nb_status match(const values *v, const char *text, bool *means, nb_ctx *ctx)
{
    if (v->registry && !is_of_labels(v)) return match_components(v, text, means, ctx);
    if (v->column->type == NB_COLUMN_TEXT) return match_texts(v, text, means);
    return v->column->type == NB_COLUMN_REAL ? match_reals(v, text, means, ctx) : match_numbers(v, text, means, ctx);
}

/* The names of those marked, the first of them; `means` NULL: of all. */
static nb_status list_names(const values *v, const bool *means, const char **list, nb_ctx *ctx)
{
    enum { SHOWN = 10 };
    int count = 0;
    *list = "";
    for (int i = 0; i < v->count; i++) {
        if ((means && !means[i]) || count++ >= SHOWN) continue;
        NB_NEED(*list, nb_format(ctx, "%s%s%s", *list, count > 1 ? ", " : "", *v->names[i] ? v->names[i] : "''"));
    }
    if (count > SHOWN) NB_NEED(*list, nb_format(ctx, "%s, ...", *list));
    return NB_OK;
}

/* Fails with the name that may be meant, or with those that there are. */
static nb_status tell_absent(const values *v, const char *text, nb_ctx *ctx)
{
    const char *list, *near = v->registry ? nb_near(text, v->names) : NULL;
    NB_REQUIRE(ctx, !near, NB_EINVAL, "%s=%s: the run has no such row; did you mean '%s'?", v->name, text, near);
    NB_TRY(ctx, list_names(v, NULL, &list, ctx));
    NB_FAIL(ctx, NB_EINVAL, "%s=%s: the run has no such row; it has %s", v->name, text, list);
}

/* A flag for each value; NB_EINVAL where none is meant. Tables mark the label of an oracle; the label is the rest. */
static nb_status meaning(const values *v, const char *text, bool **means, nb_ctx *ctx)
{
    const char *oracle = v->registry ? strstr(text, NB_ORACLE_MARK) : NULL;
    if (oracle && strcmp(oracle, NB_ORACLE_MARK) == 0)
        NB_NEED(text, nb_format(ctx, "%.*s", (int)(oracle - text), text));
    NB_NEED(*means, nb_alloc(ctx, (size_t)v->count + 1, sizeof **means));
    NB_TRY(ctx, match(v, text, *means, ctx));
    return any(v, *means) ? NB_OK : tell_absent(v, text, ctx);
}

/* Adds to the flags what a text or a list means. */
static nb_status mark(const values *v, const char *text, bool *means, nb_ctx *ctx)
{
    bool *these;
    const char *inside, *item;
    NB_TRY(ctx, nb_list_inside(text, &inside, ctx));
    for (const char *at = inside, *end; at; at = *end ? end + 1 : NULL) {
        end = nb_item_end(at);
        NB_NEED(item, nb_item_text(at, end, ctx));
        NB_REQUIRE(ctx, *item, NB_EINVAL, "%s=%s: an item of the list is empty", v->name, text);
        NB_TRY(ctx, mark(v, item, means, ctx));
    }
    if (inside) return NB_OK;
    nb_mark before = nb_ctx_mark(ctx);
    NB_TRY(ctx, meaning(v, text, &these, ctx));
    for (int i = 0; i < v->count; i++) means[i] = means[i] || these[i];
    nb_ctx_release(ctx, before);
    return NB_OK;
}

static nb_status find_value(const values *v, const char *text, nb_value_found *found, nb_ctx *ctx)
{
    bool *means;
    const char *list;
    int count = 0, at = 0;
    NB_TRY(ctx, meaning(v, text, &means, ctx));
    for (int i = 0; i < v->count; i++)
        if (means[i] && (count++ == 0 || nb_text_same(text, v->names[i]))) at = i;
    if (nb_text_same(text, v->names[at])) count = 1; /* it is the one's name, and a spec of the others */
    if (count > 1) {
        NB_TRY(ctx, list_names(v, means, &list, ctx));
        NB_FAIL(ctx, NB_EINVAL, "%s=%s means %d values: %s; name one", v->name, text, count, list);
    }
    found->place = at;
    NB_NEED(found->sql, nb_format(ctx, "%s = %s", v->sql, nb_grid_at(&v->cells, at, NB_VALUE_LITERAL)->text));
    return NB_OK;
}

nb_status nb_where_values(const nb_relation *r, const char *among, const char *name, int count,
                          const char *const *texts, nb_value_found *found, nb_ctx *ctx)
{
    values v;
    NB_TRY(ctx, find_values(r, among, name, &v, ctx));
    for (int i = 0; i < count; i++) NB_TRY(ctx, find_value(&v, texts[i], &found[i], ctx));
    return NB_OK;
}

static bool is_on(const char *condition, const char *name)
{
    size_t length = strlen(name);
    return strncmp(condition, name, length) == 0 && condition[length] == '=';
}

/* A column is taken once, where it comes first, with the values of all conditions on it. */
nb_status nb_where(const nb_relation *r, const char *among, const char *const *conditions, const char **sql,
                   nb_ctx *ctx)
{
    nb_string all = NB_NO_TEXT;
    NB_TRY(ctx, nb_append(&all, ctx, "%s", among ? among : "1"));
    for (int i = 0; conditions && conditions[i]; i++) {
        const char *name, *separator = "", *equals = strchr(conditions[i], '=');
        values v;
        bool *means, taken = false;
        NB_REQUIRE(ctx, equals, NB_EINVAL, "expected COLUMN=VALUE, found '%s'", conditions[i]);
        NB_NEED(name, nb_format(ctx, "%.*s", (int)(equals - conditions[i]), conditions[i]));
        for (int j = 0; j < i; j++) taken = taken || is_on(conditions[j], name);
        if (taken) continue;
        NB_TRY(ctx, find_values(r, among, name, &v, ctx));
        NB_NEED(means, nb_alloc(ctx, (size_t)v.count + 1, sizeof *means));
        for (int j = i; conditions[j]; j++)
            if (is_on(conditions[j], name)) NB_TRY(ctx, mark(&v, conditions[j] + strlen(name) + 1, means, ctx));
        NB_TRY(ctx, nb_append(&all, ctx, " AND %s IN (", v.sql));
        for (int k = 0; k < v.count; k++) {
            if (!means[k]) continue;
            NB_TRY(ctx, nb_append(&all, ctx, "%s%s", separator, nb_grid_at(&v.cells, k, NB_VALUE_LITERAL)->text));
            separator = ", ";
        }
        NB_TRY(ctx, nb_append(&all, ctx, ")"));
    }
    *sql = all.text;
    return NB_OK;
}
