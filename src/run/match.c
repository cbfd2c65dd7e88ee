/* SPDX-License-Identifier: GPL-3.0-or-later */
/* match.c - see match.h */
#include "run/match.h"

#include "base/numbers.h"
#include "base/range.h"
#include "base/text.h"
#include "base/words.h"

#include <float.h>
#include <string.h>

typedef struct {
    const nb_column *column;
    int axis;              /* axis of the components in the column; -1: none */
    const char *text;      /* the value as written */
    const char *canonical; /* of a component's spec with options: its canonical text; else NULL */
    nb_range range;        /* for a column of integers */
    double real;           /* for a column of reals */
} condition;

/* Returns the axis whose component a column names; -1: it names none. */
static int axis_of(const nb_study *study, const nb_column *column)
{
    const nb_axis *axis = nb_axis_of_column(study, column->name);
    return axis && axis->type == NB_AXIS_COMPONENT ? (int)(axis - study->axes) : -1;
}

static bool means(const condition *c, const nb_choice *choice)
{
    if (strcmp(c->text, choice->component->name) == 0) return true;
    if (c->canonical && strcmp(c->canonical, choice->canonical) == 0) return true;
    return nb_text_same(c->text, choice->label) || nb_text_same(c->text, choice->full) ||
           nb_text_same(c->text, choice->canonical) || nb_text_same(c->text, choice->resolved);
}

static bool meets(const condition *c, const nb_plan *plan, int index, const void *row)
{
    const char *field = (const char *)row + c->column->offset;
    if (c->column->type == NB_COLUMN_INT) return nb_range_holds(&c->range, *(const int *)field);
    if (c->column->type == NB_COLUMN_SEED) return nb_range_holds(&c->range, *(const long long *)field);
    if (c->column->type == NB_COLUMN_REAL) return *(const double *)field == c->real;
    const char *text = *(const char *const *)field;
    return c->axis >= 0 ? means(c, nb_plan_choice(plan, index, c->axis)) : nb_text_same(c->text, text);
}

static nb_status find_column(const nb_study *study, const char *name, const nb_column **found, nb_ctx *ctx)
{
    const char **names, *hint;
    int count = 0;
    bool exists = false;
    NB_NEED(names, nb_alloc(ctx, (size_t)nb_column_count(study->columns) + 1, sizeof *names));
    *found = NULL;
    for (const nb_column *c = study->columns; c->name; c++) {
        exists |= strcmp(c->name, name) == 0;
        if (!c->identity && c->type != NB_COLUMN_INT) continue;
        names[count++] = c->name;
        if (strcmp(c->name, name) == 0) *found = c;
    }
    if (*found) return NB_OK;
    NB_NEED(hint, nb_hint(name, names, ctx));
    NB_REQUIRE(ctx, !exists, NB_EINVAL, "column '%s' does not tell rows apart%s", name, hint);
    NB_FAIL(ctx, NB_EINVAL, "no column '%s'%s", name, hint);
}

static nb_status read_number(condition *c, nb_ctx *ctx)
{
    if (c->column->type == NB_COLUMN_REAL) {
        NB_REQUIRE(ctx, nb_parse_real(c->text, -DBL_MAX, DBL_MAX, &c->real), NB_EINVAL, "%s '%s': expected a number",
                   c->column->name, c->text);
        return NB_OK;
    }
    const char *wrong;
    NB_TRY(ctx, nb_range_parse(c->text, &c->range, &wrong, ctx));
    NB_REQUIRE(ctx, !wrong, NB_EINVAL, "%s '%s': expected a whole number, or a range as 8..64 step 8", c->column->name,
               c->text);
    return NB_OK;
}

/* The canonical text of a spec with options; what is no spec, or of no component
 * that there is, may still be a label. */
static nb_status read_spec(const nb_study *study, condition *c, nb_ctx *ctx)
{
    nb_choice choice;
    if (!strchr(c->text, '(')) return NB_OK;
    nb_status status = nb_choice_parse(study->axes[c->axis].registry, c->text, &choice, ctx);
    if (status == NB_EINVAL) {
        nb_error_clear(ctx);
        return NB_OK;
    }
    NB_TRY(ctx, status);
    c->canonical = choice.canonical;
    return NB_OK;
}

