/* SPDX-License-Identifier: GPL-3.0-or-later */
/* estimates.c - see estimates.h. estimate() unites its pairs to units, and these to an estimate; its value is the bytes
 * of what it has found, of which the other functions give parts. */
#include "rows/estimates.h"

#include "rows/function.h"
#include "rows/statement.h"
#include "statistics/multiple.h"
#include "statistics/pairs.h"
#include "statistics/verdict.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The columns of a pair. */
enum { X, Y, NOISE_X, NOISE_Y, SE_X, SE_Y, STRATUM, SOURCE, HEAD, TRIAL, DRAWS, OF_PAIR };

typedef struct { /* pairs of a group */
    int count, room;
    nb_row_pair *pairs;
    bool failed;
} gathered;

typedef struct { /* of a group */
    char kind[8];
    nb_estimate estimate;
    int pairs, missing, drawn_trials;
} estimated;

static const char estimated_kind[8] = "nb_esti1";

static nb_row_pair pair_of(sqlite3_value **v)
{
    return (nb_row_pair){.stratum = sqlite3_value_int(v[STRATUM]),
                         .source = sqlite3_value_int(v[SOURCE]),
                         .head = sqlite3_value_int(v[HEAD]),
                         .trial = sqlite3_value_int(v[TRIAL]),
                         .x = {nb_value_real(v[X]), nb_value_real(v[NOISE_X]), nb_value_real(v[SE_X])},
                         .y = {nb_value_real(v[Y]), nb_value_real(v[NOISE_Y]), nb_value_real(v[SE_Y])},
                         .shares = sqlite3_value_int(v[DRAWS])};
}

NB_FUNCTION(gather)
{
    gathered *g = sqlite3_aggregate_context(c, sizeof *g);
    if (!g || g->failed) return;
    if (g->count == g->room) {
        int room = g->room ? 2 * g->room : 16;
        nb_row_pair *pairs = realloc(g->pairs, (size_t)room * sizeof *pairs);
        g->failed = !pairs;
        if (!pairs) return;
        g->pairs = pairs;
        g->room = room;
    }
    g->pairs[g->count++] = pair_of(arguments);
}

static nb_status estimate(gathered *g, estimated *e, nb_ctx *ctx)
{
    nb_paired paired;
    nb_estimate *all;
    int strata = 0;
    for (int i = 0; i < g->count; i++)
        if (g->pairs[i].stratum >= strata) strata = g->pairs[i].stratum + 1;
    NB_TRY(ctx, nb_pairs_unite(g->count, g->pairs, strata, &(nb_pair_terms){.difference = false}, &paired, ctx));
    NB_NEED(all, nb_alloc(ctx, (size_t)strata + 1, sizeof *all));
    const nb_estimate_terms terms = {.confidence = 0.95, .common = paired.common, .mean_alone = true};
    NB_TRY(ctx, nb_estimate_units(paired.unit_count, paired.units, strata, &terms, all, ctx));
    const nb_pair_counts *counts = &paired.counts[strata];
    *e = (estimated){.estimate = all[strata],
                     .pairs = counts->pairs,
                     .missing = counts->missing + counts->missing_baseline,
                     .drawn_trials = nb_drawn_trials(strata + 1, paired.common, paired.shares)};
    memcpy(e->kind, estimated_kind, sizeof e->kind);
    return NB_OK;
}

static void end_gathered(sqlite3_context *c)
{
    gathered *g = sqlite3_aggregate_context(c, 0);
    if (!g) return;
    nb_ctx *ctx = g->failed ? NULL : nb_ctx_new();
    estimated e;
    if (!ctx)
        sqlite3_result_error_nomem(c);
    else if (estimate(g, &e, ctx) != NB_OK)
        sqlite3_result_error(c, nb_error_message(ctx), -1);
    else
        sqlite3_result_blob(c, &e, sizeof e, SQLITE_TRANSIENT);
    nb_ctx_free(ctx);
    free(g->pairs);
}

/* False, and the function fails, where it is none. */
static bool read_estimated(sqlite3_context *c, sqlite3_value *value, estimated *e)
{
    const void *bytes = sqlite3_value_blob(value);
    bool is_one = sqlite3_value_bytes(value) == sizeof *e && memcmp(bytes, estimated_kind, sizeof estimated_kind) == 0;
    if (is_one)
        memcpy(e, bytes, sizeof *e);
    else
        sqlite3_result_error(c, "expected an estimate, as estimate() makes", -1);
    return is_one;
}

static bool is_tested(const nb_estimate *e)
{
    return !isnan(e->t_p);
}

/* The end of an interval of a ratio; NaN where so few sources have none, or it is infinite. */
static double ratio_end(const nb_estimate *e, double end)
{
    return e->sources >= NB_LEAST_SOURCES && isfinite(end) ? exp(end) : NAN;
}

typedef struct { /* a function that gives a part of an estimate: a double, or an int */
    const char *name;
    double (*real)(const estimated *e);
    int (*integer)(const estimated *e);
} part;

static double ratio(const estimated *e)
{
    return exp(e->estimate.mean);
}

static double low(const estimated *e)
{
    return ratio_end(&e->estimate, e->estimate.low);
}

static double high(const estimated *e)
{
    return ratio_end(&e->estimate, e->estimate.high);
}

static int sources(const estimated *e)
{
    return e->estimate.sources;
}

static int heads(const estimated *e)
{
    return e->estimate.units;
}

