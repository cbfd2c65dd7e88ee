/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claim_measure.c - see claim_measure.h. The rows of a claim become tables, of which the query is asked:
 *
 *  1. once of all rows: the values that the estimate is made of;
 *  2. once without each trial t. What the T trials have in common over sources is found of the pseudo-values
 *     T x - (T - 1) x_(-t): of what is linear in the trials, as a mean, trial t's own (Tukey's jackknife). */
#include "answers/claim_measure.h"

#include "base/text.h"
#include "rows/columns.h"
#include "rows/pairs.h"
#include "rows/statement.h"
#include "rows/views.h"
#include "rows/run_facts.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int stratum, source, head, group; /* head, group: 0 where the answer does not tell */
    double value;
} measured_value;

typedef struct {
    int count;
    measured_value *values; /* by source, head and group, each once */
    bool has_groups;
    int silent; /* values that are missing */
} measurement;

typedef struct {
    nb_relation *relation;
    const nb_claim *claim;
    nb_grid source_strata; /* by source */
    nb_head_places places;
    nb_claim_units *units;
    nb_ctx *ctx;
} measurer;

static bool in_series(const nb_claim *claim, const char *column)
{
    for (int s = 0; s < claim->series_count; s++)
        for (int i = 0; i < claim->series[s].where.count; i++)
            if (strcmp(claim->series[s].where.items[i].column, column) == 0) return true;
    return false;
}

static const nb_column *find_metric(const measurer *m, int series)
{
    return nb_column_find(m->relation->study->columns, m->claim->series[series].metric.text);
}

/* Lists what the rows of a group agree in. Over the values of a column, they are of one build too: *build, in SQL. */
static nb_status name_groups(const measurer *m, const char **build, const char ***keys)
{
    const nb_claim *c = m->claim;
    bool several = false, times = false; /* builds; calls of one */
    int count = 0;
    for (int s = 0; s < c->series_count; s++) times = times || find_metric(m, s)->time;
    if (c->column && !nb_text_among(NB_BUILD, (const char *const *)c->confounded))
        NB_TRY(m->ctx, nb_builds_table(m->relation, times, &several, m->ctx));
    *build = several ? nb_sql_text("claim_rows.build") : "";
    NB_NEED(*keys, nb_alloc(m->ctx, (size_t)nb_column_count(m->relation->study->columns) + 1, sizeof **keys));
    for (const nb_column *column = m->relation->study->columns; column->name; column++) {
        bool own = c->column && strcmp(column->name, c->column) == 0;
        if (nb_is_of_method(column) && !own && !in_series(c, column->name) &&
            !nb_text_among(column->name, (const char *const *)c->confounded))
            NB_TRY(m->ctx, nb_key_name(column, &(*keys)[count++], m->ctx));
    }
    return NB_OK;
}

/* Returns whether values that are rounding noise count: in a mean they do, their logarithms and ranks say nothing. */
static bool counts_noise(const nb_claim *c)
{
    return c->query == nb_claim_queries && c->statistic != NB_CLAIM_GEOMETRIC_MEAN;
}

/* *sql <- the columns of a metric among those of the claim's rows: those of this series, and which they are. Without a
 * metric (series_count 0) a row that has a result has 1. */
static nb_status make_series(const measurer *m, int s, const char **sql)
{
    static const char *const names[][5] = {{"rows_of_series1", "in1", "x1", "noise1", "disturbed1"},
                                           {"rows_of_series2", "in2", "x2", "noise2", "disturbed2"}};
    enum { ROWS, IN, X, NOISE, DISTURBED };
    const nb_claim *c = m->claim;
    if (s >= c->series_count)
        return nb_sql_fill(s == 0 ? "claim_rows.results" : "claim_rows.no_series", NULL, sql, m->ctx);
    const nb_column *metric = find_metric(m, s);
    const char *noise = metric->noise && !counts_noise(c) ? metric->noise : NB_SQL_NO_NAME;
    NB_TRY(m->ctx,
           nb_claim_choose(m->relation, NB_PART_ROWS, &c->series[s].where, names[s][ROWS], &m->units->why, m->ctx));
    if (m->units->why) return NB_OK;
    return nb_sql_fill(
        "claim_rows.series",
        NB_GIVEN(NB_GIVE_NAME("rows", names[s][ROWS]), NB_GIVE_NAME("noise", noise),
                 NB_GIVE_NAME("metric", metric->name),
                 NB_GIVE_PIECE("is_disturbed", nb_disturbance_of(m->relation->study, metric, m->ctx).condition),
                 NB_GIVE_NAME("in", names[s][IN]), NB_GIVE_NAME("x", names[s][X]),
                 NB_GIVE_NAME("is_noise", names[s][NOISE]), NB_GIVE_NAME("disturbed", names[s][DISTURBED])),
        sql, m->ctx);
}

