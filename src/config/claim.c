/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claim.c - names what claims are made of, and prints a claim as YAML with every option. */
#include "config/config.h"

#include "base/files.h"
#include "base/numbers.h"
#include "config/yaml.h"

#include <math.h>
#include <string.h>

const char *const nb_claim_forms[] = {"compare", "measure", "untested", NULL};
const char *const nb_claim_expectations[] = {"ratio", "difference", "wins", "equal", "equal_difference", "value", NULL};
const char *const nb_claim_statistics[] = {"mean", "median", "geometric_mean", NULL};
const char *const nb_claim_failure_words[] = {"drop", "worst", NULL};

const nb_claim_query nb_claim_queries[] = {
    {"value.sql", NULL, 1, false, NB_OVER_NOTHING, -INFINITY, INFINITY, NULL},
    {"slope.sql", "slope", 1, true, NB_OVER_INTEGERS, -INFINITY, INFINITY, "no head has results at two values of"},
    {"correlation.sql", "correlation", 2, false, NB_OVER_ANYTHING, -1, 1,
     "no head has both metrics at three values of"},
    {NULL}};

/* Keys that a claim of any form might have. */
static const char *const all_options[] = {"each", "confounded", "failures", "confidence", "family", "smallest", NULL};

bool nb_claim_takes(const nb_claim *c, const char *option)
{
    if (c->form == NB_CLAIM_UNTESTED) return false;
    if (strcmp(option, "confounded") == 0) return c->form == NB_CLAIM_COMPARE || c->column;
    if (strcmp(option, "failures") == 0) return c->form == NB_CLAIM_COMPARE;
    if (strcmp(option, "smallest") == 0) return c->expectation == NB_EXPECT_RATIO;
    return true;
}

const char *nb_claim_key(const nb_claim *c)
{
    return c->order ? "order" : nb_claim_forms[c->form];
}

const char *nb_claim_quantity(const nb_claim *c)
{
    static const char *const of_metric[] = {"mean", "median", "geometric mean"};
    return c->query && c->query->quantity ? c->query->quantity : of_metric[c->statistic];
}

static void print_key(FILE *out, const char *key, const char *text)
{
    fprintf(out, "%s: ", key);
    nb_yaml_print_quoted(out, text);
}

static void print_number(FILE *out, double x, const char *before)
{
    char text[NB_REAL_TEXT];
    nb_real_text(x, text);
    fprintf(out, "%s%s", before, isnan(x) ? "null" : text);
}

/* "COLUMN: [A, B]" */
static void print_values(FILE *out, const nb_column_values *c)
{
    fprintf(out, "%s: [", c->column);
    for (int i = 0; i < c->count; i++) {
        if (i > 0) fputs(", ", out);
        nb_yaml_print_quoted(out, c->values[i].text);
    }
    fputc(']', out);
}

void nb_conditions_print(FILE *out, const nb_conditions *conditions)
{
    fputc('{', out);
    for (int i = 0; i < conditions->count; i++) {
        if (i > 0) fputs(", ", out);
        print_values(out, &conditions->items[i]);
    }
    fputc('}', out);
}

static void print_where(FILE *out, const nb_conditions *where)
{
    fputs(", where: ", out);
    nb_conditions_print(out, where);
}

static void print_series(FILE *out, const char *key, const nb_claim_series *s)
{
    fprintf(out, ", %s: {", key);
    print_key(out, "metric", s->metric.text);
    print_where(out, &s->where);
    fputc('}', out);
}

static void print_body(FILE *out, const nb_claim *c)
{
    fprintf(out, ", %s: {", nb_claim_key(c));
    if (c->form == NB_CLAIM_COMPARE) {
        print_values(out, &(nb_column_values){.column = c->column, .count = c->value_count, .values = c->values});
    } else {
        fprintf(out, "statistic: %s", nb_claim_statistics[c->statistic]);
        if (c->sql) print_key(out, ", query", c->sql);
        if (c->query && c->query != nb_claim_queries) fprintf(out, ", query: %s", c->query->name);
        if (c->column) fprintf(out, ", over: %s", c->column);
    }
    if (c->series_count == 1) print_key(out, ", metric", c->series[0].metric.text);
    if (c->series_count == 2) {
        print_series(out, "x", &c->series[0]);
        print_series(out, "y", &c->series[1]);
    }
    print_where(out, &c->where);
    fputc('}', out);
}

static void print_expectation(FILE *out, const nb_claim *c)
{
    bool range = c->expectation != NB_EXPECT_EQUAL && c->expectation != NB_EXPECT_EQUAL_DIFFERENCE && isnan(c->within);
    if (c->order) return;
    fprintf(out, ", expect: {%s: %s", nb_claim_expectations[c->expectation], range ? "[" : "");
    print_number(out, c->given[0], "");
    if (range) print_number(out, c->given[1], ", ");
    if (!isnan(c->within)) print_number(out, c->within, ", within: ");
    fputs(range ? "]}" : "}", out);
}

static void print_names(FILE *out, const char *const *names)
{
    fputc('[', out);
    for (int i = 0; names[i]; i++) fprintf(out, "%s%s", i ? ", " : "", names[i]);
    fputc(']', out);
}

static void print_option(FILE *out, const nb_claim *c, const char *option)
{
    if (strcmp(option, "family") == 0 && !c->family) return;
    fprintf(out, ", %s: ", option);
    if (strcmp(option, "each") == 0) print_names(out, (const char *const *)c->each);
    if (strcmp(option, "confounded") == 0) print_names(out, (const char *const *)c->confounded);
    if (strcmp(option, "failures") == 0) fputs(nb_claim_failure_words[c->failures], out);
    if (strcmp(option, "confidence") == 0) print_number(out, c->confidence, "");
    if (strcmp(option, "family") == 0) fputs(c->family, out);
    if (strcmp(option, "smallest") == 0) print_number(out, c->smallest, "");
}

static nb_status print_claim(FILE *out, const void *what, nb_ctx *ctx)
{
    const nb_claim *c = what;
    (void)ctx;
    fputc('{', out);
    print_key(out, "id", c->id);
    print_key(out, ", says", c->says);
    if (*c->source) print_key(out, ", source", c->source);
    if (c->untested) {
        print_key(out, ", untested", c->untested);
    } else {
        print_body(out, c);
        print_expectation(out, c);
    }
    for (const char *const *option = all_options; *option; option++)
        if (nb_claim_takes(c, *option)) print_option(out, c, *option);
    fputc('}', out);
    return NB_OK;
}

nb_status nb_claim_describe(nb_claim *claim, nb_ctx *ctx)
{
    return nb_print_text(print_claim, claim, &claim->text, ctx);
}
