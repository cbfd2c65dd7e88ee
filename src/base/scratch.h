/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scratch.h - folders for a while: one of the program's own in TMPDIR or /tmp, under a name that
 * nobody can guess, and in it one for each that is asked for. */
#ifndef NB_SCRATCH_H
#define NB_SCRATCH_H

#include "base/ctx.h"

#include <sys/types.h>

/* A new, empty folder, which goes with all that is in it when ctx's memory does.
 * NB_EHOST where there can be none. */
nb_status nb_temporary_folder(const char **path, nb_ctx *ctx);

/* *trouble: why nothing can be written there, such as a full disk; NULL: it can. Who asks has
 * released what was his: what is full then is not so because of him. NB_ENOMEM where it cannot be told. */
nb_status nb_scratch_trouble(const char **trouble, nb_ctx *ctx);

/* What processes need (process.c). The name is chosen, if it was not before: whoever is forked
 * from now on knows it. NB_EHOST where the system gives no random numbers. */
nb_status nb_scratch_name(nb_ctx *ctx);

/* That name, without where it lies; "" before. */
const char *nb_scratch_token(void);

/* Folders that this process makes are `owner`'s from now on. */
void nb_scratch_own(pid_t owner);

/* Removes what that owner, who has ended, has left; 0: all, and the program's folder itself.
 * Nothing but what this user owns in that folder is touched, and no link is followed. */
void nb_scratch_remove(pid_t owner);

#endif
