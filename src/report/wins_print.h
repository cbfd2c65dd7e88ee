/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wins_print.h - in how many sources each method has less than each other, for people and as CSV. Nothing where there
 * is no setting with two methods. */
#ifndef NB_WINS_PRINT_H
#define NB_WINS_PRINT_H

#include "report/standings_view.h"

#include <stdio.h>

nb_status nb_wins_print(FILE *out, const nb_standings_view *view, bool csv);

#endif
