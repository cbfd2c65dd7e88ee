/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core_plots.h - figures that compare cores: by cut-off, steps, rows, precision. */
#ifndef NB_CORE_PLOTS_H
#define NB_CORE_PLOTS_H

#include "studies/error/plots.h"

extern const char *const nb_core_plot_kinds[]; /* NULL-terminated */

/* As nb_plot. */
nb_status nb_core_plot(const nb_drawing *drawing, const char *kind, int *figures, nb_ctx *ctx);

#endif
