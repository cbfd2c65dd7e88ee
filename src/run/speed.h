/* SPDX-License-Identifier: GPL-3.0-or-later */
/* speed.h - how fast this machine is. CPU time is counted if the process did not wait, and the least of several tries
 * is taken, since other programs can make a try longer by any factor. */
#ifndef NB_SPEED_H
#define NB_SPEED_H

#include "base/ctx.h"

/* Seconds here for one of the reference machine (one CPU of an AMD EPYC, Zen 3), from a small product and some
 * exponentials, a tenth of a second of work. */
nb_status nb_calibrate_machine(double *machine, nb_ctx *ctx);

#endif
