/* SPDX-License-Identifier: GPL-3.0-or-later */
/* numbers.h - numbers that people, files or the environment give as text: decimal, the whole text and
 * nothing else (no blank, no hexadecimal, neither inf nor nan), within a range. The caller reports what is wrong,
 * since it knows what was asked for; *number then stays as it was. */
#ifndef NB_NUMBERS_H
#define NB_NUMBERS_H

#include "base/ctx.h"

bool nb_parse_integer(const char *text, long long lo, long long hi, long long *number);
bool nb_parse_int(const char *text, int lo, int hi, int *number);
bool nb_parse_real(const char *text, double lo, double hi, double *number);

/* The shortest text that reads back as the same number; 60, not 6e+01. `text` has room for NB_REAL_TEXT. */
enum { NB_REAL_TEXT = 32 };
void nb_real_text(double x, char *text);
/* A copy of that text, the ctx's; NULL when out of memory. */
char *nb_real_copy(nb_ctx *ctx, double x);

/* The integer that the text begins with: if it ends; NULL if there is none from lo to hi. */
const char *nb_integer_at(const char *text, long long lo, long long hi, long long *number);

#endif
