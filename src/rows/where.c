/* SPDX-License-Identifier: GPL-3.0-or-later */
/* where.c - see where.h. A condition's candidates are the distinct values that rows have in its column (columns.sql);
 * those that it means go into the table `wanted`. */
#include "rows/where.h"

#include "rows/columns.h"
#include "base/builder.h"
#include "components/condition.h"
#include "config/labels.h"
#include "rows/made_tables.h"
#include "rows/statement.h"

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

typedef struct {
    const nb_relation *relation;
    const char *among;
    sqlite3_stmt *want;   /* adds to `wanted` */
    nb_string conditions; /* in SQL */
    nb_ctx *ctx;
} chooser;

static nb_status begin(chooser *c)
{
    NB_TRY(c->ctx, nb_table_make(c->relation, "wanted", "where.wanted", NULL, &c->want, c->ctx));
    return c->among
               ? nb_sql_append(&c->conditions, "columns.is_among", NB_GIVEN(NB_GIVE_NAME("among", c->among)), c->ctx)
               : NB_OK;
}

/* `name`: the condition's, that of its column or of the labels there. */
static nb_status want(const chooser *c, const char *name, const nb_cell *value)
{
    nb_cell_bind(c->want, 2, value);
    return nb_relation_add(c->relation, c->want, "t", name);
}

/* Adds the condition that a row has one of the values that are wanted in a column. */
static nb_status add_condition(chooser *c, const char *name, const nb_column *column)
{
    const char *key;
    NB_TRY(c->ctx, nb_key_sql(column, &key, c->ctx));
    return nb_sql_append(&c->conditions, "where.is_wanted",
                         NB_GIVEN(NB_GIVE_PIECE("key", key), NB_GIVE_TEXT("condition", name)), c->ctx);
}

static nb_status choose(const chooser *c, const char *chosen)
{
    return nb_sql_run(c->relation, "where.rows",
                      NB_GIVEN(NB_GIVE_NAME("table", chosen), NB_GIVE_PIECE("conditions", c->conditions.text)), c->ctx);
}

nb_status nb_where_values(const nb_relation *r, const char *among, const char *name, int count,
                          const char *const *texts, int *places, const char *chosen, nb_ctx *ctx)
{
    chooser c = {.relation = r, .among = among, .conditions = NB_NO_TEXT, .ctx = ctx};
    nb_candidates candidates;
    nb_grid values;
    NB_TRY(ctx, find_candidates(r, among, name, &candidates, &values, ctx));
    for (int i = 0; i < count; i++) NB_TRY(ctx, nb_candidates_pick(&candidates, texts[i], &places[i], ctx));
    if (!chosen) return NB_OK;
    NB_TRY(ctx, begin(&c));
    for (int i = 0; i < count; i++) NB_TRY(ctx, want(&c, name, nb_grid_at(&values, places[i], NB_VALUE_KEY)));
    NB_TRY(ctx, add_condition(&c, name, candidates.column.column));
    return choose(&c, chosen);
}

/* Adds the condition that a row has one of the values that any text for this column, from parts[0] on, means. */
static nb_status add_column(chooser *c, const nb_condition_text *parts)
{
    bool *means;
    nb_candidates candidates;
    nb_grid values;
    NB_TRY(c->ctx, find_candidates(c->relation, c->among, parts->column, &candidates, &values, c->ctx));
    NB_NEED(means, nb_alloc(c->ctx, (size_t)candidates.count + 1, sizeof *means));
    for (const nb_condition_text *part = parts; part->column; part++)
        if (strcmp(part->column, parts->column) == 0)
            NB_TRY(c->ctx, nb_candidates_match(&candidates, part->text, means, c->ctx));
    for (int i = 0; i < candidates.count; i++)
        if (means[i]) NB_TRY(c->ctx, want(c, parts->column, nb_grid_at(&values, i, NB_VALUE_KEY)));
    return add_condition(c, parts->column, candidates.column.column);
}

nb_status nb_where(const nb_relation *r, const char *among, const nb_condition_text *parts, const char *chosen,
                   nb_ctx *ctx)
{
    chooser c = {.relation = r, .among = among, .conditions = NB_NO_TEXT, .ctx = ctx};
    NB_TRY(ctx, begin(&c));
    for (int i = 0; parts && parts[i].column; i++) {
        int first = 0;
        while (strcmp(parts[first].column, parts[i].column) != 0) first++;
        if (first == i) NB_TRY(ctx, add_column(&c, &parts[i]));
    }
    return choose(&c, chosen);
}
