/* SPDX-License-Identifier: GPL-3.0-or-later */
/* standings.h - methods by source: in how many one has less than another, and how they rank (Demsar, J. Mach. Learn.
 * Res. 7, 2006). Two methods meet in a source where there are contrasts of them; whose mean is below 0 has less, and is
 * what has the lesser mean over heads of the mean log over trials. Those whose errors differ by no more than rounding
 * are tied. */
#ifndef NB_STANDINGS_H
#define NB_STANDINGS_H

#include "report/compare.h"
#include "statistics/friedman.h"

#define NB_STANDING_ALPHA 0.05

typedef struct {
    const char *by, *metric; /* as nb_contrast_terms */
    bool difference;
} nb_standing_terms;

typedef struct {            /* of a method against another; of itself all 0 */
    int below, above, ties; /* sources; below: the first has less */
    const char *refusal;    /* why they are not compared; NULL: they are */
    double sign_p, holm_p;  /* Holm's is over all pairs of the standing; NaN of fewer than NB_LEAST_SOURCES */
} nb_meeting;

typedef struct {
    int first, last; /* places in `order` */
} nb_rank_group;

typedef struct {
    int setting, stratum;        /* NB_OVER_STRATA: sources of all strata, each counting as one */
    int count;                   /* methods that are planned, of two or more; places among them are what follows */
    const int *methods;          /* their codes, ascending */
    const int *missing;          /* by method: planned sources in which it has no result */
    const char *const *refusals; /* by method: why it is not ranked though it has results; NULL: it may be */
    const nb_meeting *meetings;  /* a * count + b */
    int planned;                 /* sources */

    /* The ranks of those with results, over the sources in which all of them meet. */
    int ranked, sources, left_out_count;
    const int *order;    /* the least mean rank first */
    const double *ranks; /* by method; NaN: it is not ranked */
    const int *left_out; /* numbers of sources */
    nb_friedman test;    /* NaN, and no groups, of fewer than NB_LEAST_SOURCES sources or two methods */
    double difference;   /* Nemenyi's critical one */
    int group_count;     /* of ranks that differ by no more: the largest, in order of their first; each is in one */
    const nb_rank_group *groups;
} nb_ranking;

typedef struct {
    nb_contrasts contrasts; /* values, settings and strata alone */
    nb_answer sources;      /* by number: stratum, name */
    int planned;
    nb_planned *rows;
    int count;
    nb_ranking *items; /* by setting; first over strata, where it has several, then by stratum */
} nb_standings;

nb_status nb_standings_make(nb_relation *relation, const nb_standing_terms *terms, nb_standings *standings,
                            nb_ctx *ctx);

/* The groups of a place in `order`: from *first to *last. */
void nb_standing_groups(const nb_ranking *standing, int place, int *first, int *last);

#endif
