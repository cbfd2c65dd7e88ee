/* SPDX-License-Identifier: GPL-3.0-or-later */
/* where.h - rows that a condition means. */
#ifndef NB_WHERE_H
#define NB_WHERE_H

#include "report/frame.h"

/* The rows for which all conditions "column=value" hold, of several on one column any. A number means itself, a range
 * as 8..64 step 8 its numbers, a text itself, a list "[a, b]" what its items mean; where the column is one of
 * components, a name means it with any options, a spec those that agree with it, and what means none so may be a
 * label, as tables and legends show it; COLUMN_label=TEXT means the label alone. `conditions` ends with NULL; NULL:
 * none. NB_EINVAL for what is no condition, an unknown column, what is no number, and what means no row. */
nb_status nb_where(const nb_frame *frame, const char *const *conditions, nb_frame *rows, nb_ctx *ctx);

/* Marks the values of a column that the text means; `means`: a flag for each, see nb_frame_codes; the others stay as
 * they are. The same errors. */
nb_status nb_where_values(const nb_frame *frame, const char *column, const char *text, bool *means, nb_ctx *ctx);

/* The one value of a column that the text means, by its code; of several the one whose label it is. NB_EINVAL, with the
 * labels, where it means several. */
nb_status nb_where_value(const nb_frame *frame, const char *column, const char *text, int *value, nb_ctx *ctx);

#endif