/* A row's value in a column, for people. */
static nb_status value_text(const nb_column *column, const nb_plan *plan, int index, const char **text, nb_ctx *ctx)
{
    nb_any_row row;
    int axis = axis_of(plan->config->study, column);
    nb_plan_row(plan, index, &row);
    NB_NEED(*text, axis >= 0 ? nb_plan_choice(plan, index, axis)->label : nb_column_text(column, &row, ctx));
    return NB_OK;
}

/* The values that a plan has in a column, the first of them. */
static nb_status values_of(const nb_column *column, const nb_plan *plan, const char **list, nb_ctx *ctx)
{
    enum { SHOWN = 20 };
    const char *seen[SHOWN];
    int count = 0;
    NB_NEED(*list, nb_strdup(ctx, ""));
    for (int i = 0; i < plan->row_count; i++) {
        const char *value;
        int known = 0;
        NB_TRY(ctx, value_text(column, plan, i, &value, ctx));
        while (known < count && strcmp(seen[known], value) != 0) known++;
        if (known < count) continue;
        if (count < SHOWN) NB_NEED(*list, nb_format(ctx, "%s%s%s", *list, count ? ", " : "", value));
        if (count == SHOWN) {
            NB_NEED(*list, nb_format(ctx, "%s, ...", *list));
            break;
        }
        seen[count++] = value;
    }
    return NB_OK;
}

/* Reads a value, or an item of a list, and flags the rows that meet it. */
static nb_status flag_value(const nb_plan *plan, const nb_column *column, const char *text, bool *flags, nb_ctx *ctx)
{
    const nb_study *study = plan->config->study;
    condition c = {.column = column, .axis = axis_of(study, column), .text = text};
    NB_REQUIRE(ctx, *text, NB_EINVAL, "%s: a value is missing", column->name);
    if (column->type != NB_COLUMN_TEXT) NB_TRY(ctx, read_number(&c, ctx));
    if (c.axis >= 0) NB_TRY(ctx, read_spec(study, &c, ctx));
    for (int i = 0; i < plan->row_count; i++) {
        nb_any_row row;
        nb_plan_row(plan, i, &row);
        flags[i] = flags[i] || meets(&c, plan, i, &row);
    }
    return NB_OK;
}

/* Takes the flags from rows that do not meet the condition there; `given` are the columns of those before. */
static nb_status take_condition(const nb_plan *plan, const char *from, const char *end, bool *given, bool *flags,
                                nb_ctx *ctx)
{
    const char *name, *text, *inside, *first = NULL, *values, *equals = memchr(from, '=', (size_t)(end - from));
    const nb_column *columns = plan->config->study->columns, *column;
    bool *met, any = false;
    NB_NEED(name, nb_item_text(from, equals ? equals : end, ctx));
    NB_REQUIRE(ctx, equals && *name, NB_EINVAL, "expected COLUMN=VALUE, or several separated by commas, found '%.*s'",
               (int)(end - from), from);
    NB_TRY(ctx, find_column(plan->config->study, name, &column, ctx));
    NB_REQUIRE(ctx, !given[column - columns], NB_EINVAL, "column '%s' is given twice", name);
    given[column - columns] = true;
    NB_NEED(met, nb_alloc(ctx, (size_t)plan->row_count + 1, sizeof *met));
    NB_NEED(text, nb_item_text(equals + 1, end, ctx));
    NB_TRY(ctx, nb_list_inside(text, &inside, ctx));
    for (const char *at = inside ? inside : text, *stop; at; at = inside && *stop ? stop + 1 : NULL) {
        stop = nb_item_end(at);
        if (inside) NB_NEED(text, nb_item_text(at, stop, ctx));
        if (!first) first = text;
        NB_TRY(ctx, flag_value(plan, column, text, met, ctx));
    }
    for (int i = 0; i < plan->row_count; i++) {
        any = any || met[i];
        flags[i] = flags[i] && met[i];
    }
    if (any) return NB_OK;
    NB_TRY(ctx, values_of(column, plan, &values, ctx));
    NB_FAIL(ctx, NB_EINVAL, "no row has %s=%s; this experiment has %s", column->name, first, values);
}

