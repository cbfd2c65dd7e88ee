/* SPDX-License-Identifier: GPL-3.0-or-later */
/* last_words.h - what a failed program's log says, the start and the end of a long one, with folders, process numbers
 * and addresses masked so that equal failures read equally. */
#ifndef NB_LAST_WORDS_H
#define NB_LAST_WORDS_H

#include "base/ctx.h"

#include <sys/types.h>

/* Reads the log at `path` as one line, ": FIRST LINE|LAST LINE", or ": START|...|END" of a long one; "" also if there
 * is no such file. The folder becomes ".", the process's number and addresses become "#". */
nb_status nb_last_words(const char *path, const char *folder, pid_t pid, const char **words, nb_ctx *ctx);

/* Masks these in a text, in place. */
void nb_hide_chance(char *text, const char *folder, pid_t pid);

/* Masks them in ctx's error if `status` is one; returns `status`. */
nb_status nb_error_hide_chance(nb_status status, const char *folder, nb_ctx *ctx);

#endif
