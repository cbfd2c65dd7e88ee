/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rounds.h - several things timed in turns: in each round each of them once, in random order, so that what drifts
 * meanwhile (clock rates, other programs) hits all alike. */
#ifndef NB_FORWARD_ROUNDS_H
#define NB_FORWARD_ROUNDS_H

#include "base/ctx.h"

/* What is timed. begin and end may be NULL. */
typedef struct {
    void *self;
    nb_status (*begin)(void *self, nb_ctx *ctx); /* before each span, not timed */
    nb_status (*pass)(void *self, nb_ctx *ctx);  /* timed: once, or several times in a row */
    nb_status (*end)(void *self, nb_ctx *ctx);   /* after each span, not timed */
} nb_contestant;

typedef struct {
    double budget_s;       /* of all rounds together; beyond it no round begins, but for the least number */
    int rounds;            /* so many; 0: until all medians are known well enough, or the budget is spent */
    int least, least_long; /* rounds; least_long: where a pass takes more than NB_LONG_S */
    double narrow;         /* a median is known well enough where its interval has at most this width, relative to it */
    double batch_s;        /* a pass that takes less is repeated within a span until that takes as long */
    double alike;          /* a pass is warm where the one before took as long, within this part of it */
} nb_round_terms;
extern const nb_round_terms nb_round_usual; /* without rounds and budget */
#define NB_LONG_S 1.0

typedef struct {
    double first_s;   /* its very first pass */
    int batch;        /* passes of a span */
    int count;        /* spans */
    double *s;        /* count: seconds of a pass in each, the mean of its batch */
    nb_status status; /* of the pass that failed, after which it was left out; NB_OK: none has */
    const char *why;  /* its message */
} nb_timed;

enum { NB_MOST_ROUNDS = 1000 };

/* Warms up, then times. The caller's `timed` (count) is filled; arrays are ctx's. Fails with NB_EHOST alone. */
nb_status nb_rounds_run(int count, const nb_contestant *contestants, const nb_round_terms *terms, gsl_rng *rng,
                        nb_timed *timed, nb_ctx *ctx);

typedef struct {
    double median, low,
        high; /* of the spans; the 95 % interval of the median by order statistics, NaN of fewer than 6 */
    double least, p10, p90;
    int middle; /* the span whose time is the largest that is not above the median; -1: there is none */
} nb_timing;
nb_status nb_timing_of(const nb_timed *timed, nb_timing *timing, nb_ctx *ctx);

#endif
