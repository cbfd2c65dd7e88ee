/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare_print_private.h - what both forms of a comparison for people have. */
#ifndef NB_COMPARE_PRINT_PRIVATE_H
#define NB_COMPARE_PRINT_PRIVATE_H

#include "report/compare_print.h"

typedef struct {
    const nb_relation *relation;
    const nb_compare_terms *terms;
    const nb_comparison *comparison;
    bool full; /* warnings in full */
    nb_ctx *ctx;
} nb_compare_printer;

double nb_compare_shown(const nb_compare_printer *p, double x); /* from the additive scale to the one that is shown */
const char *nb_compare_scale(const nb_compare_terms *terms);    /* its name */
const char *nb_compare_method(const nb_compared *x);            /* its label, "all" or a model's, and a setting's */
const char *nb_compare_model(const nb_compared *x);
const char *nb_compare_setting(const nb_compared *x, int column);

/* Setting columns that are not the same in all lines, by place; ends with -1. *constant: the others. */
nb_status nb_compare_varying(const nb_compare_printer *p, int **varying, const char **constant);

nb_status nb_compare_title(nb_page *page, const nb_compare_printer *p, const char *constant);
nb_status nb_compare_warnings(nb_page *page, const nb_compare_printer *p);

/* The ratios with what is known of them: lines, or of many a table with a number such as m across. */
nb_status nb_compare_show_brief(nb_page *page, const nb_compare_printer *p, bool by_model);

#endif
