/* SPDX-License-Identifier: GPL-3.0-or-later */
/* answer.h - a grid as tables of a page, with what they share, headings and notes. The grid is the answer to a query,
 * or C has made it: of a comparison show/compare_print_table.c, of claims show/claims_print.c. show/query.h says what
 * some columns stand for, and what directives there are. */
#ifndef NB_ANSWER_H
#define NB_ANSWER_H

#include "rows/grid.h"
#include "show/comments.h"
#include "show/page.h"

/* Adds an answer to a page; nothing of one without rows. */
nb_status nb_answer_show(nb_page *page, const nb_comment *comments, const nb_grid *answer, nb_ctx *ctx);
/* Puts columns in the place of _across and _cell, for programs. */
nb_status nb_answer_widen(nb_grid *answer, nb_ctx *ctx);
/* Returns whether a kind of sentence is a paragraph, and finds what for. */
bool nb_is_paragraph(const char *kind, nb_page_use *use);

#endif
