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

/* B by rows, n x m: column j is row j of B. */
nb_status nb_factor_b(const nb_scene *scene, const nb_landmarks *landmarks, nb_factors_kind kind, double *b, nb_ctx *ctx);

/* A (m x m), new and ctx's, with B as above. */
nb_status nb_factor_a(const nb_scene *scene, const nb_landmarks *landmarks, nb_factors_kind kind, const double *b,
                      nb_factors **factors, nb_ctx *ctx);

/* The columns J of S for many J in one pass: F of `cur`. */
typedef struct {
    const nb_picks *keys; /* tokens */
    double *f;            /* by rows, m x n */
} nb_f_columns;
nb_status nb_factor_columns(nb_scene *scene, nb_f_columns *wanted, nb_ctx *ctx); /* ends with keys == NULL */

/* F by rows, m x count: column i is the row of F of token tokens[i], or of token
 * i where tokens is NULL. */
nb_status nb_factor_f(nb_scene *scene, const nb_landmarks *landmarks, nb_factors_kind kind, int count, const int *tokens,
                      double *f, nb_ctx *ctx);

#endif
