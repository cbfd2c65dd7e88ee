/* SPDX-License-Identifier: GPL-3.0-or-later */
/* files.h - folders, and files that are replaced whole or not at all. */
#ifndef NB_FILES_H
#define NB_FILES_H

#include "base/ctx.h"

#include <stdio.h>

/* Returns what the errno of a failed write means: NB_EHOST if there is no room, else NB_EIO. */
nb_status nb_write_status(int reason);

/* With all folders above it; nb_write_status with the reason. */
nb_status nb_make_folder(const char *path, nb_ctx *ctx);

/* Keeps other processes that ask for the same from this folder, until the program ends, by a lock on it and on a
 * file `.lock` in it. NB_EIO if one holds it, and where the file system has no locks. */
nb_status nb_lock_folder(const char *path, nb_ctx *ctx);

/* Whether a process holds it. */
nb_status nb_folder_is_locked(const char *path, bool *locked, nb_ctx *ctx);

/* Lets `print` write to a temporary file in the same folder, .NAME.nysbench.tmp, then renames it: a file is
 * replaced whole or not at all. A pipe or device is written to as it is. nb_write_status with the reason. */
nb_status nb_write_file(const char *path, nb_status (*print)(FILE *out, const void *what, nb_ctx *ctx),
                        const void *what, nb_ctx *ctx);
/* All of a text file. */
nb_status nb_read_file(const char *path, const char **text, nb_ctx *ctx);
nb_status nb_copy_file(const char *from, const char *to, nb_ctx *ctx);

bool nb_is_file(const char *path);

/* For the message that a path does not exist: an explanation of '~'; "" for other paths. */
const char *nb_path_hint(const char *path);

/* A file that belongs to the program: beside it, or in ../share/nysbench; of the library likewise. NB_EIO if it is in
 * neither. */
nb_status nb_shared_file(const char *folder, const char *name, const char **path, nb_ctx *ctx);

/* Finds the folder of the program's experiments; NB_EIO if it has none. */
nb_status nb_shipped_folder(const char **folder, nb_ctx *ctx);

/* Where a file is that is to be read: experiments/NAME is the program's own one where there is none of that name; all
 * else is the path itself, whether it exists or not. */
nb_status nb_shipped_path(const char *path, const char **found, nb_ctx *ctx);

#endif
