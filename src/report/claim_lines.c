/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claim_lines.c - a line is the rows of one head and source that agree in all settings but the claim's own column, with
 * one point for each value of that, the mean over trials.
 *
 *     measure    a line of one point: its value
 *     slope      least squares of log metric on the log of the column
 *     correlate  Spearman's coefficient, Pearson's of the midranks
 *
 * What the T trials have in common over sources is found of the lines' pseudo-values, T x - (T - 1) x_(-t), where
 * x_(-t) is the line's value without trial t: of what is linear in the trials, as a mean, trial t's own (Tukey's
 * jackknife). */
#include "report/claim_units_private.h"

#include "base/text.h"
#include "report/contrast.h"
#include "report/where.h"

#include <math.h>
#include <string.h>

typedef struct {
    nb_relation *relation;
    const nb_claim *claim;
    const char *part; /* a condition: the rows that are meant */
    nb_crossed crossed;
    bool *draws; /* by stratum, then over all, whether any row that counts is drawn */
    int item_count;
    nb_head_value *items; /* by line */
    int silent;           /* lines that say nothing, and not because of rounding: missing beside those that do */
    nb_claim_units *units;
    nb_ctx *ctx;
} liner;

static bool in_series(const nb_claim *claim, const char *column)
{
    for (int s = 0; s < claim->series_count; s++)
        for (int i = 0; i < claim->series[s].where.count; i++)
            if (strcmp(claim->series[s].where.items[i].column, column) == 0) return true;
    return false;
}

/* Returns in SQL what the rows of a line agree in. */
static nb_status name_settings(const liner *l, const char **sql)
{
    const nb_claim *c = l->claim;
    const nb_column *columns = l->relation->study->columns;
    bool several = false; /* builds */
    if (c->form == NB_CLAIM_SLOPE)
        NB_TRY(l->ctx,
               nb_builds_table(l->relation, nb_column_find(columns, c->series[0].metric.text)->time, &several, l->ctx));
    *sql = several
               ? "head_id, source_id, (SELECT build FROM build JOIN main.results AS r USING (manifest) WHERE r.rowid "
                 "= run.id)"
               : "head_id, source_id";
    for (const nb_column *column = columns; column->name; column++) {
        bool own = c->column && strcmp(column->name, c->column) == 0;
        if (nb_is_of_method(column) && !own && !in_series(c, column->name) &&
            !nb_text_among(column->name, (const char *const *)c->confounded))
            NB_TRY(l->ctx, nb_keys_add(sql, column, l->ctx));
    }
    return NB_OK;
}

/* The rows of a series: of `columns`, and of `both`. Of a mean of values, 0 is as good a value as any; a
 * logarithm or a rank of rounding noise says nothing. */
static nb_status add_series(const liner *l, int s, const char **columns, const char **rows, const char **any)
{
    const nb_claim_series *series = &l->claim->series[s];
    const nb_column *metric = nb_column_find(l->relation->study->columns, series->metric.text);
    bool mean = l->claim->form == NB_CLAIM_MEASURE && l->claim->statistic != NB_CLAIM_GEOMETRIC_MEAN;
    nb_disturbance disturbance = nb_disturbance_of(l->relation->study, metric);
    const char *where;
    NB_TRY(l->ctx, nb_claim_rows(l->relation, l->part, &series->where, &where, &l->units->why, l->ctx));
    if (l->units->why) return NB_OK;
    NB_NEED(*columns,
            nb_format(l->ctx,
                      "%s, %s AS in%d, %s AS x%d, coalesce(%s <= %s, 0) AS noise%d, coalesce(%s, 0) AS disturbed%d",
                      *columns, where, s, metric->name, s, metric->name,
                      mean || !metric->noise ? "NULL" : metric->noise, s, disturbance.condition, s));
    NB_NEED(*rows, nb_format(l->ctx,
                             "%s%sSELECT *, %d AS series, x%d AS x, noise%d AS noise, disturbed%d AS disturbed FROM "
                             "both WHERE in%d",
                             *rows, s ? " UNION ALL " : "", s, s, s, s, s));
    NB_NEED(*any, nb_format(l->ctx, "%s%s%s", *any, s ? " OR " : "", where));
    return NB_OK;
}

/* A line's value of its points x, and y of the second series; NULL: it is too short, or level where it must not be.
 * Where a value is 0, and its logarithm infinite, the slope is infinite too, whatever its sign. */
static const char *value_sql(const nb_claim *c)
{
    if (c->form == NB_CLAIM_MEASURE) return "mean(x)";
    return c->form == NB_CLAIM_CORRELATE ? "CASE WHEN count(*) > 2 THEN center(spearman(x, y)) END"
                                         : "CASE WHEN min(at) < max(at) THEN CASE WHEN max(abs(x)) = 9e999 THEN 9e999 "
                                           "ELSE center(slope(ln(at), x)) END END";
}

