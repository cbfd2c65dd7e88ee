/* SPDX-License-Identifier: GPL-3.0-or-later */
/* files.h - folders, and files that are replaced atomically. */
#ifndef NB_FILES_H
#define NB_FILES_H

#include "base/ctx.h"

#include <stdio.h>

/* Returns what the errno of a failed call for a file means: NB_EHOST if the machine lacks room, descriptors or memory,
 * else NB_EIO. */
nb_status nb_file_status(int reason);

/* Makes a folder and its parents; nb_file_status with the reason. */
nb_status nb_make_folder(const char *path, nb_ctx *ctx);

/* Locks a folder against other processes that call this, until the program ends, with a lock on it and on a file
 * `.lock` in it. NB_EIO if another process holds one, or the file system has no locks. */
nb_status nb_lock_folder(const char *path, nb_ctx *ctx);

/* *locked: whether a process holds the lock. */
nb_status nb_folder_is_locked(const char *path, bool *locked, nb_ctx *ctx);

/* Lets `print` write to a temporary file in the same folder, .NAME.nysbench.tmp, then renames it, so that readers see
 * the old file or the whole new one. A pipe or device is written directly. nb_file_status with the reason. */
nb_status nb_write_file(const char *path, nb_status (*print)(FILE *out, const void *what, nb_ctx *ctx),
                        const void *what, nb_ctx *ctx);
/* Prints a text, as one of these. */
nb_status nb_print_whole(FILE *out, const void *text, nb_ctx *ctx);
/* Lets it write a text; ctx owns that. */
nb_status nb_print_text(nb_status (*print)(FILE *out, const void *what, nb_ctx *ctx), const void *what,
                        const char **text, nb_ctx *ctx);
/* Reads a whole text file. */
nb_status nb_read_file(const char *path, const char **text, nb_ctx *ctx);
nb_status nb_copy_file(const char *from, const char *to, nb_ctx *ctx);

/* Hands a JSON value to ctx, as nb_defer does. */
struct json_t;
nb_status nb_defer_json(nb_ctx *ctx, struct json_t *json);
/* Reads a file of JSON, which ctx owns. NB_EINVAL, with the line, if it is none or has a key twice. */
nb_status nb_read_json(const char *path, struct json_t **json, nb_ctx *ctx);

bool nb_is_file(const char *path);
/* *names <- what is in a folder, sorted; with an ending, only names that end with it and are not hidden. *count -1:
 * there is no such folder. NB_EIO where it cannot be read. */
nb_status nb_folder_names(const char *folder, const char *ending, int *count, const char ***names, nb_ctx *ctx);
/* *folder <- the part of a path before its last '/', "." where there is none. */
nb_status nb_folder_of(const char *path, const char **folder, nb_ctx *ctx);
/* *stem <- the name without folder and ending. */
nb_status nb_stem_of(const char *path, const char **stem, nb_ctx *ctx);

/* Finds the path of what is there from the root, without links; NB_EIO if it is not there. */
nb_status nb_whole_path(const char *path, const char **whole, nb_ctx *ctx);

/* Returns an explanation of '~' for the message that a path does not exist; "" for other paths. */
const char *nb_path_hint(const char *path);

/* Finds a file of the program's: beside its executable (or the library), or in ../share/nysbench from there. NB_EIO if
 * it is in neither. */
nb_status nb_shared_file(const char *folder, const char *name, const char **path, nb_ctx *ctx);

/* Finds the folder of the program's experiments; NB_EIO if it has none. */
nb_status nb_shipped_folder(const char **folder, nb_ctx *ctx);

/* Finds a file to read: experiments/NAME is the shipped one if no such file is here. Any other path is returned as it
 * is, whether it exists or not. */
nb_status nb_shipped_path(const char *path, const char **found, nb_ctx *ctx);

#endif
