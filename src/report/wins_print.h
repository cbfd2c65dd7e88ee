/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wins_print.h - in how many sources each method has less than each other, for people and for programs. Nothing where
 * there is no setting with two methods. */
#ifndef NB_WINS_PRINT_H
#define NB_WINS_PRINT_H

#include "report/standings_view.h"

nb_status nb_wins_show(nb_page *page, const nb_standings_view *view);
nb_status nb_wins_fill(nb_grid *grid, const nb_standings_view *view);

#endif
