/* SPDX-License-Identifier: GPL-3.0-or-later */
/* records.h - what the record of a plugin's component must have beside what all
 * components have. */
#ifndef NB_RECORDS_H
#define NB_RECORDS_H

#include "components/component.h"

/* What is missing, or was built for another nysbench, in a few words; NULL: nothing. */
const char *nb_problem_lacks(const nb_component *component);
const char *nb_kernel_lacks(const nb_component *component);
const char *nb_strategy_lacks(const nb_component *component);
const char *nb_core_lacks(const nb_component *component);

#endif
