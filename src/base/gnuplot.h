/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gnuplot.h - runs gnuplot, which may be missing, fail or hang. */
#ifndef NB_GNUPLOT_H
#define NB_GNUPLOT_H

#include "base/ctx.h"

/* Its version, a line; false if it is not installed, or does not answer. */
bool nb_gnuplot_version(const char **line, nb_ctx *ctx);

/* Runs it on a script of the folder, without the user's own settings, which would be part of the figure. NB_EIO if
 * it fails, or is not done in time: two minutes, or the seconds of NYSBENCH_PLOT_TIMEOUT in the environment. */
nb_status nb_gnuplot_run(const char *folder, const char *script, nb_ctx *ctx);

#endif
