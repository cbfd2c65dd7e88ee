/* SPDX-License-Identifier: GPL-3.0-or-later */
/* columns.c - see columns.h */
#include "rows/columns.h"

#include "base/fields.h"
#include "base/text.h"
#include "rows/statement.h"

#include <string.h>

bool nb_rows_have(const nb_relation *r, const char *name)
{
    return sqlite3_table_column_metadata(r->store->db, r->several ? "temp" : "main", strchr(r->rows, '.') + 1, name,
                                         NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

const char *nb_column_or_null(const nb_relation *r, const char *name)
{
    return nb_rows_have(r, name) ? name : NB_SQL_NO_NAME;
}

bool nb_is_of_runs(const nb_relation *r, int kind)
{
    return r->several && kind == 0;
}

bool nb_is_of_scene(const nb_relation *r, int kind)
{
    const nb_axis *a = nb_axis_of_column(r->study, r->kinds[kind]->name);
    return a && a->scene && kind != r->problem;
}

nb_status nb_key_name(const nb_column *c, const char **name, nb_ctx *ctx)
{
    *name = NB_SQL_NO_NAME;
    if (c) NB_NEED(*name, nb_format(ctx, c->type == NB_COLUMN_TEXT && c->identity ? "%s_id" : "%s", c->name));
    return NB_OK;
}

nb_status nb_key_sql(const nb_column *c, const char **sql, nb_ctx *ctx)
{
    bool plain = c && c->type == NB_COLUMN_TEXT && !c->identity;
    const char *name;
    NB_TRY(ctx, nb_key_name(c, &name, ctx));
    return nb_sql_fill(plain ? "columns.text_key" : "columns.key", NB_GIVEN(NB_GIVE_NAME("column", name)), sql, ctx);
}

nb_status nb_keys_add(nb_string *list, const nb_column *c, nb_ctx *ctx)
{
    const char *key;
    NB_TRY(ctx, nb_key_sql(c, &key, ctx));
    return nb_sql_append(list, "columns.next_key", NB_GIVEN(NB_GIVE_PIECE("key", key)), ctx);
}

bool nb_is_of_method(const nb_column *c)
{
    static const char *const data[] = {"problem", "head", "trial", NULL};
    return c->identity && c->type != NB_COLUMN_SEED && !nb_text_among(c->name, data);
}

/* Returns a study's condition: what a file of SQL has under that name, or, of a study outside the tree, itself. */
static const char *condition_of(const char *name)
{
    const char *sql = nb_sql_text(name);
    return sql ? sql : name;
}

const char *nb_exact_sql(const nb_column *c)
{
    return c->exact ? condition_of(c->exact) : nb_sql_text("columns.never");
}

nb_disturbance nb_disturbance_of(const nb_study *study, const nb_column *c, nb_ctx *ctx)
{
    const char *hint;
    if (c->disturbed) return (nb_disturbance){condition_of(c->disturbed), "other programs", "column load"};
    if (!c->time || study->exclusive) return (nb_disturbance){nb_sql_text("columns.never"), "", ""};
    hint = nb_format(ctx, "%s avoids them", nb_field(ctx, "jobs", "1"));
    return (nb_disturbance){nb_sql_text("columns.other_workers"), "other workers", hint ? hint : "one job avoids them"};
}

nb_status nb_label_sql(const nb_column *c, const char **sql, nb_ctx *ctx)
{
    const char *id = c->name, *statement = c->type == NB_COLUMN_REAL ? "columns.real_label" : "columns.label";
    if (c->identity && c->type == NB_COLUMN_TEXT) {
        NB_TRY(ctx, nb_key_name(c, &id, ctx));
        statement = "columns.component_label";
    }
    return nb_sql_fill(statement,
                       NB_GIVEN(NB_GIVE_NAME("column", c->name), NB_GIVE_NAME("id", id), NB_GIVE_TEXT("kind", c->name)),
                       sql, ctx);
}

nb_status nb_cells_add(nb_string *list, const nb_column *c, nb_ctx *ctx)
{
    const char *label;
    if (!c) return nb_sql_append(list, "columns.input_cell", NULL, ctx);
    NB_TRY(ctx, nb_label_sql(c, &label, ctx));
    return nb_sql_append(list, "columns.cell", NB_GIVEN(NB_GIVE_NAME("column", c->name), NB_GIVE_PIECE("label", label)),
                         ctx);
}

nb_status nb_relation_values(const nb_relation *r, const char *column, const char *among, nb_grid *values, nb_ctx *ctx)
{
    const char *key, *statement = "columns.values_among", *rows = "";
    const nb_column *c = nb_column_find(r->study->columns, column);
    bool numbered = c->identity && c->type == NB_COLUMN_TEXT, of_line = c->identity && strcmp(column, "trial") != 0;
    if (numbered) statement = among ? "columns.component_values_among" : "columns.component_values"; /* of no row */
    NB_TRY(ctx, nb_key_sql(c, &key, ctx));
    if (among || of_line)
        NB_TRY(ctx, nb_sql_fill(among ? "columns.is_among" : "columns.opens", NB_GIVEN(NB_GIVE_NAME("among", among)),
                                &rows, ctx));
    return nb_sql_ask(r, statement,
                      NB_GIVEN(NB_GIVE_VALUE("kind", column), NB_GIVE_PIECE("key", key), NB_GIVE_PIECE("among", rows)),
                      values, ctx);
}
