/* SPDX-License-Identifier: GPL-3.0-or-later */
/* words.h - splits a user's command line into words without a shell. */
#ifndef NB_WORDS_H
#define NB_WORDS_H

#include "base/ctx.h"

/* Splits at blanks, with quotes and backslashes as in a shell; the array has room for one more word and ends with NULL.
 * NB_EINVAL, with the text, if a quote is not closed or there is no word. */
nb_status nb_words_split(const char *text, int *count, char ***words, nb_ctx *ctx);

/* Returns the part of word `index` that names a regular file here: the whole word, or what follows its first '='
 * (--weights=w.npy). The first word counts only with a '/', since else PATH is searched. NULL: no file. */
const char *nb_word_file(char *const *words, int index);

/* Rewrites a word for a program that runs in another folder than `here`: makes the file name in it absolute, without
 * following links. */
nb_status nb_word_absolute(char *const *words, int index, const char *here, char **word, nb_ctx *ctx);

#endif