/* Makes the tables of the claim's rows, unless there is a reason why there are none. */
static nb_status make_rows(const measurer *m)
{
    const char *series[2], *build, *at, **keys, *column = m->claim->column;
    NB_TRY(m->ctx, name_groups(m, &build, &keys));
    NB_TRY(m->ctx, nb_key_sql(column ? nb_column_find(m->relation->study->columns, column) : NULL, &at, m->ctx));
    for (int s = 0; s < 2 && !m->units->why; s++) NB_TRY(m->ctx, make_series(m, s, &series[s]));
    if (m->units->why) return NB_OK;
    return nb_sql_run(m->relation, "claim_rows.tables",
                      NB_GIVEN(NB_GIVE_PIECE("at", at), NB_GIVE_PIECE("build", build),
                               NB_GIVE_NAMES("group_keys", keys), NB_GIVE_PIECE("series1", series[0]),
                               NB_GIVE_PIECE("series2", series[1]), NB_GIVE_NAME("rows", NB_PART_ROWS)),
                      m->ctx);
}

/* Counts the rows that have a result, and says why values have no logarithms. */
static nb_status count_rows(const measurer *m)
{
    enum { FOUND, DISTURBED, NOISE, MISSING, BELOW };
    const nb_claim *c = m->claim;
    bool logs = c->statistic == NB_CLAIM_GEOMETRIC_MEAN || (c->query && c->query->logs);
    nb_grid a;
    NB_TRY(m->ctx, nb_sql_ask(m->relation, "claim_rows.counts", NULL, &a, m->ctx));
    m->units->found = (int)nb_grid_at(&a, 0, FOUND)->integer;
    m->units->disturbed = (int)nb_grid_at(&a, 0, DISTURBED)->integer;
    m->units->noise = (int)nb_grid_at(&a, 0, NOISE)->integer;
    m->units->missing = (int)nb_grid_at(&a, 0, MISSING)->integer;
    double below = nb_grid_at(&a, 0, BELOW)->real;
    if (logs && !isnan(below))
        NB_NEED(m->units->why, nb_format(m->ctx, "%s has values below 0, such as %.3g, which have no logarithm",
                                         c->series[0].metric.text, below));
    return NB_OK;
}

