/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text.h - text from outside (what a program says, a plugin's words, names of files) as
 * text that every file and terminal takes. */
#ifndef NB_TEXT_H
#define NB_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Copies the text as valid UTF-8 without control characters: each byte of one (C0, C1, DEL),
 * and each byte that belongs to no character, becomes \xNN. Characters in `kept` (such as "\n")
 * stay. Returns how long the whole is; as much of it as `size` has room for, in whole
 * characters and with an end, is in `out`. */
size_t nb_text_clean(const char *text, const char *kept, char *out, size_t size);

/* The same of the first `bytes` of the text, or all of it if that is shorter. */
void nb_text_print(FILE *out, const char *text, size_t bytes, const char *kept);

/* Whether a control character begins there. */
int nb_text_is_control(const char *at);

/* "a" or "an", for a noun that is spoken as it is written. */
const char *nb_article(const char *noun);

/* Whether the text would stay the same. */
int nb_text_is_clean(const char *text, const char *kept);

/* Equal but for blanks outside of quotes. */
int nb_text_same(const char *a, const char *b);

#endif
