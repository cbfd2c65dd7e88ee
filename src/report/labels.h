/* SPDX-License-Identifier: GPL-3.0-or-later */
/* labels.h - values of columns as people read them. */
#ifndef NB_LABELS_H
#define NB_LABELS_H

#include "components/component.h"
#include "report/frame.h"

#define NB_ORACLE_MARK ", oracle"

/* A row's value in a column: of a component its label, with the word oracle for a strategy that is one, and different
 * for different ones of the frame; a number; a text. */
nb_status nb_label_of(const nb_frame *frame, const char *column, int row, const char **label, nb_ctx *ctx);

/* Whether a row's value in a column is a strategy that is an oracle. */
nb_status nb_label_is_oracle(const nb_frame *frame, const char *column, int row, bool *oracle, nb_ctx *ctx);

/* labels (count) <- of components' texts, those that are given or their own. Labels of different ones differ: paths
 * have as many of their last parts as that takes, and where it does not help, the label is the whole text. */
nb_status nb_labels_apart(const nb_registry *registry, const nb_given_labels *given, int count,
                          const char *const *texts, const char **labels, nb_ctx *ctx);
/* Of the values of a column, by code: as nb_label_of, but different for different values. */
nb_status nb_labels_of_values(const nb_frame *frame, const char *column, const char *const **labels, nb_ctx *ctx);

/* What a model is called in a table: its name up to the first blank. */
nb_status nb_label_stratum(const char *name, const char **label, nb_ctx *ctx);

#endif
