/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study.h - the coherence study, which measures whether the leverage of queries or keys gathers in clusters. A row is
 * one (clusters, partition, tau) on one side of one head in one trial. */
#ifndef NB_COHERENCE_STUDY_H
#define NB_COHERENCE_STUDY_H

#include "run/plan.h"
#include "run/run_study.h"
#include "studies/coherence/measure.h"

/* The study's axes, in the order of its table. */
typedef enum {
    NB_COHERENCE_PROBLEM,
    NB_COHERENCE_SIDE,
    NB_COHERENCE_CLUSTERS,
    NB_COHERENCE_PARTITION,
    NB_COHERENCE_TAU
} nb_coherence_axis;

enum { NB_OF_QUERIES, NB_OF_KEYS }; /* nb_coherence_sides */
extern const char *const nb_coherence_sides[];

/* The columns of a row, in the order of their declaration in columns.c. */
typedef struct {
    NB_ROW_FIRST
    const char *side, *partition;
    int clusters;
    double tau;
    nb_coherence measures;
} nb_coherence_row;

extern const nb_column nb_coherence_columns[];

enum { NB_COHERENCE_DRAWS = 10 }; /* draws of k random tokens; error_uniform2 is their mean */

/* Members of nb_run_study. */
nb_status nb_coherence_run(const nb_plan *plan, int scene, const bool *pending, const nb_sink *sink, nb_ctx *ctx);
nb_cost nb_coherence_cost(const nb_plan *plan, const nb_unit *unit, const bool *pending);

/* Numbers of the study's phases (nb_phase). */
typedef enum {
    NB_COHERENCE_AT_DATA = NB_AT_START + 1,
    NB_COHERENCE_AT_PARTITION,
    NB_COHERENCE_AT_MEASURE
} nb_coherence_phase;

#endif
