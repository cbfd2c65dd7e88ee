/* SPDX-License-Identifier: GPL-3.0-or-later */
/* labels.h - values of columns as people read them. */
#ifndef NB_LABELS_H
#define NB_LABELS_H

#include "components/condition.h"
#include "components/row.h"
#include "config/config.h"

#define NB_NO_MODEL "an unnamed model" /* of rows whose data are of none */

/* labels (count) <- of components' texts, those that are given or their own. Labels of different ones differ: paths
 * have as many of their last parts as that takes, and where it does not help, the label is the whole text. */
nb_status nb_labels_apart(const nb_registry *registry, const nb_given_labels *given, int count,
                          const char *const *texts, const char **labels, nb_ctx *ctx);

/* Returns what tables call a model: its name up to the first blank. */
nb_status nb_label_stratum(const char *name, const char **label, nb_ctx *ctx);
/* labels (count) <- of strata: of a model that, where it tells it from the others, or else its name; of drawn data the
 * name, which is the problem's label. */
nb_status nb_label_strata(int count, const char *const *names, const bool *drawn, const char **labels, nb_ctx *ctx);

/* Sets the candidates' labels and, of components, their choices. */
nb_status nb_candidates_label(nb_candidates *candidates, const nb_given_labels *given, nb_ctx *ctx);

/* Labels of the components that rows of a run name, as columns behind the rows' own. */
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

/* *labels <- those that the config gives to the components in a column; none: it has no components. */
nb_status nb_config_labels(const nb_config *config, const nb_selector *column, nb_given_labels *labels, nb_ctx *ctx);

#endif
