/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scratch.h - temporary folders in TMPDIR or /tmp, under a name that nobody can guess. */
#ifndef NB_SCRATCH_H
#define NB_SCRATCH_H

#include "base/ctx.h"

/* Makes an empty folder that is removed with its contents when ctx's memory is released; if this process dies first,
 * when the next one makes a folder, or a program ends. NB_EHOST if it cannot be made. */
nb_status nb_temporary_folder(const char **path, nb_ctx *ctx);

/* Passes on the status of what wrote so many bytes there, or had a program write them. A failure is the machine's,
 * NB_EHOST, if as many cannot be written even now, as on a full disk. The caller removes its own files first, so that
 * they are not the cause. */
nb_status nb_scratch_end(size_t bytes, nb_status status, nb_ctx *ctx);

/* Called in a forked process, which has no folders yet: those of its parent end with the parent. */
void nb_scratch_forget(void);

/* Removes the folders of this process, of this user's dead ones, and nothing else. */
void nb_scratch_finish(void);

#endif
