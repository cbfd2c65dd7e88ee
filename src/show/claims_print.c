/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims_print.c - see claims_print.h. The answers become one list of lines: one for each claim, then for each of its
 * models, then for each part and its models, each with its words. All forms are made of that list. */
#include "show/claims_print.h"

#include "base/builder.h"
#include "base/numerals.h"
#include "base/text.h"
#include "show/answer.h"
#include "show/csv.h"

#include <jansson.h>
#include <math.h>
#include <string.h>
#include <strings.h>

typedef enum { OF_CLAIM, OF_PART, OF_MODEL } line_kind;
static const char *const kinds[] = {"claim", "part", "model"};

typedef struct {
    line_kind kind;
    bool of_part; /* a model of a part */
    int run;
    const char *experiment;
    const nb_claim_result *result;
    const nb_claim *claim;
    const nb_claim_answer *answer;
    const char *quantity; /* what was measured; NULL: nothing, it is untested */
    double low, high;     /* what is expected; NaN: nothing */
    const char *found, *expected, *units, *note;
    const char *verdict; /* with the mark of times that were disturbed */
} claim_line;

typedef struct {
    int count, room, runs;
    claim_line *items;
    nb_ctx *ctx;
} claim_lines;

void nb_claims_tally(int runs, const nb_claim_results *results, int tally[NB_CLAIM_VERDICTS])
{
    memset(tally, 0, NB_CLAIM_VERDICTS * sizeof *tally);
    for (int r = 0; r < runs; r++)
        for (int i = 0; i < results[r].count; i++) tally[results[r].results[i].answer.verdict]++;
}

nb_status nb_claims_tell_tally(int runs, const nb_claim_results *results, const char **text, nb_ctx *ctx)
{
    int tally[NB_CLAIM_VERDICTS];
    nb_string all = NB_NO_TEXT;
    nb_claims_tally(runs, results, tally);
    for (int v = 0; v < NB_CLAIM_VERDICTS; v++)
        if (tally[v] > 0) NB_TRY(ctx, nb_append_item(&all, ", ", ctx, "%d %s", tally[v], nb_claim_verdicts[v]));
    *text = all.text;
    return NB_OK;
}

static const char *plural(double count)
{
    return count == 1 ? "" : "s";
}

static const char *name_quantity(const nb_claim *c)
{
    if (c->untested) return NULL;
    switch (c->expectation) {
    case NB_EXPECT_VALUE: return nb_claim_quantity(c);
    case NB_EXPECT_DIFFERENCE:
    case NB_EXPECT_EQUAL_DIFFERENCE: return "difference";
    case NB_EXPECT_WINS: return "wins";
    default: return "ratio";
    }
}

/* An end of the interval, told from the ends of what is expected. */
static nb_digits show_end(const nb_claim *c, double end)
{
    if (!isfinite(end)) return nb_numeral(end);
    return nb_bound("%.3g", end, c->order ? 1 : c->low, c->order ? NAN : c->high);
}

static const char *tell_found(const claim_line *l, nb_ctx *ctx)
{
    const nb_claim_answer *a = l->answer;
    if (isnan(a->low)) return nb_format(ctx, "%s", nb_numeral(a->estimate).text);
    return nb_format(ctx, "%s [%s, %s]", nb_numeral(a->estimate).text, show_end(l->claim, a->low).text,
                     show_end(l->claim, a->high).text);
}

static const char *tell_expected(const claim_line *l, nb_ctx *ctx)
{
    if (l->claim->order) return "below 1";
    if (!isfinite(l->low)) return nb_format(ctx, "at most %s", nb_shown("%.4g", l->high).text);
    if (!isfinite(l->high)) return nb_format(ctx, "at least %s", nb_shown("%.4g", l->low).text);
    return nb_format(ctx, "%s to %s", nb_shown("%.4g", l->low).text, nb_shown("%.4g", l->high).text);
}

/* Says of how many the answer is. */
static const char *tell_units(const claim_line *l, nb_ctx *ctx)
{
    const nb_claim_answer *a = l->answer;
    int parts = l->result->part_count > 1 ? l->result->part_count : 1;
    const char *together = "";
    if (a->family > parts) together = nb_format(ctx, "; one of %d that hold together", a->family);
    return together ? nb_format(ctx, "%d source%s, %d head%s%s", a->sources, plural(a->sources), a->heads,
                                plural(a->heads), together)
                    : NULL;
}

