/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scratch_root.h - the program's own folder in TMPDIR or /tmp, under a name that nobody can guess:
 * what processes and their guards know of it (process.c). Whoever wants a folder asks scratch.h. */
#ifndef NB_SCRATCH_ROOT_H
#define NB_SCRATCH_ROOT_H

#include "base/ctx.h"

#include <sys/types.h>

/* The name is chosen, if it was not before: whoever is forked from now on knows it. NB_EHOST where
 * the system gives no random numbers. */
nb_status nb_scratch_name(nb_ctx *ctx);

/* That name, without where it lies; "" before. */
const char *nb_scratch_token(void);

/* Folders that this process makes are `owner`'s from now on. */
void nb_scratch_own(pid_t owner);

/* A new, empty folder in it, gone with ctx's memory. NB_EHOST where there can be none. */
nb_status nb_scratch_add(const char **path, nb_ctx *ctx);

/* Removes what that owner, who has ended, has left; 0: all, and the program's folder itself.
 * Nothing but what this user owns in that folder is touched, and no link is followed. */
void nb_scratch_remove(pid_t owner);

#endif
