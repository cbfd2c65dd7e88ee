/* SPDX-License-Identifier: GPL-3.0-or-later */
/* match.c - see match.h */
#include "run/match.h"

#include "base/words.h"
#include "base/numbers.h"
#include "base/text.h"

#include <float.h>
#include <string.h>

/* Returns the axis whose component a column names; -1: it names none. */
static int axis_of(const nb_study *study, const nb_column *column)
{
    const nb_axis *axis = nb_axis_of_column(study, column->name);
    return axis && axis->type == NB_AXIS_COMPONENT ? (int)(axis - study->axes) : -1;
}

static bool allowed(const nb_column *c)
{
    return c->identity || c->type == NB_COLUMN_INT;
}

static bool means(const nb_condition *c, const nb_choice *choice)
{
    if (strcmp(c->text, choice->component->name) == 0) return true;
    if (c->canonical && strcmp(c->canonical, choice->canonical) == 0) return true;
    return nb_text_same(c->text, choice->label) || nb_text_same(c->text, choice->full) ||
           nb_text_same(c->text, choice->canonical) || nb_text_same(c->text, choice->resolved);
}

static bool meets(const nb_condition *c, const nb_plan *plan, int index, const void *row)
{
    const char *field = (const char *)row + c->column->offset;
    if (c->column->type == NB_COLUMN_INT) return nb_range_holds(&c->range, *(const int *)field);
    if (c->column->type == NB_COLUMN_SEED) return nb_range_holds(&c->range, *(const long long *)field);
    if (c->column->type == NB_COLUMN_REAL) return *(const double *)field == c->real;
    const char *text = *(const char *const *)field;
    return c->axis >= 0 ? means(c, nb_plan_choice(plan, index, c->axis)) : nb_text_same(c->text, text);
}

/* The condition `first`, or one that may be met instead; *next: the one behind these. */
static bool meets_any(const nb_match *match, int first, const nb_plan *plan, int index, const void *row, int *next)
{
    bool met = false;
    for (*next = first; *next < match->count && (*next == first || match->conditions[*next].or_before); ++*next)
        met = met || meets(&match->conditions[*next], plan, index, row);
    return met;
}

bool nb_match_row(const nb_match *match, const nb_plan *plan, int index)
{
    nb_any_row row;
    nb_plan_row(plan, index, &row);
    for (int i = 0, next; i < match->count; i = next)
        if (!meets_any(match, i, plan, index, &row, &next)) return false;
    return true;
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
        if (!allowed(c)) continue;
        names[count++] = c->name;
        if (strcmp(c->name, name) == 0) *found = c;
    }
    if (*found) return NB_OK;
    NB_NEED(hint, nb_hint(name, names, ctx));
    NB_REQUIRE(ctx, !exists, NB_EINVAL, "column '%s' does not tell rows apart%s", name, hint);
    NB_FAIL(ctx, NB_EINVAL, "no column '%s'%s", name, hint);
}

static nb_status read_number(nb_condition *c, nb_ctx *ctx)
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
static nb_status read_spec(const nb_study *study, nb_condition *c, nb_ctx *ctx)
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

/* Reads a value, or one of a list, as a condition on the column. */
static nb_status read_value(const nb_study *study, const nb_column *column, const char *text, nb_match *match,
                            nb_ctx *ctx)
{
    nb_condition *c = &match->conditions[match->count];
    *c = (nb_condition){.column = column, .axis = axis_of(study, column), .text = text};
    NB_REQUIRE(ctx, *text, NB_EINVAL, "%s: a value is missing", column->name);
    c->or_before = match->count > 0 && c[-1].column == column;
    match->count++;
    if (column->type != NB_COLUMN_TEXT) return read_number(c, ctx);
    return c->axis >= 0 ? read_spec(study, c, ctx) : NB_OK;
}

static nb_status add_condition(const nb_study *study, nb_match *match, const char *from, const char *end, nb_ctx *ctx)
{
    const char *name, *text, *inside, *equals = memchr(from, '=', (size_t)(end - from));
    const nb_column *column;
    NB_NEED(name, nb_item_text(from, equals ? equals : end, ctx));
    NB_REQUIRE(ctx, equals && *name, NB_EINVAL, "expected COLUMN=VALUE, or several separated by commas, found '%.*s'",
               (int)(end - from), from);
    NB_TRY(ctx, find_column(study, name, &column, ctx));
    for (int i = 0; i < match->count; i++)
        NB_REQUIRE(ctx, match->conditions[i].column != column, NB_EINVAL, "column '%s' is given twice", name);
    NB_NEED(text, nb_item_text(equals + 1, end, ctx));
    NB_TRY(ctx, nb_list_inside(text, &inside, ctx));
    if (!inside) return read_value(study, column, text, match, ctx);
    for (const char *at = inside, *stop; at; at = *stop ? stop + 1 : NULL) {
        stop = nb_item_end(at);
        NB_NEED(text, nb_item_text(at, stop, ctx));
        NB_TRY(ctx, read_value(study, column, text, match, ctx));
    }
    return NB_OK;
}

