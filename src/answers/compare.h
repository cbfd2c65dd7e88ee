/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare.h - methods against a baseline, with intervals and verdicts: contrasts, estimated by stratum and over strata,
 * with intervals and verdicts that hold together for all lines of one stratum, or all over strata: Bonferroni's, from
 * statistics/multiple.h. */
#ifndef NB_COMPARE_H
#define NB_COMPARE_H

#include "answers/contrast.h"
#include "rows/grid.h"
#include "statistics/verdict.h"

enum {
    NB_OVER_STRATA = -1, /* the stratum of what is over all */
    NB_BOOTSTRAPS = 2000 /* resamples */
};

typedef struct {
    nb_contrast_terms contrast;
    double confidence; /* 0.95 */
    double margin;     /* on the scale of the contrast, > 0: what is smaller is the same */
    int resamples;
    long long seed;
    const char *by_hand; /* options that chose rows, or what is pooled, not the experiment; NULL: none */
} nb_compare_terms;

typedef struct {
    const nb_contrasts *contrasts; /* those of the comparison */
    const nb_contrast *contrast;
    int stratum;
    const nb_pair_counts *pairs;
    int trials;           /* in which all sources have a pair */
    int drawn_trials;     /* likewise, of what is drawn, see nb_drawn_trials */
    nb_estimate estimate; /* of the log ratio or the difference, by itself */
    int family;           /* verdicts that hold together: all in the stratum, or over strata, of this comparison and of
                             that by error beside it */
    nb_interval joint;    /* the estimate's, such that those of the family hold together; it decides */
    nb_verdict verdict;   /* better: less of the metric, or more of one whose column says so; exact: all rows are,
                                     where the metric's column tells */
    bool untimed;         /* NO_VERDICT: since its rows, which are well, have not been timed */
    double more;          /* UNDECIDED: about how many more sources would decide; NaN: cannot be said */
    const char *why;      /* NO_VERDICT, REFUSED; UNDECIDED: why that is not said, or NULL */
    const char *conflict; /* of one model: where its heads surely differ in sign, see nb_find_head_conflict; or NULL */
    const char *change;   /* over all, where a column is pooled: at which of its values the means' intervals lie on both
                           sides of none, "0.5 at landmarks = 8, 2 at landmarks = 64"; or NULL */
    const char *far_trial; /* where a trial is far from the others by more than the margin, "0.62 in trial 4, where the
                              median of 10 trials is 1.02", the farthest one; or NULL */
} nb_compared;

typedef struct nb_comparison {
    int count; /* by setting, baseline and value; of each first what is over strata, then the strata that it has */
    nb_compared *items;
    const nb_contrasts *contrasts;
    nb_relation *relation;
    const nb_compare_terms *terms;
    const struct nb_comparison *by_error; /* the same methods by a measure of error; NULL: none */
} nb_comparison;

/* Compares by terms, which must outlive the comparison, and may leave open
 *   the metric (NULL): the study's usual one or, where no row has that, the one beside it; where rows have both,
 *     methods are compared by each of them
 *   the baseline (-1): the relation's (nb_relation_take_baseline); of a column in which the study has none, the first
 *     value. By a metric that tells which rows are exact, the first value that has others stands for one that has none.
 */
nb_status nb_compare(nb_relation *relation, const nb_compare_terms *terms, nb_comparison *comparison, nb_ctx *ctx);

/* Compares the study's methods with the relation's baseline, as a run does at its end, and its report, which pools over
 * m (`pool` as nb_contrast_terms). Of nothing where the study has no methods to compare, or the rows fewer than two. */
nb_status nb_compare_methods(nb_relation *relation, int resamples, const char *pool, nb_comparison *comparison,
                             nb_ctx *ctx);

#endif
