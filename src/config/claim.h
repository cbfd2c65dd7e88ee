/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claim.h - a claim about an experiment's rows, as data: a statement, its source, what is compared or measured, and
 * what is expected. report/claims.h tests it on the rows. */
#ifndef NB_CLAIM_H
#define NB_CLAIM_H

#include "base/mistakes.h"
#include "base/range.h"
#include "components/component.h"

#include <stdio.h>

typedef enum {
    NB_CLAIM_COMPARE,   /* compares values[0] of the column with values[1] */
    NB_CLAIM_MEASURE,   /* measures the metric itself */
    NB_CLAIM_ORDER,     /* the metric grows from each value to the next */
    NB_CLAIM_SLOPE,     /* slope of log metric against the log of the column, in each head */
    NB_CLAIM_CORRELATE, /* correlation of two metrics over the values of the column, in each head */
    NB_CLAIM_UNTESTED,  /* these rows cannot test it */
    NB_CLAIM_FORMS
} nb_claim_form;
extern const char *const nb_claim_forms[NB_CLAIM_FORMS + 1]; /* YAML keys */

typedef enum {
    NB_EXPECT_RATIO,
    NB_EXPECT_DIFFERENCE,
    NB_EXPECT_WINS, /* the share of sources with A below B */
    NB_EXPECT_EQUAL,
    NB_EXPECT_EQUAL_DIFFERENCE,
    NB_EXPECT_VALUE,
    NB_EXPECT_SLOPE,
    NB_EXPECT_CORRELATION,
    NB_EXPECT_NOTHING
} nb_claim_expectation;
extern const char *const nb_claim_expectations[NB_EXPECT_NOTHING + 1];

typedef enum { NB_CLAIM_MEAN, NB_CLAIM_MEDIAN, NB_CLAIM_GEOMETRIC_MEAN } nb_claim_statistic;
extern const char *const nb_claim_statistics[];

/* Says what to do with a pair of rows of which one has no result (nb_failures). */
typedef enum { NB_CLAIM_DROP, NB_CLAIM_WORST } nb_claim_failures;
extern const char *const nb_claim_failure_words[];

/* Values of a column, as a rule or a claim names them: what the text means is in the member of the column's type. */
typedef struct {
    const char *text; /* as for --where; for a column of integers a number or a range */
    nb_place place;
    int part_count; /* components that it stands for */
    nb_choice_part *parts;
    nb_range range;
    double real;
    int word; /* index of an axis's word */
} nb_named_value;

typedef struct { /* rows with one of these values in the column */
    const char *column;
    int count, capacity;
    nb_named_value *values;
} nb_column_values;

typedef struct { /* rows that meet all of them */
    int count;
    nb_column_values *items;
} nb_conditions;

typedef struct {
    nb_named_value metric;
    nb_conditions where; /* added to the claim's own */
} nb_claim_series;

typedef struct {
    const char *id, *says, *source; /* "" if it gives no source */
    nb_place place;
    nb_claim_form form;
    const char *column; /* the values' column; slope: the integers that the metric is plotted against; measure: NULL */
    int value_count;
    nb_named_value *values; /* compare, order */
    nb_conditions where;
    int series_count; /* 1; 2 to correlate; 0: untested */
    nb_claim_series series[2];
    int statistic; /* nb_claim_statistic */

    nb_claim_expectation expectation;
    double given[2];  /* as written: the ends of a range, or a number; NaN: open or missing */
    double within;    /* tolerance of a number; NaN: a range was given */
    double low, high; /* the resulting interval; infinite where it is open */

    const char **each, **confounded; /* columns; end with NULL */
    int failures;                    /* nb_claim_failures */
    double confidence;
    double smallest;      /* smallest ratio that matters; 1: every difference does */
    const char *untested; /* why it is not tested; NULL: it is */
    const char *text;     /* the claim as YAML on one line, with every option written out */
} nb_claim;

/* True if an option applies to a claim of this form and expectation. */
bool nb_claim_takes(const nb_claim *claim, const char *option);

/* Sets claim->text. */
nb_status nb_claim_describe(nb_claim *claim, nb_ctx *ctx);

/* Prints "{COLUMN: [A, B], COLUMN: [C]}". */
void nb_conditions_print(FILE *out, const nb_conditions *conditions);

#endif
