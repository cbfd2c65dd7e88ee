/* SPDX-License-Identifier: GPL-3.0-or-later */
/* contrast.c - see contrast.h
 *
 * 1. `agreed`: what the rows of a line (all trials of one row of the plan) agree in with others.
 * 2. `side`: the rows with these numbers; one that has trial 0 alone stands for all trials that others have.
 * 3. These are read once, in order. Each value's are joined with a baseline's, and their differences averaged by
 *    head. */
#include "report/contrast.h"

#include "base/text.h"
#include "components/registry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double real_at(sqlite3_stmt *s, int column)
{
    return sqlite3_column_type(s, column) == SQLITE_NULL ? NAN : sqlite3_column_double(s, column);
}

typedef struct { /* one row of `side` */
    int same, trial, setting, source, head, stratum;
    bool ok, skipped, draws, seen, exact, disturbed;
    double x, noise, se;
} side;

typedef struct {
    const side *a, *b;
} pair;

typedef struct {
    nb_relation *relation;
    const nb_contrast_terms *terms;
    const nb_column *columns;
    nb_contrasts *out;
    const char *settings[2], *same; /* lists of columns, for SQL; settings: each, pooled */
    int pooled;                     /* which of them is meant */
    const char **keys;              /* of a row's method, but `by` */
    bool builds;                    /* there are several */
    side *sides;                    /* by value, same and trial */
    int *first;                     /* of them, by value; then their number */
    int room;
    int pair_room;
    pair *pairs;
    int *unpaired, *unmet;
    nb_ctx *ctx;
} maker;

static const char *const setting_names[] = {"setting", "pooled"};

#define INPUT_SQL "(SELECT input FROM component WHERE kind = 'problem' AND id = run.problem_id)"

static nb_status check_columns(maker *m)
{
    const nb_column *by = nb_column_find(m->columns, m->terms->by);
    NB_REQUIRE(m->ctx, by && nb_is_of_method(by), NB_EINVAL,
               "rows cannot be compared by '%s': it is not part of a method", m->terms->by);
    const nb_column *pool = m->terms->pool ? nb_column_find(m->columns, m->terms->pool) : NULL;
    NB_REQUIRE(m->ctx, !m->terms->pool || (pool && nb_is_of_method(pool)), NB_EINVAL,
               "'%s' cannot be pooled: heads and trials are averaged by themselves", m->terms->pool);
    m->out->metric = nb_column_find(m->columns, m->terms->metric);
    NB_REQUIRE(m->ctx, m->out->metric && m->out->metric->type == NB_COLUMN_REAL, NB_EINVAL,
               "'%s' is not a measured column", m->terms->metric);
    return NB_OK;
}

/* Finds what a setting is, and what pairs of rows agree in beside the trial. */
static nb_status find_keys(maker *m)
{
    const nb_contrast_terms *t = m->terms;
    const char **settings;
    nb_grid several;
    int count = 0, key_count = 0, all = nb_column_count(m->columns) + 3;
    NB_NEED(settings, nb_alloc(m->ctx, (size_t)all, sizeof *settings));
    NB_NEED(m->keys, nb_alloc(m->ctx, (size_t)all, sizeof *m->keys));
    m->settings[0] = m->settings[1] = "";
    m->pooled = t->pool && !t->apart;
    m->same = "head_id";
    for (const nb_column *c = m->columns; c->name; c++) {
        if (!nb_is_of_method(c) || strcmp(c->name, t->by) == 0) continue;
        m->keys[key_count++] = c->name;
        if (nb_text_among(c->name, t->confounded)) continue;
        NB_TRY(m->ctx, nb_keys_add(&m->same, c, m->ctx));
        bool pool = t->pool && strcmp(c->name, t->pool) == 0;
        NB_TRY(m->ctx, nb_keys_add(&m->settings[0], c, m->ctx));
        if (!pool) NB_TRY(m->ctx, nb_keys_add(&m->settings[1], c, m->ctx));
        if (!pool || t->apart) settings[count++] = c->name;
    }
    NB_TRY(m->ctx,
           nb_relation_ask(m->relation, "SELECT 1 FROM component WHERE input IS NOT NULL LIMIT 1", &several, m->ctx));
    if (several.count > 0) {
        for (int i = 0; i < 2; i++)
            NB_NEED(m->settings[i], nb_format(m->ctx, "%s%s" INPUT_SQL, m->settings[i], *m->settings[i] ? ", " : ""));
        settings[count++] = NB_INPUT;
    }
    for (int i = 0; i < 2; i++)
        if (!*m->settings[i]) m->settings[i] = "1";
    m->out->setting_columns = settings;
    return NB_OK;
}

