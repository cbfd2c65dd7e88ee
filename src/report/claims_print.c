/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims_print.c - see claims_print.h */
#include "report/claims_print.h"

#include "base/text.h"
#include "report/csv.h"
#include "report/labels.h"

#include <jansson.h>
#include <math.h>
#include <stdint.h>
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

static void print_clean(FILE *out, const char *text)
{
    nb_text_print(out, text, SIZE_MAX, "");
}

enum { VERDICT_WIDTH = 10 };

static nb_status print_parts(FILE *out, const nb_claim_result *r, nb_ctx *ctx)
{
    const char *found, *units, *note;
    for (int i = 0; i < r->part_count; i++) {
        const nb_claim_answer *a = &r->parts[i];
        NB_TRY(ctx, found_text(a, &found, ctx));
        NB_TRY(ctx, units_text(a, &units, ctx));
        NB_TRY(ctx, note_text(a, &note, ctx));
        fprintf(out, "%*s    ", VERDICT_WIDTH, "");
        print_clean(out, a->name);
        fprintf(out, ": %s, %s; %s%s", nb_claim_verdicts[a->verdict], found, units, *note ? "; " : "");
        print_clean(out, note);
        fputc('\n', out);
    }
    return NB_OK;
}

/* Only where there are several. */
static nb_status print_models(FILE *out, const nb_claim_answer *a, nb_ctx *ctx)
{
    const char *found, *units, *name, **names;
    NB_NEED(names, nb_alloc(ctx, (size_t)a->model_count + 1, sizeof *names));
    for (int i = 0; i < a->model_count; i++) names[i] = a->models[i].name;
    for (int i = 0; i < a->model_count && a->model_count > 1; i++) {
        NB_TRY(ctx, nb_label_stratum_among(a->model_count, names, i, &name, ctx));
        NB_TRY(ctx, found_text(&a->models[i], &found, ctx));
        NB_TRY(ctx, units_text(&a->models[i], &units, ctx));
        fprintf(out, "%*s    ", VERDICT_WIDTH, "");
        print_clean(out, name);
        fprintf(out, ": %s; %s\n", found, units);
    }
    return NB_OK;
}

/* The answer; of several parts, what is expected of each. */
static nb_status print_answer(FILE *out, const nb_claim_result *r, nb_ctx *ctx)
{
    const char *text;
    if (r->part_count > 0) {
        NB_TRY(ctx, expected_text(r->claim, &text, ctx));
        fprintf(out, "%*s  %s, expected %s in each of %d parts\n", VERDICT_WIDTH, "", quantity(r->claim), text,
                r->part_count);
        return print_parts(out, r, ctx);
    }
    NB_TRY(ctx, answer_text(r->claim, &r->answer, &text, ctx));
    fprintf(out, "%*s  ", VERDICT_WIDTH, "");
    print_clean(out, text);
    fputc('\n', out);
    return print_models(out, &r->answer, ctx);
}

static nb_status print_paragraph(FILE *out, const nb_claim_result *r, nb_ctx *ctx)
{
    const nb_claim *c = r->claim;
    fprintf(out, "%-*s  %s: ", VERDICT_WIDTH, nb_claim_verdicts[r->answer.verdict], c->id);
    print_clean(out, c->says);
    if (*c->source) fprintf(out, "\n%*s  (", VERDICT_WIDTH, "");
    print_clean(out, c->source);
    fputs(*c->source ? ")\n" : "\n", out);
    return print_answer(out, r, ctx);
}

/* "Claims: 3 reproduced, 1 void" */
static void print_tally(FILE *out, int runs, const nb_claim_results *results)
{
    int tally[NB_CLAIM_VERDICTS];
    const char *between = "Claims: ";
    nb_claims_tally(runs, results, tally);
    for (int v = 0; v < NB_CLAIM_VERDICTS; v++) {
        if (tally[v] == 0) continue;
        fprintf(out, "%s%d %s", between, tally[v], nb_claim_verdicts[v]);
        between = ", ";
    }
    if (*between == ',') fputc('\n', out);
}

nb_status nb_claims_print_text(FILE *out, int runs, const nb_claim_results *results, nb_ctx *ctx)
{
    for (int r = 0; r < runs; r++) {
        if (runs > 1) fprintf(out, "%s%s:\n", r ? "\n" : "", results[r].experiment);
        for (int i = 0; i < results[r].count; i++) NB_TRY(ctx, print_paragraph(out, &results[r].results[i], ctx));
    }
    print_tally(out, runs, results);
    return NB_OK;
}

nb_status nb_claims_print_lines(FILE *out, int runs, const nb_claim_results *results, nb_ctx *ctx)
{
    int width = 0;
    for (int r = 0; r < runs; r++)
        for (int i = 0; i < results[r].count; i++)
            if ((int)strlen(results[r].results[i].claim->id) > width)
                width = (int)strlen(results[r].results[i].claim->id);
    print_tally(out, runs, results);
    for (int r = 0; r < runs; r++)
        for (int i = 0; i < results[r].count; i++) {
            const nb_claim_result *x = &results[r].results[i];
            const char *text;
            NB_TRY(ctx, answer_text(x->claim, &x->answer, &text, ctx));
            fprintf(out, "  %-*s  %-*s  ", VERDICT_WIDTH, nb_claim_verdicts[x->answer.verdict], width, x->claim->id);
            print_clean(out, text);
            fputc('\n', out);
        }
    return NB_OK;
}

