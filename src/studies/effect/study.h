/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study.h - the effect study, which measures how a model's output changes when the attention of some layers is
 * replaced, and, beside it, how far that attention is from the exact one on the same heads. A row is one attention in
 * the layers of one `live_model` problem, for one source in one trial. */
#ifndef NB_EFFECT_STUDY_H
#define NB_EFFECT_STUDY_H

#include "attentions/attention.h"
#include "problems/live_model.h"
#include "run/plan.h"
#include "run/run_study.h"

/* The study's axes, in the order of its table. */
typedef enum { NB_EFFECT_PROBLEM, NB_EFFECT_ATTENTION } nb_effect_axis;

/* Holds what the model's program reports, in the order of nb_effect_names; columns.c describes each. */
typedef struct {
    double model_error, embedding_distance, rank_agreement, top10_overlap, perplexity_ratio, kl, task_error,
        layer_error;
} nb_effect_told;

extern const char *const nb_effect_names[]; /* the keys of the program's answers; NULL-terminated */

/* Measures on the heads of the exact pass: means over all heads of the layers. Where `metrics` asks for none, the
 * model's program is not asked for heads. */
typedef struct {
    double error, error_subspace, error_core, output_error;
} nb_effect_local;

/* Bits of nb_config.wanted. */
enum { NB_EFFECT_WANT_ERROR = 1 << 0, NB_EFFECT_WANT_OUTPUT = 1 << 1 };

typedef struct {
    nb_effect_told told;
    nb_effect_local local;
    double effect_s;
} nb_effect;

/* The columns of a row, in the order of their declaration in columns.c. */
typedef struct {
    NB_ROW_FIRST
    const char *attention, *strategy, *core;
    int heads, landmarks;
    nb_effect result;
} nb_effect_row;

extern const nb_column nb_effect_columns[];

/* Return the model of a scene, and the index of its source. */
const nb_model_part *nb_effect_part(const nb_plan *plan, int scene);
int nb_effect_source(const nb_plan *plan, int scene);
/* True if the attention is made from landmarks, F X B, with nb_landmark_options. */
bool nb_effect_has_landmarks(const nb_choice *attention);

nb_layer_shape nb_effect_shape(const nb_model *model); /* the shape of a layer */

/* Members of nb_run_study. */
nb_status nb_effect_run(const nb_plan *plan, int scene, const bool *pending, const nb_sink *sink, nb_ctx *ctx);
nb_cost nb_effect_cost(const nb_plan *plan, const nb_unit *unit, const bool *pending);

/* Numbers of the study's phases (nb_phase). */
typedef enum {
    NB_EFFECT_AT_HEADS = NB_AT_START + 1,
    NB_EFFECT_AT_PICK,
    NB_EFFECT_AT_CORE,
    NB_EFFECT_AT_MEASURE,
    NB_EFFECT_AT_OUTPUT,
    NB_EFFECT_AT_MODEL
} nb_effect_phase;

#endif
