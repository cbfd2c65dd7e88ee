/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare_print.h - a comparison for people, and as data. */
#ifndef NB_COMPARE_PRINT_H
#define NB_COMPARE_PRINT_H

#include "report/compare.h"

#include <stdio.h>

/* Lines, and below them what they mean. */
nb_status nb_compare_print_text(FILE *out, const nb_frame *frame, const nb_compare_terms *terms,
                                const nb_comparison *comparison, nb_ctx *ctx);
nb_status nb_compare_print_csv(FILE *out, const nb_frame *frame, const nb_compare_terms *terms,
                               const nb_comparison *comparison, nb_ctx *ctx);
/* A list of objects; what is not known or infinite is null. */
nb_status nb_compare_print_json(FILE *out, const nb_frame *frame, const nb_compare_terms *terms,
                                const nb_comparison *comparison, nb_ctx *ctx);

#endif
