/* gnuplot.h - the external program that draws. */
#ifndef NB_GNUPLOT_H
#define NB_GNUPLOT_H

#include "base/ctx.h"

#include <stdio.h>

bool nb_gnuplot_found(void);

/* A text in single quotes, where nothing but the quote is special; in double quotes
 * gnuplot would run what stands in backquotes. */
void nb_gnuplot_string(FILE *out, const char *text);

/* Copies the script plots/NAME into the folder. */
nb_status nb_gnuplot_copy(const char *folder, const char *name, nb_ctx *ctx);

/* Runs a script of the folder there; NB_EIO where gnuplot fails. */
nb_status nb_gnuplot_run(const char *folder, const char *script, nb_ctx *ctx);

#endif
