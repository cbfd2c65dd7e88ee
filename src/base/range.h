/* SPDX-License-Identifier: GPL-3.0-or-later */
/* range.h - integer ranges of a sweep: 8, 2^5, 8..64, 8..64 step 8, 2^3..2^6 (the powers 8, 16, 32, 64). */
#ifndef NB_RANGE_H
#define NB_RANGE_H

#include "base/ctx.h"

typedef struct {
    long long first, last; /* first <= last, both among the items */
    long long step;        /* from one item to the next, at least 1 */
    long long base;        /* at least 2: each item is base times the one before, and `step` is unused; 0: no powers */
} nb_range;

/* True if the text can only be meant as a range or a power: digits with ".." or "^" between them. */
bool nb_range_like(const char *text);

/* Returns a hint for 8-64, 8:64, 8:64:8 (start:end:step) or 8:8:64 (start:step:end), as other programs write ranges: ";
 * did you mean '8..64 step 8'?"; "" for any other text. ctx owns it; NULL when out of memory. */
const char *nb_range_hint(const char *text, nb_ctx *ctx);

/* Parses a range. If the text is none, *wrong says why (ctx owns it); else *wrong is NULL. */
nb_status nb_range_parse(const char *text, nb_range *range, const char **wrong, nb_ctx *ctx);

long long nb_range_count(const nb_range *range);
long long nb_range_item(const nb_range *range, long long index);
bool nb_range_holds(const nb_range *range, long long number);

#endif
