/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gnuplot.h - runs gnuplot, several at once, any of which may be missing, fail or hang. */
#ifndef NB_GNUPLOT_H
#define NB_GNUPLOT_H

#include "base/ctx.h"

/* Its version, a line; false if it is not installed, or does not answer. */
bool nb_gnuplot_version(const char **line, nb_ctx *ctx);

typedef struct nb_gnuplots nb_gnuplots; /* those that run, and how many may at once */

/* *all is NULL where none may. */
nb_status nb_gnuplots_new(int most, nb_gnuplots **all, nb_ctx *ctx);

/* Starts one on a script of the folder, without the user's own settings, variables and fonts, which would be part of
 * the figure. Where as many run as may, first waits for the one that was started first. */
nb_status nb_gnuplots_start(nb_gnuplots *all, const char *folder, const char *script, nb_ctx *ctx);

/* Waits for those that run; NULL: there are none. What they say comes in the order of their start. NB_EIO, here or from
 * a start, if one fails, or is not done in time: two minutes, or the seconds of NYSBENCH_PLOT_TIMEOUT in the
 * environment. Of several the first is told. */
nb_status nb_gnuplots_wait(nb_gnuplots *all, nb_ctx *ctx);

#endif
