/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims_print.c - see claims_print.h */
#include "report/claims_print.h"

#include "report/labels.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

void nb_claims_tally(int runs, const nb_claim_results *results, int tally[NB_CLAIM_VERDICTS])
{
    memset(tally, 0, NB_CLAIM_VERDICTS * sizeof *tally);
    for (int r = 0; r < runs; r++)
        for (int i = 0; i < results[r].count; i++) tally[results[r].results[i].answer.verdict]++;
}

/* What is estimated, in a word. */
static const char *quantity(const nb_claim *c)
{
    switch (c->expectation) {
    case NB_EXPECT_DIFFERENCE:
    case NB_EXPECT_EQUAL_DIFFERENCE: return "difference";
    case NB_EXPECT_WINS: return "wins";
    case NB_EXPECT_VALUE:
        return c->statistic == NB_CLAIM_GEOMETRIC_MEAN ? "geometric mean" : nb_claim_statistics[c->statistic];
    case NB_EXPECT_SLOPE: return "slope";
    case NB_EXPECT_CORRELATION: return "correlation";
    default: return "ratio";
    }
}

static nb_status number_text(double x, const char **text, nb_ctx *ctx)
{
    if (isfinite(x))
        NB_NEED(*text, nb_format(ctx, "%.3g", x));
    else
        *text = isnan(x) ? "-" : x > 0 ? "infinite" : "-infinite";
    return NB_OK;
}

/* "0.7 [0.65, 0.75]" */
static nb_status found_text(const nb_claim_answer *a, const char **text, nb_ctx *ctx)
{
    const char *estimate, *low, *high;
    NB_TRY(ctx, number_text(a->estimate, &estimate, ctx));
    NB_TRY(ctx, number_text(a->low, &low, ctx));
    NB_TRY(ctx, number_text(a->high, &high, ctx));
    NB_NEED(*text, isnan(a->low) ? nb_strdup(ctx, estimate) : nb_format(ctx, "%s [%s, %s]", estimate, low, high));
    return NB_OK;
}

static nb_status expected_text(const nb_claim *c, const char **text, nb_ctx *ctx)
{
    if (c->form == NB_CLAIM_ORDER)
        *text = "below 1";
    else if (isinf(c->low))
        NB_NEED(*text, nb_format(ctx, "at most %.4g", c->high));
    else if (isinf(c->high))
        NB_NEED(*text, nb_format(ctx, "at least %.4g", c->low));
    else
        NB_NEED(*text, nb_format(ctx, "%.4g to %.4g", c->low, c->high));
    return NB_OK;
}

static nb_status units_text(const nb_claim_answer *a, const char **text, nb_ctx *ctx)
{
    NB_NEED(*text, nb_format(ctx, "%d source%s, %d head%s", a->sources, a->sources == 1 ? "" : "s", a->heads,
                             a->heads == 1 ? "" : "s"));
    return NB_OK;
}

/* What there is to say besides the numbers: "" for most. */
static nb_status note_text(const nb_claim_answer *a, const char **text, nb_ctx *ctx)
{
    *text = a->why ? a->why : "";
    if (isfinite(a->more))
        NB_NEED(*text, nb_format(ctx, "about %.0f more source%s would decide", a->more, a->more == 1 ? "" : "s"));
    return NB_OK;
}

/* The whole answer in one line, without the verdict. */
static nb_status answer_text(const nb_claim *c, const nb_claim_answer *a, const char **text, nb_ctx *ctx)
{
    const char *found, *expected, *units, *note;
    NB_TRY(ctx, found_text(a, &found, ctx));
    NB_TRY(ctx, expected_text(c, &expected, ctx));
    NB_TRY(ctx, units_text(a, &units, ctx));
    NB_TRY(ctx, note_text(a, &note, ctx));
    if (a->sources == 0)
        *text = note;
    else
        NB_NEED(*text, nb_format(ctx, "%s%s%s %s, expected %s; %s%s%s", a->name ? a->name : "", a->name ? ": " : "",
                                 quantity(c), found, expected, units, *note ? "; " : "", note));
    return NB_OK;
}

