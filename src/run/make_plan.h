/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make_plan.h - from a config to its rows. */
#ifndef NB_MAKE_PLAN_H
#define NB_MAKE_PLAN_H

#include "run/plan.h"

/* Scenes and methods without rows are left out. NB_EIO if a file that an option names cannot be read. */
nb_status nb_plan_make(const nb_config *config, nb_plan *plan, nb_ctx *ctx);

#endif
