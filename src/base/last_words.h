/* SPDX-License-Identifier: GPL-3.0-or-later */
/* last_words.h - what a program has said of its failure, without what differs from one run to the next. */
#ifndef NB_LAST_WORDS_H
#define NB_LAST_WORDS_H

#include "base/ctx.h"

#include <sys/types.h>

/* The end of the log at `path`, as one line: ": ..." or "", also where there is no such file. Failures of one reason
 * have one text: the folder is written ".", the process's number and addresses "#". */
nb_status nb_last_words(const char *path, const char *folder, pid_t pid, const char **words, nb_ctx *ctx);

/* The same in place. */
void nb_hide_chance(char *text, const char *folder, pid_t pid);

/* The same of ctx's error, if `status` is one; returns it. */
nb_status nb_error_hide_chance(nb_status status, const char *folder, nb_ctx *ctx);

#endif
