/* SPDX-License-Identifier: GPL-3.0-or-later */
/* speed.h - how fast this machine is. Counted is the time of the process's own work where it
 * waited for nobody, and the least of several tries: what other programs do at the same
 * time makes a try longer by any factor. */
#ifndef NB_SPEED_H
#define NB_SPEED_H

#include "base/ctx.h"

/* Seconds here for one of the reference machine (one core of an AMD EPYC, Zen 3), from a small
 * product and some exponentials, a tenth of a second of work. */
nb_status nb_calibrate_machine(double *machine, nb_ctx *ctx);

#endif
