/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_check.h - the checks before a run that need more than the config. */
#ifndef NB_PLAN_CHECK_H
#define NB_PLAN_CHECK_H

#include "run/plan.h"

/* Makes each head of the plan that is not drawn, mostly heads from files, and checks all its numbers: NB_ENUMERIC with
 * file, tensor, head and place of a NaN or Inf, or any error in making it. Then runs the study's own checks: NB_ENOMEM
 * if a scene is larger than the machine's memory. */
nb_status nb_plan_check(const nb_plan *plan, nb_ctx *ctx);

#endif
