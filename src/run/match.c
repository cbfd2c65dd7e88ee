/* SPDX-License-Identifier: GPL-3.0-or-later */
/* match.c - see match.h. A condition's candidates are the distinct values that the plan has in its column. */
#include "run/match.h"

#include "base/builder.h"
#include "base/texts.h"
#include "components/condition.h"
#include "config/labels.h"

#include <string.h>

/* Returns the axis whose component a column names; -1: it names none. */
static int axis_of(const nb_study *study, const nb_column *column)
{
    const nb_axis *axis = nb_axis_of_column(study, column->name);
    return axis && axis->type == NB_AXIS_COMPONENT ? (int)(axis - study->axes) : -1;
}

static nb_candidate candidate_of(const nb_column *column, const void *row)
{
    const char *field = (const char *)row + column->offset;
    if (column->type == NB_COLUMN_INT) return (nb_candidate){.text = "", .integer = *(const int *)field};
    if (column->type == NB_COLUMN_SEED) return (nb_candidate){.text = "", .integer = *(const long long *)field};
    if (column->type == NB_COLUMN_REAL) return (nb_candidate){.text = "", .real = *(const double *)field};
    const char *text = *(const char *const *)field;
    return (nb_candidate){.text = text ? text : ""};
}

/* Finds the distinct values of a column, and of[row]: which one each row has. */
static nb_status find_candidates(const nb_plan *plan, const char *name, nb_candidates *c, int **of, nb_ctx *ctx)
{
    nb_texts distinct;
    nb_given_labels labels;
    nb_ctx *scratch;
    int room = 0;
    *c = (nb_candidates){.count = 0};
    NB_TRY(ctx, nb_selector_find(plan->config->study, name, &c->column, ctx));
    NB_REQUIRE(ctx, !nb_selector_is_measured(&c->column), NB_EINVAL,
               "column '%s' is known once rows have run, and does not select those to run", name);
    NB_NEED(scratch, nb_ctx_child(ctx));
    nb_texts_init(&distinct, ctx);
    NB_NEED(*of, nb_alloc(ctx, (size_t)plan->row_count + 1, sizeof **of));
    for (int i = 0; i < plan->row_count; i++) {
        nb_any_row row;
        const char *text;
        nb_mark mark = nb_ctx_mark(scratch);
        nb_plan_row(plan, i, &row);
        NB_NEED(text, nb_column_text(c->column.column, &row, scratch));
        NB_TRY(ctx, nb_texts_number(&distinct, text, &(*of)[i]));
        nb_ctx_release(scratch, mark);
        if (distinct.count == c->count) continue;
        NB_GROW(ctx, c->items, c->count, room);
        c->items[c->count++] = candidate_of(c->column.column, &row);
    }
    NB_TRY(ctx, nb_config_labels(plan->config, &c->column, &labels, ctx));
    return nb_candidates_label(c, &labels, ctx);
}

/* Unflags the rows that meet none of the conditions on a column, from parts[0] on. */
static nb_status keep_matching(const nb_plan *plan, const nb_condition_text *parts, bool *flags, nb_ctx *ctx)
{
    nb_candidates candidates;
    int *of;
    bool *means;
    NB_TRY(ctx, find_candidates(plan, parts->column, &candidates, &of, ctx));
    NB_NEED(means, nb_alloc(ctx, (size_t)candidates.count + 1, sizeof *means));
    for (const nb_condition_text *part = parts; part->column; part++)
        if (strcmp(part->column, parts->column) == 0)
            NB_TRY(ctx, nb_candidates_match(&candidates, part->text, means, ctx));
    for (int i = 0; i < plan->row_count; i++) flags[i] = flags[i] && means[of[i]];
    return NB_OK;
}

nb_status nb_match_rows(const nb_plan *plan, const char *key, bool **flags, int *count, nb_ctx *ctx)
{
    nb_condition_text *parts;
    int part_count;
    NB_NEED(*flags, nb_alloc(ctx, (size_t)plan->row_count + 1, sizeof **flags));
    memset(*flags, true, (size_t)plan->row_count * sizeof **flags);
    NB_TRY(ctx, nb_conditions_split(key, &part_count, &parts, ctx));
    for (int i = 0; i < part_count; i++) {
        int first = 0;
        while (strcmp(parts[first].column, parts[i].column) != 0) first++;
        if (first == i) NB_TRY(ctx, keep_matching(plan, &parts[i], *flags, ctx));
    }
    *count = 0;
    for (int i = 0; i < plan->row_count; i++) *count += (*flags)[i];
    NB_REQUIRE(ctx, *count > 0, NB_EINVAL, "no row has all of these values together, though each of them occurs");
    return NB_OK;
}

