/* SPDX-License-Identifier: GPL-3.0-or-later */
/* caveats.c - see caveats.h */
#include "answers/caveats.h"

#include "base/builder.h"
#include "rows/columns.h"
#include "rows/made_tables.h"
#include "rows/statement.h"
#include "run/prediction.h"

#include <string.h>

/* A statement can ask a study for a measure that methods are compared by, and its noise; for what methods differ in;
 * and for a column of memory. */
enum { METRIC = 1, NOISE = 2, BY = 4, MEMORY = 8 };

static const struct {
    const char *statement;
    unsigned needs;
} statements[] = {
    {"caveats.unfinished", 0},         {"caveats.wrong", 0},      {"caveats.no_memory_left", 0},
    {"caveats.few_sources", 0},        {"caveats.few_trials", 0}, {"caveats.oracle_leads", METRIC | NOISE | BY},
    {"caveats.noise", METRIC | NOISE}, {"caveats.warnings", 0},   {"caveats.no_memory_told", MEMORY},
    {"caveats.memory_short", MEMORY},  {"caveats.machines", 0},   {"caveats.calls", 0}};

nb_status nb_caveats_add(nb_texts *found, const char *text)
{
    int number;
    return text ? nb_texts_number(found, text, &number) : NB_ENOMEM;
}

/* Lists what rows that compete agree in, but for their head: all but what is compared, and the trial. */
static nb_status list_others(const nb_study *study, const char *by, const char ***names, nb_ctx *ctx)
{
    int count = 0;
    NB_NEED(*names, nb_alloc(ctx, (size_t)nb_column_count(study->columns) + 1, sizeof **names));
    for (const nb_column *c = study->columns; c->name && by; c++)
        if (nb_is_of_method(c) && strcmp(c->name, by) != 0) NB_TRY(ctx, nb_key_name(c, &(*names)[count++], ctx));
    return NB_OK;
}

static nb_status find_in_rows(const nb_relation *r, const char *memory, nb_texts *found, nb_ctx *ctx)
{
    const nb_study *study = r->study;
    const nb_column *metric = nb_study_metric(study);
    const char *by = study->baseline < 0 || !metric ? NULL : study->axes[study->baseline].column;
    const char *name = metric ? metric->name : NULL, *noise = metric ? metric->noise : NULL, **others;
    unsigned there = (name ? METRIC : 0u) | (noise ? NOISE : 0u) | (by ? BY : 0u) | (memory ? MEMORY : 0u);
    NB_TRY(ctx, list_others(study, by, &others, ctx));
    const nb_sql_given *given =
        NB_GIVEN(NB_GIVE_VALUE("metric", name), NB_GIVE_VALUE("noise", noise), NB_GIVE_VALUE("by", by),
                 NB_GIVE_NAMES("others", others), NB_GIVE_NAME("memory", memory), NB_GIVE_VALUE("memory", memory),
                 NB_GIVE_VALUE("enomem", nb_status_name(NB_ENOMEM)), NB_GIVE_INT("exclusive", study->exclusive));
    for (size_t s = 0; s < sizeof statements / sizeof *statements; s++) {
        nb_grid a;
        if (statements[s].needs & ~there) continue;
        NB_TRY(ctx, nb_sql_ask(r, statements[s].statement, given, &a, ctx));
        for (int i = 0; i < a.count; i++) NB_TRY(ctx, nb_caveats_add(found, nb_grid_at(&a, i, 0)->text));
    }
    return NB_OK;
}

