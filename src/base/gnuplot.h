/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gnuplot.h - runs several gnuplots at once; any of them may be missing, fail or hang. */
#ifndef NB_GNUPLOT_H
#define NB_GNUPLOT_H

#include "base/ctx.h"

/* Reads gnuplot's version line; false if it is not installed or does not answer. */
bool nb_gnuplot_version(const char **line, nb_ctx *ctx);

typedef struct nb_gnuplots nb_gnuplots; /* the running ones, and how many may run at once */

/* *all is NULL if `most` is 0. */
nb_status nb_gnuplots_new(int most, nb_gnuplots **all, nb_ctx *ctx);

/* Starts one on a script in the folder, without the user's own settings, variables and fonts, which would change the
 * figure. If as many run as may, waits for the oldest first. */
nb_status nb_gnuplots_start(nb_gnuplots *all, const char *folder, const char *script, nb_ctx *ctx);

/* Waits for all that run; `all` may be NULL. Passes on what they print in the order of their start. NB_EIO, here or
 * from a start, if one fails or runs longer than two minutes (or the environment's NYSBENCH_PLOT_TIMEOUT, in seconds);
 * the message is about the first. */
nb_status nb_gnuplots_wait(nb_gnuplots *all, nb_ctx *ctx);

#endif