/* 1. and 2. */

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

/* Those rows of `from`, key or run, that are compared, with the number of the build of each. */
static nb_status rows_sql(const maker *m, const char *from, const char **sql)
{
    NB_NEED(*sql, nb_format(m->ctx, "SELECT one.*, %s AS build FROM %s%s AS one%s%s",
                            m->builds ? "coalesce(b.build, 0)" : "0", m->terms->where ? "chosen_rows CROSS JOIN " : "",
                            from, m->terms->where ? " ON one.id = chosen_rows.id" : "",
                            m->builds ? " JOIN main.results AS signed ON signed.rowid = one.id LEFT JOIN build AS b ON "
                                        "b.manifest = signed.manifest"
                                      : ""));
    return NB_OK;
}

/* The rows; what has trial 0 alone once more for each other trial of the same data. */
static nb_status sides_sql(const maker *m, const char **sql)
{
    const nb_column *metric = m->out->metric;
    const char *rows, *seen = "0", *exact = metric->exact ? metric->exact : "0";
    nb_disturbance disturbance = nb_disturbance_of(m->relation->study, metric);
    NB_TRY(m->ctx, rows_sql(m, "run", &rows));
    if (metric->unseen) NB_NEED(seen, nb_format(m->ctx, "coalesce(%s <> %s, 1)", metric->unseen, metric->name));
    NB_NEED(
        *sql,
        nb_format(m->ctx,
                  "DROP TABLE IF EXISTS temp.side; "
                  "CREATE TEMP TABLE side (value INTEGER, same INTEGER, trial INTEGER, id INTEGER, setting INTEGER,"
                  " pooled INTEGER, source_id INTEGER, head_id INTEGER, stratum_id INTEGER, draws INTEGER,"
                  " skipped INTEGER, seen INTEGER, exact INTEGER, disturbed INTEGER, alone INTEGER, x REAL, noise REAL,"
                  " se REAL,"
                  " PRIMARY KEY (value, same, trial, id)) WITHOUT ROWID; "
                  "INSERT INTO side SELECT value, same, trial, part.id, setting, pooled, source_id, head_id,"
                  " stratum_id, draws, status = 'skipped', %s, coalesce(%s, 0), coalesce(%s, 0), agreed.alone,"
                  " CASE WHEN status = 'ok' THEN %s END,"
                  " %s, %s FROM (%s) AS part CROSS JOIN agreed USING (line_id, build) ORDER BY 1, 2, 3, 4; "
                  "INSERT INTO side WITH odd AS MATERIALIZED (SELECT * FROM side WHERE alone),"
                  " later AS (SELECT same, trial, source_id FROM side WHERE EXISTS (SELECT 1 FROM odd) AND trial > 0"
                  "  AND same IN (SELECT same FROM odd) GROUP BY same, trial) "
                  "SELECT value, same, later.trial, id, setting, pooled, later.source_id, head_id, stratum_id, draws,"
                  " skipped, seen, exact, disturbed, alone, x, noise, se FROM odd JOIN later USING (same)",
                  seen, exact, disturbance.condition, metric->name, metric->noise ? metric->noise : "NULL",
                  metric->se ? metric->se : "NULL", rows));
    return NB_OK;
}

