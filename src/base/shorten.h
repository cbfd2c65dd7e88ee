/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shorten.h - shortens texts so that those that differ still do. */
#ifndef NB_SHORTEN_H
#define NB_SHORTEN_H

#include "base/ctx.h"

/* Shortens texts to so many columns of a terminal, or to the least number above with which all that differ still do.
 * A longer text keeps its start, "..." and as much of its end as is needed for that: half of the rest, nothing, or
 * three quarters. */
nb_status nb_shorten_texts(int count, const char **texts, int columns, nb_ctx *ctx);

#endif
