/* SPDX-License-Identifier: GPL-3.0-or-later */
/* panels.c - see panels.h */
#include "rows/panels.h"

#include "config/labels.h"
#include "rows/columns.h"
#include "rows/made_tables.h"

#include <stdlib.h>
#include <string.h>

nb_status nb_data_number(nb_relation *r, const nb_data_origin *origin, const nb_spec_facts *problem, const int *kinds,
                         nb_data_ids *ids, nb_ctx *s)
{
    const char *text = problem->alike, *name = problem->stratum;
    if (!name) name = origin->model ? origin->model : NB_NO_MODEL;
    nb_mark mark = nb_ctx_mark(s);
    for (int i = 0; i < r->kind_count; i++)
        if (nb_is_of_scene(r, i)) NB_NEED(text, nb_format(s, "%s, %d", text, kinds[i]));
    NB_TRY(s, nb_texts_number(&r->panels, text, &ids->panel));
    NB_GROW(r->ctx, r->drawn, r->strata.count, r->drawn_room);
    NB_TRY(s, nb_texts_number(&r->strata, name, &ids->stratum));
    r->drawn[ids->stratum] = problem->stratum;
    if (problem->stratum)
        NB_NEED(text, nb_format(s, "%d %s\ntrial %d", ids->stratum, origin->problem, origin->trial));
    else
        NB_NEED(text, nb_format(s, "%d \n%s", ids->stratum, origin->source ? origin->source : origin->problem));
    NB_TRY(s, nb_texts_number(&r->sources, text, &ids->source));
    nb_ctx_release(s, mark);
    return NB_OK;
}

nb_status nb_sources_make(const nb_relation *r)
{
    sqlite3_stmt *stratum, *source;
    const char **labels;
    nb_mark mark = nb_ctx_mark(r->ctx);
    NB_NEED(labels, nb_alloc(r->ctx, (size_t)r->strata.count + 1, sizeof *labels));
    NB_TRY(r->ctx, nb_label_strata(r->strata.count, r->strata.items, r->drawn, labels, r->ctx));
    NB_TRY(r->ctx, nb_relation_table(r, "stratum", "id INTEGER PRIMARY KEY, name TEXT, label TEXT, drawn INTEGER",
                                     &stratum, r->ctx));
    NB_TRY(r->ctx,
           nb_relation_table(r, "source", "id INTEGER PRIMARY KEY, stratum_id INTEGER, name TEXT", &source, r->ctx));
    for (int i = 0; i < r->strata.count; i++)
        NB_TRY(r->ctx, nb_relation_add(r, stratum, "itti", i, r->strata.items[i], labels[i], r->drawn[i]));
    for (int i = 0; i < r->sources.count; i++) {
        const char *text = r->sources.items[i];
        NB_TRY(r->ctx, nb_relation_add(r, source, "iit", i, atoi(text), strchr(text, '\n') + 1));
    }
    nb_ctx_release(r->ctx, mark);
    return NB_OK;
}

static nb_status count_panels(const nb_relation *r)
{
    const char *names = "";
    for (int i = 0; i < r->kind_count; i++)
        if (nb_is_of_scene(r, i))
            NB_NEED(names, nb_format(r->ctx, "%s, r.%s AS %s, k.%s_id AS %s_id", names, r->kinds[i]->name,
                                     r->kinds[i]->name, r->kinds[i]->name, r->kinds[i]->name));
    return nb_relation_run(
        r, nb_format(r->ctx,
                     "CREATE TEMP TABLE panel AS SELECT c.*, '' AS title, k.problem_id AS problem_id, k.stratum_id AS "
                     "stratum_id, CASE WHEN problems = 1 THEN r.problem END AS problem, %s AS model, %s AS layer, "
                     "%s AS rows, r.n AS n, r.d AS d%s FROM (SELECT panel_id AS id, count(DISTINCT "
                     "problem_id) AS problems, count(DISTINCT source_id) AS sources, count(DISTINCT head_id) "
                     "AS heads, max(trial) + 1 AS trials, min(position) AS first FROM stretch GROUP BY panel_id) "
                     "AS c JOIN %s AS r ON r.position = c.first JOIN key AS k ON k.id = r.rowid "
                     "ORDER BY c.first; CREATE UNIQUE INDEX panels ON panel (id)",
                     nb_column_or_null(r, "model"), nb_column_or_null(r, "layer"), nb_column_or_null(r, "rows"), names,
                     r->rows));
}

