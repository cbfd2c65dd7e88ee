/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core_table.h - the cores of a run against the best one, as text. */
#ifndef NB_CORE_TABLE_H
#define NB_CORE_TABLE_H

#include "studies/error/summary.h"

#include <stdio.h>

/* Core x m: how far the error is above the subspace part, which is the best core's on the
 * same landmarks, the median over all problems, strategies, heads and trials; and the
 * core's time. What is the same in all trials counts in each. The least is marked among those
 * cores that are measured on the same choices of landmarks. Nothing where fewer than
 * two cores have rows whose subspace part is known and above rounding. */
nb_status nb_core_table_print(FILE *out, const nb_summary *summary, nb_ctx *ctx);

#endif
