/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claim.h - what somebody claims of an experiment's rows, as data: a statement, where it is said, what is compared or
 * measured, and what is expected of it. report/claims.h says what the rows answer. */
#ifndef NB_CLAIM_H
#define NB_CLAIM_H

#include "base/mistakes.h"

typedef enum {
    NB_CLAIM_COMPARE,   /* values[0] of the column against values[1] */
    NB_CLAIM_MEASURE,   /* the metric itself */
    NB_CLAIM_ORDER,     /* each of the values has less of the metric than the next */
    NB_CLAIM_SLOPE,     /* of log metric against the log of the column, in each head */
    NB_CLAIM_CORRELATE, /* of two metrics, over the values of the column in each head */
    NB_CLAIM_UNTESTED,  /* it cannot be tested with these rows */
    NB_CLAIM_FORMS
} nb_claim_form;
extern const char *const nb_claim_forms[NB_CLAIM_FORMS + 1]; /* their keys */

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

/* What becomes of a pair of rows of which one has no result, see nb_failures. */
typedef enum { NB_CLAIM_DROP, NB_CLAIM_WORST } nb_claim_failures;
extern const char *const nb_claim_failure_words[];

typedef struct {
    const char *text; /* what --where takes; of a column of integers a number or a range */
    nb_place place;
} nb_claim_value;

typedef struct { /* rows with one of these values in the column */
    const char *column;
    int count;
    nb_claim_value *values;
} nb_claim_condition;

typedef struct { /* rows that meet all of them */
    int count;
    nb_claim_condition *items;
} nb_claim_where;

typedef struct {
    nb_claim_value metric;
    nb_claim_where where; /* apart from the claim's own */
} nb_claim_series;

typedef struct {
    const char *id, *says, *source; /* "" if it does not say where */
    nb_place place;
    nb_claim_form form;
    const char *column; /* of the values; slope: the integers that the metric goes with; measure: NULL */
    int value_count;
    nb_claim_value *values; /* compare, order */
    nb_claim_where where;
    int series_count; /* 1; 2 to correlate; 0: untested */
    nb_claim_series series[2];
    int statistic; /* nb_claim_statistic */

    nb_claim_expectation expectation;
    double given[2];  /* as written: the ends of a range, or a number; NaN: open, or none */
    double within;    /* of a number; NaN: a range was given */
    double low, high; /* what that means; infinite where it is open */

    const char **each, **confounded; /* columns; end with NULL */
    int failures;                    /* nb_claim_failures */
    double confidence;
    double smallest;      /* ratio; 1: no difference is too small to matter */
    const char *untested; /* why; NULL: it is tested */
    const char *text;     /* all of it as YAML on one line, with every option written out */
} nb_claim;

/* Whether an option means something for a claim of its form and expectation. */
bool nb_claim_takes(const nb_claim *claim, const char *option);

/* Sets claim->text. */
nb_status nb_claim_describe(nb_claim *claim, nb_ctx *ctx);

#endif
