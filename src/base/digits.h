/* SPDX-License-Identifier: GPL-3.0-or-later */
/* digits.h - numbers with 17 digits, which read back as the same numbers. */
#ifndef NB_DIGITS_H
#define NB_DIGITS_H

enum { NB_DIGITS = 32 };
/* What printf gives for %.17g, in a fraction of the time. */
void nb_digits(double x, char text[NB_DIGITS]);

#endif
