/* SPDX-License-Identifier: GPL-3.0-or-later */
/* guard.h - a child goes on in the place of this process, which only watches it: what comes from outside and has to be
 * called in the program's own process may end that one or never return, and is named then. */
#ifndef NB_GUARD_H
#define NB_GUARD_H

#include "base/ctx.h"

/* Forks and returns in the child, which is the program from here on. The process that called passes on the signals that
 * ask for an end, and ends as the child does. If the child ends without nb_guard_end, it says so, with the name `file`,
 * and ends with EXIT_FAILURE. The second time it does nothing. Call it while this process has one thread. NB_EHOST,
 * NB_ENOMEM. */
nb_status nb_guard_begin(const char *file, nb_ctx *ctx);

/* Call before and after a function that comes from outside, in a file: if the child ends meanwhile, or the function
 * takes longer than the patience that the context had above, file and function are named. They do nothing elsewhere. */
void nb_guard_call(const char *file, const char *function);
void nb_guard_return(void);

/* The end that comes is regular. Safe in signal handlers. */
void nb_guard_end(void);

#endif
