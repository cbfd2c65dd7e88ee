/* SPDX-License-Identifier: GPL-3.0-or-later */
/* row_views.c - see row_views.h */
#include "rows/row_views.h"

#include "base/builder.h"
#include "rows/columns.h"
#include "rows/keys.h"

/* The view of the rows. Joins that a query does not look at cost nothing: they are to one row each, and
 * outer, which SQLite leaves out, but for a query that groups: that asks `key`, or a materialized part of `run`. */

/* One column for all measures. */
static nb_status make_measured(const nb_relation *r)
{
    nb_string names = NB_NO_TEXT, cases = NB_NO_TEXT;
    int at = 0;
    for (const nb_column *c = r->study->columns; c->name; c++, at++) {
        if (!c->measure || c->time || c->type != NB_COLUMN_REAL) continue;
        NB_TRY(r->ctx, nb_append_item(&names, ",", r->ctx, "(%d, '%s')", at, c->name));
        if (nb_rows_have(r, c->name)) NB_TRY(r->ctx, nb_append(&cases, r->ctx, " WHEN %d THEN r.%s", at, c->name));
    }
    if (!*cases.text) return NB_OK;
    return nb_relation_run(
        r, nb_format(r->ctx,
                     "CREATE TEMP TABLE measure (place INTEGER PRIMARY KEY, name TEXT); "
                     "INSERT INTO measure VALUES %s; CREATE TEMP VIEW measured AS SELECT k.id AS id, name AS "
                     "measure, place, CASE place%s END AS x FROM key AS k JOIN %s AS r ON r.rowid = k.id "
                     "JOIN measure",
                     names.text, cases.text, r->rows));
}

static nb_status make_view(const nb_relation *r)
{
    static const char *const origins[] = {"model", "layer", "source"}; /* which a study's rows may lack */
    nb_string columns = NB_NO_TEXT, joins = NB_NO_TEXT;
    for (const nb_column *c = r->study->columns; c->name; c++) {
        const char *table = !nb_rows_have(r, c->name) ? "" : nb_is_in_key(r->study, c) ? "k." : "r.";
        NB_TRY(r->ctx,
               nb_append_item(&columns, ", ", r->ctx, "%s%s AS %s", table, nb_column_or_null(r, c->name), c->name));
    }
    for (int i = 0; i < 3; i++)
        if (!nb_column_find(r->study->columns, origins[i]))
            NB_TRY(r->ctx, nb_append(&columns, r->ctx, ", NULL AS %s", origins[i]));
    for (int i = 0; i < r->kind_count; i++) {
        const char *name = r->kinds[i]->name;
        NB_TRY(r->ctx, nb_append(&columns, r->ctx, ", k.%s_id AS %s_id", name, name));
        if (!nb_has_components(r, i)) continue;
        NB_TRY(r->ctx, nb_append(&columns, r->ctx, ", c%d.label AS %s_label", i, name));
        NB_TRY(r->ctx, nb_append(&joins, r->ctx, " LEFT JOIN component AS c%d ON c%d.kind = '%s' AND c%d.id = k.%s_id",
                                 i, i, name, i, name));
    }
    return nb_relation_run(
        r, nb_format(
               r->ctx,
               "CREATE TEMP VIEW run AS SELECT %s%s, k.number AS number, k.position AS position, k.id AS id, "
               "head_id, panel_id, stratum_id, source_id, line_id, alone, draws, opens FROM key AS k LEFT JOIN %s AS r "
               "ON r.rowid = k.id%s",
               r->several ? "r.run AS run, " : "", columns.text, r->rows, joins.text));
}

/* Names the components of a method that have no result, where others of their kind have one, and why the first row has
 * none. */
static nb_status make_without(const nb_relation *r)
{
    const char *reason = nb_column_or_null(r, "reason"), *kinds = "''";
    for (int i = 0; i < r->kind_count; i++)
        if (i != r->problem && nb_has_components(r, i))
            NB_NEED(kinds, nb_format(r->ctx, "%s, '%s'", kinds, r->kinds[i]->name));
    return nb_relation_run(
        r, nb_format(
               r->ctx,
               "CREATE TEMP VIEW without AS SELECT kind, 'NO RESULT: ' || listed(c.label, c.id) || ' (' || status || "
               "coalesce(': ' || nullif(%s, ''), '') || ').' AS text FROM component AS c JOIN run ON run.number = "
               "c.first_row WHERE NOT c.has_result AND kind IN (%s) AND EXISTS (SELECT 1 FROM key WHERE status = 'ok') "
               "GROUP BY kind_place, status, %s ORDER BY kind_place, min(c.id)",
               reason, kinds, reason));
}

static nb_status make_unfinished(const nb_relation *r)
{
    return nb_relation_run(
        r, "CREATE TEMP VIEW unfinished AS SELECT 'only ' || count(CASE WHEN status <> 'planned' THEN 1 END) || ' of ' "
           "|| count(*) || ' rows have been run' AS text FROM key HAVING count(CASE WHEN status = 'planned' THEN 1 "
           "END) > 0");
}

nb_status nb_row_views_make(const nb_relation *r)
{
    NB_TRY(r->ctx, make_view(r));
    NB_TRY(r->ctx, make_without(r));
    NB_TRY(r->ctx, make_unfinished(r));
    return make_measured(r);
}
