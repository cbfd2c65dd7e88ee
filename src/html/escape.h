/* SPDX-License-Identifier: GPL-3.0-or-later */
/* escape.h - text that stays text in HTML. */
#ifndef NB_ESCAPE_H
#define NB_ESCAPE_H

#include <stdio.h>

/* In an element or in an attribute in double quotes. */
void nb_escape_print(FILE *out, const char *text);
void nb_escape_character(FILE *out, char c);

#endif
