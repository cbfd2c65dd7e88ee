/* SPDX-License-Identifier: GPL-3.0-or-later */
/* items.h - lists as people write them on one line: a, b(c, d), "e, f". */
#ifndef NB_ITEMS_H
#define NB_ITEMS_H

#include "base/ctx.h"

/* Returns the end of the first item of `text`: a comma that is in no bracket and no quotes, or the end of the text. */
const char *nb_item_end(const char *text);

/* Copies the text from `from` to `end` without the space and quotes around it. ctx owns the copy; NULL when out of
 * memory. */
const char *nb_item_text(const char *from, const char *end, nb_ctx *ctx);

/* Sets *inside to "a, b" for "[a, b]", and to NULL for any other text. */
nb_status nb_list_inside(const char *text, const char **inside, nb_ctx *ctx);

#endif
