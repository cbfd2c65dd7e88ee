/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pairs.c - see pairs.h. What depends on the question is put together here: in which columns rows of a setting agree,
 * and whether their builds, and the rows of S that they have looked at, count. pairs.sql does the rest. */
#include "rows/pairs.h"

#include "base/builder.h"
#include "rows/columns.h"
#include "rows/keys.h"
#include "rows/made_tables.h"
#include "rows/statement.h"
#include "base/text.h"

#include <string.h>

typedef struct {
    nb_relation *relation;
    nb_pair_question *q;
    bool builds;                  /* there are several programs whose rows are no pairs */
    const char **scope, **pooled; /* in SQL, what rows of a scope agree in, and those of a setting besides; likewise */
    nb_ctx *ctx;
} maker;

nb_status nb_builds_table(nb_relation *r, bool sessions, bool *several, nb_ctx *ctx)
{
    nb_grid counted;
    NB_TRY(ctx, nb_relation_make(r, "build", sessions ? "pairs.calls" : "pairs.programs", NULL, ctx));
    NB_TRY(ctx, nb_sql_ask(r, "pairs.several_builds", NULL, &counted, ctx));
    *several = nb_grid_at(&counted, 0, 0)->integer;
    return NB_OK;
}

/* Adds what rows of a setting agree in, those of a scope too unless it is pooled. */
static void agree_in(maker *m, bool pooled, const char *name)
{
    const char **to = pooled || m->q->united ? m->pooled : m->scope;
    while (*to) to++;
    *to = name;
}

static bool is_confounded(const maker *m, const char *name)
{
    return nb_text_among(name, m->q->confounded) || nb_text_among(name, m->relation->confounded);
}

static nb_status find_keys(maker *m)
{
    const nb_column *columns = m->relation->study->columns;
    nb_pair_question *q = m->q;
    nb_grid several;
    const char *key;
    int count = 0;
    size_t all = (size_t)nb_column_count(columns) + 3;
    NB_NEED(q->setting, nb_alloc(m->ctx, all, sizeof *q->setting));
    NB_NEED(m->scope, nb_alloc(m->ctx, all, sizeof *m->scope));
    NB_NEED(m->pooled, nb_alloc(m->ctx, all, sizeof *m->pooled));
    for (const nb_column *c = columns; c->name; c++) {
        if (!nb_is_of_method(c) || c == q->by) continue;
        if (nb_text_among(c->name, q->confounded)) continue;
        q->setting[count++] = c->name;
        NB_TRY(m->ctx, nb_key_name(c, &key, m->ctx));
        agree_in(m, c == q->pool, key);
    }
    NB_TRY(m->ctx, nb_sql_ask(m->relation, "pairs.any_input", NULL, &several, m->ctx));
    if (several.count == 0) return NB_OK;
    q->setting[count++] = NB_INPUT;
    agree_in(m, false, "input_id");
    return NB_OK;
}

/* The rows of `from`, key or run, that the question is about, with the build of each. */
static nb_status rows_sql(const maker *m, const char *from, const char **sql)
{
    const nb_sql_given name = NB_GIVE_NAME("from", from), among = NB_GIVE_NAME("among", m->q->among);
    NB_TRY(m->ctx,
           nb_sql_fill(m->q->among ? "pairs.chosen_rows" : "pairs.all_rows", NB_GIVEN(name, among), sql, m->ctx));
    return nb_sql_fill(m->builds ? "pairs.rows_of_builds" : "pairs.rows", NB_GIVEN(name, NB_GIVE_PIECE("rows", *sql)),
                       sql, m->ctx);
}

static nb_status lines_sql(const maker *m, const char **sql)
{
    const char *keys;
    NB_TRY(m->ctx, rows_sql(m, "key", &keys));
    return nb_sql_fill(m->q->among || m->builds ? "pairs.lines" : "pairs.all_lines",
                       NB_GIVEN(NB_GIVE_PIECE("keys", keys)), sql, m->ctx);
}

/* Returns whether `key` has all that is asked of a row. */
static bool asks_key_alone(const maker *m, bool disturbed)
{
    const nb_study *study = m->relation->study;
    const nb_column *metric = m->q->metric;
    const char *const asked[] = {metric->name, metric->noise, metric->se, metric->unseen, metric->exact};
    bool alone = m->q->by->identity && !disturbed;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) { /* of columns, or an expression of them */
        const nb_column *column = asked[i] ? nb_column_find(study->columns, asked[i]) : NULL;
        alone = alone && (!asked[i] || (column && nb_is_in_key(study, column)));
    }
    return alone;
}

static nb_status views_sql(const maker *m, const char **sql)
{
    const nb_column *metric = m->q->metric;
    const char *lines, *rows, *value, *untimed = nb_sql_text("columns.never");
    const nb_disturbance disturbed = nb_disturbance_of(m->relation->study, metric, m->ctx);
    const nb_column *usual = metric->memory ? nb_study_metric(m->relation->study) : metric;
    bool looks = metric->unseen && !is_confounded(m, NB_ROWS_SEEN);
    const nb_sql_given *of_metric =
        NB_GIVEN(NB_GIVE_NAME("metric", metric->name), NB_GIVE_NAME("usual", usual ? usual->name : NULL));
    NB_TRY(m->ctx, lines_sql(m, &lines));
    NB_TRY(m->ctx, rows_sql(m, asks_key_alone(m, *disturbed.who) ? "key" : "run", &rows));
    NB_TRY(m->ctx, nb_key_sql(m->q->by, &value, m->ctx));
    if (metric->time && usual && usual->time) NB_TRY(m->ctx, nb_sql_fill("pairs.untimed", of_metric, &untimed, m->ctx));
    return nb_sql_fill(
        "pairs.views",
        NB_GIVEN(NB_GIVE_PIECE("lines", lines), NB_GIVE_PIECE("rows", rows), NB_GIVE_PIECE("value", value),
                 NB_GIVE_NAMES("scope", m->scope), NB_GIVE_NAMES("pooled", m->pooled), NB_GIVE_NAME("x", metric->name),
                 NB_GIVE_NAME("noise", metric->noise ? metric->noise : NB_SQL_NO_NAME),
                 NB_GIVE_NAME("se", metric->se ? metric->se : NB_SQL_NO_NAME),
                 NB_GIVE_NAME("unseen", looks ? metric->unseen : NB_SQL_NO_NAME), NB_GIVE_PIECE("untimed", untimed),
                 NB_GIVE_PIECE("exact", nb_exact_sql(metric)), NB_GIVE_PIECE("disturbed", disturbed.condition)),
        sql, m->ctx);
}

