/* SPDX-License-Identifier: GPL-3.0-or-later */
/* suite_measure.h - the experiments of the command suite, which run in folders beside a result's file. */
#ifndef NB_SUITE_MEASURE_H
#define NB_SUITE_MEASURE_H

#include "rows/relation.h"
#include "suite/suite.h"

/* Runs what is missing of an experiment, and reads its rows; rows of another program are measured again. *exit: that of
 * `run`, but 0 where rows alone failed; there is a relation if it is 0. */
nb_status nb_measure_experiment(const char *experiment, const char *rows, const char *jobs, nb_relation **relation,
                                int *exit, nb_ctx *ctx);

typedef struct {
    const char *jobs;
    double limit_s; /* for one question to a model */
} nb_block_terms;

/* Measure a block of the result, which was read from `path`, and write it there. */
nb_status nb_measure_damage(const nb_suite_result *result, const char *program, const nb_block_terms *terms,
                            const char *path, int *exit, nb_ctx *ctx);
nb_status nb_measure_times(const nb_suite_result *result, const nb_block_terms *terms, const char *path, int *exit,
                           nb_ctx *ctx);

#endif