/* Makes the panels. A title begins with the label of its one problem, or of several files with the model and how many
 * sources they are of. No two titles are the same: those facts of their data that differ among such are added, but for
 * the number of a kernel, whose label the title has. */
nb_status nb_panels_make(nb_relation *r)
{
    const char **problems, **labels, *scene = "''", *sql;
    nb_grid a;
    sqlite3_stmt *name;
    nb_mark mark = nb_ctx_mark(r->ctx);
    NB_TRY(r->ctx, count_panels(r));
    NB_TRY(r->ctx, nb_relation_ask(r, "SELECT id, problem_id FROM panel ORDER BY id", &a, r->ctx));
    NB_NEED(problems, nb_alloc(r->ctx, (size_t)a.count + 1, sizeof *problems));
    NB_NEED(labels, nb_alloc(r->ctx, (size_t)a.count + 1, sizeof *labels));
    for (int i = 0; i < a.count; i++) problems[i] = r->specs[r->problem].items[nb_grid_at(&a, i, 1)->integer];
    NB_TRY(r->ctx, nb_problem_labels(r, a.count, problems, labels));
    NB_TRY(r->ctx, nb_relation_table(r, "named", "id INTEGER PRIMARY KEY, label, alike", &name, r->ctx));
    for (int i = 0; i < a.count; i++) {
        int id = (int)nb_grid_at(&a, i, 0)->integer;
        NB_TRY(r->ctx, nb_relation_add(r, name, "itt", id, labels[i], r->panels.items[id]));
    }
    for (int i = 0; i < r->kind_count; i++)
        if (nb_is_of_scene(r, i))
            NB_NEED(scene, nb_format(r->ctx,
                                     "%s || CASE WHEN (SELECT count(DISTINCT %s_id) FROM panel) > 1 THEN ', ' || "
                                     "(SELECT label FROM component WHERE kind = '%s' AND id = %s_id) ELSE '' END",
                                     scene, r->kinds[i]->name, r->kinds[i]->name, r->kinds[i]->name));
    NB_NEED(
        sql,
        nb_format(
            r->ctx,
            "UPDATE panel SET title = CASE WHEN problems = 1 THEN (SELECT label FROM named WHERE named.id = "
            "panel.id) ELSE (SELECT label FROM stratum WHERE id = stratum_id) || coalesce(' layer ' || layer, '') || "
            "', ' || sources || ' sources' END || %s || CASE WHEN rows <> 'all' THEN ', rows: ' || rows ELSE '' END; "
            "CREATE TEMP TABLE fact AS SELECT n.id AS panel_id, f.key AS place, f.value AS text FROM named AS "
            "n JOIN json_each('[' || replace(json_quote(alike), ', ', '\",\"') || ']') AS f; "
            "CREATE TEMP TABLE apart AS SELECT DISTINCT f.* FROM panel AS p JOIN panel AS o ON o.title = "
            "p.title AND o.id <> p.id JOIN fact AS f ON f.panel_id = p.id LEFT JOIN fact AS g ON "
            "g.panel_id = o.id AND g.place = f.place WHERE g.text IS NOT f.text AND f.text GLOB "
            "'*[^0-9]*'; "
            "UPDATE panel SET title = title || coalesce((SELECT group_concat(', ' || text, '') FROM "
            "(SELECT text FROM apart WHERE panel_id = panel.id ORDER BY place)), '')",
            scene));
    NB_TRY(r->ctx, nb_relation_run(r, sql));
    nb_ctx_release(r->ctx, mark);
    return nb_relation_run(r, "DROP TABLE named; DROP TABLE fact; DROP TABLE apart");
}
