/* plots.h - the figures of a run: data as CSV, a gnuplot script beside it, SVG
 * and PNG. */
#ifndef NB_PLOTS_H
#define NB_PLOTS_H

#include "base/ctx.h"
#include "report/gnuplot.h"
#include "report/summary.h"

extern const char *const nb_plot_kinds[]; /* NULL-terminated; each has a script plots/KIND.gp */

/* Writes the data and scripts of one kind into `folder` (made if it is not
 * there), and draws with gnuplot where `draw`. *figures: how many there are; 0
 * where the run has nothing for this kind. NB_EIO where a file cannot be
 * written or gnuplot fails. */
nb_status nb_plot(const char *folder, const char *kind, const char *experiment, const nb_summary *summary, bool draw,
                  int *figures, nb_ctx *ctx);

#endif
