/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernel_ridge_kind.h - which near keys a head is to have, chosen from some of its exact rows before there are
 * landmarks. attentions/kernel_ridge.c says what follows. */
#ifndef NB_KERNEL_RIDGE_KIND_H
#define NB_KERNEL_RIDGE_KIND_H

#include "layers/kernel_ridge_fit.h"

/* No near keys, a window, and the strongest keys beside it. */
enum { NB_KERNEL_RIDGE_KINDS = 3 };

/* Chooses one of `count` kinds, in that order, by the rows of R that are computed first (rows, n x kinds[0].first,
 * which lose their near keys) and the outputs at them. Sets head->kind and, for that kind, what keys receive from these
 * rows, their strongest keys and the weights. scaled: as rows. */
nb_status nb_kernel_ridge_choose_kind(int count, const nb_kernel_ridge_plan *kinds, const nb_layer_head *points,
                                      nb_scalar *rows, nb_scalar *scaled, nb_kernel_ridge_head *head, nb_ctx *ctx);

/* Its multiplications. */
double nb_kernel_ridge_kind_work(int count, const nb_kernel_ridge_plan *kinds);

#endif
