/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table.h - the summary as text. */
#ifndef NB_TABLE_H
#define NB_TABLE_H

#include "studies/error/summary.h"

#include <stdio.h>

/* For each problem and core: strategy x m, median error over heads and trials, the least of
 * each column among those of one pairing and factors marked, values not below the constant
 * matrix in brackets, the floor and 1/n beside them. */
void nb_table_print(FILE *out, const nb_summary *summary);

#endif