static int compare_places(const void *a, const void *b)
{
    const measured_value *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    if (x->head != y->head) return x->head < y->head ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

static int compare_values(const void *a, const void *b)
{
    const measured_value *x = a, *y = b;
    int places = compare_places(a, b);
    return places ? places : (x->value > y->value) - (x->value < y->value); /* the same mean in any order of rows */
}

/* Averages the values of one source, head and group. */
static void unite_values(measurement *of)
{
    int kept = 0;
    if (of->count > 0) qsort(of->values, (size_t)of->count, sizeof *of->values, compare_values);
    for (int i = 0, next; i < of->count; i = next) {
        measured_value mean = of->values[i];
        for (next = i + 1; next < of->count && compare_places(&of->values[next], &mean) == 0; next++)
            mean.value += of->values[next].value;
        mean.value /= next - i;
        of->values[kept++] = mean;
    }
    of->count = kept;
}

/* *number <- an id below `count`. */
static nb_status read_id(const measurer *m, const nb_grid *a, int row, int column, long long count, int *number)
{
    const nb_cell *cell = nb_grid_at(a, row, column);
    bool id = cell->type == NB_CELL_INT && cell->integer >= 0 && cell->integer < count;
    NB_REQUIRE(m->ctx, id, NB_EINVAL, "its query: %s: '%s' is no %s_id of the rows", a->names[column],
               cell->type == NB_CELL_NONE ? "NULL" : nb_cell_text(cell, m->ctx), a->names[column]);
    *number = (int)cell->integer;
    return NB_OK;
}

/* Reads the answer to the query; what is wrong with it is NB_EINVAL. */
static nb_status read_values(const measurer *m, const nb_grid *a, measurement *out)
{
    static const char *const names[] = {"stratum", "source", "value", "head", "group_id"};
    enum { STRATUM, SOURCE, VALUE, HEAD, GROUP, COLUMNS };
    int at[COLUMNS];
    for (int i = 0; i < COLUMNS; i++) {
        at[i] = nb_grid_column(a, names[i]);
        NB_REQUIRE(m->ctx, at[i] >= 0 || i > VALUE, NB_EINVAL,
                   "its query has no column '%s': it needs stratum, source and value", names[i]);
    }
    *out = (measurement){.has_groups = at[GROUP] >= 0};
    NB_NEED(out->values, nb_alloc(m->ctx, (size_t)a->count + 1, sizeof *out->values));
    for (int i = 0; i < a->count; i++) {
        const nb_cell *cell = nb_grid_at(a, i, at[VALUE]);
        measured_value v = {.value = cell->real};
        NB_REQUIRE(m->ctx, cell->type == NB_CELL_NONE || !isnan(cell->real), NB_EINVAL,
                   "its query: value: expected numbers, found '%s'", nb_cell_text(cell, m->ctx));
        NB_TRY(m->ctx, read_id(m, a, i, at[STRATUM], m->units->strata.count, &v.stratum));
        NB_TRY(m->ctx, read_id(m, a, i, at[SOURCE], m->source_strata.count, &v.source));
        if (at[HEAD] >= 0) NB_TRY(m->ctx, read_id(m, a, i, at[HEAD], m->places.heads.count, &v.head));
        if (at[GROUP] >= 0) NB_TRY(m->ctx, read_id(m, a, i, at[GROUP], INT_MAX, &v.group));
        NB_REQUIRE(m->ctx, nb_grid_at(&m->source_strata, v.source, 0)->integer == v.stratum, NB_EINVAL,
                   "its query: source %d is not of stratum %d", v.source, v.stratum);
        if (isnan(v.value))
            out->silent++;
        else
            out->values[out->count++] = v;
    }
    unite_values(out);
    return NB_OK;
}

/* Asks the query: one of the claim's own may only read. */
static nb_status ask_query(const measurer *m, measurement *out)
{
    static const char *const of_statistic[] = {"value", "value", "geometric_mean"};
    const nb_claim *c = m->claim;
    const char *name;
    nb_grid a;
    if (c->sql) {
        NB_TRY(m->ctx, nb_relation_ask_freely(m->relation, c->sql, &a, NULL, NULL, m->ctx));
        return read_values(m, &a, out);
    }
    NB_NEED(name, nb_format(m->ctx, "%.*s", (int)strcspn(c->query->name, "."), c->query->name));
    if (c->query == nb_claim_queries) name = of_statistic[c->statistic];
    NB_TRY(m->ctx, nb_relation_ask(m->relation, nb_sql_text(name), &a, m->ctx));
    return read_values(m, &a, out);
}

typedef struct {   /* in which trials there are rows of a group, or, where an answer has no groups, of a source */
    nb_grid pairs; /* group or source, trial: ascending */
    nb_crossed crossed;
    int count;           /* the largest number of one, and one more */
    bool *there, *asked; /* by trial: there are rows of it; it is one of several of a group */
} trials;

enum { OF, TRIAL };

static int pair_at(const trials *t, int row, int column)
{
    return (int)nb_grid_at(&t->pairs, row, column)->integer;
}

static nb_status find_trials(const measurer *m, bool has_groups, trials *t)
{
    NB_TRY(m->ctx, nb_sql_ask(m->relation, "claim_rows.trials", NB_GIVEN(NB_GIVE_INT("has_groups", has_groups)),
                              &t->pairs, m->ctx));
    t->count = 1;
    for (int i = 0; i < t->pairs.count; i++)
        if (pair_at(t, i, TRIAL) >= t->count) t->count = pair_at(t, i, TRIAL) + 1;
    NB_NEED(t->there, nb_alloc(m->ctx, (size_t)t->count, sizeof *t->there));
    NB_NEED(t->asked, nb_alloc(m->ctx, (size_t)t->count, sizeof *t->asked));
    t->there[0] = true;
    for (int i = 0; i < t->pairs.count; i++) t->there[pair_at(t, i, TRIAL)] = true;
    for (int i = 0; i < t->pairs.count; i++)
        if ((i > 0 && pair_at(t, i - 1, OF) == pair_at(t, i, OF)) ||
            (i + 1 < t->pairs.count && pair_at(t, i + 1, OF) == pair_at(t, i, OF)))
            t->asked[pair_at(t, i, TRIAL)] = true;
    return NB_OK;
}

/* Returns how many trials a value has; *with: whether `trial` is one of them. */
static int count_trials(const trials *t, int of, int trial, bool *with)
{
    int low = 0, high = t->pairs.count, count = 0;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (pair_at(t, middle, OF) < of)
            low = middle + 1;
        else
            high = middle;
    }
    *with = false;
    for (int i = low; i < t->pairs.count && pair_at(t, i, OF) == of; i++, count++)
        *with = *with || pair_at(t, i, TRIAL) == trial;
    return count;
}

