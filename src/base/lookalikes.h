/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lookalikes.h - characters that look like those that YAML and specs are written in, but are others: word processors,
 * web pages and keyboards put no-break spaces for blanks and curly quotes for straight ones. */
#ifndef NB_LOOKALIKES_H
#define NB_LOOKALIKES_H

#include "base/ctx.h"

/* Returns the first of them within `bytes` of the text, or within all of a shorter one; NULL: there is none. */
const char *nb_lookalike(const char *text, size_t bytes);

/* Describes the one that begins there: "a no-break space (U+00A0): write a blank". ctx owns the text; NULL when out of
 * memory. */
const char *nb_lookalike_told(const char *at, nb_ctx *ctx);

#endif
