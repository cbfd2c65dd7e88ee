/* SPDX-License-Identifier: GPL-3.0-or-later */
/* labels.h - values of columns as people read them. */
#ifndef NB_LABELS_H
#define NB_LABELS_H

#include "report/frame.h"

/* A row's value in a column: of a component its label, with the word oracle for a strategy that is one; a number; a
 * text. */
nb_status nb_label_of(const nb_frame *frame, const char *column, int row, const char **label, nb_ctx *ctx);
/* The same, of a component also the first option where it has its default. */
nb_status nb_label_full(const nb_frame *frame, const char *column, int row, const char **label, nb_ctx *ctx);

/* What a stratum is called in a table: a model's name up to the first blank; a problem whole. */
nb_status nb_label_stratum(const char *name, const char **label, nb_ctx *ctx);

#endif