/* Says what there is to say besides; "": nothing. */
static nb_status tell_note(const claim_line *l, const char **text, nb_ctx *ctx)
{
    const nb_claim_answer *a = l->answer;
    nb_string note = NB_NO_TEXT;
    if (isfinite(a->more))
        NB_TRY(ctx, nb_append(&note, ctx, "about %.0f more source%s would decide", a->more, plural(a->more)));
    else if (a->why)
        NB_TRY(ctx, nb_append(&note, ctx, "%s", a->why));
    if (a->disturbed > 0)
        NB_TRY(ctx, nb_append_item(&note, "; ", ctx, "%s disturbed %d of %d %s (%s)", a->disturbance.who, a->disturbed,
                                   a->timed, l->claim->form == NB_CLAIM_COMPARE ? "pairs of times" : "times",
                                   a->disturbance.hint));
    *text = note.text;
    return NB_OK;
}

static nb_status add_line(claim_lines *lines, claim_line line, const nb_claim_answer *a)
{
    nb_ctx *ctx = lines->ctx;
    const nb_claim *c = line.claim;
    bool marked = a->disturbed > 0 && a->verdict != NB_CLAIM_IS_VOID;
    line.answer = a;
    line.quantity = name_quantity(c);
    line.low = c->untested ? NAN : c->low;
    line.high = c->untested ? NAN : c->high;
    NB_NEED(line.found, tell_found(&line, ctx));
    NB_NEED(line.expected, tell_expected(&line, ctx));
    NB_NEED(line.units, tell_units(&line, ctx));
    NB_TRY(ctx, tell_note(&line, &line.note, ctx));
    NB_NEED(line.verdict, nb_format(ctx, "%s%s", nb_claim_verdicts[a->verdict], marked ? " !" : ""));
    NB_GROW(ctx, lines->items, lines->count, lines->room);
    lines->items[lines->count++] = line;
    line.of_part = line.kind == OF_PART;
    line.kind = OF_MODEL;
    for (int m = 0; m < a->model_count; m++) NB_TRY(ctx, add_line(lines, line, &a->models[m]));
    return NB_OK;
}

static nb_status find_lines(int runs, const nb_claim_results *results, claim_lines *lines, nb_ctx *ctx)
{
    *lines = (claim_lines){.runs = runs, .ctx = ctx};
    for (int r = 0; r < runs; r++)
        for (int i = 0; i < results[r].count; i++) {
            const nb_claim_result *of = &results[r].results[i];
            claim_line line = {.run = r, .experiment = results[r].experiment, .result = of, .claim = of->claim};
            NB_TRY(ctx, add_line(lines, line, &of->answer));
            line.kind = OF_PART;
            for (int p = 0; p < of->part_count; p++) NB_TRY(ctx, add_line(lines, line, &of->parts[p]));
        }
    return NB_OK;
}

/* What stands before a text that is of something with a name. */
static const char *lead(const char *name, nb_ctx *ctx)
{
    return name ? nb_format(ctx, "%s: ", name) : "";
}

/* "; " and the text, unless there is none. */
static const char *more(const char *text, nb_ctx *ctx)
{
    return *text ? nb_format(ctx, "; %s", text) : "";
}

/* Says all of an answer in one line. */
static const char *tell_all(const claim_line *l, nb_ctx *ctx)
{
    const char *name = lead(l->answer->name, ctx), *note = more(l->note, ctx);
    if (l->answer->sources == 0) return l->note;
    return name && note
               ? nb_format(ctx, "%s%s %s, expected %s; %s%s", name, l->quantity, l->found, l->expected, l->units, note)
               : NULL;
}

/* The list of lines as parts of a page: a claim with its models or parts. */

static nb_status show_claim(nb_page *page, const claim_line *l, nb_ctx *ctx)
{
    const char *text = tell_all(l, ctx);
    if (l->result->part_count > 0)
        text = nb_format(ctx, "%s, expected %s in each of %d parts", l->quantity, l->expected, l->result->part_count);
    if (text && isfinite(l->answer->slack))
        text = nb_format(ctx, "%s; slack %s", text, nb_numeral(l->answer->slack).text);
    if (!text) return NB_ENOMEM;
    nb_page_heading(page, 4, "%-10s  %s: %s", l->verdict, l->claim->id, l->claim->says);
    if (*l->claim->source) nb_page_note(page, NULL, "(%s)", l->claim->source);
    nb_page_note(page, NULL, "%s", text);
    return NB_OK;
}

