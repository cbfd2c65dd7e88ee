/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pairs.h - a against b: pairs of results that differ in what a question compares and in nothing else, and what an
 * estimate is made of. Trials of a head are averaged, on the scale of the comparison; heads are the units, see
 * estimate.h. What sources have in common by the random numbers that they share is kept apart, see crossed.h. */
#ifndef NB_PAIRS_H
#define NB_PAIRS_H

#include "statistics/crossed.h"
#include "statistics/noise.h"
#include "statistics/sources.h"

typedef struct {
    int stratum, source, head, trial;
    int same;                  /* of a head: which rows agree, but for the trial */
    nb_noisy x, y;             /* results of a and b */
    bool skipped_x, skipped_y; /* no result, refused by what it needs */
    bool untimed_x, untimed_y; /* no result, since its row was not timed */
    bool exact_x, exact_y;     /* a result that is exact but for rounding */
    bool disturbed;            /* a time that other work disturbed, of one of them */
    bool shares;               /* another trial may give another result, and its luck is that of all sources */
} nb_row_pair;

typedef enum {
    NB_FAILURES_DROP, /* a pair of which one row has no result does not count */
    NB_FAILURES_WORST /* it counts as the largest difference seen, against the method that has none */
} nb_failures;

typedef struct {
    bool difference; /* on the scale x - y; else log(x / y), of results from 0 */
    bool more;       /* a larger result is the better one */
    nb_failures failures;
} nb_pair_terms;

typedef struct {   /* of pairs of rows that are planned for both */
    int pairs;     /* both have a result */
    int ties;      /* of these: they differ by no more than their rounding noise */
    int noise;     /* both have one that is not above its rounding noise, and so says nothing: not among the pairs */
    int disturbed; /* of the pairs: other work disturbed the time of one */
    int exact, exact_baseline;     /* both have one, and a's, b's is exact: not among the pairs */
    int missing, missing_baseline; /* a alone, b alone has none */
    int skipped, skipped_baseline; /* of the missing: refused by what they need, and no failure */
    int untimed, untimed_baseline; /* a, b has none, since its row was not timed */
    int neither;                   /* has a result */
} nb_pair_counts;

typedef struct {
    int unit_count;
    nb_unit_value *units;    /* a's value against b's: below 0 it is less */
    int *heads;              /* of the units */
    nb_pair_counts *counts;  /* of each stratum, then of all */
    nb_common_error *common; /* likewise: what trials draw alike for all sources */
    bool *shares;            /* likewise: whether sources share draws, see nb_drawn_trials */
    int crossed_count;
    nb_crossed_value *crossed; /* the pairs by source and trial, which that follows from */
    int *crossed_heads;        /* their heads */
} nb_paired;

/* Makes the units of pairs; sorts them. */
nb_status nb_pairs_unite(int count, nb_row_pair *pairs, int strata, const nb_pair_terms *terms, nb_paired *paired,
                         nb_ctx *ctx);

#endif
