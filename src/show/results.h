/* SPDX-License-Identifier: GPL-3.0-or-later */
/* results.h - the results of a run, and what all studies print and write about theirs: the tables and figures that
   name the study. */
#ifndef NB_RESULTS_H
#define NB_RESULTS_H

#include "base/gnuplot.h"
#include "show/page.h"
#include "rows/relation.h"
#include "run/plan.h"

typedef struct nb_results {
    const char *folder; /* of the run */
    const nb_plan *plan;
    nb_relation *relation; /* of the rows of the plan, or of a part of it, with the config's baseline */
    bool part;             /* of a shard: it has no figures */
    nb_gnuplots *gnuplots; /* that draw figures; NULL: only their data and scripts */
} nb_results;

/* Writes the study's tables that a run's folder has as files and, unless page is NULL, adds what the run has to say:
 * how its methods compare with the baseline or, where none is compared, the study's first table. */
nb_status nb_results_tell(const nb_results *results, nb_page *page, nb_ctx *ctx);

/* Starts to draw the figures of the config, and those that were drawn of earlier rows, except those that repeat a part
 * of the run. */
nb_status nb_results_draw(const nb_results *results, nb_ctx *ctx);

#endif
