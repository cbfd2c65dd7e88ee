/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forest.h - a figure for many strategies: a line each, the best on top. */
#ifndef NB_FOREST_H
#define NB_FOREST_H

#include "studies/error/plots.h"

enum { NB_MOST_CURVES = 12 }; /* strategies that curves tell apart; of more, a forest is drawn */

/* As nb_plot, of the kind `forest`: the error of each strategy over the baseline's, a figure
 * for each core. Points are medians over m, by problem, and over both. */
nb_status nb_plot_forest(const nb_drawing *d, int *figures, nb_ctx *ctx);

/* The same for the error with each core over the error with the first, as svd_vs_iterative. */
nb_status nb_plot_core_forest(const nb_drawing *d, const char *kind, int *figures, nb_ctx *ctx);

#endif