/* The components of an axis as candidates, which keys tell apart. */
static nb_status list_candidates(const nb_plan *plan, const nb_column *column, nb_candidates *c, nb_ctx *ctx)
{
    nb_given_labels labels;
    const nb_config *config = plan->config;
    *c = (nb_candidates){.count = 0};
    NB_TRY(ctx, nb_selector_find(config->study, column->name, &c->column, ctx));
    const nb_choices *all = &config->lists[c->column.axis - config->study->axes].choices;
    NB_NEED(c->items, nb_alloc(ctx, (size_t)all->count + 1, sizeof *c->items));
    for (int i = 0; i < all->count; i++) c->items[c->count++] = (nb_candidate){.text = all->items[i].canonical};
    NB_TRY(ctx, nb_config_labels(config, &c->column, &labels, ctx));
    return nb_candidates_label(c, &labels, ctx);
}

/* Finds the shortest text that still identifies a row's component among those of the plan: its label, or all of it. */
static nb_status component_text(const nb_keys *keys, int at, const char *canonical, const char **text, nb_ctx *ctx)
{
    const nb_candidates *c = &keys->components[at];
    int index = 0, count = 0;
    bool *means;
    while (index < c->count && strcmp(c->items[index].text, canonical) != 0) index++;
    NB_NEED(means, nb_alloc(ctx, (size_t)c->count + 1, sizeof *means));
    *text = canonical;
    if (index == c->count) return NB_OK; /* a value that no list has */
    nb_status status = nb_candidates_match(c, c->items[index].label, means, ctx);
    if (status == NB_EINVAL) { /* a label such as [a], which a key would read as a list */
        nb_error_clear(ctx);
        return NB_OK;
    }
    NB_TRY(ctx, status);
    for (int i = 0; i < c->count; i++) count += means[i] && strcmp(c->items[i].text, canonical) != 0;
    if (count == 0) *text = c->items[index].label;
    return NB_OK;
}

/* A row's value in a column, as a key has it. */
static nb_status key_value(const nb_keys *keys, int at, const void *row, const char **text, nb_ctx *ctx)
{
    const nb_column *column = &keys->plan->config->study->columns[at];
    if (keys->components[at].count == 0) {
        NB_NEED(*text, nb_column_text(column, row, ctx));
        return NB_OK;
    }
    return component_text(keys, at, candidate_of(column, row).text, text, ctx);
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
    NB_NEED(keys->components, nb_alloc(ctx, (size_t)count, sizeof *keys->components));
    if (plan->row_count == 0) return NB_OK;
    nb_plan_row(plan, 0, &first);
    for (int i = 0; i < plan->row_count; i++) {
        nb_plan_row(plan, i, &row);
        for (int c = 0; c < count; c++) {
            const nb_column *column = &study->columns[c];
            if (keys->shown[c]) continue;
            if (column->identity && (always_shown(study, column) || !nb_column_same(column, &first, &row)))
                keys->shown[c] = true;
        }
    }
    for (int c = 0; c < count; c++)
        if (keys->shown[c] && axis_of(study, &study->columns[c]) >= 0)
            NB_TRY(ctx, list_candidates(plan, &study->columns[c], &keys->components[c], ctx));
    return NB_OK;
}

nb_status nb_keys_text(const nb_keys *keys, int index, const char **text, nb_ctx *ctx)
{
    const nb_column *columns = keys->plan->config->study->columns;
    nb_string all = NB_NO_TEXT;
    nb_any_row row;
    nb_plan_row(keys->plan, index, &row);
    for (int c = 0; columns[c].name; c++) {
        const char *value;
        if (!keys->shown[c]) continue;
        NB_TRY(ctx, key_value(keys, c, &row, &value, ctx));
        NB_TRY(ctx, nb_append_item(&all, ", ", ctx, "%s=%s", columns[c].name, value));
    }
    *text = all.text;
    return NB_OK;
}
