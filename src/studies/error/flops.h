/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flops.h - counts the multiplications of a forward pass of one head. */
#ifndef NB_FLOPS_H
#define NB_FLOPS_H

#include "components/component.h"
#include "studies/error/study.h"

#include <sqlite3.h>

/* Returns the multiplications for n tokens of dimension d, also of V, given m landmarks: F, B, B V and F (X B V), n m d
 * each; A and X (B V), m^2 d each, if there is a middle; X, as its core says; n d for each row of S that the core
 * reads, and again for each that it keeps, which is multiplied by V; with the factors kernel_ridge, what their B takes
 * beside its exact rows. NaN if the core does not say. A mask and the kernel's exponentials are not counted. */
double nb_forward_multiplications(nb_factors_kind factors, const nb_choice *core, int n, int d, int m);

/* The same for exact attention: 2 n^2 d. */
double nb_exact_multiplications(int n, int d);

/* True if these counts apply: not for cur of a kernel whose rows sum to 1, which divides by sums that need all of S. */
bool nb_forward_is_linear(nb_factors_kind factors, const nb_choice *kernel);

/* Adds the SQL function multiplications(core, n, d, m): nb_forward_multiplications of a core named as in rows, with
 * other factors than kernel_ridge. */
nb_status nb_flops_add_functions(sqlite3 *db, nb_ctx *ctx);

#endif
