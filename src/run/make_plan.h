/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make_plan.h - makes a plan, the rows of a config. */
#ifndef NB_MAKE_PLAN_H
#define NB_MAKE_PLAN_H

#include "run/plan.h"

/* Makes the plan, without scenes and methods that have no rows. NB_EIO if a file that an option names cannot be
 * read. */
nb_status nb_plan_make(const nb_config *config, nb_plan *plan, nb_ctx *ctx);

#endif
