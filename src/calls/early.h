/* SPDX-License-Identifier: GPL-3.0-or-later */
/* early.h - calls to components before anything runs: a plug-in's run in a child process, since they may crash, end or
 * hang. */
#ifndef NB_EARLY_H
#define NB_EARLY_H

#include "components/component.h"

/* Calls act(self, ctx); for a plug-in's component, or one whose options name one, in a child process that loads it,
 * with the context's patience (nb_apart). The message of an NB_EBUG names file, component and call: "mine.so: mine:
 * calling its shape: killed by signal 6 (Aborted)". */
nb_status nb_ask_early(nb_status (*act)(void *self, nb_ctx *ctx), void *self, void *answer, size_t bytes,
                       const nb_choice *of, const char *what, nb_ctx *ctx);

/* Calls `check` and `ready` of a strategy and of those that its options name, and checks its traits. */
nb_status nb_strategy_check(const nb_choice *strategy, nb_ctx *ctx);
nb_status nb_strategy_ready(const nb_choice *strategy, nb_ctx *ctx);

/* Checks the traits of a core, and calls its `ready`; and of those that its options name. */
nb_status nb_core_check(const nb_choice *core, nb_ctx *ctx);
nb_status nb_core_ready(const nb_choice *core, nb_ctx *ctx);

/* *needs: true if the kernel reads keys; false if its one set of points is the queries. */
nb_status nb_kernel_needs_keys(const nb_choice *kernel, bool *needs, nb_ctx *ctx);

#endif
