/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims.h - what the rows of a run say of an experiment's claims.
 *
 * The interval of an answer is over sources (statistics/estimate.h), at the claim's confidence, 1 - alpha.
 * statistics/verdict.h finds where it lies, which is called
 *     reproduced    it lies within what is expected
 *     refuted       it lies outside
 *     equivalent    neither, and the ratio's interval lies within 1 / smallest ... smallest
 *     undecided     neither
 *     void          the rows cannot tell: not all have been run, too few sources, too many missing, not comparable
 * A claim with several parts (`each`, or steps of an order) is reproduced if each part is, and refuted if one is. The
 * intervals of k parts hold together at the claim's confidence, each at 1 - alpha / k (Bonferroni); k counts the
 * claim's own parts or, where it names a family, those of all claims of that. */
#ifndef NB_CLAIMS_H
#define NB_CLAIMS_H

#include "config/config.h"
#include "rows/columns.h"
#include "rows/relation.h"
#include "rows/grid.h"

typedef enum {
    NB_CLAIM_IS_REPRODUCED,
    NB_CLAIM_IS_REFUTED,
    NB_CLAIM_IS_EQUIVALENT,
    NB_CLAIM_IS_UNDECIDED,
    NB_CLAIM_IS_VOID,
    NB_CLAIM_IS_UNTESTED,
    NB_CLAIM_VERDICTS
} nb_claim_verdict;
extern const char *const nb_claim_verdicts[NB_CLAIM_VERDICTS];

typedef struct nb_claim_answer {
    const char *name;  /* of the part, or of the model; NULL: the claim has one part */
    const char *label; /* of the model, in tables */
    nb_claim_verdict verdict;
    double estimate, low, high; /* on the scale of the expectation; NaN: not known */
    int sources, heads;
    int family;                 /* intervals that hold together, k */
    int disturbed, timed;       /* pairs or rows of which other work disturbed a time, of so many; over all parts */
    nb_disturbance disturbance; /* by whom; who NULL: none is */
    double more;                /* UNDECIDED: about how many more sources would decide; NaN: cannot be said */
    double slack; /* REPRODUCED, REFUTED: how far an end of what is expected may move, towards the interval, before the
                     verdict changes, on the scale of the expectation; else NaN */
    const char *why; /* VOID, UNTESTED; UNDECIDED: what else would decide, or NULL; NULL for the others */
    int model_count; /* of a model: 0, and no verdict */
    struct nb_claim_answer *models;
} nb_claim_answer;

typedef struct {
    const nb_claim *claim;
    nb_claim_answer answer; /* of several parts, that of the one that decides, with the verdict of all */
    int part_count;         /* 0: there is one */
    nb_claim_answer *parts;
} nb_claim_result;

typedef struct { /* of one run */
    const nb_relation *relation;
    const char *experiment;
    int count;
    const nb_claim_result *results;
} nb_claim_results;

/* Tests the claims on the run's rows. They must outlive the results. */
nb_status nb_claims_ask(nb_relation *relation, int count, const nb_claim *claims, nb_claim_results *results,
                        nb_ctx *ctx);

#endif
