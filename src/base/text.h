/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text.h - cleans text from outside (programs' output, plug-ins' texts, file names) so that every file and terminal
 * accepts it, measures it in columns of a terminal, and breaks it into lines. */
#ifndef NB_TEXT_H
#define NB_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Copies the text as valid UTF-8 without control characters: each byte of a control character (C0, C1, DEL) and each
 * byte that belongs to no character becomes \xNN. Characters in `kept` (such as "\n") stay. Returns the length of the
 * whole; `out` gets as many whole characters as `size` has room for, and a 0. */
size_t nb_text_clean(const char *text, const char *kept, char *out, size_t size);

/* Prints the first `bytes` of the text, or all of a shorter one, cleaned likewise. */
void nb_text_print(FILE *out, const char *text, size_t bytes, const char *kept);

/* Returns the bytes of the character that begins there; 0: none does, or the text ends. */
size_t nb_text_character(const char *at);

/* Returns how many characters begin in the first `bytes`. */
int nb_text_characters(const char *text, size_t bytes);

/* True if a control character begins there. */
bool nb_text_is_control(const char *at);

/* Returns "nan", "inf" or "-inf" for a number that is not finite; printf shows a NaN's sign, which says nothing. */
const char *nb_text_of_odd(double number);

/* Returns "a" or "an", for a noun that is spoken as it is written. */
const char *nb_article(const char *noun);

/* True if cleaning would not change the text. */
bool nb_text_is_clean(const char *text, const char *kept);

/* True if the texts are equal but for blanks outside of quotes. */
bool nb_text_same(const char *a, const char *b);

/* Columns of a terminal, whatever the locale: East Asian wide characters take two, combining marks none. A byte that
 * belongs to no character takes one. */

/* Returns how many the text takes, or its first `bytes`. */
int nb_text_columns(const char *text);
int nb_text_columns_in(const char *text, size_t bytes);

/* Returns the bytes of the longest start of the text that takes at most so many columns, with the marks on its last
 * character. */
size_t nb_text_start(const char *text, int columns);

/* Returns the longest end of the text that takes at most so many columns and begins with no mark. */
const char *nb_text_end(const char *text, int columns);

/* Lines of at most so many columns, which end at blanks; a word may be wider than the line. */

int nb_text_longest_word(const char *text); /* in columns */
/* The next line and how many bytes it has; *at goes on behind it and the blanks there. False: none is left. */
bool nb_text_line(const char **at, int width, const char **line, int *bytes);
/* Prints all lines but the end of the last one. The first begins where `used` columns are taken, the others are set in
 * by `indent`. Width 0: one line. */
void nb_text_wrap(FILE *out, int used, int indent, int width, const char *text);
/* Prints all lines, the first behind `lead`. */
void nb_text_print_lines(FILE *out, const char *lead, int indent, int width, const char *text);

/* True if a text ends with another one, and is longer. */
bool nb_text_ends(const char *text, const char *ending);

/* Returns the length of a list, which ends with NULL; one that is NULL has none. */
int nb_text_count(const char *const *list);

/* Returns the index of a text in such a list, or -1. */
int nb_text_index(const char *text, const char *const *list);

/* True if a list, which ends with NULL, has the text; one that is NULL has none. */
bool nb_text_among(const char *text, const char *const *list);

/* For qsort of an array of texts. */
int nb_text_compare(const void *a, const void *b);

#endif