nb_status nb_match_rows(const nb_plan *plan, const char *key, bool **flags, int *count, nb_ctx *ctx)
{
    bool *given;
    NB_NEED(*flags, nb_alloc(ctx, (size_t)plan->row_count + 1, sizeof **flags));
    NB_NEED(given, nb_alloc(ctx, (size_t)nb_column_count(plan->config->study->columns), sizeof *given));
    memset(*flags, true, (size_t)plan->row_count * sizeof **flags);
    for (const char *from = key, *end; from; from = *end ? end + 1 : NULL) {
        end = nb_item_end(from);
        NB_TRY(ctx, take_condition(plan, from, end, given, *flags, ctx));
    }
    *count = 0;
    for (int i = 0; i < plan->row_count; i++) *count += (*flags)[i];
    NB_REQUIRE(ctx, *count > 0, NB_EINVAL, "no row has all of these values together, though each of them occurs");
    return NB_OK;
}

/* Finds whether the text, in a key, means the choice of this row and no other of the config. */
static nb_status tells(const nb_keys *keys, const nb_column *column, const char *text, int index, bool *yes,
                       nb_ctx *ctx)
{
    const nb_plan *plan = keys->plan;
    const nb_study *study = plan->config->study;
    condition c = {.column = column, .axis = axis_of(study, column), .text = text};
    NB_TRY(ctx, read_spec(study, &c, ctx));
    const nb_choice *own = nb_plan_choice(plan, index, c.axis);
    const nb_choices *all = &plan->config->lists[c.axis].choices;
    *yes = means(&c, own);
    for (int i = 0; i < all->count && *yes; i++)
        *yes = strcmp(all->items[i].canonical, own->canonical) == 0 || !means(&c, &all->items[i]);
    return NB_OK;
}

/* The shortest text that still identifies this value among those of the plan. */
static nb_status key_value(const nb_keys *keys, const nb_column *column, int index, const char **text, nb_ctx *ctx)
{
    bool enough = true;
    int axis = axis_of(keys->plan->config->study, column);
    NB_TRY(ctx, value_text(column, keys->plan, index, text, ctx));
    if (axis < 0) return NB_OK;
    NB_TRY(ctx, tells(keys, column, *text, index, &enough, ctx));
    if (!enough) *text = nb_plan_choice(keys->plan, index, axis)->canonical;
    return NB_OK;
}

/* Columns shown in any case, even if the plan has only one value. */
static bool always_shown(const nb_study *study, const nb_column *c)
{
    if (strcmp(c->name, "problem") == 0 || strcmp(c->name, "trial") == 0) return true;
    const nb_axis *axis = nb_axis_of_column(study, c->name);
    return axis && !axis->scene && axis->type != NB_AXIS_WORD;
}

nb_status nb_keys_init(const nb_plan *plan, nb_keys *keys, nb_ctx *ctx)
{
    const nb_study *study = plan->config->study;
    int count = nb_column_count(study->columns);
    nb_any_row first, row;
    *keys = (nb_keys){.plan = plan};
    NB_NEED(keys->shown, nb_alloc(ctx, (size_t)count, sizeof *keys->shown));
    if (plan->row_count == 0) return NB_OK;
    nb_plan_row(plan, 0, &first);
    for (int i = 0; i < plan->row_count; i++) {
        nb_plan_row(plan, i, &row);
        for (int c = 0; c < count; c++) {
            const nb_column *column = &study->columns[c];
            if (column->identity && (always_shown(study, column) || !nb_column_same(column, &first, &row)))
                keys->shown[c] = true;
        }
    }
    return NB_OK;
}

nb_status nb_keys_text(const nb_keys *keys, int index, const char **text, nb_ctx *ctx)
{
    const nb_column *columns = keys->plan->config->study->columns;
    NB_NEED(*text, nb_strdup(ctx, ""));
    for (int c = 0; columns[c].name; c++) {
        const char *value;
        if (!keys->shown[c]) continue;
        NB_TRY(ctx, key_value(keys, &columns[c], index, &value, ctx));
        NB_NEED(*text, nb_format(ctx, "%s%s%s=%s", *text, **text ? ", " : "", columns[c].name, value));
    }
    return NB_OK;
}
