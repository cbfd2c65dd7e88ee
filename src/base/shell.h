/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shell.h - quotes words for commands that people or scripts pass to a shell. */
#ifndef NB_SHELL_H
#define NB_SHELL_H

#include "base/ctx.h"

/* Writes the text as one word of a POSIX shell, in single quotes if needed. */
nb_status nb_shell_word(const char *text, const char **word, nb_ctx *ctx);

/* Appends texts as such words to a line, each behind a blank; the last argument is NULL. */
nb_status nb_shell_add(nb_ctx *ctx, const char **line, ...) __attribute__((sentinel));

/* Writes this program's name as it was called, as such a word, for commands that messages suggest. */
nb_status nb_shell_program(const char **word, nb_ctx *ctx);

#endif
