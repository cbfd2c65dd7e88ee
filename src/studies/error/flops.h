/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flops.h - what a forward pass of one head takes, in multiplications. */
#ifndef NB_FLOPS_H
#define NB_FLOPS_H

#include "components/component.h"
#include "studies/error/study.h"

#include <sqlite3.h>

/* Of n tokens of dimension d, V's too, with m landmarks that are there: F, B, B V and F (X B V), n m d each; A and X
 * (B V), m^2 d each, where there is a middle; X, as its core tells; n d for each row of S that the core looks at, and
 * as much for each that it keeps, which is multiplied with V. NaN where the core does not tell. No mask, and no
 * kernel's exponentials. With the factors kernel_ridge, what their B takes beside its exact rows. */
double nb_forward_multiplications(nb_factors_kind factors, const nb_choice *core, int n, int d, int m);

/* The same of exact attention: 2 n^2 d. */
double nb_exact_multiplications(int n, int d);

/* Whether that is what the factors take: cur of a kernel whose rows sum to 1 divides by sums, which need all of S. */
bool nb_forward_is_linear(nb_factors_kind factors, const nb_choice *kernel);

/* To SQL: multiplications(core, n, d, m) as nb_forward_multiplications, of a core as rows name it, with other
 * factors than kernel_ridge. */
nb_status nb_flops_add_functions(sqlite3 *db, nb_ctx *ctx);

#endif
