/* SPDX-License-Identifier: GPL-3.0-or-later */
/* head_files.h - patterns and folders that stand for several files of heads. */
#ifndef NB_HEAD_FILES_H
#define NB_HEAD_FILES_H

#include "base/ctx.h"

/* Whether the text has a character of patterns: '*', '?' or '['. */
bool nb_head_files_pattern(const char *text);

/* The files that `text` stands for, looked for in `folder` ("": as it is; else its path with '/' at the end), by their
 * names from there, sorted: of a pattern those that match, of a folder without q.npy its .safetensors files and the
 * folders in it that have q.npy. *count = 0: it is itself one file, or a folder that is to be read as one; -1: there is
 * no such thing. */
nb_status nb_head_files(const char *folder, const char *text, int *count, const char *const **files, nb_ctx *ctx);

#endif