nb_status nb_caveats_find_trivial(nb_relation *r, const char *by, const nb_column *error, const char *mostly,
                                  const char **text, nb_ctx *ctx)
{
    const nb_axis *axis = nb_axis_of_column(r->study, by);
    const char *by_id;
    *text = NULL;
    if (!error->trivial || !axis || axis->type != NB_AXIS_COMPONENT) return NB_OK;
    NB_TRY(ctx, nb_key_name(nb_column_find(r->study->columns, by), &by_id, ctx));
    const nb_sql_given *columns = NB_GIVEN(NB_GIVE_NAME("by_id", by_id), NB_GIVE_NAME("error", error->name),
                                           NB_GIVE_NAME("trivial", error->trivial));
    nb_grid a;
    NB_TRY(ctx, nb_relation_make(r, "place", "head_conflict.places", NULL, ctx));
    NB_TRY(ctx, nb_relation_make(r, "beside_equal", "caveats.beside_equal", columns, ctx));
    NB_TRY(ctx, nb_sql_ask(r, "caveats.trivial",
                           NB_GIVEN(NB_GIVE_VALUE("trivial", error->trivial), NB_GIVE_VALUE("by", by),
                                    NB_GIVE_VALUE("mostly", mostly),
                                    NB_GIVE_VALUE("places", r->study->layers ? "layers" : "heads")),
                           &a, ctx));
    if (a.count > 0) *text = nb_grid_at(&a, 0, 0)->text;
    return NB_OK;
}

static nb_status add_trivial(nb_relation *r, nb_texts *found, nb_ctx *ctx)
{
    const nb_column *metric = nb_study_metric(r->study);
    const char *text;
    if (!metric || r->study->baseline < 0) return NB_OK;
    NB_TRY(ctx, nb_caveats_find_trivial(r, r->study->axes[r->study->baseline].column, metric, "Mostly", &text, ctx));
    return text ? nb_caveats_add(found, text) : NB_OK;
}

static nb_status find_prediction(nb_store *store, nb_texts *found, nb_ctx *ctx)
{
    static const double off = 2; /* a factor */
    nb_past_prediction past;
    NB_TRY(ctx, nb_prediction_past(store, &past, ctx));
    if (!past.known || (past.taken_s <= off * past.high_s && past.low_s <= off * past.taken_s)) return NB_OK;
    return nb_caveats_add(found, nb_format(ctx,
                                           "The prediction was off: the last call took %.3g s for its rows, predicted "
                                           "%.3g s to %.3g s; other programs may have disturbed what it timed.",
                                           past.taken_s, past.low_s, past.high_s));
}

/* *text <- "rows come from 2 builds: 3 of NAME, 4 of NAME"; NULL: they come from one. */
static nb_status tell_builds(nb_store *store, const char **text, nb_ctx *ctx)
{
    nb_signed *by;
    const char *name;
    nb_string list = NB_NO_TEXT;
    int count;
    bool shared, alike = false; /* two of the same build */
    *text = NULL;
    NB_TRY(ctx, nb_store_is_shared(store, &shared, ctx));
    if (!shared) return NB_OK;
    NB_TRY(ctx, nb_store_programs(store, &count, &by, ctx));
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < i; j++)
            alike = alike || strcmp(by[i].manifest.program.executable, by[j].manifest.program.executable) == 0;
        NB_TRY(ctx, nb_program_text(&by[i].manifest.program, &name, ctx));
        NB_TRY(ctx, nb_append_item(&list, ", ", ctx, "%d of %s", by[i].rows, name));
    }
    if (count > 1)
        NB_NEED(*text, nb_format(ctx, "rows come from %d %s: %s", count,
                                 alike ? "builds or kinds of arithmetic" : "builds", list.text));
    return NB_OK;
}

nb_status nb_builds_print(FILE *out, const char *prefix, const char *after, nb_store *store, nb_ctx *ctx)
{
    const char *text;
    NB_TRY(ctx, tell_builds(store, &text, ctx));
    if (text) fprintf(out, "%sthese %s%s\n", prefix, text, after);
    return NB_OK;
}

nb_status nb_caveats_find(nb_relation *r, nb_store *store, nb_texts *found, nb_ctx *ctx)
{
    const char *memory = NULL, *builds;
    nb_texts_init(found, ctx);
    for (const nb_column *c = r->study->columns; c->name; c++)
        if (c->memory) memory = c->name;
    NB_TRY(ctx, find_in_rows(r, memory, found, ctx));
    NB_TRY(ctx, add_trivial(r, found, ctx));
    NB_TRY(ctx, find_prediction(store, found, ctx));
    NB_TRY(ctx, tell_builds(store, &builds, ctx));
    return builds ? nb_caveats_add(found, nb_format(ctx, "The %s.", builds)) : NB_OK;
}
