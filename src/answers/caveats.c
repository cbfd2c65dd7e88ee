/* SPDX-License-Identifier: GPL-3.0-or-later */
/* caveats.c - see caveats.h */
#include "answers/caveats.h"

#include "base/builder.h"
#include "rows/columns.h"
#include "run/prediction.h"

#include <string.h>

typedef struct { /* {name} in a query; text NULL: the study has none */
    const char *name, *text;
} word;

nb_status nb_caveats_add(nb_texts *found, const char *text)
{
    int number;
    return text ? nb_texts_number(found, text, &number) : NB_ENOMEM;
}

/* Takes one statement from the front of *sql, with its words; NULL: the study lacks one. */
static nb_status next_statement(const char **sql, const word *words, const char **statement, nb_ctx *ctx)
{
    const char *end = strstr(*sql, ";\n");
    NB_NEED(*statement, nb_format(ctx, "%.*s", (int)(end ? end - *sql : (ptrdiff_t)strlen(*sql)), *sql));
    *sql = end ? end + 2 : *sql + strlen(*sql);
    for (const word *w = words; w->name && *statement; w++)
        if (w->text)
            NB_NEED(*statement, nb_replaced(ctx, *statement, w->name, w->text));
        else if (strstr(*statement, w->name))
            *statement = NULL;
    return NB_OK;
}

static nb_status find_in_rows(nb_relation *r, const char *sql, const char *memory, nb_texts *found, nb_ctx *ctx)
{
    const nb_study *study = r->study;
    const nb_column *metric = nb_study_metric(study);
    const char *by = study->baseline < 0 || !metric ? NULL : study->axes[study->baseline].column;
    const char *by_id = "'all'", *statement;
    const char *others = "head_id"; /* what rows that compete agree in: all but what is compared, and the trial */
    if (by) NB_NEED(by_id, nb_format(ctx, "%s_id", by));
    for (const nb_column *c = study->columns; c->name && by; c++)
        if (nb_is_of_method(c) && strcmp(c->name, by) != 0) NB_TRY(ctx, nb_keys_add(&others, c, ctx));
    const word words[] = {{"{metric}", metric ? metric->name : NULL},
                          {"{noise}", metric ? metric->noise : NULL},
                          {"{metric_or_null}", metric && metric->noise ? metric->name : "NULL"},
                          {"{noise_or_null}", metric && metric->noise ? metric->noise : "NULL"},
                          {"{trivial}", metric ? metric->trivial : NULL},
                          {"{by_id}", by_id},
                          {"{by}", by},
                          {"{others}", by ? others : NULL},
                          {"{memory}", memory},
                          {"{enomem}", nb_status_name(NB_ENOMEM)},
                          {"{exclusive}", study->exclusive ? "1" : "0"},
                          {NULL, NULL}};
    while (*sql) {
        nb_grid a;
        NB_TRY(ctx, next_statement(&sql, words, &statement, ctx));
        if (!statement) continue;
        NB_TRY(ctx, nb_relation_ask(r, statement, &a, ctx));
        for (int i = 0; i < a.count; i++) NB_TRY(ctx, nb_caveats_add(found, nb_grid_at(&a, i, 0)->text));
    }
    return NB_OK;
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
    NB_TRY(ctx, find_in_rows(r, nb_sql_text("caveats"), memory, found, ctx));
    NB_TRY(ctx, find_prediction(store, found, ctx));
    NB_TRY(ctx, tell_builds(store, &builds, ctx));
    return builds ? nb_caveats_add(found, nb_format(ctx, "The %s.", builds)) : NB_OK;
}
