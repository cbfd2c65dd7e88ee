/* SPDX-License-Identifier: GPL-3.0-or-later */
/* speed.h - measures how fast this machine is. CPU time is used if the process did not wait, and the shortest of
 * several tries, since other programs can make a try longer by any factor. */
#ifndef NB_SPEED_H
#define NB_SPEED_H

#include "base/ctx.h"

/* Measures the seconds here for one second on the reference machine (one CPU of an AMD EPYC, Zen 3), from a small
 * product and some exponentials; takes a tenth of a second. */
nb_status nb_calibrate_machine(double *machine, nb_ctx *ctx);

#endif
