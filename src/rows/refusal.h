/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refusal.h - why two values are not compared, as a name in SQL and as a sentence. */
#ifndef NB_ROWS_REFUSAL_H
#define NB_ROWS_REFUSAL_H

#include "base/ctx.h"

/* Names of what may differ though no column of the identity does: whether the methods have looked at the rows of S that
 * they are judged on, and which program has measured a row. */
#define NB_ROWS_SEEN "rows_seen"
#define NB_BUILD "build"

/* Says why two values are not compared, which the sentence calls `it` and `other`. refusal: as pairs.sql has it. NULL:
 * no memory. */
const char *nb_refusal_tell(const char *refusal, const char *it, const char *other, nb_ctx *ctx);

#endif
