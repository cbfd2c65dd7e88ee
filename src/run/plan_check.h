/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_check.h - checks before anything runs that need more than the config. */
#ifndef NB_PLAN_CHECK_H
#define NB_PLAN_CHECK_H

#include "run/plan.h"

/* Makes each head of the plan that is not drawn, mostly those from files, and checks every number of it: NB_ENUMERIC
 * with the file, tensor, head and place of one that is NaN or Inf, or any error in making it. Then the study's own
 * checks: NB_ENOMEM if a scene is larger than the machine's memory. */
nb_status nb_plan_check(const nb_plan *plan, nb_ctx *ctx);

#endif