/* The name of a question among all rows says in what it is not the study's usual one. */
static nb_status name_question(const maker *m)
{
    nb_pair_question *q = m->q;
    const nb_study *study = m->relation->study;
    nb_string name = NB_NO_TEXT;
    q->name = "";
    if (q->among) return NB_OK;
    NB_TRY(m->ctx, nb_append(&name, m->ctx, "%s", q->by->name));
    if (q->metric != nb_study_metric(study)) NB_TRY(m->ctx, nb_append(&name, m->ctx, ", %s", q->metric->name));
    if (q->united)
        NB_TRY(m->ctx, nb_append(&name, m->ctx, ", over all"));
    else if (q->pool != nb_column_find(study->columns, "landmarks"))
        NB_TRY(m->ctx, nb_append(&name, m->ctx, ", over %s", q->pool->name));
    for (const char *const *c = q->confounded; c && *c; c++) NB_TRY(m->ctx, nb_append(&name, m->ctx, ", any %s", *c));
    q->name = name.text;
    return NB_OK;
}

nb_status nb_pairs_make(nb_relation *r, nb_pair_question *q, nb_ctx *ctx)
{
    maker m = {.relation = r, .q = q, .ctx = ctx};
    const char *sql;
    bool several = false;
    if (!q->pool) q->pool = nb_column_find(r->study->columns, "landmarks");
    if (!r->several) NB_TRY(ctx, nb_builds_table(r, q->metric->time, &several, ctx));
    m.builds = several && !is_confounded(&m, NB_BUILD);
    NB_TRY(ctx, find_keys(&m));
    NB_TRY(ctx, name_question(&m));
    NB_NEED(q->refused, nb_format(ctx, "refused_%s", q->name));
    NB_TRY(ctx, views_sql(&m, &sql));
    NB_NEED(r->question, nb_strdup(r->memory, q->name));
    if (!q->among && nb_relation_has(r, q->name, sql)) return NB_OK; /* a table of chosen rows has others each time */
    NB_TRY(ctx, nb_relation_note(r, q->name, NULL, ctx));
    NB_TRY(ctx, nb_relation_run_file(r, sql, ctx));
    NB_TRY(ctx, nb_sql_run(r, "pairs.tables", NULL, ctx));
    NB_TRY(ctx, nb_sql_run(r, "pairs.make", NULL, ctx));
    if (m.builds) NB_TRY(ctx, nb_sql_run(r, "pairs.make_of_builds", NULL, ctx));
    return nb_relation_note(r, q->name, sql, ctx);
}

nb_status nb_refused_make(nb_relation *r, const nb_pair_question *q, nb_ctx *ctx)
{
    nb_string differs = NB_NO_TEXT;
    const char **keys;
    int count = 0;
    NB_NEED(keys, nb_alloc(ctx, (size_t)nb_column_count(r->study->columns) + 1, sizeof *keys));
    for (const nb_column *c = r->study->columns; c->name; c++) {
        if (!nb_is_of_method(c) || c == q->by) continue;
        keys[count++] = c->name;
        NB_TRY(ctx, nb_sql_append(&differs, "pairs.differs",
                                  NB_GIVEN(NB_GIVE_NAME("name", c->name), NB_GIVE_TEXT("text", c->name)), ctx));
    }
    return nb_sql_run(r, "pairs.refused",
                      NB_GIVEN(NB_GIVE_NAME("refused", q->refused), NB_GIVE_TEXT("question", q->name),
                               NB_GIVE_PIECE("differs", differs.text), NB_GIVE_NAMES("keys", keys)),
                      ctx);
}

nb_status nb_pairs_need(nb_relation *r, const char *what, bool refused, nb_ctx *ctx)
{
    const nb_column *columns = r->study->columns;
    const char *by, *comma = strchr(what, ','), *other = comma ? comma + 1 : NULL;
    bool united = other && strcmp(other, "all") == 0;
    const char *const confounded[] = {united ? NULL : other, NULL};
    NB_NEED(by, nb_format(ctx, "%.*s", comma ? (int)(comma - what) : (int)strlen(what), what));
    nb_pair_question question = {.by = nb_column_find(columns, by),
                                 .metric = nb_study_metric(r->study),
                                 .united = united,
                                 .confounded = confounded};
    nb_grid values;
    NB_REQUIRE(ctx, question.by && question.metric && (!*confounded || nb_column_find(columns, other)), NB_EBUG,
               "the study %s has no pairs by '%s'", r->study->component.name, what);
    if (*confounded) NB_TRY(ctx, nb_relation_values(r, other, NULL, &values, ctx));
    if (*confounded && values.count < 2) return nb_sql_run(r, "pairs.tables", NULL, ctx);
    NB_TRY(ctx, nb_pairs_make(r, &question, ctx));
    return refused ? nb_refused_make(r, &question, ctx) : NB_OK;
}
