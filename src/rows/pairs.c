/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pairs.c - see pairs.h. What SQL cannot be told by a parameter, the columns of a question, becomes the views
 * `question_row` and `question_line` here; all else is in pairs.sql. */
#include "rows/pairs.h"

#include "rows/columns.h"
#include "rows/keys.h"
#include "rows/made_tables.h"
#include "base/text.h"

#include <string.h>

typedef struct {
    nb_relation *relation;
    nb_pair_question *q;
    const char *scope, *pooled; /* what rows of a setting agree in: a text in SQL, and the value of what is pooled */
    nb_ctx *ctx;
} maker;

nb_status nb_builds_table(nb_relation *r, bool sessions, bool *several, nb_ctx *ctx)
{
    const char *sql;
    nb_grid counted;
    NB_NEED(sql, nb_format(ctx,
                           "CREATE TEMP TABLE build (manifest INTEGER PRIMARY KEY, build INTEGER); "
                           "INSERT INTO build SELECT id, dense_rank() OVER (ORDER BY first) - 1 FROM (SELECT id, %s AS "
                           "first FROM main.manifests)",
                           sessions ? "id"
                                    : "min(id) OVER (PARTITION BY executable, coalesce(json_extract(text, "
                                      "'$.arithmetic'), 'arithmetic unknown'))"));
    NB_TRY(ctx, nb_relation_make(r, "build", sql, ctx));
    NB_TRY(ctx, nb_relation_ask(r, "SELECT count(DISTINCT build) > 1 FROM build", &counted, ctx));
    *several = nb_grid_at(&counted, 0, 0)->integer;
    return NB_OK;
}

/* Adds a value to a text that is the same where all values are; a NULL is a value of its own. */
static nb_status add_key(const char **text, const char *value, nb_ctx *ctx)
{
    NB_NEED(*text, nb_format(ctx, "%s%squote(%s)", *text, **text ? " || ' ' || " : "", value));
    return NB_OK;
}

static nb_status find_keys(maker *m)
{
    const nb_column *columns = m->relation->study->columns;
    nb_pair_question *q = m->q;
    nb_grid several;
    int count = 0, key_count = 0, all = nb_column_count(columns) + 3;
    NB_NEED(q->setting, nb_alloc(m->ctx, (size_t)all, sizeof *q->setting));
    NB_NEED(q->keys, nb_alloc(m->ctx, (size_t)all, sizeof *q->keys));
    m->scope = "";
    m->pooled = "0";
    for (const nb_column *c = columns; c->name; c++) {
        const char *key;
        if (!nb_is_of_method(c) || c == q->by) continue;
        q->keys[key_count++] = c->name;
        if (nb_text_among(c->name, q->confounded)) continue;
        q->setting[count++] = c->name;
        NB_TRY(m->ctx, nb_key_sql(c, &key, m->ctx));
        if (c == q->pool)
            m->pooled = key;
        else
            NB_TRY(m->ctx, add_key(&m->scope, key, m->ctx));
    }
    NB_TRY(m->ctx,
           nb_relation_ask(m->relation, "SELECT 1 FROM component WHERE input IS NOT NULL LIMIT 1", &several, m->ctx));
    if (several.count > 0) {
        q->setting[count++] = NB_INPUT;
        NB_TRY(m->ctx, add_key(&m->scope, NB_INPUT_SQL("asked"), m->ctx));
    }
    if (!*m->scope) m->scope = "''";
    return NB_OK;
}

/* The rows of `from`, key or run, that the question is about, with the build of each, as a table `asked`. */
static nb_status rows_sql(const maker *m, const char *from, const char **sql)
{
    const char *chosen = from, *build = "0", *builds = "";
    if (m->q->where) NB_NEED(chosen, nb_format(m->ctx, "chosen_rows CROSS JOIN %s USING (id)", from));
    if (m->q->builds) {
        build = "coalesce(b.build, 0)";
        NB_NEED(builds, nb_format(m->ctx,
                                  " JOIN main.results AS signed ON signed.rowid = %s.id LEFT JOIN build AS b ON "
                                  "b.manifest = signed.manifest",
                                  from));
    }
    NB_NEED(*sql, nb_format(m->ctx, "(SELECT %s.*, %s AS build FROM %s%s) AS asked", from, build, chosen, builds));
    return NB_OK;
}

/* The lines that the question is about, each with its first row; those of all rows are in `key`. */
static nb_status lines_sql(const maker *m, const char **sql)
{
    const char *rows;
    *sql = "SELECT line_id, 0 AS build, number, alone, id FROM key WHERE opens";
    if (!m->q->where && !m->q->builds) return NB_OK;
    NB_TRY(m->ctx, rows_sql(m, "key", &rows));
    NB_NEED(*sql, nb_format(m->ctx,
                            "SELECT line_id, build, min(number) AS number, max(trial) = 0 AS alone, id FROM %s GROUP "
                            "BY line_id, build",
                            rows));
    return NB_OK;
}

