/* SPDX-License-Identifier: GPL-3.0-or-later */
/* form_factors.h - forms the factors F, A and B. */
#ifndef NB_FORM_FACTORS_H
#define NB_FORM_FACTORS_H

#include "nystrom/factors.h"
#include "nystrom/interpolation.h"
#include "nystrom/landmarks.h"
#include "nystrom/passes.h"

typedef enum {
    NB_NYSTROMFORMER, /* F = k(Q, K~), A = k(Q~, K~), B = k(Q~, K): the kernel of landmarks */
    NB_CUR,           /* F = S[:,J], A = S[I,J], B = S[I,:]: columns and rows of S itself */
    NB_NOCORE,        /* F = k(Q, K~), B = k(Q~, K), S ~ F B: no middle; A and X are I */
    NB_KERNEL_RIDGE,  /* no middle either (nystrom/interpolation.h) */
    NB_FACTORS_COUNT
} nb_factors_kind;

extern const char *const nb_factors_names[]; /* by nb_factors_kind; NULL-terminated */

bool nb_factors_have_middle(nb_factors_kind kind);

/* Returns why these factors are impossible, in one sentence, or NULL. A NULL kernel means softmax. */
const char *nb_factors_refusal(nb_factors_kind kind, nb_picks_kind picks, bool causal, const nb_choice *kernel);

/* Forms B by rows, n x m: column j is row j of B. Sets *own for kernel_ridge alone; NULL: not wanted. */
nb_status nb_factor_b(const nb_scene *scene, const nb_landmarks *landmarks, nb_factors_kind kind, double *b,
                      nb_interpolation *own, nb_ctx *ctx);

/* Forms A (m x m), given B as above; ctx owns the new factors. */
nb_status nb_factor_a(const nb_scene *scene, const nb_landmarks *landmarks, nb_factors_kind kind, const double *b,
                      const nb_interpolation *own, nb_factors **factors, nb_ctx *ctx);

/* Takes F of `cur`, the columns J of S, for many J: from a stripe of rows, or from all rows in one pass. The list ends
 * with keys == NULL. */
typedef struct {
    const nb_picks *keys; /* tokens */
    double *f;            /* by rows, m x the number of rows */
} nb_f_columns;
void nb_factor_copy_columns(const nb_f_columns *wanted, const nb_stripe *stripe);
nb_status nb_factor_columns(nb_scene *scene, nb_f_columns *wanted, nb_ctx *ctx);

/* Forms F, except for `cur`, by rows, m x count: column i is the row of F of token tokens[i], or of token i if tokens
 * is NULL. `bias` is that of nb_interpolation, or NULL. */
nb_status nb_factor_f(const nb_scene *scene, const nb_landmarks *landmarks, const double *bias, int count,
                      const int *tokens, double *f, nb_ctx *ctx);

#endif
