/* SPDX-License-Identifier: GPL-3.0-or-later */
/* where.c - see where.h. A condition's candidates are the distinct values that rows have in its column. */
#include "rows/where.h"

#include "rows/columns.h"
#include "base/builder.h"
#include "components/condition.h"
#include "config/labels.h"

#include <string.h>

/* Finds the values of a column that rows have, in order of appearance, as candidates; *values as in
 * nb_relation_values. */
static nb_status find_candidates(const nb_relation *r, const char *among, const char *name, nb_candidates *c,
                                 nb_grid *values, nb_ctx *ctx)
{
    *c = (nb_candidates){.count = 0};
    NB_TRY(ctx, nb_selector_find(r->study, name, &c->column, ctx));
    NB_TRY(ctx, nb_relation_values(r, c->column.column->name, among, values, ctx));
    c->count = values->count;
    NB_NEED(c->items, nb_alloc(ctx, (size_t)c->count + 1, sizeof *c->items));
    for (int i = 0; i < c->count; i++) {
        const nb_cell *cell = nb_grid_at(values, i, NB_VALUE);
        c->items[i] =
            (nb_candidate){.text = cell->text ? cell->text : "", .integer = cell->integer, .real = cell->real};
    }
    return nb_candidates_label(c, r->labels, ctx);
}

nb_status nb_where_values(const nb_relation *r, const char *among, const char *name, int count,
                          const char *const *texts, nb_value_found *found, nb_ctx *ctx)
{
    nb_candidates candidates;
    nb_grid values;
    const char *key;
    NB_TRY(ctx, find_candidates(r, among, name, &candidates, &values, ctx));
    NB_TRY(ctx, nb_key_sql(candidates.column.column, &key, ctx));
    for (int i = 0; i < count; i++) {
        NB_TRY(ctx, nb_candidates_pick(&candidates, texts[i], &found[i].place, ctx));
        NB_NEED(found[i].sql,
                nb_format(ctx, "%s = %s", key, nb_grid_at(&values, found[i].place, NB_VALUE_LITERAL)->text));
    }
    return NB_OK;
}

/* Adds "AND COLUMN IN (...)" for the values that any condition on this column, from parts[0] on, means. */
static nb_status add_column(const nb_relation *r, const char *among, const nb_condition_text *parts, nb_string *all,
                            nb_ctx *ctx)
{
    const char *key, *separator = "";
    bool *means;
    nb_candidates candidates;
    nb_grid values;
    NB_TRY(ctx, find_candidates(r, among, parts->column, &candidates, &values, ctx));
    NB_TRY(ctx, nb_key_sql(candidates.column.column, &key, ctx));
    NB_NEED(means, nb_alloc(ctx, (size_t)candidates.count + 1, sizeof *means));
    for (const nb_condition_text *part = parts; part->column; part++)
        if (strcmp(part->column, parts->column) == 0)
            NB_TRY(ctx, nb_candidates_match(&candidates, part->text, means, ctx));
    NB_TRY(ctx, nb_append(all, ctx, " AND %s IN (", key));
    for (int i = 0; i < candidates.count; i++) {
        if (!means[i]) continue;
        NB_TRY(ctx, nb_append(all, ctx, "%s%s", separator, nb_grid_at(&values, i, NB_VALUE_LITERAL)->text));
        separator = ", ";
    }
    return nb_append(all, ctx, ")");
}

nb_status nb_where(const nb_relation *r, const char *among, const nb_condition_text *parts, const char **sql,
                   nb_ctx *ctx)
{
    nb_string all = NB_NO_TEXT;
    NB_TRY(ctx, nb_append(&all, ctx, "%s", among ? among : "1"));
    for (int i = 0; parts && parts[i].column; i++) {
        int first = 0;
        while (strcmp(parts[first].column, parts[i].column) != 0) first++;
        if (first == i) NB_TRY(ctx, add_column(r, among, &parts[i], &all, ctx));
    }
    *sql = all.text;
    return NB_OK;
}
