/* SPDX-License-Identifier: GPL-3.0-or-later */
/* results.h - what a study is handed when it tells of a run. */
#ifndef NB_RESULTS_H
#define NB_RESULTS_H

#include "components/row.h"
#include "run/plan.h"

typedef struct nb_results {
    const char *folder; /* of the run */
    const nb_plan *plan;
    nb_row_list rows; /* of the plan, or of a part of it */
    bool part;        /* of a shard: it has no figures */
    bool draw;        /* figures, not only their data and scripts */
} nb_results;

#endif