/* Both tables, once for all that compare the same rows. */
static nb_status make_sides(maker *m)
{
    const nb_column *by = nb_column_find(m->columns, m->terms->by);
    const char *keys, *value = "", *sides, *sql;
    if (m->terms->builds) NB_TRY(m->ctx, nb_builds_table(m->relation, m->out->metric->time, &m->builds, m->ctx));
    bool apart = m->builds && !nb_text_among(NB_BUILD, m->terms->confounded);
    m->builds = apart;
    if (m->terms->where) NB_TRY(m->ctx, nb_relation_choose(m->relation, "chosen_rows", m->terms->where, m->ctx));
    NB_TRY(m->ctx, rows_sql(m, "key", &keys));
    NB_TRY(m->ctx, nb_keys_add(&value, by, m->ctx));
    NB_TRY(m->ctx, sides_sql(m, &sides));
    NB_NEED(sql, nb_format(
                     m->ctx,
                     "CREATE TEMP TABLE agreed (line_id INTEGER, build INTEGER, first_id INTEGER, value INTEGER,"
                     " value_row INTEGER, setting INTEGER, setting_row INTEGER, pooled INTEGER, pooled_row INTEGER,"
                     " same INTEGER, alone INTEGER, PRIMARY KEY (line_id, build)) WITHOUT ROWID;"
                     "INSERT INTO agreed "
                     "WITH part AS (%s),"
                     " line AS (SELECT line_id, build, min(number) AS number, max(trial) AS most, id FROM part"
                     "  GROUP BY line_id, build),"
                     " numbered AS (SELECT line.line_id, line.id, build, most, line.number,"
                     "  min(line.number) OVER (PARTITION BY %s) AS value,"
                     "  min(line.number) OVER (PARTITION BY %s) AS setting,"
                     "  min(line.number) OVER (PARTITION BY %s) AS pooled,"
                     "  min(line.number) OVER (PARTITION BY %s, build) AS same FROM line JOIN run ON run.id = line.id) "
                     "SELECT line_id, build, id, dense_rank() OVER (ORDER BY value) - 1,"
                     " CASE WHEN number = value THEN id END, dense_rank() OVER (ORDER BY setting) - 1,"
                     " CASE WHEN number = setting THEN id END, dense_rank() OVER (ORDER BY pooled) - 1,"
                     " CASE WHEN number = pooled THEN id END, same, max(most) OVER (PARTITION BY same, value) = 0"
                     " FROM numbered; %s",
                     keys, value, m->settings[0], m->settings[1], m->same, sides));
    if (m->terms->where) NB_TRY(m->ctx, nb_relation_make(m->relation, "agreed", "SELECT 1", m->ctx));
    return nb_relation_make(m->relation, "agreed", sql, m->ctx);
}

/* Asks for the values in these columns, each with its label, of the first row of each value or setting. */
static nb_status ask_cells(const maker *m, const char *const *columns, const char *of, nb_grid *answer)
{
    const char *list = "", *sql;
    for (; *columns; columns++) {
        const nb_column *c = nb_column_find(m->columns, *columns);
        const char *value = INPUT_SQL, *label = "coalesce(" INPUT_SQL ", '-')";
        if (c) NB_NEED(value, nb_format(m->ctx, "run.%s", c->name));
        if (c) NB_TRY(m->ctx, nb_label_sql(c, &label, m->ctx));
        NB_NEED(list, nb_format(m->ctx, "%s%s, %s, ", list, value, label));
    }
    NB_NEED(sql, nb_format(m->ctx, "SELECT %sNULL FROM agreed CROSS JOIN run ON run.id = %s_row ORDER BY agreed.%s",
                           list, of, of));
    return nb_relation_ask(m->relation, sql, answer, m->ctx);
}

/* 3. */

/* Checks that a pair has a ratio where one is wanted. */
static nb_status check_scale(const maker *m, const pair *p)
{
    double least = fmin(p->a->x, p->b->x);
    NB_REQUIRE(m->ctx, !p->a->ok || !p->b->ok || m->terms->difference || least >= 0, NB_EINVAL,
               "%s has values below 0, such as %.3g: these have no ratio, only a difference", m->out->metric->name,
               least);
    return NB_OK;
}

