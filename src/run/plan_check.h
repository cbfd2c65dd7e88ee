/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_check.h - what can be told before anything runs, but not from the config alone. */
#ifndef NB_PLAN_CHECK_H
#define NB_PLAN_CHECK_H

#include "run/plan.h"

/* Makes each head of the plan that is not drawn, those of files above all, and looks
 * at every number of it: NB_ENUMERIC with the file, tensor, head and place of one that
 * is NaN or Inf, and whatever else making it fails with. Then what the study finds: NB_ENOMEM
 * where a scene is larger than the machine's memory. */
nb_status nb_plan_check(const nb_plan *plan, nb_ctx *ctx);

#endif
