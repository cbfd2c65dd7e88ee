/* SPDX-License-Identifier: GPL-3.0-or-later */
/* estimates.c - see estimates.h. Pairs come in the order of their groups. Those of a group are united to units, and
 * these to an estimate. Verdicts hold together, and so are found when all groups are known. */
#include "rows/estimates.h"

#include "rows/made_tables.h"
#include "rows/run_facts.h"
#include "rows/statement.h"
#include "statistics/multiple.h"
#include "statistics/pairs.h"
#include "statistics/verdict.h"

#include <math.h>
#include <string.h>

/* The columns of a pair. */
enum { X, Y, NOISE_X, NOISE_Y, SE_X, SE_Y, STRATUM, SOURCE, HEAD, TRIAL, DRAWS, OF_PAIR };

enum { OF_ESTIMATE = 9 }; /* columns of a table of estimates, before those of the groups (estimates.sql) */

typedef struct { /* of a group */
    nb_estimate estimate;
    int pairs, missing, noise, drawn_trials;
} estimated;

typedef struct {
    const nb_relation *relation;
    sqlite3_stmt *insert;
    int columns;           /* that say which group a pair is of */
    sqlite3_value **group; /* their values; NULL: there is none yet */
    nb_row_pair *pairs;    /* of the group */
    int pair_count, pair_room;
    estimated *all;
    int count, room;
    nb_ctx *scratch, *ctx;
} maker;

static nb_row_pair pair_at(sqlite3_stmt *s, int first)
{
    return (nb_row_pair){.stratum = sqlite3_column_int(s, first + STRATUM),
                         .source = sqlite3_column_int(s, first + SOURCE),
                         .head = sqlite3_column_int(s, first + HEAD),
                         .trial = sqlite3_column_int(s, first + TRIAL),
                         .x = {nb_real_at(s, first + X), nb_real_at(s, first + NOISE_X), nb_real_at(s, first + SE_X)},
                         .y = {nb_real_at(s, first + Y), nb_real_at(s, first + NOISE_Y), nb_real_at(s, first + SE_Y)},
                         .shares = sqlite3_column_int(s, first + DRAWS)};
}

static bool has_value(sqlite3_stmt *s, int column, sqlite3_value *value)
{
    int type = sqlite3_column_type(s, column);
    if (type != sqlite3_value_type(value)) return false;
    if (type == SQLITE_NULL) return true;
    if (type == SQLITE_INTEGER) return sqlite3_column_int64(s, column) == sqlite3_value_int64(value);
    return strcmp((const char *)sqlite3_column_text(s, column), (const char *)sqlite3_value_text(value)) == 0;
}

/* Whether the row is of the group. */
static bool goes_on(const maker *m, sqlite3_stmt *s)
{
    for (int i = 0; i < m->columns; i++)
        if (!m->group[i] || !has_value(s, i, m->group[i])) return false;
    return true;
}

static void free_value(void *slot)
{
    sqlite3_value_free(*(sqlite3_value **)slot);
}

/* The row's group is the next. */
static nb_status begin_group(maker *m, sqlite3_stmt *s)
{
    for (int i = 0; i < m->columns; i++) {
        sqlite3_value_free(m->group[i]);
        NB_REQUIRE(m->ctx, m->group[i] = sqlite3_value_dup(sqlite3_column_value(s, i)), NB_ENOMEM, "out of memory");
    }
    m->pair_count = 0;
    return NB_OK;
}

static nb_status estimate(const maker *m, estimated *e)
{
    nb_ctx *ctx = m->scratch;
    nb_paired paired;
    nb_estimate *all;
    int strata = 0;
    for (int i = 0; i < m->pair_count; i++)
        if (m->pairs[i].stratum >= strata) strata = m->pairs[i].stratum + 1;
    NB_TRY(ctx, nb_pairs_unite(m->pair_count, m->pairs, strata, &(nb_pair_terms){.difference = false}, &paired, ctx));
    NB_NEED(all, nb_alloc(ctx, (size_t)strata + 1, sizeof *all));
    const nb_estimate_terms terms = {.confidence = 0.95, .common = paired.common, .mean_alone = true};
    NB_TRY(ctx, nb_estimate_units(paired.unit_count, paired.units, strata, &terms, all, ctx));
    const nb_pair_counts *counts = &paired.counts[strata];
    *e = (estimated){.estimate = all[strata],
                     .pairs = counts->pairs,
                     .missing = counts->missing + counts->missing_baseline,
                     .noise = counts->noise,
                     .drawn_trials = nb_drawn_trials(strata + 1, paired.common, paired.shares)};
    return NB_OK;
}

/* The end of an interval of a ratio; NaN where so few sources have none, or it is infinite. */
static double ratio_end(const nb_estimate *e, double end)
{
    return e->sources >= NB_LEAST_SOURCES && isfinite(end) ? exp(end) : NAN;
}

/* Adds the group with what is found of it, but for its verdict. */
static nb_status end_group(maker *m)
{
    if (m->pair_count == 0) return NB_OK;
    NB_GROW(m->ctx, m->all, m->count, m->room);
    estimated *e = &m->all[m->count++];
    NB_TRY(m->ctx, estimate(m, e));
    nb_ctx_release(m->scratch, 0);
    for (int i = 0; i < m->columns; i++) sqlite3_bind_value(m->insert, 1 + OF_ESTIMATE + i, m->group[i]);
    return nb_relation_add(m->relation, m->insert, "rrriii", exp(e->estimate.mean),
                           ratio_end(&e->estimate, e->estimate.low), ratio_end(&e->estimate, e->estimate.high),
                           e->estimate.sources, e->estimate.units, e->missing);
}