/* Of several parts, or several models: a line for each. */
static nb_status add_details(nb_page *page, const nb_claim_result *r, nb_ctx *ctx)
{
    const char *found, *units, *note;
    const nb_claim_answer *a = &r->answer;
    for (int i = 0; i < r->part_count; i++) {
        NB_TRY(ctx, found_text(&r->parts[i], &found, ctx));
        NB_TRY(ctx, units_text(&r->parts[i], &units, ctx));
        NB_TRY(ctx, note_text(&r->parts[i], &note, ctx));
        nb_page_item(page, "%s: %s, %s; %s%s%s", r->parts[i].name, nb_claim_verdicts[r->parts[i].verdict], found, units,
                     *note ? "; " : "", note);
    }
    for (int i = 0; i < a->model_count && a->model_count > 1 && r->part_count == 0; i++) {
        NB_TRY(ctx, found_text(&a->models[i], &found, ctx));
        NB_TRY(ctx, units_text(&a->models[i], &units, ctx));
        nb_page_item(page, "%s: %s; %s", a->models[i].label, found, units);
    }
    return NB_OK;
}

/* The answer; of several parts, what is expected of each. */
static nb_status add_claim(nb_page *page, const nb_claim_result *r, nb_ctx *ctx)
{
    const nb_claim *c = r->claim;
    const char *text;
    nb_page_heading(page, 4, "%-10s  %s: %s", nb_claim_verdicts[r->answer.verdict], c->id, c->says);
    if (*c->source) nb_page_note(page, NULL, "(%s)", c->source);
    if (r->part_count > 0) {
        NB_TRY(ctx, expected_text(c, &text, ctx));
        nb_page_note(page, NULL, "%s, expected %s in each of %d parts", quantity(c), text, r->part_count);
    } else {
        NB_TRY(ctx, answer_text(c, &r->answer, &text, ctx));
        nb_page_note(page, NULL, "%s", text);
    }
    return add_details(page, r, ctx);
}

/* "Claims: 3 reproduced, 1 void"; NULL: there are none. */
static nb_status tally_text(int runs, const nb_claim_results *results, const char **text, nb_ctx *ctx)
{
    int tally[NB_CLAIM_VERDICTS];
    *text = NULL;
    nb_claims_tally(runs, results, tally);
    for (int v = 0; v < NB_CLAIM_VERDICTS; v++)
        if (tally[v] > 0)
            NB_NEED(*text, nb_format(ctx, "%s%s%d %s", *text ? *text : "Claims: ", *text ? ", " : "", tally[v],
                                     nb_claim_verdicts[v]));
    return NB_OK;
}

nb_status nb_claims_show(nb_page *page, int runs, const nb_claim_results *results, nb_ctx *ctx)
{
    const char *tally;
    for (int r = 0; r < runs; r++) {
        if (runs > 1) nb_page_heading(page, 2, "%s", results[r].experiment);
        for (int i = 0; i < results[r].count; i++) NB_TRY(ctx, add_claim(page, &results[r].results[i], ctx));
    }
    NB_TRY(ctx, tally_text(runs, results, &tally, ctx));
    if (tally) nb_page_heading(page, 4, "%s", tally);
    return NB_OK;
}

nb_status nb_claims_show_lines(nb_page *page, int runs, const nb_claim_results *results, nb_ctx *ctx)
{
    const char *text;
    NB_TRY(ctx, tally_text(runs, results, &text, ctx));
    if (!text) return NB_OK;
    nb_page_heading(page, 2, "%s", text);
    nb_page_table(page);
    nb_page_headless(page);
    nb_page_column(page, NB_PAGE_WORD, "verdict");
    nb_page_column(page, NB_PAGE_LABEL, "claim");
    nb_page_column(page, NB_PAGE_PROSE, "found");
    for (int r = 0; r < runs; r++)
        for (int i = 0; i < results[r].count; i++) {
            const nb_claim_result *x = &results[r].results[i];
            NB_TRY(ctx, answer_text(x->claim, &x->answer, &text, ctx));
            nb_page_row(page);
            nb_page_cell(page, "%s", nb_claim_verdicts[x->answer.verdict]);
            nb_page_cell(page, "%s", x->claim->id);
            nb_page_cell(page, "%s", text);
        }
    return NB_OK;
}

static nb_status add_real(nb_grid *g, double x)
{
    return nb_grid_real(g, "%g", isfinite(x) ? x : NAN);
}

static nb_status add_row(nb_grid *g, const char *experiment, const char *of, const nb_claim *c,
                         const nb_claim_answer *a)
{
    bool model = *of == 'm', whole = *of == 'c', tested = a->verdict != NB_CLAIM_IS_UNTESTED;
    const char *const first[] = {
        experiment, c->id, of, a->name, model ? NULL : nb_claim_verdicts[a->verdict], tested ? quantity(c) : NULL};
    const char *const last[] = {a->why, whole ? c->says : NULL, whole ? c->source : NULL, whole ? c->text : NULL};
    const double values[] = {a->estimate, a->low, a->high, tested ? c->low : NAN, tested ? c->high : NAN};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) NB_TRY(g->ctx, nb_grid_text(g, first[i]));
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) NB_TRY(g->ctx, add_real(g, values[i]));
    NB_TRY(g->ctx, nb_grid_int(g, a->sources));
    NB_TRY(g->ctx, nb_grid_int(g, a->heads));
    NB_TRY(g->ctx, nb_grid_whole(g, a->more));
    for (size_t i = 0; i < sizeof last / sizeof *last; i++) NB_TRY(g->ctx, nb_grid_text(g, last[i]));
    return NB_OK;
}

