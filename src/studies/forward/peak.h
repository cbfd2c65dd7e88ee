/* SPDX-License-Identifier: GPL-3.0-or-later */
/* peak.h - how much memory something takes at most, as the system counts it. */
#ifndef NB_FORWARD_PEAK_H
#define NB_FORWARD_PEAK_H

#include "base/ctx.h"

/* act(self, ctx) in a child process: by how many bytes its resident set grew at most meanwhile. NaN where the system
 * does not tell. What act returns is returned, with its message; NB_EBUG if it did not return. This process must have
 * no other threads. */
nb_status nb_peak_of(nb_status (*act)(void *self, nb_ctx *ctx), void *self, double *bytes, nb_ctx *ctx);

#endif
