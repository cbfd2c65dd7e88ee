/* SPDX-License-Identifier: GPL-3.0-or-later */
/* peak.h - measures the peak memory of a function, as the system counts it. */
#ifndef NB_FORWARD_PEAK_H
#define NB_FORWARD_PEAK_H

#include "base/ctx.h"

/* Calls act(self, ctx) in a child process and measures the most by which its resident set grew meanwhile; NaN if the
 * system does not tell. Returns act's status, with its message; NB_EBUG if act did not return. This process must have
 * no other threads. */
nb_status nb_peak_of(nb_status (*act)(void *self, nb_ctx *ctx), void *self, double *bytes, nb_ctx *ctx);

#endif
