/* SPDX-License-Identifier: GPL-3.0-or-later */
/* row_views.c - see row_views.h */
#include "rows/row_views.h"

#include "base/builder.h"
#include "rows/columns.h"
#include "rows/keys.h"
#include "rows/made_tables.h"
#include "rows/statement.h"

static nb_status add_columns(const nb_relation *r, nb_string *columns)
{
    if (r->several)
        NB_TRY(r->ctx,
               nb_sql_append(columns, "row_views.column_of_rows", NB_GIVEN(NB_GIVE_NAME("column", "run")), r->ctx));
    for (const nb_column *c = r->study->columns; c->name; c++) {
        const char *table = !nb_rows_have(r, c->name)   ? "row_views.no_column"
                            : nb_is_in_key(r->study, c) ? "row_views.column_of_key"
                                                        : "row_views.column_of_rows";
        NB_TRY(r->ctx, nb_sql_append(columns, table, NB_GIVEN(NB_GIVE_NAME("column", c->name)), r->ctx));
    }
    return NB_OK;
}

/* Lists the labels of components, and the joins that they come from; ids: the numbers of all texts. */
static nb_status add_labels(const nb_relation *r, nb_string *labels, nb_string *joins, const char **ids)
{
    for (int i = 0; i < r->kind_count; i++) {
        const char *name = r->kinds[i]->name;
        NB_NEED(ids[i], nb_format(r->ctx, "%s_id", name));
        if (!nb_has_components(r, i)) continue;
        const nb_sql_given *given = NB_GIVEN(NB_GIVE_NAME("component", nb_format(r->ctx, "c%d", i)),
                                             NB_GIVE_NAME("label", nb_format(r->ctx, "%s_label", name)),
                                             NB_GIVE_TEXT("kind", name), NB_GIVE_NAME("id", ids[i]));
        NB_TRY(r->ctx, nb_sql_append(labels, "row_views.label", given, r->ctx));
        NB_TRY(r->ctx, nb_sql_append(joins, "row_views.join", given, r->ctx));
    }
    return NB_OK;
}

static nb_status make_view(const nb_relation *r)
{
    static const char *const origins[] = {"model", "layer", "source"}; /* which a study's rows may lack */
    const char *ids[NB_MOST_TEXTS + 1] = {NULL}, *no_origins[4] = {NULL};
    nb_string columns = NB_NO_TEXT, labels = NB_NO_TEXT, joins = NB_NO_TEXT;
    int lacking = 0;
    NB_TRY(r->ctx, add_columns(r, &columns));
    NB_TRY(r->ctx, add_labels(r, &labels, &joins, ids));
    for (int i = 0; i < 3; i++)
        if (!nb_column_find(r->study->columns, origins[i])) no_origins[lacking++] = origins[i];
    return nb_sql_run(r, "row_views.run",
                      NB_GIVEN(NB_GIVE_PIECE("columns", columns.text), NB_GIVE_NAMES("no_origins", no_origins),
                               NB_GIVE_NAMES("ids", ids), NB_GIVE_PIECE("labels", labels.text),
                               NB_GIVE_PIECE("stored", r->rows), NB_GIVE_PIECE("joins", joins.text)),
                      r->ctx);
}

static nb_status make_without(const nb_relation *r)
{
    const char *kinds[NB_MOST_TEXTS + 1] = {NULL};
    int count = 0;
    for (int i = 0; i < r->kind_count; i++)
        if (i != r->problem && nb_has_components(r, i)) kinds[count++] = r->kinds[i]->name;
    return nb_sql_run(r, "row_views.without",
                      NB_GIVEN(NB_GIVE_TEXTS("kinds", kinds), NB_GIVE_PIECE("stored", r->rows),
                               NB_GIVE_NAME("reason", nb_column_or_null(r, "reason"))),
                      r->ctx);
}

static nb_status make_scored(const nb_relation *r)
{
    const nb_study *study = r->study;
    const nb_column *metric = nb_study_metric(study);
    const char *method = NB_SQL_NO_NAME;
    if (metric && study->baseline >= 0)
        NB_NEED(method, nb_format(r->ctx, "%s_id", study->axes[study->baseline].column));
    return nb_sql_run(r, "row_views.scored",
                      NB_GIVEN(NB_GIVE_NAME("method", method),
                               NB_GIVE_NAME("metric", metric ? metric->name : NB_SQL_NO_NAME),
                               NB_GIVE_NAME("noise", metric && metric->noise ? metric->noise : NB_SQL_NO_NAME)),
                      r->ctx);
}

nb_status nb_row_views_make(const nb_relation *r)
{
    NB_TRY(r->ctx, make_view(r));
    NB_TRY(r->ctx, make_without(r));
    NB_TRY(r->ctx, make_scored(r));
    return nb_sql_run(r, "row_views.unfinished", NULL, r->ctx);
}

nb_status nb_measured_make(const nb_relation *r)
{
    nb_string cases = NB_NO_TEXT;
    sqlite3_stmt *measure;
    int at = 0;
    NB_TRY(r->ctx, nb_table_make(r, "measure", "row_views.measure", NULL, &measure, r->ctx));
    for (const nb_column *c = r->study->columns; c->name; c++, at++) {
        if (!c->measure || c->time || c->type != NB_COLUMN_REAL) continue;
        NB_TRY(r->ctx, nb_relation_add(r, measure, "it", at, c->name));
        if (nb_rows_have(r, c->name))
            NB_TRY(r->ctx, nb_sql_append(&cases, "row_views.measured_case",
                                         NB_GIVEN(NB_GIVE_INT("place", at), NB_GIVE_NAME("column", c->name)), r->ctx));
    }
    if (!*cases.text) return NB_OK;
    return nb_sql_run(r, "row_views.measured",
                      NB_GIVEN(NB_GIVE_PIECE("cases", cases.text), NB_GIVE_PIECE("stored", r->rows)), r->ctx);
}