static int missing(const estimated *e)
{
    return e->missing;
}

static int tested(const estimated *e)
{
    return is_tested(&e->estimate);
}

static const part parts[] = {{"estimate_ratio", .real = ratio},     {"estimate_low", .real = low},
                             {"estimate_high", .real = high},       {"estimate_sources", .integer = sources},
                             {"estimate_heads", .integer = heads},  {"estimate_missing", .integer = missing},
                             {"estimate_tested", .integer = tested}};

NB_FUNCTION(give_part)
{
    const part *p = sqlite3_user_data(c);
    estimated e;
    if (!read_estimated(c, arguments[0], &e)) return;
    if (p->integer)
        sqlite3_result_int(c, p->integer(&e));
    else
        sqlite3_result_double(c, p->real(&e)); /* NaN: NULL */
}

/* What has no p has no verdict either. */
static nb_status judge(const estimated *e, int tests, const char *unfinished, nb_verdict *verdict, nb_ctx *ctx)
{
    const char *why;
    const nb_evidence evidence = {.unfinished = unfinished,
                                  .counted = "pairs",
                                  .empty = "",
                                  .found = e->pairs,
                                  .missing = e->missing,
                                  .sources = e->estimate.sources,
                                  .infinite = e->estimate.infinite,
                                  .ratios = true,
                                  .drawn_trials = e->drawn_trials,
                                  .has_interval = !isnan(e->estimate.low),
                                  .no_interval = ""};
    *verdict = NB_NO_VERDICT;
    if (!is_tested(&e->estimate)) return NB_OK;
    nb_interval joint = nb_estimate_interval(&e->estimate, nb_joint_confidence(0.95, tests));
    return nb_judge(joint, log(NB_USUAL_MARGIN), &evidence, false, verdict, &why, ctx);
}

NB_FUNCTION(give_verdict)
{
    estimated e;
    nb_verdict verdict;
    if (!read_estimated(c, arguments[0], &e)) return;
    nb_ctx *ctx = nb_ctx_new();
    const char *unfinished = (const char *)sqlite3_value_text(arguments[2]);
    if (!ctx || judge(&e, sqlite3_value_int(arguments[1]), unfinished, &verdict, ctx) != NB_OK)
        sqlite3_result_error_nomem(c);
    else
        sqlite3_result_text(c, nb_verdict_names[verdict], -1, SQLITE_STATIC);
    nb_ctx_free(ctx);
}

NB_FUNCTION(give_untested)
{
    estimated e;
    const char *why = NULL;
    if (!read_estimated(c, arguments[0], &e)) return;
    nb_ctx *ctx = nb_ctx_new();
    const nb_evidence evidence = {.unfinished = (const char *)sqlite3_value_text(arguments[1]),
                                  .found = 1,
                                  .sources = NB_LEAST_SOURCES,
                                  .drawn_trials = e.drawn_trials,
                                  .has_interval = true};
    if (!ctx || nb_find_reason(&evidence, &why, ctx) != NB_OK)
        sqlite3_result_error_nomem(c);
    else if (why)
        sqlite3_result_text(c, why, -1, SQLITE_TRANSIENT);
    nb_ctx_free(ctx);
}

nb_status nb_estimate_functions_add(sqlite3 *db, nb_ctx *ctx)
{
    int added = sqlite3_create_function(db, "estimate", OF_PAIR, NB_FUNCTION_FLAGS, NULL, NULL, gather, end_gathered);
    if (added == SQLITE_OK)
        added = sqlite3_create_function(db, "estimate_verdict", 3, NB_FUNCTION_FLAGS, NULL, give_verdict, NULL, NULL);
    if (added == SQLITE_OK)
        added = sqlite3_create_function(db, "estimate_untested", 2, NB_FUNCTION_FLAGS, NULL, give_untested, NULL, NULL);
    for (const part *p = parts; added == SQLITE_OK && p < parts + sizeof parts / sizeof *parts; p++)
        added = sqlite3_create_function(db, p->name, 1, NB_FUNCTION_FLAGS, (void *)(uintptr_t)p, give_part, NULL, NULL);
    NB_REQUIRE(ctx, added == SQLITE_OK, NB_ENOMEM, "functions of estimates: %s", sqlite3_errmsg(db));
    return NB_OK;
}

nb_status nb_estimates_make(const nb_relation *r, const char *view, nb_ctx *ctx)
{
    nb_grid columns;
    const char **groups, *estimates;
    NB_TRY(ctx, nb_sql_ask(r, "estimates.columns", NB_GIVEN(NB_GIVE_VALUE("view", view)), &columns, ctx));
    NB_REQUIRE(ctx, columns.count > OF_PAIR, NB_EBUG, "the view %s has no pairs in groups", view);
    NB_NEED(groups, nb_alloc(ctx, (size_t)(columns.count - OF_PAIR) + 1, sizeof *groups));
    for (int i = 0; i < columns.count - OF_PAIR; i++) groups[i] = nb_grid_at(&columns, i, 0)->text;
    NB_NEED(estimates, nb_format(ctx, "%s_estimate", view));
    return nb_sql_run(r, "estimates.make",
                      NB_GIVEN(NB_GIVE_NAME("estimates", estimates), NB_GIVE_NAME("pairs", view),
                               NB_GIVE_NAMES("groups", groups), NB_GIVE_NAME("first", groups[0]),
                               NB_GIVE_NAMES("others", groups + 1)),
                      ctx);
}
