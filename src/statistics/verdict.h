/* SPDX-License-Identifier: GPL-3.0-or-later */
/* verdict.h - what an estimate says, and why it may say nothing. Comparisons, claims and the stars of tables all have
 * it from here, so that one question has one answer. */
#ifndef NB_VERDICT_H
#define NB_VERDICT_H

#include "statistics/estimate.h"
#include "statistics/intervals.h"

typedef enum { NB_NO_VERDICT, NB_REFUSED, NB_EXACT, NB_BETTER, NB_WORSE, NB_EQUIVALENT, NB_UNDECIDED } nb_verdict;
extern const char *const nb_verdict_names[];

#define NB_USUAL_MARGIN 1.02 /* ratios up to this do not matter, unless told otherwise */

typedef struct {            /* what an estimate is made of */
    const char *refusal;    /* why there is nothing to estimate; NULL: there is */
    const char *unfinished; /* which rows have not been run yet; NULL: all have */
    const char *counted;    /* what `found` and `missing` count: "pairs" */
    const char *empty;      /* how to say that none has a result: "no pair has a result" */
    int found, missing;     /* with a result, without one */
    int sources;
    int infinite;                  /* values that are not finite; 0 where these do no harm */
    bool ratios;                   /* values are logarithms of ratios */
    int noise;                     /* left out: no more than their rounding noise */
    int exact, exact_baseline;     /* left out: the method's, the baseline's result is exact */
    int skipped;                   /* of the missing: refused by what they need */
    int untimed, untimed_baseline; /* rows of the method, of the baseline, that are well and have no time */
    int drawn_trials;              /* see nb_drawn_trials */
    bool has_interval;
    const char *no_interval; /* why it has none */
} nb_evidence;

/* Finds *why: the first reason for which there is no verdict, in words; NULL: there may be one. */
nb_status nb_find_reason(const nb_evidence *evidence, const char **why, nb_ctx *ctx);
/* Returns whether that reason is that the method's rows, which are well, have not been timed. */
bool nb_lacks_times(const nb_evidence *evidence);

typedef enum { NB_FOUND_INSIDE, NB_FOUND_OUTSIDE, NB_FOUND_SAME, NB_FOUND_NOTHING } nb_finding;

typedef struct {
    nb_interval interval, expected;
    nb_interval same; /* within which nothing differs; NaN: that is not asked */
    bool below;       /* the upper end of what is expected is not expected itself */
} nb_test;

/* Finds where the interval lies: inside of what is expected, or outside; else whether it lies where nothing differs.
 *
 * One interval decides: where it covers the true value no finding is wrong, so findings of intervals that hold together
 * (nb_joint_confidence) hold together. Holm's steps on the smaller p of "no difference" and "a difference that matters"
 * would not do: methods without a difference that are rightly found the same make it easier to find the next such one
 * different (tests/long/estimates.c). */
nb_finding nb_find(const nb_test *test);

/* Returns what it is to have less than the baseline, or not less, where `more` is better or not. */
nb_verdict nb_direction(bool less, bool more);

/* Judges whether a method has less than the baseline, or more where `more` is better: *verdict, and *why there is none
 * (NULL: there is). `interval`: of the log ratio or the difference; what is within -margin ... margin is the same. */
nb_status nb_judge(nb_interval interval, double margin, const nb_evidence *evidence, bool more, nb_verdict *verdict,
                   const char **why, nb_ctx *ctx);

#endif
