/* SPDX-License-Identifier: GPL-3.0-or-later */
/* summary.h - the rows of a run that are ok, by model and layers; and how well what is measured of the heads ranks the
 * attentions by what they do to the model. */
#ifndef NB_EFFECT_SUMMARY_H
#define NB_EFFECT_SUMMARY_H

#include "report/grid.h"
#include "report/replicates.h"
#include "studies/effect/study.h"

typedef struct {
    nb_frame frame; /* with the stratum as a column of its own */
    nb_replicates replicates;
    nb_selection ok;
    nb_codes attentions;
    double *values; /* room for one a row */
} nb_effect_summary;

nb_status nb_effect_summary_make(const nb_frame *frame, nb_effect_summary *summary, nb_ctx *ctx);

/* The columns that are compared: those that may predict, and what becomes of the model; NULL-terminated. */
extern const char *const nb_effect_predictors[], *const nb_effect_effects[];

/* Spearman's correlation of two columns over attentions, in each source, each attention with its mean over trials. Only
 * attentions from landmarks that have all predictors that any of the rows has count, so that these are compared on the
 * same ones. */
typedef struct {
    int sources, attentions; /* sources with at least three attentions that are not all alike; the most of any */
    double mean, low, high;  /* over sources, with the 95 % t interval within [-1, 1]; NaN: there is none */
} nb_effect_agreement;
nb_status nb_effect_agree(const nb_effect_summary *summary, nb_selection rows, const char *predictor,
                          const char *effect, nb_effect_agreement *agreement, nb_ctx *ctx);

/* The first cells of a line: model, layers, n. */
#define NB_EFFECT_KEYS "model", "layers", "n"
enum { NB_EFFECT_KEY_COUNT = 3 };
nb_status nb_effect_add_keys(const nb_effect_summary *summary, int row, nb_grid *grid, nb_ctx *ctx);

#endif
