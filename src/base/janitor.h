/* SPDX-License-Identifier: GPL-3.0-or-later */
/* janitor.h - an orphan reaper: a process that cleans up if the program and the guards of its children (process.h) are
 * killed together. */
#ifndef NB_JANITOR_H
#define NB_JANITOR_H

#include "base/ctx.h"

#include <sys/types.h>

/* The environment variable that marks all processes that the program starts. */
#define NB_JANITOR_MARK "NYSBENCH_RUN"

/* Starts the janitor unless it runs. Call it before the program starts any other process, since only processes started
 * later carry the mark. NB_EHOST if the system cannot create a process. */
nb_status nb_janitor_start(nb_ctx *ctx);

/* Returns the descriptor that guards, and only they, hold open: the janitor waits until all have closed it. -1: no
 * janitor. */
int nb_janitor_line(void);

/* Called in a forked child, whose janitor remains its parent's. */
void nb_janitor_forget(void);

/* True if that child is the janitor's parent, or the janitor itself after its parent was killed. */
bool nb_janitor_is(pid_t pid);

/* Ends the janitor; nothing is left to clean up. */
void nb_janitor_end(void);

#endif