/* Checks that a method has one row where one is wanted: with columns confounded it may have several. */
static nb_status check_single(const maker *m)
{
    const char *list = "";
    nb_grid several;
    for (const char *const *c = m->terms->confounded; c && *c; c++)
        NB_NEED(list, nb_format(m->ctx, "%s%s%s", list, *list ? ", " : "", *c));
    if (!*list) return NB_OK;
    NB_TRY(m->ctx,
           nb_relation_ask(m->relation, "SELECT 1 FROM side GROUP BY value, same, trial HAVING count(*) > 1 LIMIT 1",
                           &several, m->ctx));
    NB_REQUIRE(m->ctx, several.count == 0, NB_EINVAL,
               "a %s has several rows that differ only in what is named as confounded (%s): select one of them",
               m->terms->by, list);
    return NB_OK;
}

static nb_status read_sides(maker *m)
{
    enum {
        VALUE,
        SAME,
        TRIAL,
        SETTING,
        SOURCE,
        HEAD,
        STRATUM,
        OK,
        SKIPPED,
        DRAWS,
        SEEN,
        EXACT,
        DISTURBED,
        X,
        NOISE,
        SE
    };
    const char *sql;
    sqlite3_stmt *s;
    int count = 0, room = 0;
    NB_NEED(m->first, nb_alloc(m->ctx, (size_t)m->out->values.count + 1, sizeof *m->first));
    NB_NEED(sql, nb_format(m->ctx,
                           "SELECT value, same, trial, %s, source_id, head_id, stratum_id, x IS NOT NULL, skipped, "
                           "draws, seen, exact, disturbed, x, noise, se FROM side ORDER BY value, same, trial",
                           setting_names[m->pooled]));
    NB_TRY(m->ctx, nb_relation_prepare(m->relation, sql, NULL, &s, m->ctx));
    for (bool there;; count++) {
        NB_TRY(m->ctx, nb_relation_step(m->relation, s, &there));
        if (!there) return NB_OK;
        NB_GROW(m->ctx, m->sides, count, room);
        m->sides[count] = (side){.same = sqlite3_column_int(s, SAME),
                                 .trial = sqlite3_column_int(s, TRIAL),
                                 .setting = sqlite3_column_int(s, SETTING),
                                 .source = sqlite3_column_int(s, SOURCE),
                                 .head = sqlite3_column_int(s, HEAD),
                                 .stratum = sqlite3_column_int(s, STRATUM),
                                 .ok = sqlite3_column_int(s, OK),
                                 .skipped = sqlite3_column_int(s, SKIPPED),
                                 .draws = sqlite3_column_int(s, DRAWS),
                                 .seen = sqlite3_column_int(s, SEEN),
                                 .exact = sqlite3_column_int(s, EXACT),
                                 .disturbed = sqlite3_column_int(s, DISTURBED),
                                 .x = real_at(s, X),
                                 .noise = real_at(s, NOISE),
                                 .se = real_at(s, SE)};
        for (int v = sqlite3_column_int(s, VALUE) + 1; v <= m->out->values.count; v++) m->first[v] = count + 1;
    }
}

static int compare_sides(const side *a, const side *b)
{
    return a->same != b->same ? (a->same > b->same) - (a->same < b->same)
                              : (a->trial > b->trial) - (a->trial < b->trial);
}

static int compare_settings(const void *p, const void *q)
{
    int x = ((const pair *)p)->a->setting, y = ((const pair *)q)->a->setting;
    return (x > y) - (x < y);
}

/* The pairs of a value, by setting. */
static nb_status find_pairs(maker *m, int baseline, int value, int *count)
{
    const side *a = &m->sides[m->first[value]], *a_end = &m->sides[m->first[value + 1]];
    const side *b = &m->sides[m->first[baseline]], *b_end = &m->sides[m->first[baseline + 1]];
    m->unpaired[value] = (int)(a_end - a);
    m->unmet[value] = (int)(b_end - b);
    for (*count = 0; a < a_end && b < b_end;) {
        int order = compare_sides(a, b);
        if (order == 0) {
            NB_GROW(m->ctx, m->pairs, *count, m->pair_room);
            m->pairs[*count] = (pair){.a = a, .b = b};
            NB_TRY(m->ctx, check_scale(m, &m->pairs[(*count)++]));
        }
        a += order <= 0;
        b += order >= 0;
    }
    if (*count > 0) qsort(m->pairs, (size_t)*count, sizeof *m->pairs, compare_settings);
    m->unpaired[value] -= *count;
    m->unmet[value] -= *count;
    return NB_OK;
}

