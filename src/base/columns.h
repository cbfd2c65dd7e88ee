/* SPDX-License-Identifier: GPL-3.0-or-later */
/* columns.h - how many columns a terminal gives a character. */
#ifndef NB_COLUMNS_H
#define NB_COLUMNS_H

#include <stdint.h>

/* Returns 0 for a character that is drawn with the one before it, such as a combining mark, 2 for an East Asian wide
 * one, and 1 for any other, control characters among them. */
int nb_columns_of(uint32_t character);

#endif
