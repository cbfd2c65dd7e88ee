/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make_plan.h - from a config to its rows. */
#ifndef NB_MAKE_PLAN_H
#define NB_MAKE_PLAN_H

#include "run/plan.h"

/* Scenes and methods without rows are left out. NB_EIO where a file that an option names cannot be read. */
nb_status nb_plan_make(const nb_config *config, nb_plan *plan, nb_ctx *ctx);

/* One more method, in the study's `methods`: if any block of the config holds it. */
void nb_methods_add(nb_methods *methods, const nb_method *method);

#endif
