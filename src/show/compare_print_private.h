/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare_print_private.h - what prints a comparison, for compare_print*.c alone. */
#ifndef NB_COMPARE_PRINT_PRIVATE_H
#define NB_COMPARE_PRINT_PRIVATE_H

#include "base/numerals.h"
#include "show/compare_print.h"

typedef struct {
    nb_page *page;
    nb_compare_lines lines;
    const nb_compare_terms *terms;
    nb_relation *relation;
    const char *by, *metric;  /* columns */
    const nb_column *error;   /* the metric, or that of the comparison beside it */
    const char *scale, *none; /* "ratio" and "1", or "difference" and "0" */
    const char *missing;      /* what pairs with one result do */
    const char *together;     /* " for all 6 verdicts together": the intervals of lines that are shown; "" of one */
    nb_ctx *ctx;
} nb_compare_printer;

/* page NULL: for programs, which are told all that is known. */
nb_status nb_compare_printer_make(nb_compare_printer *p, nb_page *page, const nb_comparison *c, nb_compare_view view,
                                  nb_ctx *ctx);
const char *nb_compare_range(nb_ctx *ctx, long long least, long long most); /* "3 to 5", "3" */

/* Add to the page, from above. */
void nb_compare_add_above(const nb_compare_printer *p);      /* what all lines have in common */
nb_status nb_compare_add_table(const nb_compare_printer *p); /* the table */
nb_status nb_compare_add_below(const nb_compare_printer *p); /* what it holds, and what is odd */
nb_status nb_compare_add_words(const nb_compare_printer *p); /* what its words mean */

#endif
