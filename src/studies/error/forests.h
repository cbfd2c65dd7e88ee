/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forests.h - figures for many strategies. */
#ifndef NB_FORESTS_H
#define NB_FORESTS_H

#include "report/forest.h"
#include "studies/error/summary.h"

enum { NB_MOST_CURVES = 12 }; /* strategies that curves tell apart; of more, a forest is drawn */

/* The error of each strategy over the baseline's, a figure for each core, under the name of a figure. Points
 * are medians over m, by problem, and over both. */
nb_status nb_plot_forest(const char *name, const nb_summary *summary, const nb_drawing *drawing, int *figures,
                         nb_ctx *ctx);

/* The same for the error with each core over the error with the first, as that figure. */
nb_status nb_plot_core_forest(const nb_figure *figure, const nb_summary *summary, const nb_drawing *drawing,
                              int *figures, nb_ctx *ctx);

#endif