enum { LINE, HEAD, STRATUM, SOURCE, DRAWS, FOUND, DISTURBED, NOISE, MISSING, BELOW, POINTS, TRIALS, TRIAL, VALUE };

/* Asks for each line's value over all trials (-1), and without each trial in which it is not alone. Makes the tables
 * `lined`, with a row for each series (line, at: the claim's column, later: whether its point has other trials, value),
 * and `left_out` (line, t). */
static nb_status ask(const liner *l, nb_grid *lines)
{
    const nb_claim *c = l->claim;
    const nb_column *columns = l->relation->study->columns;
    const char *settings, *series = "", *rows = "", *any = "", *own = "1", *sql;
    bool logs = c->form == NB_CLAIM_SLOPE || (c->form == NB_CLAIM_MEASURE && c->statistic == NB_CLAIM_GEOMETRIC_MEAN);
    NB_TRY(l->ctx, name_settings(l, &settings));
    if (c->column) NB_TRY(l->ctx, nb_key_sql(nb_column_find(columns, c->column), &own, l->ctx));
    for (int s = 0; s < c->series_count && !l->units->why; s++) NB_TRY(l->ctx, add_series(l, s, &series, &rows, &any));
    if (l->units->why) return NB_OK;
    NB_NEED(sql,
            nb_format(l->ctx,
                      "DROP TABLE IF EXISTS temp.lined; DROP TABLE IF EXISTS temp.left_out; "
                      "CREATE TEMP TABLE lined AS "
                      "WITH both AS MATERIALIZED (SELECT trial, head_id, stratum_id, source_id, draws, status = 'ok' "
                      "AS ok, %s AS at, CAST(min(number) OVER (PARTITION BY %s) AS INTEGER) AS line%s FROM run WHERE "
                      "%s) "
                      "SELECT *, CASE WHEN ok AND NOT noise THEN %s END AS value, max(trial) OVER (PARTITION BY line, "
                      "at, series) > 0 AS later FROM (%s); "
                      "CREATE INDEX lineds ON lined (line, at, trial, later, series, value); "
                      "CREATE TEMP TABLE left_out (line INTEGER, t INTEGER, PRIMARY KEY (line, t)) WITHOUT ROWID; "
                      "INSERT INTO left_out SELECT line, -1 FROM lined UNION SELECT line, trial FROM lined WHERE "
                      "later",
                      own, settings, series, any, logs ? "ln(x)" : "x", rows));
    NB_TRY(l->ctx, nb_relation_run(l->relation, sql));
    NB_NEED(
        sql,
        nb_format(l->ctx,
                  "WITH whole AS (SELECT line, min(head_id), min(stratum_id), min(source_id), max(draws), "
                  "count(value), count(CASE WHEN disturbed THEN value END), count(CASE WHEN value IS NULL AND noise "
                  "THEN 1 END), count(CASE WHEN value IS NULL AND NOT noise THEN 1 END), "
                  "min(CASE WHEN value IS NULL AND NOT noise AND x < 0 THEN x END) FROM lined GROUP BY line),"
                  " planned AS (SELECT line, count(*) AS points FROM (SELECT line FROM lined GROUP BY line, at "
                  "HAVING count(DISTINCT series) = %d) GROUP BY line),"
                  " point AS (SELECT o.line, t, at, mean(CASE WHEN series = 0 THEN value END) AS x, mean(CASE WHEN "
                  "series = 1 THEN value END) AS y FROM left_out AS o CROSS JOIN lined AS d ON d.line = o.line WHERE "
                  "NOT (later AND trial = t) GROUP BY o.line, t, at),"
                  " value AS (SELECT line, t, %s AS value FROM point WHERE x IS NOT NULL%s GROUP BY line, t) "
                  "SELECT whole.*, coalesce(points, 0), count(*) OVER (PARTITION BY line) - 1, t, value FROM whole "
                  "LEFT JOIN planned USING (line) JOIN left_out USING (line) LEFT JOIN value USING (line, t) "
                  "ORDER BY line, t",
                  c->series_count, value_sql(c), c->series_count > 1 ? " AND y IS NOT NULL" : ""));
    return nb_relation_ask(l->relation, sql, lines, l->ctx);
}

