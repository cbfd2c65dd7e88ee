/* SPDX-License-Identifier: GPL-3.0-or-later */
/* row_labels.h - labels of the components that rows of a run name, as columns behind the rows' own. */
#ifndef NB_ROW_LABELS_H
#define NB_ROW_LABELS_H

#include "base/ctx.h"
#include "components/row.h"

typedef struct nb_row_label nb_row_label; /* private */

typedef struct {
    const nb_column *columns; /* the rows' own and, behind them, those of labels; ends with name == NULL */
    int own;                  /* how many are the rows' own */
    nb_row_label *labels;     /* of the others */
} nb_row_labels;

/* Made once for each text that the rows name; rows that are not of a run have none. */
nb_status nb_row_labels_make(const nb_row_list *rows, nb_row_labels *labels, nb_ctx *ctx);

/* Returns the label of one of these rows, in a column from `own` on; NULL where the row names no component. */
const char *nb_row_labels_at(const nb_row_labels *labels, int column, const nb_row *row);

#endif