/* Unites pairs first ... end - 1, which are of one setting. */
static nb_status unite(const maker *m, nb_paired *out, int first, int end)
{
    const nb_pair_terms terms = {m->terms->difference, m->out->metric->more, m->terms->failures};
    nb_row_pair *pairs;
    NB_NEED(pairs, nb_alloc(m->ctx, (size_t)(end - first) + 1, sizeof *pairs));
    for (int i = first; i < end; i++) {
        const side *a = m->pairs[i].a, *b = m->pairs[i].b;
        pairs[i - first] = (nb_row_pair){.stratum = a->stratum,
                                         .source = a->source,
                                         .head = a->head,
                                         .trial = a->trial,
                                         .same = a->same,
                                         .x = a->x,
                                         .y = b->x,
                                         .noise_x = a->noise,
                                         .noise_y = b->noise,
                                         .se_x = a->se,
                                         .se_y = b->se,
                                         .skipped_x = a->skipped,
                                         .skipped_y = b->skipped,
                                         .exact_x = a->exact,
                                         .exact_y = b->exact,
                                         .disturbed = a->disturbed || b->disturbed,
                                         .shares = a->draws || b->draws};
    }
    return nb_pairs_unite(end - first, pairs, m->out->strata.count, &terms, out, m->ctx);
}

static bool one_has_seen(const maker *m, int first, int end)
{
    bool any = false;
    for (const pair *p = m->pairs + first; p < m->pairs + end; p++)
        any = any || (p->a->ok && p->b->ok && p->a->seen != p->b->seen);
    return any && !nb_text_among(NB_ROWS_SEEN, m->terms->confounded);
}

/* Pairs first ... end - 1 are its own. */
static nb_status add_contrast(maker *m, int baseline, int value, int setting, int first, int end, nb_contrast **added)
{
    NB_GROW(m->ctx, m->out->items, m->out->count, m->room);
    nb_contrast *c = *added = &m->out->items[m->out->count++];
    *c = (nb_contrast){.baseline = baseline, .value = value, .setting = setting};
    return unite(m, &c->of, first, end);
}

static nb_status add_contrasts(maker *m, int baseline, int value, int count)
{
    nb_contrast *c;
    for (int i = 0, next; i < count; i = next) {
        for (next = i; next < count && m->pairs[next].a->setting == m->pairs[i].a->setting; next++) continue;
        NB_TRY(m->ctx, add_contrast(m, baseline, value, m->pairs[i].a->setting, i, next, &c));
        if (!one_has_seen(m, i, next)) continue;
        c->of.unit_count = 0;
        NB_NEED(c->refusal,
                nb_format(m->ctx,
                          "the method or the baseline, but not both, has looked at rows of S that both are judged "
                          "on: compare %s, or add --confounded %s",
                          m->out->metric->unseen, NB_ROWS_SEEN));
    }
    return NB_OK;
}

/* Names in what a row of the value and a row of the baseline with the same data differ, for the pair that differs
 * least, and the options that allow it. NULL: the baseline has no such row. */
static nb_status find_difference(const maker *m, int baseline, int value, const char **names, const char **allow)
{
    const char *flags = "", *total = "0", *sql;
    nb_grid a;
    for (const char **c = m->keys; *c; c++) {
        NB_NEED(flags, nb_format(m->ctx, "%s, a.%s IS NOT b.%s AS %s", flags, *c, *c, *c));
        NB_NEED(total, nb_format(m->ctx, "%s + (a.%s IS NOT b.%s)", total, *c, *c));
    }
    if (m->builds) {
        NB_NEED(flags, nb_format(m->ctx, "%s, x.build <> y.build AS " NB_BUILD, flags));
        NB_NEED(total, nb_format(m->ctx, "%s + (x.build <> y.build)", total));
    }
    NB_NEED(
        sql,
        nb_format(m->ctx,
                  "SELECT %s AS total%s FROM agreed AS x CROSS JOIN run AS a ON a.id = x.value_row CROSS JOIN agreed "
                  "AS y ON y.value = %d CROSS JOIN run AS b ON b.id = y.first_id AND b.head_id = a.head_id "
                  "WHERE x.value = %d ORDER BY total, b.number LIMIT 1",
                  total, flags, baseline, value));
    NB_TRY(m->ctx, nb_relation_ask(m->relation, sql, &a, m->ctx));
    *names = a.count ? "" : NULL;
    *allow = "";
    for (int c = 1; c < a.columns && a.count; c++) {
        if (!nb_grid_at(&a, 0, c)->integer) continue;
        NB_NEED(*names, nb_format(m->ctx, "%s%s%s", *names, **names ? " and " : "", a.names[c]));
        NB_NEED(*allow, nb_format(m->ctx, "%s%s--confounded %s", *allow, **allow ? " " : "", a.names[c]));
    }
    return NB_OK;
}

