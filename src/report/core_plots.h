/* core_plots.h - figures that compare cores: by cut-off, steps, rows, precision. */
#ifndef NB_CORE_PLOTS_H
#define NB_CORE_PLOTS_H

#include "report/summary.h"

extern const char *const nb_core_plot_kinds[]; /* NULL-terminated */

/* As nb_plot. */
nb_status nb_core_plot(const char *folder, const char *kind, const char *experiment, const nb_summary *summary, int m, bool draw,
                       int *figures, nb_ctx *ctx);

#endif
