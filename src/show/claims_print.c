/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims_print.c - see claims_print.h. The answers become one list of lines: one for each claim, then for each of its
 * models, then for each part and its models, each with its words. All forms are made of that list. */
#include "show/claims_print.h"

#include "base/builder.h"
#include "base/numerals.h"
#include "base/text.h"
#include "show/answer.h"
#include "show/cells.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

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
    const char *verdict;  /* with the mark of times that were disturbed */
    const char *lead;     /* the name of its part: "m = 8: " */
    const char *found, *expected, *units, *note;
    const char *all; /* of these, in one line */
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

/* Shows an end of the interval, told from the ends of what is expected. */
static nb_digits show_end(const nb_claim *c, double end)
{
    if (!isfinite(end)) return nb_numeral(end);
    return nb_bound("%.3g", end, c->order ? 1 : c->low, c->order ? NAN : c->high);
}

static const char *tell_found(const claim_line *l, nb_ctx *ctx)
{
    const nb_claim_answer *a = l->answer;
    if (isnan(a->low)) return nb_phrase(ctx, "%s", nb_numeral(a->estimate).text);
    return nb_phrase(ctx, "%s [%s, %s]", nb_numeral(a->estimate).text, show_end(l->claim, a->low).text,
                     show_end(l->claim, a->high).text);
}

static const char *tell_expected(const claim_line *l, nb_ctx *ctx)
{
    if (l->claim->order) return "below 1";
    if (!isfinite(l->low)) return nb_phrase(ctx, "at most %s", nb_shown("%.4g", l->high).text);
    if (!isfinite(l->high)) return nb_phrase(ctx, "at least %s", nb_shown("%.4g", l->low).text);
    return nb_phrase(ctx, "%s to %s", nb_shown("%.4g", l->low).text, nb_shown("%.4g", l->high).text);
}

/* Says of how many the answer is. */
static const char *tell_units(const claim_line *l, nb_ctx *ctx)
{
    const nb_claim_answer *a = l->answer;
    int parts = l->result->part_count > 1 ? l->result->part_count : 1;
    const char *together = a->family > parts ? nb_phrase(ctx, "; one of %d that hold together", a->family) : "";
    return nb_phrase(ctx, "%d source%s, %d head%s%s", a->sources, nb_plural(a->sources), a->heads, nb_plural(a->heads),
                     together);
}

/* Says what there is to say besides; "": nothing. */
static const char *tell_note(const claim_line *l, nb_ctx *ctx)
{
    const nb_claim_answer *a = l->answer;
    const char *note = a->why ? a->why : "";
    if (isfinite(a->more)) note = nb_phrase(ctx, "about %.0f more source%s would decide", a->more, nb_plural(a->more));
    if (a->disturbed == 0) return note;
    return nb_phrase(ctx, "%s%s%s disturbed %d of %d %s (%s)", note, *note ? "; " : "", a->disturbance.who,
                     a->disturbed, a->timed, l->claim->form == NB_CLAIM_COMPARE ? "pairs of times" : "times",
                     a->disturbance.hint);
}

/* Says all of an answer in one line. */
static const char *tell_all(const claim_line *l, nb_ctx *ctx)
{
    if (l->answer->sources == 0) return l->note;
    return nb_phrase(ctx, "%s%s %s, expected %s; %s%s%s", l->lead, l->quantity, l->found, l->expected, l->units,
                     *l->note ? "; " : "", l->note);
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
    line.lead = a->name ? nb_phrase(ctx, "%s: ", a->name) : "";
    line.found = tell_found(&line, ctx);
    line.expected = tell_expected(&line, ctx);
    line.units = tell_units(&line, ctx);
    line.note = tell_note(&line, ctx);
    line.verdict = nb_phrase(ctx, "%s%s", nb_claim_verdicts[a->verdict], marked ? " !" : "");
    line.all = tell_all(&line, ctx);
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
    return nb_phrases_end(ctx);
}