static nb_status add_rows(nb_grid *g, const char *experiment, const nb_claim_result *x)
{
    NB_TRY(g->ctx, add_row(g, experiment, "claim", x->claim, &x->answer));
    for (int m = 0; m < x->answer.model_count; m++)
        NB_TRY(g->ctx, add_row(g, experiment, "model", x->claim, &x->answer.models[m]));
    for (int p = 0; p < x->part_count; p++) NB_TRY(g->ctx, add_row(g, experiment, "part", x->claim, &x->parts[p]));
    return NB_OK;
}

nb_status nb_claims_print_csv(FILE *out, int runs, const nb_claim_results *results, nb_ctx *ctx)
{
    static const char *const heads[] = {
        "experiment", "id",   "row",          "name",          "verdict", "quantity", "estimate",
        "low",        "high", "expected_low", "expected_high", "sources", "heads",    "more_sources",
        "why",        "says", "source",       "claim",         NULL};
    nb_grid grid;
    NB_TRY(ctx, nb_grid_make(&grid, heads, true, ctx));
    for (int r = 0; r < runs; r++)
        for (int i = 0; i < results[r].count; i++)
            NB_TRY(ctx, add_rows(&grid, results[r].experiment, &results[r].results[i]));
    nb_grid_print_csv(out, &grid);
    return NB_OK;
}

static json_t *json_number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *json_text(const char *text, nb_ctx *ctx)
{
    const char *clean = nb_clean(ctx, text, "\t\r\n");
    return !text || !*text ? json_null() : clean ? json_string(clean) : NULL;
}

/* 0, or -1: out of memory, as all functions that fill an object. */
static int set_numbers(json_t *o, const nb_claim_answer *a)
{
    int failed = json_object_set_new(o, "estimate", json_number(a->estimate));
    failed |= json_object_set_new(o, "low", json_number(a->low));
    failed |= json_object_set_new(o, "high", json_number(a->high));
    failed |= json_object_set_new(o, "sources", json_integer(a->sources));
    return failed | json_object_set_new(o, "heads", json_integer(a->heads));
}

static int set_verdict(json_t *o, const nb_claim_answer *a, nb_ctx *ctx)
{
    json_t *more = isfinite(a->more) ? json_integer((json_int_t)a->more) : json_null();
    int failed = json_object_set_new(o, "verdict", json_string(nb_claim_verdicts[a->verdict]));
    failed |= json_object_set_new(o, "more_sources", more);
    return failed | json_object_set_new(o, "why", json_text(a->why, ctx));
}

static int set_models(json_t *o, const nb_claim_answer *a, nb_ctx *ctx)
{
    json_t *list = json_array();
    int failed = json_object_set_new(o, "models", list);
    for (int i = 0; i < a->model_count && !failed; i++) {
        json_t *model = json_object();
        failed = json_array_append_new(list, model);
        if (!failed) failed = json_object_set_new(model, "model", json_text(a->models[i].name, ctx));
        if (!failed) failed = set_numbers(model, &a->models[i]);
    }
    return failed;
}

static int set_parts(json_t *o, const nb_claim_result *r, nb_ctx *ctx)
{
    json_t *list = json_array();
    int failed = json_object_set_new(o, "parts", list);
    for (int i = 0; i < r->part_count && !failed; i++) {
        json_t *part = json_object();
        failed = json_array_append_new(list, part);
        if (!failed) failed = json_object_set_new(part, "part", json_text(r->parts[i].name, ctx));
        if (!failed) failed = set_verdict(part, &r->parts[i], ctx) | set_numbers(part, &r->parts[i]);
        if (!failed) failed = set_models(part, &r->parts[i], ctx);
    }
    return failed;
}