/* Adds a refusal for a value that has no pair at all. */
static nb_status add_refusal(maker *m, int baseline, int value)
{
    const char *names, *allow;
    nb_grid setting;
    nb_contrast *c;
    NB_TRY(m->ctx, nb_relation_ask(m->relation,
                                   nb_format(m->ctx, "SELECT %s FROM agreed WHERE value = %d AND value_row IS NOT NULL",
                                             setting_names[m->pooled], value),
                                   &setting, m->ctx));
    NB_TRY(m->ctx, find_difference(m, baseline, value, &names, &allow));
    NB_TRY(m->ctx, add_contrast(m, baseline, value, (int)nb_grid_at(&setting, 0, 0)->integer, 0, 0, &c));
    if (names)
        NB_NEED(c->refusal, nb_format(m->ctx, "another %s than the baseline's; %s compares them anyway", names, allow));
    else
        NB_NEED(c->refusal, nb_strdup(m->ctx, "the baseline has no row on the same head"));
    return NB_OK;
}

static nb_status compare_with(maker *m, int baseline, int first)
{
    for (int v = first; v < m->out->values.count; v++) {
        int count;
        if (v == baseline) continue;
        NB_TRY(m->ctx, find_pairs(m, baseline, v, &count));
        NB_TRY(m->ctx, count > 0 ? add_contrasts(m, baseline, v, count) : add_refusal(m, baseline, v));
    }
    return NB_OK;
}

nb_status nb_contrasts_make(nb_relation *relation, const nb_contrast_terms *terms, nb_contrasts *out, nb_ctx *ctx)
{
    maker m = {.relation = relation, .terms = terms, .out = out, .ctx = ctx};
    m.columns = relation->study->columns;
    *out = (nb_contrasts){.count = 0};
    NB_TRY(ctx, check_columns(&m));
    NB_TRY(ctx, find_keys(&m));
    NB_TRY(ctx, make_sides(&m));
    NB_TRY(ctx, check_single(&m));
    NB_TRY(ctx, nb_relation_strata(relation, &out->strata, ctx));
    NB_TRY(ctx, ask_cells(&m, (const char *const[]){terms->by, NULL}, "value", &out->values));
    NB_TRY(ctx, ask_cells(&m, out->setting_columns, setting_names[m.pooled], &out->settings));
    NB_NEED(m.unpaired, nb_alloc(ctx, (size_t)out->values.count + 1, sizeof *m.unpaired));
    NB_NEED(m.unmet, nb_alloc(ctx, (size_t)out->values.count + 1, sizeof *m.unmet));
    out->unpaired = m.unpaired;
    out->unmet = m.unmet;
    if (terms->baseline < 0) return NB_OK;
    NB_TRY(ctx, read_sides(&m));
    if (!terms->all_pairs) return compare_with(&m, terms->baseline, 0);
    for (int b = 0; b < out->values.count; b++) NB_TRY(ctx, compare_with(&m, b, b + 1));
    return NB_OK;
}

const nb_cell *nb_setting_cell(const nb_contrasts *c, int setting, int column, int what)
{
    return nb_grid_at(&c->settings, setting, NB_OF_COLUMN * column + what);
}

const char *nb_value_label(const nb_contrasts *c, int value)
{
    return nb_grid_at(&c->values, value, NB_OF_LABEL)->text;
}
