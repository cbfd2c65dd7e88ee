/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replicates.h - what a statement about the rows of a frame may be generalised over: their sources, in strata. */
#ifndef NB_REPLICATES_H
#define NB_REPLICATES_H

#include "report/frame.h"

/* A row's stratum is its model; of generated data, the problem. Its source is the text, image or recording; of
 * generated data, the problem's trial; of rows that do not say, the problem, which names a file. */
typedef struct {
    int strata, sources;
    const char *const *names;        /* of the strata, in order of appearance */
    const char *const *labels;       /* of the strata, in tables: a model up to the first blank where that tells it from
                                        the others; a problem's label */
    const int *stratum;              /* by row */
    const int *source;               /* by row; sources of different strata have different numbers */
    const int *head;                 /* by row: its problem and head */
    const bool *generated;           /* by stratum: its data are drawn */
    const char *const *source_names; /* as rows have it; "trial N"; the problem */
    const int *stratum_of;           /* by source */
} nb_replicates;

nb_status nb_replicates_find(const nb_frame *frame, nb_replicates *found, nb_ctx *ctx);

#endif
