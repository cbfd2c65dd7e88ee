/* SPDX-License-Identifier: GPL-3.0-or-later */
/* early.h - what components are asked before anything runs: a plug-in's in a child
 * process, which may crash, end or hang. */
#ifndef NB_EARLY_H
#define NB_EARLY_H

#include "components/component.h"

/* What `check` and `ready` say of a strategy, and of those that its options name; and
 * whether its traits are such. */
nb_status nb_strategy_check(const nb_choice *strategy, nb_ctx *ctx);
nb_status nb_strategy_ready(const nb_choice *strategy, nb_ctx *ctx);

/* Whether a core's traits are such. */
nb_status nb_core_check(const nb_choice *core, nb_ctx *ctx);

#endif
