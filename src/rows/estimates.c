/* SPDX-License-Identifier: GPL-3.0-or-later */
/* estimates.c - see estimates.h
 *
 * 1. The pairs are read in the order of their groups.
 * 2. Those of a group are united to units, and these to an estimate. Without a test it becomes a row.
 * 3. When all are known, so is how many are tested: these get their verdicts, and become rows. */
#include "rows/estimates.h"

#include "rows/made_tables.h"
#include "rows/run_facts.h"
#include "rows/statement.h"
#include "statistics/multiple.h"
#include "statistics/pairs.h"
#include "statistics/verdict.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* The columns of a pair. */
enum { X, Y, NOISE_X, NOISE_Y, SE_X, SE_Y, STRATUM, SOURCE, HEAD, TRIAL, DRAWS, OF_PAIR };

typedef struct {
    long long *group; /* the values that it is of */
    nb_estimate estimate;
    nb_evidence evidence;
} tested;

typedef struct {
    const nb_relation *relation;
    const char *unfinished; /* see nb_relation_unfinished */
    int columns;            /* those that say which group a pair is of */
    long long *group;       /* the values there, of the group at hand; LLONG_MIN: NULL */
    int count, pair_room;   /* its pairs */
    nb_row_pair *pairs;
    sqlite3_stmt *insert;
    int tested_count, tested_room;
    tested *tested;
    nb_ctx *ctx, *own; /* own: of a group */
} maker;

/* `first`: the column of x. */
static nb_row_pair read_pair(sqlite3_stmt *s, int first)
{
    return (nb_row_pair){.stratum = sqlite3_column_int(s, first + STRATUM),
                         .source = sqlite3_column_int(s, first + SOURCE),
                         .head = sqlite3_column_int(s, first + HEAD),
                         .trial = sqlite3_column_int(s, first + TRIAL),
                         .x = {nb_real_at(s, first + X), nb_real_at(s, first + NOISE_X), nb_real_at(s, first + SE_X)},
                         .y = {nb_real_at(s, first + Y), nb_real_at(s, first + NOISE_Y), nb_real_at(s, first + SE_Y)},
                         .shares = sqlite3_column_int(s, first + DRAWS)};
}

/* The end of an interval of a ratio; NaN where so few sources have none, or it is infinite. */
static double ratio_end(const nb_estimate *e, double end)
{
    return e->sources >= NB_LEAST_SOURCES && isfinite(end) ? exp(end) : NAN;
}

static nb_status add_row(const maker *m, const long long *group, const nb_estimate *e, int missing, nb_verdict verdict)
{
    const double reals[] = {exp(e->mean), ratio_end(e, e->low), ratio_end(e, e->high)};
    int at = 0;
    for (; at < m->columns; at++)
        if (group[at] == LLONG_MIN)
            sqlite3_bind_null(m->insert, at + 1);
        else
            sqlite3_bind_int64(m->insert, at + 1, group[at]);
    for (int i = 0; i < 3; i++) sqlite3_bind_double(m->insert, ++at, reals[i]);
    sqlite3_bind_int(m->insert, ++at, e->sources);
    sqlite3_bind_int(m->insert, ++at, e->units);
    sqlite3_bind_int(m->insert, ++at, missing);
    sqlite3_bind_text(m->insert, ++at, nb_verdict_names[verdict], -1, SQLITE_STATIC);
    return nb_relation_add(m->relation, m->insert, "");
}

/* Estimates the group at hand. What has no p has no verdict either. */
static nb_status end_group(maker *m)
{
    nb_paired paired;
    nb_estimate *e;
    int strata = 0;
    for (int i = 0; i < m->count; i++)
        if (m->pairs[i].stratum >= strata) strata = m->pairs[i].stratum + 1;
    NB_TRY(m->ctx, nb_pairs_unite(m->count, m->pairs, strata, &(nb_pair_terms){.difference = false}, &paired, m->own));
    NB_NEED(e, nb_alloc(m->own, (size_t)strata + 1, sizeof *e));
    const nb_estimate_terms terms = {.confidence = 0.95, .common = paired.common, .mean_alone = true};
    NB_TRY(m->ctx, nb_estimate_units(paired.unit_count, paired.units, strata, &terms, e, m->own));
    e += strata;
    const nb_pair_counts *counts = &paired.counts[strata];
    int missing = counts->missing + counts->missing_baseline;
    if (isnan(e->t_p))
        NB_TRY(m->ctx, add_row(m, m->group, e, missing, NB_NO_VERDICT));
    else {
        long long *group;
        const nb_evidence evidence = {.unfinished = m->unfinished,
                                      .counted = "pairs",
                                      .empty = "",
                                      .found = counts->pairs,
                                      .missing = missing,
                                      .sources = e->sources,
                                      .infinite = e->infinite,
                                      .ratios = true,
                                      .drawn_trials = nb_drawn_trials(strata + 1, paired.common, paired.shares),
                                      .has_interval = !isnan(e->low),
                                      .no_interval = ""};
        NB_GROW(m->ctx, m->tested, m->tested_count, m->tested_room);
        NB_NEED(group, nb_alloc(m->ctx, (size_t)m->columns, sizeof *group));
        memcpy(group, m->group, (size_t)m->columns * sizeof *group);
        m->tested[m->tested_count++] = (tested){group, *e, evidence};
    }
    m->count = 0;
    nb_ctx_release(m->own, 0);
    return NB_OK;
}

