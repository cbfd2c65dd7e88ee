/* SPDX-License-Identifier: GPL-3.0-or-later */
/* summary.h - the rows of a run by model, layer, n, side, k, tau and partition. */
#ifndef NB_COHERENCE_SUMMARY_H
#define NB_COHERENCE_SUMMARY_H

#include "report/frame.h"
#include "report/replicates.h"
#include "studies/coherence/study.h"

typedef struct {
    nb_frame frame; /* with the stratum as a column of its own */
    nb_replicates replicates;
    nb_groups groups; /* of the rows that are ok */
} nb_coherence_summary;

nb_status nb_coherence_summary_make(const nb_frame *frame, nb_coherence_summary *summary, nb_ctx *ctx);

#endif