nb_status nb_match_parse(const nb_study *study, const char *text, nb_match *match, nb_ctx *ctx)
{
    size_t most = 1;
    for (const char *c = text; *c; c++) most += *c == ',';
    *match = (nb_match){.count = 0};
    NB_NEED(match->conditions, nb_alloc(ctx, most, sizeof *match->conditions));
    for (const char *from = text, *end;; from = end + 1) {
        end = nb_item_end(from);
        NB_TRY(ctx, add_condition(study, match, from, end, ctx));
        if (!*end) return NB_OK;
    }
}

/* A row's value in a column, for people. */
static nb_status value_text(const nb_column *column, const nb_plan *plan, int index, const char **text, nb_ctx *ctx)
{
    nb_any_row row;
    nb_plan_row(plan, index, &row);
    const char *field = (const char *)&row + column->offset;
    if (column->type == NB_COLUMN_TEXT) {
        *text = *(const char *const *)field;
        int axis = axis_of(plan->config->study, column);
        if (axis >= 0) *text = nb_plan_choice(plan, index, axis)->label;
    } else if (column->type == NB_COLUMN_REAL) {
        NB_NEED(*text, nb_real_copy(ctx, *(const double *)field));
    } else {
        long long number = column->type == NB_COLUMN_INT ? *(const int *)field : *(const long long *)field;
        NB_NEED(*text, nb_format(ctx, "%lld", number));
    }
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

/* True if some row meets the condition, or one that may be met instead. */
static bool met(const nb_match *match, int first, const nb_plan *plan, int *next)
{
    bool found = false;
    *next = first + 1;
    for (int i = 0; i < plan->row_count && !found; i++) {
        nb_any_row row;
        nb_plan_row(plan, i, &row);
        found = meets_any(match, first, plan, i, &row, next);
    }
    return found;
}

nb_status nb_match_rows(const nb_match *match, const nb_plan *plan, bool **flags, int *count, nb_ctx *ctx)
{
    *count = 0;
    NB_NEED(*flags, nb_alloc(ctx, (size_t)plan->row_count + 1, sizeof **flags));
    for (int i = 0; i < plan->row_count; i++) *count += (*flags)[i] = nb_match_row(match, plan, i);
    if (*count > 0) return NB_OK;
    for (int i = 0, next; i < match->count; i = next) {
        const nb_condition *c = &match->conditions[i];
        const char *values;
        if (met(match, i, plan, &next)) continue;
        NB_TRY(ctx, values_of(c->column, plan, &values, ctx));
        NB_FAIL(ctx, NB_EINVAL, "no row has %s=%s; this experiment has %s", c->column->name, c->text, values);
    }
    NB_FAIL(ctx, NB_EINVAL, "no row has all of these values together, though each of them occurs");
}

/* Finds whether the text, in a key, means the choice of this row and no other of the plan. */
static nb_status tells(const nb_keys *keys, const nb_column *column, const char *text, int index, bool *yes,
                       nb_ctx *ctx)
{
    const nb_plan *plan = keys->plan;
    const nb_study *study = plan->config->study;
    nb_condition c = {.column = column, .axis = axis_of(study, column), .text = text};
    NB_TRY(ctx, read_spec(study, &c, ctx));
    const nb_choice *own = nb_plan_choice(plan, index, c.axis);
    const nb_choices *all = &plan->config->lists[c.axis].choices;
    *yes = means(&c, own);
    for (int i = 0; i < all->count && *yes; i++)
        *yes = strcmp(all->items[i].canonical, own->canonical) == 0 || !keys->used[c.axis][i] ||
               !means(&c, &all->items[i]);
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

/* Which of the config's components the plan has. */
static nb_status find_used(nb_keys *keys, nb_ctx *ctx)
{
    const nb_plan *plan = keys->plan;
    for (int axis = 0; plan->config->study->axes[axis].key; axis++) {
        if (plan->config->study->axes[axis].type != NB_AXIS_COMPONENT) continue;
        NB_NEED(keys->used[axis], nb_alloc(ctx, (size_t)plan->config->lists[axis].count + 1, sizeof *keys->used[axis]));
        for (int i = 0; i < plan->scene_count && plan->config->study->axes[axis].scene; i++)
            keys->used[axis][plan->scenes[i].value[axis]] = true;
        for (int i = 0; i < plan->method_count && !plan->config->study->axes[axis].scene; i++)
            keys->used[axis][plan->methods[i].value[axis]] = true;
    }
    return NB_OK;
}

nb_status nb_keys_init(const nb_plan *plan, nb_keys *keys, nb_ctx *ctx)
{
    const nb_study *study = plan->config->study;
    int count = nb_column_count(study->columns);
    nb_any_row first, row;
    *keys = (nb_keys){.plan = plan};
    NB_NEED(keys->shown, nb_alloc(ctx, (size_t)count, sizeof *keys->shown));
    NB_TRY(ctx, find_used(keys, ctx));
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