static nb_status show_parts(nb_page *page, const claim_lines *lines)
{
    for (int i = 0; i < lines->count; i++) {
        const claim_line *l = &lines->items[i];
        const char *note;
        if (lines->runs > 1 && (i == 0 || l->run != lines->items[i - 1].run) && l->experiment)
            nb_page_heading(page, 2, "%s", l->experiment);
        if (l->kind == OF_CLAIM) NB_TRY(lines->ctx, show_claim(page, l, lines->ctx));
        NB_NEED(note, more(l->note, lines->ctx));
        if (l->kind == OF_PART)
            nb_page_item(page, "%s: %s, %s; %s%s", l->answer->name, l->verdict, l->found, l->units, note);
        if (l->kind == OF_MODEL && l->result->part_count == 0 && l->result->answer.model_count > 1)
            nb_page_item(page, "%s: %s; %s", l->answer->label, l->found, l->units);
    }
    return NB_OK;
}

/* Returns what a claim is called: one without a name by what it says, or the beginning of that. */
static const char *call_claim(const nb_claim *c, nb_ctx *ctx)
{
    enum { LONGEST = 60, SHORT = 45 };
    size_t bytes = 0;
    if (strncasecmp(c->id, "claim-", strlen("claim-")) != 0) return c->id;
    if (nb_text_characters(c->says, strlen(c->says)) <= LONGEST) return c->says;
    for (int i = 0; i < SHORT; i++) bytes += nb_text_character(c->says + bytes);
    return nb_format(ctx, "%s: %.*s...", c->id, (int)bytes, c->says);
}

static nb_status show_lines(nb_page *page, const claim_lines *lines)
{
    static const nb_comment comments[] = {{"headless", "a line for each claim"}, {"labels", "1"}, {NULL, NULL}};
    nb_grid grid;
    nb_grid_begin(&grid, lines->ctx);
    for (int i = 0; i < lines->count; i++) {
        const claim_line *l = &lines->items[i];
        const char *name, *found;
        if (l->kind != OF_CLAIM) continue;
        NB_NEED(name, call_claim(l->claim, lines->ctx));
        NB_NEED(found, tell_all(l, lines->ctx));
        nb_grid_row(&grid);
        NB_TRY(lines->ctx, nb_grid_put(&grid, NB_CELLS({"verdict", nb_text_cell(l->verdict)},
                                                       {"claim", nb_text_cell(name)}, {"found", nb_text_cell(found)})));
    }
    return nb_answer_show(page, comments, &grid, lines->ctx);
}

/* Says what the parts of the claim at that line were found to be, or itself where it has none. */
static nb_status tell_parts(const claim_lines *lines, int at, const char **text)
{
    const claim_line *claim = &lines->items[at], *end = lines->items + lines->count;
    line_kind wanted = claim->result->part_count > 0 ? OF_PART : OF_CLAIM;
    nb_string all = NB_NO_TEXT;
    for (const claim_line *l = claim; l < end && l->result == claim->result; l++) {
        const char *name;
        if (l->kind != wanted) continue;
        NB_NEED(name, lead(l->answer->name, lines->ctx));
        NB_TRY(lines->ctx, nb_append_item(&all, "; ", lines->ctx, "%s%s %s", name, l->quantity, l->found));
    }
    *text = all.text;
    return NB_OK;
}

static nb_status add_tested(const claim_lines *lines, int at, nb_grid *grid)
{
    nb_ctx *ctx = lines->ctx;
    const claim_line *l = &lines->items[at];
    const char *expected, *found, *slack = "", *verdict = l->verdict, *name;
    NB_NEED(expected, nb_format(ctx, "%s %s", l->quantity, l->expected));
    NB_TRY(ctx, tell_parts(lines, at, &found));
    NB_NEED(name, lead(l->answer->name, ctx));
    if (isfinite(l->answer->slack)) NB_NEED(slack, nb_format(ctx, "%s", nb_numeral(l->answer->slack).text));
    if (*l->note) NB_NEED(verdict, nb_format(ctx, "%s: %s%s", l->verdict, name, l->note));
    nb_grid_row(grid);
    return nb_grid_put(grid, NB_CELLS({"claim", nb_text_cell(l->claim->says)},
                                      {"said in", nb_text_cell(l->claim->source)}, {"expected", nb_text_cell(expected)},
                                      {"found", nb_text_cell(found)}, {"units", nb_text_cell(l->units)},
                                      {"slack", nb_text_cell(slack)}, {"verdict", nb_text_cell(verdict)}));
}

