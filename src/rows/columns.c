/* SPDX-License-Identifier: GPL-3.0-or-later */
/* columns.c - see columns.h */
#include "rows/columns.h"

#include "base/fields.h"
#include "base/text.h"
#include "components/condition.h"

#include <string.h>

bool nb_rows_have(const nb_relation *r, const char *name)
{
    return sqlite3_table_column_metadata(r->store->db, r->several ? "temp" : "main", strchr(r->rows, '.') + 1, name,
                                         NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

const char *nb_column_or_null(const nb_relation *r, const char *name)
{
    return nb_rows_have(r, name) ? name : "NULL";
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

nb_status nb_key_sql(const nb_column *c, const char **sql, nb_ctx *ctx)
{
    bool text = c->type == NB_COLUMN_TEXT;
    NB_NEED(*sql, nb_format(ctx, text && c->identity ? "%s_id" : text ? "coalesce(%s, '')" : "%s", c->name));
    return NB_OK;
}

nb_status nb_keys_add(const char **list, const nb_column *c, nb_ctx *ctx)
{
    const char *key;
    NB_TRY(ctx, nb_key_sql(c, &key, ctx));
    NB_NEED(*list, nb_format(ctx, "%s%s%s", *list, **list ? ", " : "", key));
    return NB_OK;
}

bool nb_is_of_method(const nb_column *c)
{
    static const char *const data[] = {"problem", "head", "trial", NULL};
    return c->identity && c->type != NB_COLUMN_SEED && !nb_text_among(c->name, data);
}

nb_disturbance nb_disturbance_of(const nb_study *study, const nb_column *c, nb_ctx *ctx)
{
    const char *hint;
    if (c->disturbed) return (nb_disturbance){c->disturbed, "other programs", "column load"};
    if (!c->time || study->exclusive) return (nb_disturbance){"0", "", ""};
    hint = nb_format(ctx, "%s avoids them", nb_field(ctx, "jobs", "1"));
    return (nb_disturbance){"id IN (SELECT r.rowid FROM main.results AS r WHERE r.manifest IN (SELECT m.id FROM "
                            "main.manifests AS m WHERE json_extract(m.text, '$.jobs') > 1))",
                            "other workers", hint ? hint : "one job avoids them"};
}

nb_status nb_label_sql(const nb_column *c, const char **sql, nb_ctx *ctx)
{
    if (c->identity && c->type == NB_COLUMN_TEXT)
        NB_NEED(*sql, nb_format(ctx,
                                "(SELECT label || CASE WHEN oracle AND kind = 'strategy' THEN '" NB_ORACLE_MARK
                                "' ELSE '' END FROM component WHERE kind = '%s' AND id = run.%s_id)",
                                c->name, c->name));
    else
        NB_NEED(*sql,
                nb_format(ctx, c->type == NB_COLUMN_REAL ? "shown('%%.4g', run.%s)" : "CAST(run.%s AS TEXT)", c->name));
    return NB_OK;
}

nb_status nb_relation_values(const nb_relation *r, const char *column, const char *among, nb_grid *values, nb_ctx *ctx)
{
    const char *key, *value = "v", *sql;
    const nb_column *c = nb_column_find(r->study->columns, column);
    bool numbered = c->identity && c->type == NB_COLUMN_TEXT, of_line = c->identity && strcmp(column, "trial") != 0;
    if (numbered) NB_NEED(value, nb_format(ctx, "(SELECT spec FROM component WHERE kind = '%s' AND id = v)", column));
    NB_TRY(ctx, nb_key_sql(c, &key, ctx));
    if (numbered && !among) /* in this order, and with no row to look at */
        NB_NEED(sql, nb_format(ctx, "SELECT spec, quote(id) FROM component WHERE kind = '%s' ORDER BY id", column));
    else
        NB_NEED(sql, nb_format(ctx,
                               "WITH meant AS MATERIALIZED (SELECT %s AS v, number FROM run WHERE %s) "
                               "SELECT %s, quote(v) FROM meant GROUP BY v ORDER BY min(number)",
                               key,
                               among     ? among
                               : of_line ? "opens"
                                         : "1",
                               value));
    return nb_relation_ask(r, sql, values, ctx);
}
