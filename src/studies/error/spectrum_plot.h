/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spectrum_plot.h - pictures of the singular values of A, and of what a core makes of them. */
#ifndef NB_SPECTRUM_PLOT_H
#define NB_SPECTRUM_PLOT_H

#include "run/plan.h"
#include "studies/error/summary.h"

/* The name of this kind among nb_plot_kinds; it needs the plan, which rows do not hold. */
extern const char nb_spectrum_kind[];

/* Picks the landmarks of trial 0 of all heads again, bit for bit, for the middle m, and writes into `folder` data
 * and scripts of one figure for each core that has a cut-off, sees A alone and is the standard of its kind (or, if
 * none is, of the first that has one): the singular values s of A over the largest, and the filter factors s v' X u;
 * drawn with gnuplot if `draw`. Names and colours are those of the summary of the run's rows. With m landmarks; 0:
 * the middle one. Landmarks that cannot be had are left out; their rows say why. */
nb_status nb_plot_spectrum(const nb_plan *plan, const nb_summary *summary, const char *folder, int m, bool draw,
                           int *figures, nb_ctx *ctx);

#endif