static void show_claim(nb_page *page, const claim_line *l, nb_ctx *ctx)
{
    const char *text = l->all;
    if (l->result->part_count > 0)
        text = nb_phrase(ctx, "%s, expected %s in each of %d parts", l->quantity, l->expected, l->result->part_count);
    nb_page_heading(page, 4, "%-10s  %s: %s", l->verdict, l->claim->id, l->claim->says);
    if (*l->claim->source) nb_page_note(page, NULL, "(%s)", l->claim->source);
    if (isfinite(l->answer->slack))
        nb_page_note(page, NULL, "%s; slack %s", text, nb_numeral(l->answer->slack).text);
    else
        nb_page_note(page, NULL, "%s", text);
}

/* A part of the page for each claim, with its models or parts. */
static nb_status show_parts(nb_page *page, const claim_lines *lines)
{
    for (int i = 0; i < lines->count; i++) {
        const claim_line *l = &lines->items[i];
        if (lines->runs > 1 && (i == 0 || l->run != lines->items[i - 1].run) && l->experiment)
            nb_page_heading(page, 2, "%s", l->experiment);
        if (l->kind == OF_CLAIM)
            show_claim(page, l, lines->ctx);
        else if (l->kind == OF_PART)
            nb_page_item(page, "%s%s, %s; %s%s%s", l->lead, l->verdict, l->found, l->units, *l->note ? "; " : "",
                         l->note);
        else if (l->result->part_count == 0 && l->result->answer.model_count > 1)
            nb_page_item(page, "%s: %s; %s", l->answer->label, l->found, l->units);
    }
    return NB_OK;
}

/* Returns what a claim is called: one without a name by what it says, or the beginning of that. */
static const char *call_claim(const nb_claim *c, nb_ctx *ctx)
{
    enum { LONGEST = 60, SHORT = 45 };
    size_t bytes = 0;
    if (c->named) return c->id;
    if (nb_text_characters(c->says, strlen(c->says)) <= LONGEST) return c->says;
    for (int i = 0; i < SHORT; i++) bytes += nb_text_character(c->says + bytes);
    return nb_phrase(ctx, "%s: %.*s...", c->id, (int)bytes, c->says);
}

static nb_status show_lines(nb_page *page, const claim_lines *lines)
{
    static const nb_comment comments[] = {{"headless", "a line for each claim"}, {"labels", "1"}, {NULL, NULL}};
    nb_grid grid;
    nb_grid_begin(&grid, lines->ctx);
    for (int i = 0; i < lines->count; i++) {
        const claim_line *l = &lines->items[i];
        if (l->kind != OF_CLAIM) continue;
        nb_grid_row(&grid);
        nb_grid_put_text(&grid, "verdict", l->verdict);
        nb_grid_put_text(&grid, "claim", call_claim(l->claim, lines->ctx));
        nb_grid_put_text(&grid, "found", l->all);
    }
    return nb_answer_show(page, comments, &grid, lines->ctx);
}

/* Says what the parts of a claim, whose line that is, were found to be, or itself where it has none. */
static const char *tell_parts(const claim_lines *lines, const claim_line *claim)
{
    line_kind wanted = claim->result->part_count > 0 ? OF_PART : OF_CLAIM;
    const char *all = "";
    for (const claim_line *l = claim; l < lines->items + lines->count && l->result == claim->result; l++)
        if (l->kind == wanted)
            all = nb_phrase(lines->ctx, "%s%s%s%s %s", all, *all ? "; " : "", l->lead, l->quantity, l->found);
    return all;
}