/* The line's pseudo-values, by trial. */
static nb_status cross(liner *l, const nb_grid *a, int first, int trials, nb_crossed_value whole)
{
    if (!isfinite(whole.value)) return NB_OK;
    if (trials == 0) return nb_crossed_add(&l->crossed, whole, l->ctx);
    for (int i = first + 1; i <= first + trials && trials > 1; i++) {
        nb_crossed_value one = whole;
        one.trial = (int)nb_grid_at(a, i, TRIAL)->integer;
        one.value = trials * whole.value - (trials - 1) * nb_grid_at(a, i, VALUE)->real;
        if (isfinite(one.value)) NB_TRY(l->ctx, nb_crossed_add(&l->crossed, one, l->ctx));
    }
    return NB_OK;
}

/* A line that has rows at fewer values than it takes was not planned: a strategy of another pairing than all others,
 * say, makes no line with them. */
static nb_status add_line(liner *l, const nb_grid *a, const nb_head_places *places, int first)
{
    nb_claim_units *u = l->units;
    int least = l->claim->form == NB_CLAIM_CORRELATE ? 3 : l->claim->form == NB_CLAIM_SLOPE ? 2 : 1, numbers[VALUE];
    double value = nb_grid_at(a, first, VALUE)->real, below = nb_grid_at(a, first, BELOW)->real;
    for (int i = 0; i < VALUE; i++) numbers[i] = (int)nb_grid_at(a, first, i)->integer;
    int stratum = numbers[STRATUM], source = numbers[SOURCE];
    if (!isnan(below) && !u->why)
        NB_NEED(u->why, nb_format(l->ctx, "%s has values below 0, such as %.3g, which have no logarithm",
                                  l->claim->series[0].metric.text, below));
    u->found += numbers[FOUND];
    u->disturbed += numbers[DISTURBED];
    u->noise += numbers[NOISE];
    u->missing += numbers[MISSING];
    if (numbers[DRAWS]) l->draws[stratum] = l->draws[u->strata.count] = true;
    l->silent += isnan(value) && numbers[NOISE] == 0 && numbers[POINTS] >= least;
    if (isnan(value)) return NB_OK;
    l->items[l->item_count++] =
        (nb_head_value){{.stratum = stratum, .source = source, .value = value}, nb_head_place(places, numbers[HEAD])};
    return cross(l, a, first, numbers[TRIALS], (nb_crossed_value){stratum, source, -1, value});
}

static nb_status add_lines(liner *l, const nb_grid *a)
{
    nb_head_places places;
    NB_TRY(l->ctx, nb_head_places_find(l->relation, &places, l->ctx));
    NB_NEED(l->items, nb_alloc(l->ctx, (size_t)a->count + 1, sizeof *l->items));
    NB_NEED(l->draws, nb_alloc(l->ctx, (size_t)l->units->strata.count + 1, sizeof *l->draws));
    NB_TRY(l->ctx, nb_crossed_draw(&l->crossed, 0, l->ctx));
    for (int i = 0; i < a->count; i++)
        if (nb_grid_at(a, i, TRIAL)->integer > 0)
            NB_TRY(l->ctx, nb_crossed_draw(&l->crossed, (int)nb_grid_at(a, i, TRIAL)->integer, l->ctx));
    for (int i = 0; i < a->count; i += 1 + (int)nb_grid_at(a, i, TRIALS)->integer)
        NB_TRY(l->ctx, add_line(l, a, &places, i));
    return NB_OK;
}

static nb_status tell_short(const liner *l)
{
    nb_claim_units *u = l->units;
    if (l->item_count > 0 || u->why || u->found == 0)
        return NB_OK; /* else no row has a result, which is told as such */
    if (l->claim->form == NB_CLAIM_SLOPE)
        NB_NEED(u->why, nb_format(l->ctx, "no head has results at two values of %s", l->claim->column));
    if (l->claim->form == NB_CLAIM_CORRELATE)
        NB_NEED(u->why, nb_format(l->ctx, "no head has both metrics at three values of %s, where nothing else differs",
                                  l->claim->column));
    return NB_OK;
}

nb_status nb_claim_lines(nb_relation *relation, const char *part, const nb_claim *claim, nb_claim_units *u, nb_ctx *ctx)
{
    liner l = {.relation = relation, .claim = claim, .part = part, .units = u, .ctx = ctx};
    nb_grid lines;
    NB_TRY(ctx, ask(&l, &lines));
    if (u->why) return NB_OK;
    NB_TRY(ctx, add_lines(&l, &lines));
    NB_TRY(ctx, tell_short(&l));
    if ((double)l.silent * u->found > (double)u->missing * l.item_count) { /* a larger share of lines than of rows */
        u->missing = l.silent;
        u->found = l.item_count;
    }
    NB_TRY(ctx, nb_claim_unite(l.item_count, l.items, u, ctx));
    return nb_claim_find_common(u, &l.crossed, l.draws, ctx);
}
