/* SPDX-License-Identifier: GPL-3.0-or-later */
/* words.h - texts as people write them on one line: command lines, which are split without a shell, words that are
 * quoted for one, and lists. */
#ifndef NB_WORDS_H
#define NB_WORDS_H

#include "base/builder.h"

/* Splits at blanks, with quotes and backslashes as in a shell; the array has room for one more word and ends with NULL.
 * NB_EINVAL, with the text, if a quote is not closed or there is no word. */
nb_status nb_words_split(const char *text, int *count, char ***words, nb_ctx *ctx);

/* Returns the part of word `index` that names a regular file here: the whole word, or what follows its first '='
 * (--weights=w.npy). The first word counts only with a '/', since else PATH is searched. NULL: no file. */
const char *nb_word_file(char *const *words, int index);

/* Rewrites a word for a program that runs in another folder than `here`: makes the file name in it absolute, without
 * following links. */
nb_status nb_word_absolute(char *const *words, int index, const char *here, char **word, nb_ctx *ctx);

/* Quotes words for commands that people or scripts pass to a shell. */

/* Writes the text as one word of a POSIX shell, in single quotes if needed. */
nb_status nb_shell_word(const char *text, const char **word, nb_ctx *ctx);

/* Appends texts as such words to a line, with a blank between words; the last argument is NULL. */
nb_status nb_shell_add(nb_ctx *ctx, nb_string *line, ...) __attribute__((sentinel));

/* Writes this program's name as it was called, as such a word, for commands that messages suggest. */
nb_status nb_shell_program(const char **word, nb_ctx *ctx);

/* Lists as people write them on one line: a, b(c, d), "e, f". */

/* Returns the end of the first item of `text`: a comma that is in no bracket and no quotes, or the end of the text. */
const char *nb_item_end(const char *text);

/* Copies the text from `from` to `end` without the space and quotes around it. ctx owns the copy; NULL when out of
 * memory. */
const char *nb_item_text(const char *from, const char *end, nb_ctx *ctx);

/* Sets *inside to "a, b" for "[a, b]", and to NULL for any other text. */
nb_status nb_list_inside(const char *text, const char **inside, nb_ctx *ctx);

#endif
