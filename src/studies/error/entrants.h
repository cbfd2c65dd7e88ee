/* SPDX-License-Identifier: GPL-3.0-or-later */
/* entrants.h - what tables compare on the same landmarks: each core, and oracles that take the best of several. */
#ifndef NB_ENTRANTS_H
#define NB_ENTRANTS_H

#include "report/grid.h"
#include "report/pairs.h"
#include "studies/error/summary.h"
#include "studies/error/sweeps.h"

typedef struct {
    const char *label;
    const char *core; /* canonical, of one; else the label */
    bool oracle;      /* looks at all of S, or is the best of several by the errors that are compared */
    bool usual;       /* no setting of a sweep but the standard one */
    int count;        /* of the cores whose best it is; 0: the best core of F X B, which is the subspace part */
    const int *cores;
} nb_entrant;

typedef struct {
    nb_summary summary;
    nb_sweeps sweeps;
    nb_pivot choices; /* of landmarks, in each trial, against cores: what is the same in all trials stands in each */
    int count;
    nb_entrant *of;
} nb_entrants;

/* Every core of the run in its order; the best setting of each component that is swept, but over the
 * rows that it looks at, of which the most are the best; the best of all that act on each singular value
 * of A alone, where there are several such components; and the best core of F X B. */
nb_status nb_entrants_find(const nb_frame *frame, nb_entrants *entrants, nb_ctx *ctx);

/* The row of a core in a choice of landmarks; NULL: there is none, or it is not ok. */
const nb_error_row *nb_entrants_row(const nb_entrants *e, int core, int choice);

/* How far the entrant's error is above the best core's of F X B, as a share of that; NaN where it is not known. */
double nb_entrant_above(const nb_entrants *e, int entrant, int choice);
/* The same on the rows of S that the core has not looked at; NaN of oracles. */
double nb_entrant_unseen(const nb_entrants *e, int entrant, int choice);
/* The error of the entrant; NaN where there is none, or it is rounding noise. */
double nb_entrant_error(const nb_entrants *e, int entrant, int choice);

/* Choices that belong together. */
typedef enum { NB_ALL_CHOICES, NB_OF_M, NB_OF_PROBLEM, NB_OF_SHARE } nb_subset_kind;
typedef struct {
    nb_subset_kind kind;
    int number;        /* of the m, of the panel; 1: 16 m is n or more, 0: less */
    const char *by;    /* all, landmarks, problem, 16m/n */
    const char *value; /* which, as text */
} nb_subset;
nb_status nb_subsets_find(const nb_entrants *e, int *count, nb_subset **subsets, nb_ctx *ctx);
bool nb_subset_holds(const nb_entrants *e, const nb_subset *subset, int choice);

/* Three cells: median, and quantiles 0.1 and 0.9. */
nb_status nb_grid_statistic(nb_grid *grid, const char *format, const nb_statistic *statistic);

#endif