/* Adds the pseudo-values of a trial, where there is a value without it too. */
static nb_status add_pseudo_values(const measurer *m, const measurement *whole, int trial, trials *t)
{
    measurement rest;
    NB_TRY(m->ctx, nb_sql_run(m->relation, "claim_rows.leave_out", NB_GIVEN(NB_GIVE_INT("trial", trial)), m->ctx));
    NB_TRY(m->ctx, ask_query(m, &rest));
    for (int i = 0; i < whole->count && rest.count > 0; i++) {
        const measured_value *v = &whole->values[i], *without;
        bool with;
        int count = count_trials(t, whole->has_groups ? v->group : v->source, trial, &with);
        if (!with || count < 2) continue;
        without = bsearch(v, rest.values, (size_t)rest.count, sizeof *v, compare_places);
        double value = without ? count * v->value - (count - 1) * without->value : NAN;
        if (isfinite(value))
            NB_TRY(m->ctx,
                   nb_crossed_add_value(&t->crossed, (nb_crossed_value){v->stratum, v->source, trial, value}, m->ctx));
    }
    return NB_OK;
}

/* Finds what the trials have in common over sources. */
static nb_status cross_trials(const measurer *m, const measurement *whole)
{
    nb_claim_units *u = m->units;
    trials t = {.asked = NULL};
    bool *draws, with;
    nb_grid drawn;
    NB_TRY(m->ctx, find_trials(m, whole->has_groups, &t));
    for (int i = 0; i < whole->count; i++) {
        const measured_value *v = &whole->values[i];
        for (int trial = 0; trial < t.count && isfinite(v->value); trial++) {
            int count = count_trials(&t, whole->has_groups ? v->group : v->source, trial, &with);
            if (count == 0 ? t.there[trial] : count == 1 && with)
                NB_TRY(m->ctx, nb_crossed_add_value(
                                   &t.crossed, (nb_crossed_value){v->stratum, v->source, trial, v->value}, m->ctx));
        }
    }
    for (int i = 0; i < t.count; i++)
        if (t.asked[i]) NB_TRY(m->ctx, add_pseudo_values(m, whole, i, &t));
    NB_NEED(draws, nb_alloc(m->ctx, (size_t)u->strata.count + 1, sizeof *draws));
    NB_TRY(m->ctx, nb_sql_ask(m->relation, "claim_rows.drawn", NULL, &drawn, m->ctx));
    for (int i = 0; i < drawn.count; i++) draws[nb_grid_at(&drawn, i, 0)->integer] = draws[u->strata.count] = true;
    return nb_claim_units_find_common(u, &t.crossed, draws, m->ctx);
}

/* Says why nothing is measured, though rows have results. */
static nb_status find_silence(const measurer *m)
{
    const nb_claim *c = m->claim;
    const char *silent = c->query ? c->query->silent : NULL;
    if (silent)
        NB_NEED(m->units->why, nb_format(m->ctx, "%s %s, where nothing else differs", silent, c->column));
    else
        m->units->why = "its query has no value";
    return NB_OK;
}

static nb_status measure(const measurer *m)
{
    nb_claim_units *u = m->units;
    measurement whole;
    nb_head_value *items;
    NB_TRY(m->ctx, make_rows(m));
    if (u->why) return NB_OK;
    NB_TRY(m->ctx, count_rows(m));
    NB_TRY(m->ctx, ask_query(m, &whole));
    NB_NEED(items, nb_alloc(m->ctx, (size_t)whole.count + 1, sizeof *items));
    for (int i = 0; i < whole.count; i++) {
        const measured_value *v = &whole.values[i];
        items[i] = (nb_head_value){{.stratum = v->stratum, .source = v->source, .value = v->value},
                                   nb_head_place(&m->places, v->head)};
    }
    if (whole.count == 0 && u->found > 0 && !u->why) NB_TRY(m->ctx, find_silence(m));
    if ((double)whole.silent * u->found >
        (double)u->missing * whole.count) { /* a larger share of values than of rows */
        u->missing = whole.silent;
        u->found = whole.count;
    }
    NB_TRY(m->ctx, nb_claim_units_average(whole.count, items, u, m->ctx));
    return cross_trials(m, &whole);
}

nb_status nb_claim_measure(nb_relation *relation, const nb_claim *claim, nb_claim_units *u, nb_ctx *ctx)
{
    measurer m = {.relation = relation, .claim = claim, .units = u, .ctx = ctx};
    *u = (nb_claim_units){.count = 0};
    NB_TRY(ctx, nb_relation_strata(relation, &u->strata, ctx));
    NB_TRY(ctx, nb_sql_ask(relation, "claim_rows.strata", NULL, &m.source_strata, ctx));
    NB_TRY(ctx, nb_head_places_find(relation, &m.places, ctx));
    return nb_claim_excuse(measure(&m), &u->why, ctx);
}
