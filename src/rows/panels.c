/* SPDX-License-Identifier: GPL-3.0-or-later */
/* panels.c - see panels.h */
#include "rows/panels.h"

#include "base/builder.h"
#include "config/labels.h"
#include "rows/columns.h"
#include "rows/made_tables.h"
#include "rows/statement.h"

#include <stdlib.h>
#include <string.h>

nb_status nb_data_number(nb_relation *r, const nb_data_origin *origin, const nb_spec_facts *problem, const int *kinds,
                         nb_data_ids *ids, nb_ctx *s)
{
    const char *text, *name = problem->stratum;
    nb_string panel = NB_NO_TEXT;
    if (!name) name = origin->model ? origin->model : NB_NO_MODEL;
    nb_mark mark = nb_ctx_mark(s);
    NB_TRY(s, nb_append(&panel, s, "%s", problem->alike));
    for (int i = 0; i < r->kind_count; i++)
        if (nb_is_of_scene(r, i)) NB_TRY(s, nb_append(&panel, s, ", %d", kinds[i]));
    NB_TRY(s, nb_texts_number(&r->panels, panel.text, &ids->panel));
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
    NB_TRY(r->ctx, nb_table_make(r, "stratum", "panels.stratum", NULL, &stratum, r->ctx));
    NB_TRY(r->ctx, nb_table_make(r, "source", "panels.source", NULL, &source, r->ctx));
    for (int i = 0; i < r->strata.count; i++)
        NB_TRY(r->ctx, nb_relation_add(r, stratum, "itti", i, r->strata.items[i], labels[i], r->drawn[i]));
    for (int i = 0; i < r->sources.count; i++) {
        const char *text = r->sources.items[i];
        NB_TRY(r->ctx, nb_relation_add(r, source, "iit", i, atoi(text), strchr(text, '\n') + 1));
    }
    nb_ctx_release(r->ctx, mark);
    return NB_OK;
}

/* The columns of kinds that a scene has beside its problem. */
typedef struct {
    const char *names[NB_MOST_TEXTS + 1], *ids[NB_MOST_TEXTS + 1]; /* end with NULL */
} scene_columns;

static nb_status find_scene(const nb_relation *r, scene_columns *scene)
{
    int count = 0;
    *scene = (scene_columns){{NULL}, {NULL}};
    for (int i = 0; i < r->kind_count; i++) {
        if (!nb_is_of_scene(r, i)) continue;
        scene->names[count] = r->kinds[i]->name;
        NB_NEED(scene->ids[count++], nb_format(r->ctx, "%s_id", r->kinds[i]->name));
    }
    return NB_OK;
}

/* A panel that is alone needs nothing that tells it apart. */
static nb_status make_titles(const nb_relation *r, const scene_columns *scene, bool several)
{
    NB_TRY(r->ctx, nb_sql_run(r, "panels.begin_titles", NULL, r->ctx));
    for (int i = 0; several && scene->names[i]; i++)
        NB_TRY(r->ctx,
               nb_sql_run(r, "panels.add_component",
                          NB_GIVEN(NB_GIVE_VALUE("kind", scene->names[i]), NB_GIVE_NAME("id", scene->ids[i])), r->ctx));
    NB_TRY(r->ctx, nb_sql_run(r, "panels.add_rows", NULL, r->ctx));
    if (several) NB_TRY(r->ctx, nb_sql_run(r, "panels.tell_apart", NULL, r->ctx));
    return nb_sql_run(r, "panels.end_titles", NULL, r->ctx);
}

nb_status nb_panels_make(nb_relation *r)
{
    const char **problems, **labels;
    scene_columns scene;
    nb_grid a;
    sqlite3_stmt *name;
    NB_TRY(r->ctx, find_scene(r, &scene));
    nb_mark mark = nb_ctx_mark(r->ctx);
    NB_TRY(r->ctx,
           nb_sql_run(r, "panels.panels",
                      NB_GIVEN(NB_GIVE_NAME("model", nb_column_or_null(r, "model")),
                               NB_GIVE_NAME("layer", nb_column_or_null(r, "layer")),
                               NB_GIVE_NAME("rows", nb_column_or_null(r, "rows")), NB_GIVE_NAMES("scene", scene.names),
                               NB_GIVE_NAMES("scene_ids", scene.ids), NB_GIVE_PIECE("stored", r->rows)),
                      r->ctx));
    NB_TRY(r->ctx, nb_sql_ask(r, "panels.problems", NULL, &a, r->ctx));
    NB_NEED(problems, nb_alloc(r->ctx, (size_t)a.count + 1, sizeof *problems));
    NB_NEED(labels, nb_alloc(r->ctx, (size_t)a.count + 1, sizeof *labels));
    for (int i = 0; i < a.count; i++) problems[i] = r->specs[r->problem].items[nb_grid_at(&a, i, 1)->integer];
    NB_TRY(r->ctx, nb_problem_labels(r, a.count, problems, labels));
    NB_TRY(r->ctx, nb_table_make(r, "named", "panels.named", NULL, &name, r->ctx));
    for (int i = 0; i < a.count; i++) {
        int id = (int)nb_grid_at(&a, i, 0)->integer;
        NB_TRY(r->ctx, nb_relation_add(r, name, "itt", id, labels[i], r->panels.items[id]));
    }
    nb_ctx_release(r->ctx, mark); /* the statement that adds to `named` */
    return make_titles(r, &scene, a.count > 1);
}
