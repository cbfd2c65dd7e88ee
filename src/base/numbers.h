/* SPDX-License-Identifier: GPL-3.0-or-later */
/* numbers.h - parses numbers from people, files or the environment: decimal, the whole text (no blanks, no hexadecimal,
 * neither inf nor nan), within a range. If it returns false *number is unchanged, and the caller reports the mistake,
 * since it knows what was asked for. */
#ifndef NB_NUMBERS_H
#define NB_NUMBERS_H

#include "base/ctx.h"

bool nb_parse_integer(const char *text, long long lo, long long hi, long long *number);
bool nb_parse_int(const char *text, int lo, int hi, int *number);
bool nb_parse_real(const char *text, double lo, double hi, double *number);

/* Writes the shortest text that reads back as the same number (60, not 6e+01) into `text`, NB_REAL_TEXT bytes. */
enum { NB_REAL_TEXT = 32 };
void nb_real_text(double x, char *text);
/* Returns a copy of that text, owned by ctx; NULL when out of memory. */
char *nb_real_copy(nb_ctx *ctx, double x);

/* Parses the integer that the text begins with and returns its end; NULL if there is none from lo to hi. */
const char *nb_integer_at(const char *text, long long lo, long long hi, long long *number);

#endif