static nb_status show_table(nb_page *page, const claim_lines *lines)
{
    static const nb_comment comments[] = {{"labels", "1"}, {"format", "said in: %s"}, {NULL, NULL}};
    nb_grid grid;
    bool any = false;
    nb_grid_begin(&grid, lines->ctx);
    for (int i = 0; i < lines->count; i++)
        if (lines->items[i].kind == OF_CLAIM && !lines->items[i].claim->untested)
            NB_TRY(lines->ctx, add_tested(lines, i, &grid));
    NB_TRY(lines->ctx, nb_answer_show(page, comments, &grid, lines->ctx));
    for (int i = 0; i < lines->count; i++) {
        const nb_claim *c = lines->items[i].claim;
        if (!c->untested) continue;
        if (!any) nb_page_paragraph(page, "Not tested:");
        any = true;
        if (*c->source)
            nb_page_item(page, "%s (%s): %s", c->says, c->source, c->untested);
        else
            nb_page_item(page, "%s: %s", c->says, c->untested);
    }
    return NB_OK;
}

nb_status nb_claims_show(nb_page *page, nb_claims_form form, int runs, const nb_claim_results *results, nb_ctx *ctx)
{
    static nb_status (*const show[])(nb_page *, const claim_lines *) = {show_parts, show_lines, show_table};
    claim_lines lines;
    const char *tally;
    NB_TRY(ctx, nb_claims_tell_tally(runs, results, &tally, ctx));
    if (!*tally) return NB_OK;
    NB_TRY(ctx, find_lines(runs, results, &lines, ctx));
    if (form == NB_CLAIMS_LINES) nb_page_heading(page, 2, "Claims: %s", tally);
    NB_TRY(ctx, show[form](page, &lines));
    if (form == NB_CLAIMS_PARTS) nb_page_heading(page, 4, "Claims: %s", tally);
    return NB_OK;
}

static nb_cell count_cell(int count)
{
    return count > 0 ? nb_int_cell(count) : nb_text_cell(NULL);
}

static nb_status add_row(nb_grid *grid, const claim_line *l)
{
    const nb_claim_answer *a = l->answer;
    const nb_claim *c = l->claim;
    bool judged = l->kind != OF_MODEL, whole = l->kind == OF_CLAIM;
    const nb_cell none = {.type = NB_CELL_NONE, .real = NAN};
    nb_grid_row(grid);
    return nb_grid_put(grid, NB_CELLS({"experiment", nb_text_cell(l->experiment)}, {"id", nb_text_cell(c->id)},
                                      {"row", nb_text_cell(kinds[l->kind])}, {"name", nb_text_cell(a->name)},
                                      {"verdict", judged ? nb_text_cell(nb_claim_verdicts[a->verdict]) : none},
                                      {"quantity", nb_text_cell(l->quantity)}, {"estimate", nb_real_cell(a->estimate)},
                                      {"low", nb_real_cell(a->low)}, {"high", nb_real_cell(a->high)},
                                      {"expected_low", nb_real_cell(l->low)}, {"expected_high", nb_real_cell(l->high)},
                                      {"sources", nb_int_cell(a->sources)}, {"heads", nb_int_cell(a->heads)},
                                      {"family", count_cell(a->family)}, {"more_sources", nb_whole_cell(a->more)},
                                      {"slack", nb_real_cell(a->slack)},
                                      {"disturbed", judged ? nb_int_cell(a->disturbed) : none},
                                      {"why", nb_text_cell(a->why)}, {"says", nb_text_cell(whole ? c->says : NULL)},
                                      {"source", nb_text_cell(whole ? c->source : NULL)},
                                      {"claim", nb_text_cell(whole ? c->text : NULL)}));
}