static void add_tested(const claim_lines *lines, const claim_line *l, nb_grid *grid)
{
    nb_ctx *ctx = lines->ctx;
    double slack = l->answer->slack;
    nb_grid_row(grid);
    nb_grid_put_text(grid, "claim", l->claim->says);
    nb_grid_put_text(grid, "said in", l->claim->source);
    nb_grid_put_text(grid, "expected", nb_phrase(ctx, "%s %s", l->quantity, l->expected));
    nb_grid_put_text(grid, "found", tell_parts(lines, l));
    nb_grid_put_text(grid, "units", l->units);
    nb_grid_put(grid, "slack",
                isfinite(slack) ? nb_numeral_cell("", nb_phrase(ctx, "%s", nb_numeral(slack).text), "")
                                : (nb_cell){.type = NB_CELL_BLANK, .real = NAN});
    nb_grid_put_text(grid, "verdict", *l->note ? nb_phrase(ctx, "%s: %s%s", l->verdict, l->lead, l->note) : l->verdict);
}

static nb_status show_table(nb_page *page, const claim_lines *lines)
{
    static const nb_comment comments[] = {{"labels", "1"}, {NULL, NULL}};
    const claim_line *end = lines->items + lines->count;
    bool any = false;
    nb_grid grid;
    nb_grid_begin(&grid, lines->ctx);
    for (const claim_line *l = lines->items; l < end; l++)
        if (l->kind == OF_CLAIM && !l->claim->untested) add_tested(lines, l, &grid);
    NB_TRY(lines->ctx, nb_answer_show(page, comments, &grid, lines->ctx));
    for (const claim_line *l = lines->items; l < end; l++) {
        bool named = *l->claim->source;
        if (!l->claim->untested) continue;
        if (!any) nb_page_paragraph(page, "Not tested:");
        any = true;
        nb_page_item(page, "%s%s%s%s: %s", l->claim->says, named ? " (" : "", l->claim->source, named ? ")" : "",
                     l->claim->untested);
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
    return nb_phrases_end(ctx);
}

/* For programs: what is not known, open or infinite is none. */

static void put_finite(nb_grid *grid, const char *column, double x)
{
    nb_grid_put_real(grid, column, isfinite(x) ? x : NAN);
}

static void put_verdict(nb_grid *grid, const nb_claim_answer *a)
{
    nb_grid_put(grid, "more_sources", nb_whole_cell(a->more));
    put_finite(grid, "slack", a->slack);
}

static void put_numbers(nb_grid *grid, const nb_claim_answer *a)
{
    put_finite(grid, "estimate", a->estimate);
    put_finite(grid, "low", a->low);
    put_finite(grid, "high", a->high);
}

static void put_expected(nb_grid *grid, const claim_line *l)
{
    put_finite(grid, "expected_low", l->low);
    put_finite(grid, "expected_high", l->high);
}

static void put_units(nb_grid *grid, const nb_claim_answer *a)
{
    nb_grid_put_int(grid, "sources", a->sources);
    nb_grid_put_int(grid, "heads", a->heads);
    nb_grid_put(grid, "family", a->family > 0 ? nb_int_cell(a->family) : nb_text_cell(NULL));
}

static void add_row(nb_grid *grid, const claim_line *l)
{
    const nb_claim_answer *a = l->answer;
    bool judged = l->kind != OF_MODEL, whole = l->kind == OF_CLAIM;
    nb_grid_row(grid);
    nb_grid_put_text(grid, "experiment", l->experiment);
    nb_grid_put_text(grid, "id", l->claim->id);
    nb_grid_put_text(grid, "row", kinds[l->kind]);
    nb_grid_put_text(grid, "name", a->name);
    nb_grid_put_text(grid, "verdict", judged ? nb_claim_verdicts[a->verdict] : NULL);
    nb_grid_put_text(grid, "quantity", l->quantity);
    put_numbers(grid, a);
    put_expected(grid, l);
    put_units(grid, a);
    put_verdict(grid, a);
    nb_grid_put(grid, "disturbed", judged ? nb_int_cell(a->disturbed) : nb_text_cell(NULL));
    nb_grid_put_text(grid, "why", a->why);
    nb_grid_put_text(grid, "says", whole ? l->claim->says : NULL);
    nb_grid_put_text(grid, "source", whole ? l->claim->source : NULL);
    nb_grid_put_text(grid, "claim", whole ? l->claim->text : NULL);
}

nb_status nb_claims_print_csv(FILE *out, int runs, const nb_claim_results *results, nb_ctx *ctx)
{
    claim_lines lines;
    nb_grid grid;
    nb_grid_begin(&grid, ctx);
    NB_TRY(ctx, find_lines(runs, results, &lines, ctx));
    for (int i = 0; i < lines.count; i++)
        if (!lines.items[i].of_part) add_row(&grid, &lines.items[i]);
    NB_TRY(ctx, nb_grid_end(&grid));
    return nb_grid_print_csv(out, &grid, ctx);
}

/* The object of a line, by write_json.c's cells. That file's list of rows has no lists in it, and these are here: the
 * models of a claim or a part, and a claim's parts. */
static json_t *object_of(const claim_line *l, nb_ctx *ctx)
{
    nb_grid grid;
    nb_grid_begin(&grid, ctx);
    nb_grid_row(&grid);
    if (l->kind == OF_CLAIM) {
        nb_grid_put_text(&grid, "experiment", l->experiment);
        nb_grid_put_text(&grid, "id", l->claim->id);
        nb_grid_put_text(&grid, "says", l->claim->says);
        nb_grid_put_text(&grid, "source", l->claim->source);
        nb_grid_put_text(&grid, "form", nb_claim_forms[l->claim->form]);
    } else {
        nb_grid_put_text(&grid, kinds[l->kind], l->answer->name);
    }
    if (l->kind != OF_MODEL) {
        nb_grid_put_text(&grid, "verdict", nb_claim_verdicts[l->answer->verdict]);
        put_verdict(&grid, l->answer);
        nb_grid_put_int(&grid, "disturbed", l->answer->disturbed);
        nb_grid_put_text(&grid, "why", l->answer->why);
    }
    if (l->kind == OF_CLAIM) nb_grid_put_text(&grid, "part", l->answer->name);
    if (l->kind == OF_CLAIM) nb_grid_put_text(&grid, "quantity", l->quantity);
    put_numbers(&grid, l->answer);
    put_units(&grid, l->answer);
    if (l->kind == OF_CLAIM) put_expected(&grid, l);
    if (l->kind == OF_CLAIM) nb_grid_put_text(&grid, "claim", l->claim->text);
    if (nb_grid_end(&grid) != NB_OK) return NULL;
    nb_cells row = nb_grid_cells(&grid, 0);
    return nb_json_object(&row, ctx);
}

/* Adds the objects of lines to a list, each within that which it belongs to. Nonzero: out of memory. */
static int add_objects(const claim_lines *lines, json_t *list)
{
    json_t *above[3] = {NULL}; /* by depth */
    int failed = !list;
    for (int i = 0; i < lines->count && !failed; i++) {
        const claim_line *l = &lines->items[i];
        int depth = l->kind == OF_MODEL ? 1 + l->of_part : l->kind == OF_PART;
        json_t *object = above[depth] = object_of(l, lines->ctx);
        json_t *of = depth == 0 ? list : json_object_get(above[depth - 1], l->kind == OF_MODEL ? "models" : "parts");
        if (l->kind != OF_MODEL) failed = json_object_set_new(object, "models", json_array());
        if (l->kind == OF_CLAIM) failed |= json_object_set_new(object, "parts", json_array());
        failed |= json_array_append_new(of, object);
    }
    return failed;
}

nb_status nb_claims_print_json(FILE *out, int runs, const nb_claim_results *results, nb_ctx *ctx)
{
    claim_lines lines;
    NB_TRY(ctx, find_lines(runs, results, &lines, ctx));
    json_t *list = json_array();
    int failed =
        add_objects(&lines, list) || (json_dumpf(list, out, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) && !ferror(out));
    json_decref(list);
    fputc('\n', out);
    NB_REQUIRE(ctx, !failed, NB_ENOMEM, "the claims cannot be written as JSON");
    return NB_OK;
}
