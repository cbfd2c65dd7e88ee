/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims_where.c - values of columns that a claim names, each of the kind of its axis. */
#include "config/claims_private.h"

#include "base/numbers.h"
#include "base/range.h"
#include "config/lookup.h"
#include "config/values.h"

#include <float.h>
#include <limits.h>
#include <string.h>

bool nb_claim_compares(const nb_axis *axis)
{
    return strcmp(axis->column, "problem") != 0;
}

const nb_axis *nb_claim_axis(const nb_study *study, const char *column)
{
    for (const nb_axis *axis = study->axes; axis->key; axis++)
        if (strcmp(axis->column, column) == 0) return axis;
    return NULL;
}

static nb_status add_value(const nb_claim_reader *r, const char *text, nb_place place, int *count,
                           nb_claim_value **values)
{
    nb_claim_value *all;
    NB_NEED(all, nb_alloc(r->ctx, (size_t)*count + 1, sizeof *all));
    if (*count > 0) memcpy(all, *values, (size_t)*count * sizeof *all);
    all[*count].place = place;
    NB_NEED(all[*count].text, nb_strdup(r->ctx, text));
    *values = all;
    ++*count;
    return NB_OK;
}

/* Components: as written, or, where a file of one is elsewhere, each of them with its file. */
static nb_status add_parts(const nb_claim_reader *r, nb_yaml value, int part_count, nb_choice_part *parts, bool listed,
                           int *count, nb_claim_value **values)
{
    bool moved = listed, changed;
    const char *text;
    for (int p = 0; p < part_count && r->look_up && value.in_file; p++) {
        NB_TRY(r->ctx, nb_lookup_options(parts[p].component, parts[p].options, value.source, &changed, r->ctx));
        moved = moved || changed;
    }
    if (!moved) return add_value(r, nb_yaml_scalar(value), nb_yaml_place(value), count, values);
    for (int p = 0; p < part_count; p++) {
        NB_TRY(r->ctx, nb_choice_part_text(&parts[p], &text, r->ctx));
        NB_TRY(r->ctx, add_value(r, text, nb_yaml_place(value), count, values));
    }
    return NB_OK;
}

static nb_status read_component(const nb_claim_reader *r, const char *what, const nb_axis *axis, nb_yaml value,
                                int *count, nb_claim_value **values)
{
    nb_choice_part *parts;
    int part_count;
    bool listed;
    nb_place at = nb_yaml_place(value);
    NB_TRY(r->ctx,
           nb_lookup_parts(axis->registry, nb_yaml_scalar(value), at, r->look_up && value.in_file ? value.source : NULL,
                           &part_count, &parts, &listed, r->mistakes, r->ctx));
    for (int p = 0; p < part_count; p++)
        for (int g = 0; g < parts[p].count; g++)
            if (parts[p].given[g]->selects_head)
                return nb_mistakes_add(r->mistakes, at, "%s: the column 'head' names heads, not the option '%s'", what,
                                       parts[p].given[g]->key);
    return part_count == 0
               ? NB_OK
               : nb_mistakes_take(r->mistakes, at, add_parts(r, value, part_count, parts, listed, count, values));
}

static nb_status read_integers(const nb_claim_reader *r, const char *what, nb_yaml value, int *count,
                               nb_claim_value **values)
{
    nb_range *ranges;
    int found;
    NB_TRY(r->ctx, nb_read_ranges(what, value, 0, INT_MAX, &found, &ranges, r->mistakes));
    return found ? add_value(r, nb_yaml_scalar(value), nb_yaml_place(value), count, values) : NB_OK;
}

static nb_status read_real(const nb_claim_reader *r, const char *what, nb_yaml value, int *count,
                           nb_claim_value **values)
{
    double number;
    if (!nb_parse_real(nb_yaml_scalar(value), -DBL_MAX, DBL_MAX, &number))
        return nb_mistakes_add(r->mistakes, nb_yaml_place(value), "%s: expected a number, found '%s'", what,
                               nb_yaml_scalar(value));
    return add_value(r, nb_yaml_scalar(value), nb_yaml_place(value), count, values);
}

/* One or more values of a column, whose kinds of mistakes are those of its axis. */
static nb_status read_value(const nb_claim_reader *r, const char *what, const char *column, nb_yaml value, int *count,
                            nb_claim_value **values)
{
    const nb_axis *axis = nb_claim_axis(r->study, column);
    int word, before = r->mistakes->count;
    if (!nb_yaml_scalar(value))
        return nb_mistakes_add(r->mistakes, nb_yaml_place(value), "%s: expected a value, found %s", what,
                               nb_yaml_kind(value));
    nb_column_type type = nb_column_find(r->study->columns, column)->type;
    if (type == NB_COLUMN_REAL) return read_real(r, what, value, count, values);
    if (type != NB_COLUMN_TEXT) return read_integers(r, what, value, count, values);
    if (axis && axis->type == NB_AXIS_COMPONENT) return read_component(r, what, axis, value, count, values);
    if (axis) NB_TRY(r->ctx, nb_read_word(what, value, axis->words, &word, r->mistakes));
    return r->mistakes->count > before ? NB_OK
                                       : add_value(r, nb_yaml_scalar(value), nb_yaml_place(value), count, values);
}

nb_status nb_claim_values_read(const nb_claim_reader *r, const char *what, const char *column, nb_yaml value,
                               int *count, nb_claim_value **values)
{
    const char *key;
    NB_NEED(key, nb_format(r->ctx, "%s: %s", what, column));
    if (nb_yaml_count(value) == 0)
        NB_TRY(r->ctx, nb_mistakes_add(r->mistakes, nb_yaml_place(value), "%s: the list is empty", key));
    for (int i = 0; i < nb_yaml_count(value); i++)
        NB_TRY(r->ctx, read_value(r, key, column, nb_yaml_item(value, i), count, values));
    return NB_OK;
}

/* A mapping from columns to values; no node: no condition. */
nb_status nb_claim_where_read(const nb_claim_reader *r, nb_yaml value, nb_claim_where *where)
{
    nb_yaml *values;
    if (!value.node) return NB_OK;
    NB_TRY(r->ctx, nb_claim_collect(r, "claims: where", value, r->columns, &values));
    for (int i = 0; r->columns[i]; i++) where->count += values[i].node != NULL;
    NB_NEED(where->items, nb_alloc(r->ctx, (size_t)where->count + 1, sizeof *where->items));
    where->count = 0;
    for (int i = 0; r->columns[i]; i++) {
        if (!values[i].node) continue;
        nb_claim_condition *c = &where->items[where->count++];
        c->column = r->columns[i];
        NB_TRY(r->ctx, nb_claim_values_read(r, "claims: where", c->column, values[i], &c->count, &c->values));
    }
    return NB_OK;
}