/* A text, or nothing. */
static void print_cell(FILE *out, const char *text)
{
    fputc(',', out);
    if (text) nb_csv_print_text(out, text);
}

static void print_number(FILE *out, double x)
{
    fputc(',', out);
    if (isfinite(x)) nb_csv_print_real(out, x);
}

static void print_row(FILE *out, const char *experiment, const char *of, const nb_claim *c, const nb_claim_answer *a)
{
    bool model = *of == 'm', whole = *of == 'c', tested = a->verdict != NB_CLAIM_IS_UNTESTED;
    nb_csv_print_text(out, experiment);
    print_cell(out, c->id);
    print_cell(out, of);
    print_cell(out, a->name);
    print_cell(out, model ? NULL : nb_claim_verdicts[a->verdict]);
    print_cell(out, tested ? quantity(c) : NULL);
    print_number(out, a->estimate);
    print_number(out, a->low);
    print_number(out, a->high);
    print_number(out, tested ? c->low : NAN);
    print_number(out, tested ? c->high : NAN);
    fprintf(out, ",%d,%d", a->sources, a->heads);
    print_number(out, a->more);
    print_cell(out, a->why);
    print_cell(out, whole ? c->says : NULL);
    print_cell(out, whole ? c->source : NULL);
    print_cell(out, whole ? c->text : NULL);
    fputc('\n', out);
}

nb_status nb_claims_print_csv(FILE *out, int runs, const nb_claim_results *results, nb_ctx *ctx)
{
    (void)ctx;
    fputs("experiment,id,row,name,verdict,quantity,estimate,low,high,expected_low,expected_high,sources,heads,"
          "more_sources,why,says,source,claim\n",
          out);
    for (int r = 0; r < runs; r++)
        for (int i = 0; i < results[r].count; i++) {
            const nb_claim_result *x = &results[r].results[i];
            const char *name = results[r].experiment;
            print_row(out, name, "claim", x->claim, &x->answer);
            for (int m = 0; m < x->answer.model_count; m++)
                print_row(out, name, "model", x->claim, &x->answer.models[m]);
            for (int p = 0; p < x->part_count; p++) print_row(out, name, "part", x->claim, &x->parts[p]);
        }
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

/* In a cell of a table, or a line of a list. */
static void print_escaped(FILE *out, const char *text)
{
    for (; *text; text++) {
        size_t plain = strcspn(text, "|\\<*_`[");
        nb_text_print(out, text, plain, "");
        text += plain;
        if (!*text) return;
        fprintf(out, "\\%c", *text);
    }
}

/* One line of a cell that may have several. */
static nb_status print_found(FILE *out, const nb_claim *c, const nb_claim_answer *a, nb_ctx *ctx)
{
    const char *found;
    NB_TRY(ctx, found_text(a, &found, ctx));
    print_escaped(out, a->name ? a->name : "");
    fprintf(out, "%s%s %s", a->name ? ": " : "", quantity(c), found);
    return NB_OK;
}

static nb_status print_line(FILE *out, const nb_claim_result *r, nb_ctx *ctx)
{
    const nb_claim *c = r->claim;
    const char *expected, *units, *note;
    NB_TRY(ctx, expected_text(c, &expected, ctx));
    NB_TRY(ctx, units_text(&r->answer, &units, ctx));
    NB_TRY(ctx, note_text(&r->answer, &note, ctx));
    fputs("| ", out);
    print_escaped(out, c->says);
    fputs(" | ", out);
    print_escaped(out, c->source);
    fprintf(out, " | %s %s | ", quantity(c), expected);
    if (r->part_count == 0) NB_TRY(ctx, print_found(out, c, &r->answer, ctx));
    for (int p = 0; p < r->part_count; p++) {
        if (p > 0) fputs("<br>", out);
        NB_TRY(ctx, print_found(out, c, &r->parts[p], ctx));
    }
    fprintf(out, " | %s | %s%s", units, nb_claim_verdicts[r->answer.verdict], *note ? ": " : "");
    if (*note && r->answer.name) print_escaped(out, r->answer.name);
    if (*note && r->answer.name) fputs(": ", out);
    print_escaped(out, note);
    fputs(" |\n", out);
    return NB_OK;
}

static void print_untested(FILE *out, const nb_claim *c)
{
    fputs("* ", out);
    print_escaped(out, c->says);
    if (*c->source) fputs(" (", out);
    print_escaped(out, c->source);
    fprintf(out, "%s: ", *c->source ? ")" : "");
    print_escaped(out, c->untested);
    fputc('\n', out);
}

nb_status nb_claims_print_markdown(FILE *out, int runs, const nb_claim_results *results, nb_ctx *ctx)
{
    int tally[NB_CLAIM_VERDICTS];
    fputs("| claim | said in | expected | found | units | verdict |\n|---|---|---|---|---|---|\n", out);
    for (int r = 0; r < runs; r++)
        for (int i = 0; i < results[r].count; i++)
            if (!results[r].results[i].claim->untested) NB_TRY(ctx, print_line(out, &results[r].results[i], ctx));
    nb_claims_tally(runs, results, tally);
    if (tally[NB_CLAIM_IS_UNTESTED] == 0) return NB_OK;
    fputs("\nNot tested:\n\n", out);
    for (int r = 0; r < runs; r++)
        for (int i = 0; i < results[r].count; i++)
            if (results[r].results[i].claim->untested) print_untested(out, results[r].results[i].claim);
    return NB_OK;
}
