/* SPDX-License-Identifier: GPL-3.0-or-later */
/* numerals.h - numbers as people read them, in tables and sentences. A function returns the text by value, so that it
 * can be an argument of the call that prints it: nb_format(ctx, "%s", nb_numeral(x).text). */
#ifndef NB_NUMERALS_H
#define NB_NUMERALS_H

#include <stdbool.h>

enum { NB_DIGITS_ROOM = 400 }; /* %f of the largest number */
typedef struct {
    char text[NB_DIGITS_ROOM];
} nb_digits;

/* `format`: one number's, such as "%.3g", and nothing else. */

nb_digits nb_shown(const char *format, double x); /* as C prints it, but never -0 */
nb_digits nb_numeral(double x);                   /* in three digits; "infinite", and "-" of what is not known */
nb_digits nb_brief(double x);                     /* as an error is read, in three digits */

/* The end of an interval, which decides: as C prints it, or with as many decimals as tell it from the edges; NaN is no
 * edge. That of an interval of ratios has to be told from 1. */
nb_digits nb_bound(const char *format, double x, double edge, double other);
nb_digits nb_ratio_bound(const char *format, double x);

/* Returns what stands behind a noun of so many: "s", or "" of one. */
const char *nb_plural(double count);

#endif
