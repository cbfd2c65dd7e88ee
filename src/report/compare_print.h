/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare_print.h - a comparison for people, and for programs. */
#ifndef NB_COMPARE_PRINT_H
#define NB_COMPARE_PRINT_H

#include "report/compare.h"
#include "report/grid.h"

/* Lines, and below them what they mean; nothing where nothing is compared. */
nb_status nb_compare_show(nb_page *page, const nb_relation *relation, const nb_compare_terms *terms,
                          const nb_comparison *comparison, nb_ctx *ctx);
/* Lines of the estimate, its interval and the verdict alone, and the warnings. */
nb_status nb_compare_show_brief(nb_page *page, const nb_relation *relation, const nb_compare_terms *terms,
                                const nb_comparison *comparison, nb_ctx *ctx);
/* What is not known or infinite is empty. */
nb_status nb_compare_fill(nb_grid *grid, const nb_relation *relation, const nb_compare_terms *terms,
                          const nb_comparison *comparison, nb_ctx *ctx);

#endif