static int set_claim(json_t *o, const char *experiment, const nb_claim_result *r, nb_ctx *ctx)
{
    const nb_claim *c = r->claim;
    bool tested = c->form != NB_CLAIM_UNTESTED;
    int failed = json_object_set_new(o, "experiment", json_text(experiment, ctx));
    failed |= json_object_set_new(o, "id", json_text(c->id, ctx));
    failed |= json_object_set_new(o, "says", json_text(c->says, ctx));
    failed |= json_object_set_new(o, "source", json_text(c->source, ctx));
    failed |= json_object_set_new(o, "form", json_string(nb_claim_forms[c->form]));
    failed |= set_verdict(o, &r->answer, ctx);
    failed |= json_object_set_new(o, "part", json_text(r->answer.name, ctx));
    failed |= json_object_set_new(o, "quantity", json_text(tested ? quantity(c) : NULL, ctx));
    failed |= set_numbers(o, &r->answer);
    failed |= json_object_set_new(o, "expected_low", json_number(tested ? c->low : NAN));
    failed |= json_object_set_new(o, "expected_high", json_number(tested ? c->high : NAN));
    failed |= json_object_set_new(o, "claim", json_text(c->text, ctx));
    return failed | set_models(o, &r->answer, ctx) | set_parts(o, r, ctx);
}

nb_status nb_claims_print_json(FILE *out, int runs, const nb_claim_results *results, nb_ctx *ctx)
{
    json_t *list = json_array();
    int failed = !list;
    for (int r = 0; r < runs; r++)
        for (int i = 0; i < results[r].count && !failed; i++) {
            json_t *object = json_object();
            failed = json_array_append_new(list, object);
            if (!failed) failed = set_claim(object, results[r].experiment, &results[r].results[i], ctx);
        }
    failed = failed || json_dumpf(list, out, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    json_decref(list);
    fputc('\n', out);
    NB_REQUIRE(ctx, !failed, NB_ENOMEM, "the claims cannot be written as JSON");
    return NB_OK;
}

/* "uniform: ratio 0.7 [0.65, 0.75]"; of several parts, each. */
static nb_status found_of_parts(const nb_claim_result *r, const char **text, nb_ctx *ctx)
{
    int count = r->part_count > 0 ? r->part_count : 1;
    *text = "";
    for (int i = 0; i < count; i++) {
        const nb_claim_answer *a = r->part_count > 0 ? &r->parts[i] : &r->answer;
        const char *found;
        NB_TRY(ctx, found_text(a, &found, ctx));
        NB_NEED(*text, nb_format(ctx, "%s%s%s%s%s %s", *text, i ? "; " : "", a->name ? a->name : "",
                                 a->name ? ": " : "", quantity(r->claim), found));
    }
    return NB_OK;
}

static nb_status add_tested(nb_page *page, const nb_claim_result *r, nb_ctx *ctx)
{
    const char *expected, *found, *units, *note, *name = r->answer.name;
    NB_TRY(ctx, expected_text(r->claim, &expected, ctx));
    NB_TRY(ctx, found_of_parts(r, &found, ctx));
    NB_TRY(ctx, units_text(&r->answer, &units, ctx));
    NB_TRY(ctx, note_text(&r->answer, &note, ctx));
    nb_page_row(page);
    nb_page_cell(page, "%s", r->claim->says);
    nb_page_cell(page, "%s", r->claim->source);
    nb_page_cell(page, "%s %s", quantity(r->claim), expected);
    nb_page_cell(page, "%s", found);
    nb_page_cell(page, "%s", units);
    nb_page_cell(page, "%s%s%s%s%s", nb_claim_verdicts[r->answer.verdict], *note ? ": " : "", *note && name ? name : "",
                 *note && name ? ": " : "", note);
    return NB_OK;
}

nb_status nb_claims_show_table(nb_page *page, int runs, const nb_claim_results *results, nb_ctx *ctx)
{
    static const char *const heads[] = {"claim", "said in", "expected", "found", "units", "verdict"};
    int tally[NB_CLAIM_VERDICTS];
    nb_page_table(page);
    for (int i = 0; i < 6; i++) nb_page_column(page, NB_PAGE_PROSE | (i ? 0 : NB_PAGE_LABEL), "%s", heads[i]);
    for (int r = 0; r < runs; r++)
        for (int i = 0; i < results[r].count; i++)
            if (!results[r].results[i].claim->untested) NB_TRY(ctx, add_tested(page, &results[r].results[i], ctx));
    nb_claims_tally(runs, results, tally);
    if (tally[NB_CLAIM_IS_UNTESTED] > 0) nb_page_paragraph(page, "Not tested:");
    for (int r = 0; r < runs; r++)
        for (int i = 0; i < results[r].count; i++) {
            const nb_claim *c = results[r].results[i].claim;
            if (c->untested)
                nb_page_item(page, "%s%s%s%s: %s", c->says, *c->source ? " (" : "", c->source, *c->source ? ")" : "",
                             c->untested);
        }
    return NB_OK;
}
