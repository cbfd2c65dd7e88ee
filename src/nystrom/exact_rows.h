/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exact_rows.h - gives cores exact rows of S, and F and B, for engines. */
#ifndef NB_EXACT_ROWS_H
#define NB_EXACT_ROWS_H

#include "nystrom/form_factors.h"

typedef struct {
    nb_scene *scene;
    const nb_landmarks *landmarks;
    nb_factors_kind kind;
    nb_ranges ranges;
    const double *q_b; /* n x rank_b */
    const int *order;  /* n: order of the tokens; rows are taken from its beginning; NULL: there are no rows */
} nb_offer;

/* Forms the first k rows of another order; ctx owns them. */
nb_status nb_factors_rows_in(const nb_factors *factors, int k, const int *order, nb_exact_rows *rows, nb_ctx *ctx);

/* Lets cores use the ranges of F and B', and ask for rows, F and B. `offer` must outlive the factors. */
void nb_factors_offer(nb_factors *factors, const nb_offer *offer);

#endif
