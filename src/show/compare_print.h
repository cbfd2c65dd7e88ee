/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare_print.h - a comparison for people, and for programs. */
#ifndef NB_COMPARE_PRINT_H
#define NB_COMPARE_PRINT_H

#include "show/compare_lines.h"
#include "show/page.h"

/* Nothing where nothing is compared. Of more lines than a screen has, the brief form is a table with m across. */
nb_status nb_compare_show(nb_page *page, const nb_comparison *comparison, const nb_compare_view *view, nb_ctx *ctx);
/* Fills a grid; what is not known is empty. */
nb_status nb_compare_fill(nb_grid *grid, const nb_comparison *comparison, nb_ctx *ctx);

#endif
