/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare_print.h - a comparison for people, and for programs: what compare_print.sql makes of its lines. */
#ifndef NB_COMPARE_PRINT_H
#define NB_COMPARE_PRINT_H

#include "answers/compare.h"
#include "show/page.h"

typedef struct {
    bool full;     /* all numbers that are known of a line, and what they mean */
    bool by_model; /* lines of each model too, not only over all of them */
} nb_compare_view;

/* Nothing where nothing is compared. Of more lines than a screen has, the brief form is a table with m across. */
nb_status nb_compare_show(nb_page *page, const nb_comparison *comparison, const nb_compare_view *view, nb_ctx *ctx);
/* Fills a grid; what is not known or infinite is empty. */
nb_status nb_compare_fill(nb_grid *grid, const nb_comparison *comparison, nb_ctx *ctx);

#endif
