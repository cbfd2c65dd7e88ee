/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rounds.h - times several things in turns: each once in every round, in random order, so that drifts (clock rates,
 * other programs) hit all alike. */
#ifndef NB_FORWARD_ROUNDS_H
#define NB_FORWARD_ROUNDS_H

#include "run/pending.h"

/* Describes what is timed. begin and end may be NULL; `pending` too: then nobody is told which rows of the plan (first
 * ... last - 1) are at hand. */
typedef struct {
    void *self;
    nb_status (*begin)(void *self, nb_ctx *ctx); /* before each span, not timed */
    nb_status (*pass)(void *self, nb_ctx *ctx);  /* timed: once, or several times in a row */
    nb_status (*end)(void *self, nb_ctx *ctx);   /* after each span, not timed */
    /* The seconds of the last pass by another clock than this process's; a span is then one pass. NULL: this one's. */
    double (*seconds)(const void *self);
    const nb_pending *pending;
    int phase, first, last;
} nb_contestant;

typedef struct {
    double budget_s;       /* time for all rounds; when it is spent no round begins, beyond the least number */
    int rounds;            /* number of rounds; 0: until all medians are known well enough, or the budget is spent */
    int least, least_long; /* least number of rounds; least_long: if a pass takes more than NB_LONG_S */
    double narrow;         /* largest relative width of a median's interval that is good enough */
    double batch_s;        /* a shorter pass is repeated within a span until the span takes this long */
    double alike;          /* a pass counts as warm if the one before took as long, within this part of it */
} nb_round_terms;
extern const nb_round_terms nb_round_usual; /* the usual terms, without rounds and budget */
#define NB_LONG_S 1.0

typedef struct {
    double first_s;   /* seconds of the very first pass */
    int batch;        /* passes in a span */
    int count;        /* spans */
    double *s;        /* count: seconds of a pass in each, the mean of its batch */
    nb_status status; /* of the first failed pass, after which this contestant is skipped; NB_OK if none failed */
    const char *why;  /* its message */
} nb_timed;

enum { NB_MOST_ROUNDS = 1000 };

/* Warms up, then times. Fills the caller's `timed` (count); ctx owns the arrays. Fails only with NB_EHOST. */
nb_status nb_rounds_run(int count, const nb_contestant *contestants, const nb_round_terms *terms, gsl_rng *rng,
                        nb_timed *timed, nb_ctx *ctx);

typedef struct {
    double median, low, high; /* median of the spans; its 95 % interval by order statistics, NaN for fewer than 6 */
    double least, p10, p90;
    int middle; /* the span with the largest time not above the median; -1: none */
} nb_timing;
nb_status nb_timing_of(const nb_timed *timed, nb_timing *timing, nb_ctx *ctx);

#endif
