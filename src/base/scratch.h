/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scratch.h - folders for a while, in the program's own (scratch_root.h). */
#ifndef NB_SCRATCH_H
#define NB_SCRATCH_H

#include "base/ctx.h"

/* A new, empty folder, which goes with all that is in it when ctx's memory does.
 * NB_EHOST where there can be none. */
nb_status nb_temporary_folder(const char **path, nb_ctx *ctx);

/* *trouble: why nothing can be written there, such as a full disk; NULL: it can. Who asks has
 * released what was his: what is full then is not so because of him. NB_ENOMEM where it cannot be told. */
nb_status nb_scratch_trouble(const char **trouble, nb_ctx *ctx);

#endif