static nb_status read_pairs(maker *m, sqlite3_stmt *s)
{
    for (bool there;;) {
        NB_TRY(m->ctx, nb_relation_step(m->relation, s, &there));
        if (!there) return end_group(m);
        if (!goes_on(m, s)) {
            NB_TRY(m->ctx, end_group(m));
            NB_TRY(m->ctx, begin_group(m, s));
        }
        NB_GROW(m->ctx, m->pairs, m->pair_count, m->pair_room);
        m->pairs[m->pair_count++] = pair_at(s, m->columns);
    }
}

static bool is_tested(const estimated *e)
{
    return !isnan(e->estimate.t_p);
}

/* *why: the reason for which there is no verdict; NULL: there is one. */
static nb_status judge(const estimated *e, int tests, const char *unfinished, nb_verdict *verdict, const char **why,
                       nb_ctx *ctx)
{
    const nb_evidence evidence = {.unfinished = unfinished,
                                  .counted = "pairs",
                                  .empty = "no pair has a result",
                                  .found = e->pairs,
                                  .missing = e->missing,
                                  .sources = e->estimate.sources,
                                  .infinite = e->estimate.infinite,
                                  .ratios = true,
                                  .noise = e->noise,
                                  .drawn_trials = e->drawn_trials,
                                  .has_interval = !isnan(e->estimate.low),
                                  .no_interval = "a model has only one source"};
    nb_interval joint = nb_estimate_interval(&e->estimate, nb_joint_confidence(0.95, tests));
    return nb_judge(joint, log(NB_USUAL_MARGIN), &evidence, false, verdict, why, ctx);
}

/* Finds why another test of the same pairs says nothing, over whatever sources; NULL: it may say something. */
static nb_status find_untested(const estimated *e, const char *unfinished, const char **why, nb_ctx *ctx)
{
    const nb_evidence evidence = {.unfinished = unfinished,
                                  .found = 1,
                                  .sources = NB_LEAST_SOURCES,
                                  .drawn_trials = e->drawn_trials,
                                  .has_interval = true};
    return nb_find_reason(&evidence, why, ctx);
}

static nb_status judge_all(const maker *m, const nb_sql_given *given)
{
    sqlite3_stmt *update;
    const char *unfinished;
    int tests = 0;
    NB_TRY(m->ctx, nb_relation_unfinished(m->relation, &unfinished, m->ctx));
    NB_TRY(m->ctx, nb_sql_prepare(m->relation, "estimates.judge", given, &update, m->ctx));
    for (int i = 0; i < m->count; i++) tests += is_tested(&m->all[i]);
    for (int i = 0; i < m->count; i++) {
        nb_verdict verdict;
        const char *why, *untested;
        NB_TRY(m->ctx, judge(&m->all[i], tests, unfinished, &verdict, &why, m->scratch));
        NB_TRY(m->ctx, find_untested(&m->all[i], unfinished, &untested, m->scratch));
        NB_TRY(m->ctx, nb_relation_add(m->relation, update, "ttti", nb_verdict_names[verdict], why, untested, i + 1));
        nb_ctx_release(m->scratch, 0);
    }
    return NB_OK;
}

nb_status nb_estimates_make(const nb_relation *r, const char *view, nb_ctx *ctx)
{
    maker m = {.relation = r, .ctx = ctx};
    nb_grid columns;
    const char **groups, *estimates;
    sqlite3_stmt *pairs;
    NB_TRY(ctx, nb_sql_ask(r, "estimates.columns", NB_GIVEN(NB_GIVE_VALUE("view", view)), &columns, ctx));
    NB_REQUIRE(ctx, columns.count > OF_PAIR, NB_EBUG, "the view %s has no pairs in groups", view);
    m.columns = columns.count - OF_PAIR;
    NB_NEED(groups, nb_alloc(ctx, (size_t)m.columns + 1, sizeof *groups));
    for (int i = 0; i < m.columns; i++) groups[i] = nb_grid_at(&columns, i, 0)->text;
    NB_NEED(estimates, nb_format(ctx, "%s_estimate", view));
    const nb_sql_given *given =
        NB_GIVEN(NB_GIVE_NAME("estimates", estimates), NB_GIVE_NAME("pairs", view), NB_GIVE_NAMES("groups", groups),
                 NB_GIVE_NAME("first", groups[0]), NB_GIVE_NAMES("others", groups + 1));
    NB_TRY(ctx, nb_table_make(r, estimates, "estimates.table", given, &m.insert, ctx));
    NB_NEED(m.group, nb_alloc(ctx, (size_t)m.columns, sizeof *m.group));
    for (int i = 0; i < m.columns; i++) NB_TRY(ctx, nb_defer(ctx, free_value, &m.group[i]));
    NB_NEED(m.scratch, nb_ctx_child(ctx));
    NB_TRY(ctx, nb_sql_prepare(r, "estimates.pairs", given, &pairs, ctx));
    NB_TRY(ctx, read_pairs(&m, pairs));
    return judge_all(&m, given);
}
