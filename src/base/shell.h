/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shell.h - words for a shell that people or scripts give them to. */
#ifndef NB_SHELL_H
#define NB_SHELL_H

#include "base/ctx.h"

/* The text as one word of a POSIX shell, in single quotes if it needs them. */
nb_status nb_shell_word(const char *text, const char **word, nb_ctx *ctx);

/* This program as it was called, as such a word: for commands to go on with. */
nb_status nb_shell_program(const char **word, nb_ctx *ctx);

#endif
