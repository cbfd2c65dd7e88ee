/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scratch.h - temporary folders, within the program's own (scratch_root.h). */
#ifndef NB_SCRATCH_H
#define NB_SCRATCH_H

#include "base/ctx.h"

/* A new, empty folder, which goes with all that is in it when ctx's memory does. NB_EHOST if there can be none. */
nb_status nb_temporary_folder(const char **path, nb_ctx *ctx);

/* *trouble: why nothing can be written there, such as a full disk; NULL: it can. The caller has released its own files
 * first, so a full disk is not its doing. NB_ENOMEM if that cannot be found out. */
nb_status nb_scratch_trouble(const char **trouble, nb_ctx *ctx);

#endif
