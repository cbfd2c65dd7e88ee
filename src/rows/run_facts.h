/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_facts.h - what commands ask of the rows of any run. */
#ifndef NB_RUN_FACTS_H
#define NB_RUN_FACTS_H

#include "rows/relation.h"

/* Finds the experiment of the first row; NULL: there are none. */
nb_status nb_relation_experiment(const nb_relation *relation, const char **name, nb_ctx *ctx);

/* Says how many rows have been run, where some have not: "only 12 of 40 rows have been run". NULL: all have. */
nb_status nb_relation_unfinished(const nb_relation *relation, const char **text, nb_ctx *ctx);

/* Finds the seed of the run's first row. */
nb_status nb_relation_seed(const nb_relation *relation, long long *seed, nb_ctx *ctx);

/* The numbers of landmarks of the rows up to `most`, ascending. */
nb_status nb_relation_sizes(const nb_relation *relation, int most, nb_grid *sizes, nb_ctx *ctx);

/* Each stratum, by its id. */
enum { NB_STRATUM_NAME, NB_STRATUM_LABEL, NB_STRATUM_DRAWN };
nb_status nb_relation_strata(const nb_relation *relation, nb_grid *strata, nb_ctx *ctx);

#endif
