/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost.h - the error study's cost of a unit of work. */
#ifndef NB_COST_H
#define NB_COST_H

#include "run/prediction.h"
#include "studies/error/study.h"

nb_cost nb_error_cost(const nb_plan *plan, const nb_unit *unit, const bool *pending);

#endif
