/* SPDX-License-Identifier: GPL-3.0-or-later */
/* summary.h - the rows of a run by model, layer, n, side, k, tau and partition, and how far a measure spreads within
 * these. */
#ifndef NB_COHERENCE_SUMMARY_H
#define NB_COHERENCE_SUMMARY_H

#include "report/grid.h"
#include "report/replicates.h"
#include "studies/coherence/study.h"

typedef struct {
    nb_frame frame; /* with the stratum as a column of its own */
    nb_replicates replicates;
    nb_groups groups; /* of the rows that are ok */
    double *values;   /* room for one a row */
} nb_coherence_summary;

nb_status nb_coherence_summary_make(const nb_frame *frame, nb_coherence_summary *summary, nb_ctx *ctx);

/* Over the rows of a group that have a value: heads, and trials where there are several. */
typedef struct {
    int count, infinite; /* rows; those whose value is infinite */
    double mean, sd;     /* mean: infinite if any value is; sd: of the finite ones */
    double low, high;    /* 95 % t interval of the mean over sources, of which each counts once */
    double median, p10, p90;
} nb_spread;

/* Of a column of real numbers, or, `finite`, of its finite values alone. */
nb_status nb_coherence_spread(const nb_coherence_summary *summary, int group, const char *column, bool finite,
                              nb_spread *spread, nb_ctx *ctx);

int nb_coherence_sources(const nb_coherence_summary *summary, int group); /* how many it has */

/* The first cells of a line: model, layer, n, side, clusters, tau, partition, and the numbers of sources and rows. */
#define NB_COHERENCE_KEYS "model", "layer", "n", "side", "clusters", "tau", "partition", "sources", "rows"
enum { NB_COHERENCE_LABELS = 7 }; /* of these, those that tell rows apart */
nb_status nb_coherence_add_keys(const nb_coherence_summary *summary, int group, nb_grid *grid, nb_ctx *ctx);

/* Quantile of values in ascending order, of which the last may be infinite, by linear interpolation; NaN where there
 * are none. */
double nb_quantile(int count, const double *sorted, double p);

#endif
