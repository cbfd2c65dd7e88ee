/* approximation.h - what F, A and B are made of. */
#ifndef NB_APPROXIMATION_H
#define NB_APPROXIMATION_H

#include "measure/factors.h"
#include "measure/landmarks.h"

typedef enum {
    NB_NYSTROMFORMER, /* F = k(Q, K~), A = k(Q~, K~), B = k(Q~, K): the kernel of landmarks */
    NB_CUR,           /* F = S[:,J], A = S[I,J], B = S[I,:]: columns and rows of S itself */
    NB_FACTORS_COUNT
} nb_factors_kind;

extern const char *const nb_factors_names[]; /* by nb_factors_kind; NULL-terminated */

/* NULL, or in one sentence why these factors cannot be had. */
const char *nb_factors_refusal(nb_factors_kind kind, nb_picks_kind picks, bool causal);

/* The factors of a scene; memory is ctx's. NB_EINVAL where they are refused. */
nb_status nb_factors_build(nb_scene *scene, const nb_landmarks *landmarks, nb_factors_kind kind, nb_factors **factors,
                           nb_ctx *ctx);

#endif