/* Begins a group with the row at hand, unless it is of the group at hand. */
static nb_status find_group(maker *m, sqlite3_stmt *s)
{
    bool same = m->count > 0;
    for (int i = 0; i < m->columns; i++) {
        bool known = sqlite3_column_type(s, i) != SQLITE_NULL;
        long long value = known ? sqlite3_column_int64(s, i) : LLONG_MIN;
        if (same && value != m->group[i]) {
            NB_TRY(m->ctx, end_group(m));
            same = false;
        }
        m->group[i] = value;
    }
    return NB_OK;
}

static nb_status read_pairs(maker *m, sqlite3_stmt *s)
{
    bool there;
    for (;;) {
        NB_TRY(m->ctx, nb_relation_step(m->relation, s, &there));
        if (!there) break;
        NB_TRY(m->ctx, find_group(m, s));
        NB_GROW(m->ctx, m->pairs, m->count, m->pair_room);
        m->pairs[m->count++] = read_pair(s, m->columns);
    }
    return m->count > 0 ? end_group(m) : NB_OK;
}

static nb_status judge(const maker *m)
{
    double confidence = nb_joint_confidence(0.95, m->tested_count);
    for (int i = 0; i < m->tested_count; i++) {
        const tested *t = &m->tested[i];
        nb_verdict verdict;
        const char *why;
        nb_interval joint = nb_estimate_interval(&t->estimate, confidence);
        NB_TRY(m->ctx, nb_judge(joint, log(NB_USUAL_MARGIN), &t->evidence, false, &verdict, &why, m->own));
        nb_ctx_release(m->own, 0);
        NB_TRY(m->ctx, add_row(m, t->group, &t->estimate, t->evidence.missing, verdict));
    }
    return NB_OK;
}

nb_status nb_estimates_make(const nb_relation *r, const char *view, nb_ctx *ctx)
{
    maker m = {.relation = r, .ctx = ctx};
    nb_grid columns;
    nb_string names = NB_NO_TEXT;
    const char **groups, *table;
    sqlite3_stmt *s;
    NB_TRY(ctx, nb_sql_ask(r, "estimates.columns", NB_GIVEN(NB_GIVE_VALUE("view", view)), &columns, ctx));
    m.columns = columns.count - OF_PAIR;
    NB_REQUIRE(ctx, m.columns > 0, NB_EBUG, "the view %s has no pairs in groups", view);
    NB_NEED(groups, nb_alloc(ctx, (size_t)m.columns + 1, sizeof *groups));
    NB_NEED(m.group, nb_alloc(ctx, (size_t)m.columns, sizeof *m.group));
    for (int i = 0; i < m.columns; i++) {
        groups[i] = nb_grid_at(&columns, i, 0)->text;
        NB_TRY(ctx, nb_append(&names, ctx, "%s INTEGER, ", groups[i]));
    }
    NB_TRY(ctx, nb_append(&names, ctx,
                          "ratio REAL, low REAL, high REAL, sources INTEGER, heads INTEGER, "
                          "missing INTEGER, verdict TEXT"));
    NB_NEED(table, nb_format(ctx, "%s_estimate", view));
    NB_NEED(m.own, nb_ctx_child(ctx));
    NB_TRY(ctx, nb_relation_table(r, table, names.text, &m.insert, ctx));
    NB_TRY(ctx, nb_sql_prepare(r, "estimates.pairs",
                               NB_GIVEN(NB_GIVE_NAME("view", view), NB_GIVE_NAMES("groups", groups)), &s, ctx));
    NB_TRY(ctx, nb_relation_unfinished(r, &m.unfinished, ctx));
    NB_TRY(ctx, nb_relation_run(r, "BEGIN"));
    NB_TRY(ctx, read_pairs(&m, s));
    sqlite3_reset(s);
    NB_TRY(ctx, judge(&m));
    return nb_relation_run(r, "COMMIT");
}
