/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks_print.h - the mean ranks of methods over sources, with the tests of their differences, for people and for
 * programs. Nothing where there is no setting with two methods. */
#ifndef NB_RANKS_PRINT_H
#define NB_RANKS_PRINT_H

#include "report/standings_view.h"

nb_status nb_ranks_show(nb_page *page, const nb_standings_view *view);
nb_status nb_ranks_fill(nb_grid *grid, const nb_standings_view *view);

#endif
