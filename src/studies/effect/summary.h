/* SPDX-License-Identifier: GPL-3.0-or-later */
/* summary.h - the rows of a run that are ok, by model and layers. */
#ifndef NB_EFFECT_SUMMARY_H
#define NB_EFFECT_SUMMARY_H

#include "report/frame.h"
#include "report/replicates.h"
#include "studies/effect/study.h"

typedef struct {
    nb_frame frame; /* with the stratum as a column of its own */
    nb_replicates replicates;
    nb_selection ok;
    nb_codes attentions;
} nb_effect_summary;

nb_status nb_effect_summary_make(const nb_frame *frame, nb_effect_summary *summary, nb_ctx *ctx);

#endif
