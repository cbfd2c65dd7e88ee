/* SPDX-License-Identifier: GPL-3.0-or-later */
/* janitor.h - a process that cleans up where a program and the guards of its children (process.h)
 * were killed together. */
#ifndef NB_JANITOR_H
#define NB_JANITOR_H

#include "base/ctx.h"

#include <sys/types.h>

/* The environment variable that marks what the program starts. */
#define NB_JANITOR_MARK "NYSBENCH_RUN"

/* Starts it, where there is none that runs. Before the program starts any other process: what comes
 * after it is marked as the program's. NB_EHOST where the system gives no process. */
nb_status nb_janitor_start(nb_ctx *ctx);

/* While a guard has this file open, the janitor waits for it; nobody else should. -1: there is
 * no janitor. */
int nb_janitor_line(void);

/* In a child: the janitor is its parent's. */
void nb_janitor_forget(void);

/* Whether that child is the janitor's parent, or the janitor itself, whose parent was killed. */
bool nb_janitor_is(pid_t pid);

/* All is done: it ends. */
void nb_janitor_end(void);

#endif