/* Returns whether `key` has all that is asked of a row. */
static bool asks_key_alone(const maker *m, const char *disturbed)
{
    const nb_study *study = m->relation->study;
    const nb_column *metric = m->q->metric;
    const char *const asked[] = {metric->name, metric->noise, metric->se, metric->unseen, metric->exact};
    bool alone = m->q->by->identity && strcmp(disturbed, "0") == 0;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) { /* of columns, or an expression of them */
        const nb_column *column = asked[i] ? nb_column_find(study->columns, asked[i]) : NULL;
        alone = alone && (!asked[i] || (column && nb_is_in_key(study, column)));
    }
    return alone;
}

static nb_status views_sql(const maker *m, const char **sql)
{
    const nb_column *metric = m->q->metric;
    const char *lines, *rows, *value, *seen = "0", *untimed = "0",
                                      *disturbed = nb_disturbance_of(m->relation->study, metric, m->ctx).condition;
    NB_TRY(m->ctx, lines_sql(m, &lines));
    NB_TRY(m->ctx, rows_sql(m, asks_key_alone(m, disturbed) ? "key" : "run", &rows));
    NB_TRY(m->ctx, nb_key_sql(m->q->by, &value, m->ctx));
    if (metric->time && !metric->memory)
        NB_NEED(untimed, nb_format(m->ctx, "status = 'ok' AND %s IS NULL", metric->name));
    if (metric->unseen) NB_NEED(seen, nb_format(m->ctx, "coalesce(%s <> %s, 1)", metric->unseen, metric->name));
    NB_NEED(*sql,
            nb_format(m->ctx,
                      "DROP VIEW IF EXISTS temp.question_line; DROP VIEW IF EXISTS temp.question_row; "
                      "CREATE TEMP VIEW question_line AS %s; "
                      "CREATE TEMP VIEW question_row AS SELECT id, line_id, trial, status, stratum_id, source_id, "
                      "head_id, draws, build, %s AS value, %s AS scope, %s AS pooled, %s AS x, %s AS noise, %s AS se, "
                      "%s AS seen, %s AS untimed, coalesce(%s, 0) AS exact, coalesce(%s, 0) AS disturbed FROM %s",
                      lines, value, m->scope, m->pooled, metric->name, metric->noise ? metric->noise : "NULL",
                      metric->se ? metric->se : "NULL", seen, untimed, metric->exact ? metric->exact : "0", disturbed,
                      rows));
    return NB_OK;
}

/* The name of a question among all rows says in what it is not the study's usual one. */
static nb_status name_question(const maker *m)
{
    nb_pair_question *q = m->q;
    const nb_study *study = m->relation->study;
    if (q->where) {
        q->name = "";
        return NB_OK;
    }
    q->name = q->by->name;
    if (q->metric != nb_study_metric(study)) NB_NEED(q->name, nb_format(m->ctx, "%s, %s", q->name, q->metric->name));
    if (q->pool != nb_column_find(study->columns, "landmarks"))
        NB_NEED(q->name, nb_format(m->ctx, "%s, over %s", q->name, q->pool->name));
    for (const char *const *c = q->confounded; c && *c; c++)
        NB_NEED(q->name, nb_format(m->ctx, "%s, any %s", q->name, *c));
    return NB_OK;
}

nb_status nb_pairs_make(nb_relation *r, nb_pair_question *q, nb_ctx *ctx)
{
    maker m = {.relation = r, .q = q, .ctx = ctx};
    const char *sql;
    bool several = false;
    if (!q->pool) q->pool = nb_column_find(r->study->columns, "landmarks");
    if (!r->several) NB_TRY(ctx, nb_builds_table(r, q->metric->time, &several, ctx));
    q->builds = several && !nb_text_among(NB_BUILD, q->confounded);
    NB_TRY(ctx, find_keys(&m));
    NB_TRY(ctx, name_question(&m));
    NB_TRY(ctx, views_sql(&m, &sql));
    NB_NEED(r->question, nb_strdup(r->memory, q->name));
    if (!q->where && nb_relation_has(r, q->name, sql)) return NB_OK; /* conditions mean other rows with each table */
    NB_TRY(ctx, nb_relation_note(r, q->name, NULL, ctx));
    if (q->where) NB_TRY(ctx, nb_relation_choose(r, "chosen_rows", q->where, ctx));
    NB_TRY(ctx, nb_relation_run(r, sql));
    NB_TRY(ctx, nb_relation_run_file(r, nb_sql_text("pairs"), ctx));
    return nb_relation_note(r, q->name, sql, ctx);
}

nb_status nb_pairs_need(nb_relation *r, const char *what, nb_ctx *ctx)
{
    const char *by, *comma = strchr(what, ','), *confounded[] = {comma ? comma + 1 : NULL, NULL};
    NB_NEED(by, nb_format(ctx, "%.*s", comma ? (int)(comma - what) : (int)strlen(what), what));
    nb_pair_question question = {
        .by = nb_column_find(r->study->columns, by), .metric = nb_study_metric(r->study), .confounded = confounded};
    nb_grid values;
    NB_REQUIRE(ctx, question.by && question.metric && (!comma || nb_column_find(r->study->columns, comma + 1)), NB_EBUG,
               "the study %s has no pairs by '%s'", r->study->component.name, what);
    if (comma) NB_TRY(ctx, nb_relation_values(r, comma + 1, NULL, &values, ctx));
    return comma && values.count < 2 ? NB_OK : nb_pairs_make(r, &question, ctx);
}
