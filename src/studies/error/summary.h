/* SPDX-License-Identifier: GPL-3.0-or-later */
/* summary.h - medians and quantiles of the error, by problem, strategy, core and
 * number of landmarks. */
#ifndef NB_SUMMARY_H
#define NB_SUMMARY_H

#include "report/frame.h"
#include "report/statistic.h"
#include "studies/error/study.h"

#define NB_ERROR_STUDY "error" /* its name, in the records of its figures and tables */

typedef struct
{ /* one problem under one kernel, or several files of heads of the same kind from one layer of a model */
    const char *problem, *kernel; /* canonical; problem: NULL of several files */
    const char *alike;            /* what its problems agree in */
    int problems, sources;
    const char *rows; /* all, or sample(k) */
    const char *label;
    bool one_set; /* a kernel of one set of points: its pairing says nothing about a strategy */
    bool rank_d;  /* S has factors with d rows */
    int heads, trials, n, d;
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

typedef struct { /* where a row belongs */
    int panel, variant, core, landmark;
    int head; /* of all heads of all problems */
} nb_summary_index;

/* Columns that a summary adds to its frame: the numbers of each row's panel, variant, core, landmarks, head and source
 * (report/replicates.h); nb_summary_cell and nb_summary_level of these. */
#define NB_OF_PANEL "panel number"
#define NB_OF_VARIANT "variant number"
#define NB_OF_CORE "core number"
#define NB_OF_LANDMARK "landmark number"
#define NB_OF_HEAD "head number"
#define NB_OF_CELL "cell number"
#define NB_OF_LEVEL "level number"
#define NB_OF_SOURCE "source number"

typedef struct {
    int panel_count, variant_count, core_count, landmark_count;
    nb_panel *panels;
    int problem_count;              /* of all panels */
    const char **problems, **alike; /* canonical, and what decides on the panel */
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
    const nb_error_row *rows;   /* the frame's */
    const nb_summary_index *at; /* by row */
    nb_frame frame;             /* the rows, with the columns above */
    nb_groups choices;          /* rows of the same landmarks, one for each core */
    double *row_ratios;         /* of each row, what `ratios` are medians of; NaN where nothing is compared */
} nb_summary;

/* `frame`: of rows that are nb_error_row; it must outlive the summary, which is made once for all that ask. */
nb_status nb_summary_make(const nb_frame *frame, nb_summary *summary, nb_ctx *ctx);

/* The variant, of any factors where these are NULL, and of any pairing where none has that
 * one, as under kernels of one point set; -1: there is none. */
int nb_summary_variant(const nb_summary *s, const char *strategy, const char *pairing, const char *factors);

/* Whether two variants are compared under a panel: their factors are the same, and their
 * pairing is, where it says something. */
bool nb_summary_peers(const nb_summary *s, int panel, int a, int b);

typedef enum { NB_WHOLE, NB_SUBSPACE } nb_part; /* error, error_subspace */

double nb_part_of(const nb_error_row *row, nb_part part); /* NaN where the row is not ok */

/* Whether it is not above the rounding to expect in it. Two such numbers cannot be compared. */
bool nb_is_noise(const nb_error_row *row, nb_part part);

/* How far a row's error is above the subspace part, which is the best core's on the same
 * landmarks, as a share of that; NaN where the row is not ok, and where the subspace part
 * is not known, or is rounding noise. */
double nb_above_best(const nb_error_row *row);

/* The place in errors[] and ratios[]; in floors[] and baselines[]. */
int nb_summary_cell(const nb_summary *s, int panel, int variant, int core, int landmark);
int nb_summary_level(const nb_summary *s, int panel, int landmark);

#endif
