/* SPDX-License-Identifier: GPL-3.0-or-later */
/* words.h - the words of a command line that a user wrote, without a shell. */
#ifndef NB_WORDS_H
#define NB_WORDS_H

#include "base/ctx.h"

/* Splits at blanks, with quotes and backslashes as a shell has them; the array has room for one more and ends with
 * NULL. NB_EINVAL, with the text, for a quote that is not closed and if there is no word. */
nb_status nb_words_split(const char *text, int *count, char ***words, nb_ctx *ctx);

/* The part of word `index` that names a regular file here: all of it, or what is behind the first '='
 * (--weights=w.npy). The first word does only if it has a '/': else it is looked for in PATH. NULL: none. */
const char *nb_word_file(char *const *words, int index);

/* The word for a program that runs in another folder than `here`: what names a file
 * becomes absolute, its links are not followed. */
nb_status nb_word_absolute(char *const *words, int index, const char *here, char **word, nb_ctx *ctx);

#endif
