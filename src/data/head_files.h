/* SPDX-License-Identifier: GPL-3.0-or-later */
/* head_files.h - patterns and folders that stand for several files of heads. */
#ifndef NB_HEAD_FILES_H
#define NB_HEAD_FILES_H

#include "base/ctx.h"

/* True if the text has a character of patterns: '*', '?' or '['. */
bool nb_head_files_pattern(const char *text);

/* Lists the files that `text` stands for, sorted, by their names from `folder` ("": none; else a path that ends with
 * '/'): of a pattern the matches, of a folder without q.npy its .safetensors files and those of its folders that have
 * q.npy. *count = 0: the text is itself one file, or a folder to be read as one; -1: it does not exist. */
nb_status nb_head_files(const char *folder, const char *text, int *count, const char *const **files, nb_ctx *ctx);

#endif
