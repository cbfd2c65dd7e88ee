/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks_print.h - the mean ranks of methods over sources, with the tests of their differences, for people and as CSV.
 * Nothing where there is no setting with two methods. */
#ifndef NB_RANKS_PRINT_H
#define NB_RANKS_PRINT_H

#include "report/standings_view.h"

#include <stdio.h>

nb_status nb_ranks_print(FILE *out, const nb_standings_view *view, bool csv);

#endif