nb_status nb_claims_print_csv(FILE *out, int runs, const nb_claim_results *results, nb_ctx *ctx)
{
    claim_lines lines;
    nb_grid grid;
    nb_grid_begin(&grid, ctx);
    NB_TRY(ctx, find_lines(runs, results, &lines, ctx));
    for (int i = 0; i < lines.count; i++)
        if (!lines.items[i].of_part) NB_TRY(ctx, add_row(&grid, &lines.items[i]));
    return nb_grid_print_csv(out, &grid, ctx);
}

/* JSON: what is not known is null. Functions return nonzero if memory runs out. */

static int put_verdict(json_t *object, const nb_claim_answer *a, nb_ctx *ctx)
{
    return nb_json_put(object,
                       NB_CELLS({"verdict", nb_text_cell(nb_claim_verdicts[a->verdict])},
                                {"more_sources", nb_whole_cell(a->more)}, {"slack", nb_real_cell(a->slack)},
                                {"disturbed", nb_int_cell(a->disturbed)}, {"why", nb_text_cell(a->why)}),
                       ctx);
}

static int put_numbers(json_t *object, const nb_claim_answer *a, nb_ctx *ctx)
{
    return nb_json_put(object,
                       NB_CELLS({"estimate", nb_real_cell(a->estimate)}, {"low", nb_real_cell(a->low)},
                                {"high", nb_real_cell(a->high)}, {"sources", nb_int_cell(a->sources)},
                                {"heads", nb_int_cell(a->heads)}, {"family", count_cell(a->family)}),
                       ctx);
}

static int put_models(json_t *object, const nb_claim_answer *a, nb_ctx *ctx)
{
    json_t *models = json_array();
    int failed = json_object_set_new(object, "models", models);
    for (int m = 0; m < a->model_count && !failed; m++) {
        json_t *model = json_object();
        failed = json_array_append_new(models, model) ||
                 nb_json_put(model, NB_CELLS({"model", nb_text_cell(a->models[m].name)}), ctx) ||
                 put_numbers(model, &a->models[m], ctx);
    }
    return failed;
}

static int put_part(json_t *object, const nb_claim_answer *a, nb_ctx *ctx)
{
    return nb_json_put(object, NB_CELLS({"part", nb_text_cell(a->name)}), ctx) || put_verdict(object, a, ctx) ||
           put_numbers(object, a, ctx) || put_models(object, a, ctx);
}

static int put_claim(json_t *object, const claim_line *l, nb_ctx *ctx)
{
    const nb_claim *c = l->claim;
    json_t *parts = json_array();
    int failed =
        nb_json_put(object,
                    NB_CELLS({"experiment", nb_text_cell(l->experiment)}, {"id", nb_text_cell(c->id)},
                             {"says", nb_text_cell(c->says)}, {"source", nb_text_cell(c->source)},
                             {"form", nb_text_cell(nb_claim_forms[c->form])}),
                    ctx) ||
        put_verdict(object, l->answer, ctx) ||
        nb_json_put(object, NB_CELLS({"part", nb_text_cell(l->answer->name)}, {"quantity", nb_text_cell(l->quantity)}),
                    ctx) ||
        put_numbers(object, l->answer, ctx) ||
        nb_json_put(object,
                    NB_CELLS({"expected_low", nb_real_cell(l->low)}, {"expected_high", nb_real_cell(l->high)},
                             {"claim", nb_text_cell(c->text)}),
                    ctx) ||
        put_models(object, l->answer, ctx);
    failed = json_object_set_new(object, "parts", parts) || failed;
    for (int p = 0; p < l->result->part_count && !failed; p++) {
        json_t *part = json_object();
        failed = json_array_append_new(parts, part) || put_part(part, &l->result->parts[p], ctx);
    }
    return failed;
}

nb_status nb_claims_print_json(FILE *out, int runs, const nb_claim_results *results, nb_ctx *ctx)
{
    claim_lines lines;
    json_t *list = json_array();
    NB_TRY(ctx, find_lines(runs, results, &lines, ctx));
    int failed = !list;
    for (int i = 0; i < lines.count && !failed; i++)
        if (lines.items[i].kind == OF_CLAIM) {
            json_t *object = json_object();
            failed = json_array_append_new(list, object) || put_claim(object, &lines.items[i], ctx);
        }
    failed = failed || (json_dumpf(list, out, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) && !ferror(out));
    json_decref(list);
    fputc('\n', out);
    NB_REQUIRE(ctx, !failed, NB_ENOMEM, "the claims cannot be written as JSON");
    return NB_OK;
}
