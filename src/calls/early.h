/* SPDX-License-Identifier: GPL-3.0-or-later */
/* early.h - what components are asked before anything runs: a plug-in's in a child
 * process, which may crash, end or hang. */
#ifndef NB_EARLY_H
#define NB_EARLY_H

#include "components/component.h"

/* Calls `check` and `ready` of a strategy and of those that its options name, and checks its traits. */
nb_status nb_strategy_check(const nb_choice *strategy, nb_ctx *ctx);
nb_status nb_strategy_ready(const nb_choice *strategy, nb_ctx *ctx);

/* Checks a core's traits. */
nb_status nb_core_check(const nb_choice *core, nb_ctx *ctx);

/* Whether a kernel looks at keys; false where its one set of points is the queries. */
nb_status nb_kernel_needs_keys(const nb_choice *kernel, bool *needs, nb_ctx *ctx);

#endif
