/* SPDX-License-Identifier: GPL-3.0-or-later */
/* where.c - see where.h */
#include "report/where.h"

#include "base/numbers.h"
#include "base/range.h"
#include "components/registry.h"
#include "components/study.h"
#include "report/labels.h"

#include <float.h>
#include <string.h>

/* Of the component that a column names, by its study's axes or else by its name; NULL: it names none. */
static const nb_registry *registry_of(const nb_frame *f, const nb_column *column)
{
    const nb_study *study = nb_study_of(f->columns);
    for (const nb_axis *axis = study ? study->axes : NULL; axis && axis->key; axis++)
        if (strcmp(axis->column, column->name) == 0) return axis->registry;
    for (const nb_registry *const *r = nb_registries; *r; r++)
        if (strcmp((*r)->kind, column->name) == 0) return *r;
    return NULL;
}

/* A measured number is not what rows are selected by. */
static bool selects(const nb_column *column)
{
    return column->type != NB_COLUMN_REAL || column->identity;
}

static nb_status find_column(const nb_frame *f, const char *name, const nb_column **column, nb_ctx *ctx)
{
    int count = 0;
    const char **names, *hint;
    *column = nb_column_find(f->columns, name);
    if (*column && selects(*column)) return NB_OK;
    while (f->columns[count].name) count++;
    NB_NEED(names, nb_alloc(ctx, (size_t)count + 1, sizeof *names));
    count = 0;
    for (const nb_column *c = f->columns; c->name; c++)
        if (selects(c)) names[count++] = c->name;
    NB_NEED(hint, nb_hint(name, names, ctx));
    NB_FAIL(ctx, NB_EINVAL, "no column '%s' that rows can be selected by%s", name, hint);
}

/* Which values of a column of components the text means. */
static nb_status match_components(const nb_frame *f, const nb_codes *codes, const nb_registry *registry,
                                  const nb_column *column, const char *text, bool *means, nb_ctx *ctx)
{
    nb_choice_part *parts;
    nb_mistakes mistakes;
    const char *const *values;
    int count;
    nb_mistakes_init(&mistakes, ctx);
    NB_TRY(ctx, nb_frame_texts(f, column->name, &values, ctx));
    NB_TRY(ctx, nb_choice_parts_read(registry, text, (nb_place){0}, &count, &parts, &mistakes, ctx));
    NB_REQUIRE(ctx, mistakes.count == 0, NB_EINVAL, "%s", mistakes.texts[0]);
    for (int v = 0; v < codes->count; v++) {
        nb_choice choice;
        nb_status status = nb_choice_parse(registry, values[codes->first[v]], &choice, ctx);
        if (status == NB_ENOMEM) return status;
        nb_error_clear(ctx);
        for (int p = 0; p < count && status == NB_OK && !means[v]; p++)
            NB_TRY(ctx, nb_choice_part_matches(&parts[p], &choice, &means[v], ctx));
    }
    return NB_OK;
}

static nb_status match_texts(const nb_frame *f, const nb_codes *codes, const nb_column *column, const char *text,
                             bool *means, nb_ctx *ctx)
{
    const char *const *values;
    NB_TRY(ctx, nb_frame_texts(f, column->name, &values, ctx));
    for (int v = 0; v < codes->count; v++) {
        const char *value = values[codes->first[v]];
        if (value && strcmp(value, text) == 0) means[v] = true;
    }
    return NB_OK;
}

static nb_status match_reals(const nb_frame *f, const nb_codes *codes, const nb_column *column, const char *text,
                             bool *means, nb_ctx *ctx)
{
    double real;
    NB_REQUIRE(ctx, nb_parse_real(text, -DBL_MAX, DBL_MAX, &real), NB_EINVAL, "%s=%s: expected a number", column->name,
               text);
    for (int v = 0; v < codes->count; v++) {
        const char *field = (const char *)nb_frame_row(f, codes->first[v]) + column->offset;
        if (*(const double *)field == real) means[v] = true;
    }
    return NB_OK;
}

static nb_status match_numbers(const nb_frame *f, const nb_codes *codes, const nb_column *column, const char *text,
                               bool *means, nb_ctx *ctx)
{
    nb_range range;
    const char *wrong;
    NB_TRY(ctx, nb_range_parse(text, &range, &wrong, ctx));
    NB_REQUIRE(ctx, !wrong, NB_EINVAL, "%s=%s: expected a whole number, or a range as 8..64 step 8", column->name,
               text);
    for (int v = 0; v < codes->count; v++) {
        const char *field = (const char *)nb_frame_row(f, codes->first[v]) + column->offset;
        long long value = column->type == NB_COLUMN_INT ? *(const int *)field : *(const long long *)field;
        if (nb_range_holds(&range, value)) means[v] = true;
    }
    return NB_OK;
}

/* A row's value in a column, as a condition may have it. */
static nb_status value_of(const nb_frame *f, const nb_registry *registry, const nb_column *column, int row,
                          const char **text, nb_ctx *ctx)
{
    const char *const *texts;
    nb_choice choice;
    if (column->type == NB_COLUMN_REAL) {
        NB_NEED(*text, nb_real_copy(ctx, *(const double *)((const char *)nb_frame_row(f, row) + column->offset)));
        return NB_OK;
    }
    if (!registry) return nb_label_of(f, column->name, row, text, ctx);
    NB_TRY(ctx, nb_frame_texts(f, column->name, &texts, ctx));
    nb_status status = nb_choice_parse(registry, texts[row], &choice, ctx);
    if (status == NB_ENOMEM) return status;
    nb_error_clear(ctx);
    *text = status == NB_OK ? choice.label : texts[row];
    return NB_OK;
}

/* The values of a column, the first of them. */
static nb_status list_values(const nb_frame *f, const nb_registry *registry, const nb_column *column,
                             const nb_codes *codes, const char **list, nb_ctx *ctx)
{
    enum { SHOWN = 10 };
    *list = "";
    for (int v = 0; v < codes->count && v < SHOWN; v++) {
        const char *text;
        NB_TRY(ctx, value_of(f, registry, column, codes->first[v], &text, ctx));
        NB_NEED(*list, nb_format(ctx, "%s%s%s", *list, v ? ", " : "", text));
    }
    if (codes->count > SHOWN) NB_NEED(*list, nb_format(ctx, "%s, ...", *list));
    return NB_OK;
}

nb_status nb_where_values(const nb_frame *f, const char *name, const char *value, bool *means, nb_ctx *ctx)
{
    const nb_column *column;
    nb_codes codes;
    bool any = false;
    NB_TRY(ctx, find_column(f, name, &column, ctx));
    NB_TRY(ctx, nb_frame_codes(f, column->name, &codes, ctx));
    const nb_registry *registry = registry_of(f, column);
    if (registry)
        NB_TRY(ctx, match_components(f, &codes, registry, column, value, means, ctx));
    else
        NB_TRY(ctx, (column->type == NB_COLUMN_TEXT   ? match_texts
                     : column->type == NB_COLUMN_REAL ? match_reals
                                                      : match_numbers)(f, &codes, column, value, means, ctx));
    for (int v = 0; v < codes.count; v++) any = any || means[v];
    if (any) return NB_OK;
    const char *list;
    NB_TRY(ctx, list_values(f, registry, column, &codes, &list, ctx));
    NB_FAIL(ctx, NB_EINVAL, "%s=%s: the run has no such row; it has %s", name, value, list);
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
        NB_TRY(ctx, nb_frame_where(f, rows, name, means, &rows, ctx));
    }
    return nb_frame_take(f, rows, out, ctx);
}
