/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scratch_root.h - the program's own folder in TMPDIR or /tmp, under a name that nobody can guess. For processes and
 * their guards (process.c); all others use scratch.h. */
#ifndef NB_SCRATCH_ROOT_H
#define NB_SCRATCH_ROOT_H

#include "base/ctx.h"

#include <sys/types.h>

/* Chooses the folder's name unless it is chosen; processes forked from now on know it. NB_EHOST if the system gives no
 * random numbers. */
nb_status nb_scratch_name(nb_ctx *ctx);

/* Returns that name without its path; "" before it is chosen. */
const char *nb_scratch_token(void);

/* Assigns folders that this process makes from now on to `owner`. */
void nb_scratch_own(pid_t owner);

/* Makes an empty folder in it, removed with ctx's memory. NB_EHOST if it cannot be made. */
nb_status nb_scratch_add(const char **path, nb_ctx *ctx);

/* Removes the folders of an owner that has ended; 0: all, and the program's folder itself. Touches only files of this
 * user within that folder, and follows no link. */
void nb_scratch_remove(pid_t owner);

#endif
