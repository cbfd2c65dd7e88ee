/* SPDX-License-Identifier: GPL-3.0-or-later */
/* summary.h - medians and quantiles of the error, by problem, strategy, core and
 * number of landmarks. */
#ifndef NB_SUMMARY_H
#define NB_SUMMARY_H

#include "base/ctx.h"
#include "studies/error/study.h"

typedef struct {              /* over the heads and trials whose status is ok */
    int count, planned;       /* planned = 0: a hole, where the experiment is no full product */
    int noise;                /* of the count: values that are rounding noise */
    double median, low, high; /* quantiles 0.5, 0.1, 0.9; NaN where count = 0 */
} nb_statistic;

typedef struct {                  /* one problem under one kernel */
    const char *problem, *kernel; /* canonical */
    const char *rows;             /* all, or sample(k) */
    const char *label;
    bool one_set; /* a kernel of one point set: its pairing says nothing of a strategy */
    int heads, last_head, trials, n, d;
} nb_panel;

typedef struct {                              /* one way to pick landmarks and to form factors */
    const char *strategy, *pairing, *factors; /* pairing: NULL where only kernels of one point set have it */
    const char *name;                         /* of the strategy alone, for people */
    bool oracle;
    const char *label; /* that it is an oracle, and a pairing that is not the run's, too */
} nb_variant;

typedef struct {
    const char *core;  /* canonical */
    const char *label; /* with all options */
    const char *brief; /* with those that are not the default */
} nb_core_label;

typedef struct {
    int panel_count, variant_count, core_count, landmark_count;
    nb_panel *panels;
    nb_variant *variants;
    nb_core_label *cores;
    const char *constant; /* the matrix of `baselines`, in a word */
    const char *pairing;  /* of what no label names; NULL: all have one, or none counts */
    int *landmarks;       /* ascending */
    nb_statistic *errors; /* nb_summary_error */
    nb_statistic *ratios; /* error with a core / error with the first core, on the same landmarks */
    nb_statistic *floors; /* nb_summary_level: by panel and landmarks; each head and trial once */
    nb_statistic *baselines;
    int row_count;
    const nb_error_row *rows; /* the caller's */
    double *row_ratios;       /* of each row, what `ratios` are medians of; NaN where nothing is compared */
} nb_summary;

nb_status nb_summary_make(int count, const nb_error_row *rows, nb_summary *summary, nb_ctx *ctx);

/* Where a row belongs. */
typedef struct {
    int panel, variant, core, landmark;
} nb_summary_index;
nb_summary_index nb_summary_find(const nb_summary *s, const nb_error_row *row);

/* The variant, of any factors where these are NULL, and of any pairing where none has that
 * one, as under kernels of one point set; -1: there is none. */
int nb_summary_variant(const nb_summary *s, const char *strategy, const char *pairing, const char *factors);

bool nb_same_landmarks(const nb_error_row *a, const nb_error_row *b); /* these stand together, one row for each core */

/* Whether two variants are compared under a panel: their factors are the same, and their
 * pairing is, where it says something. */
bool nb_summary_peers(const nb_summary *s, int panel, int a, int b);

typedef enum { NB_WHOLE, NB_SUBSPACE } nb_part; /* error, error_subspace */

double nb_part_of(const nb_error_row *row, nb_part part); /* NaN where the row is not ok */

/* Whether it is not above the rounding to expect in it. A comparison of two such numbers
 * is none. */
bool nb_is_noise(const nb_error_row *row, nb_part part);

bool nb_statistic_is_noise(const nb_statistic *s); /* half of the values or more are */

/* How far a row's error is above the subspace part, which is the best core's on the same
 * landmarks, as a share of that; NaN where the row is not ok, and where the subspace part
 * is not known, or is rounding noise. */
double nb_above_best(const nb_error_row *row);

/* Sorts the values, none of which is NaN; .planned is their number too. */
nb_statistic nb_statistic_of(int count, double *values);

/* The place in errors[] and ratios[]; in floors[] and baselines[]. */
int nb_summary_cell(const nb_summary *s, int panel, int variant, int core, int landmark);
int nb_summary_level(const nb_summary *s, int panel, int landmark);

#endif
