/* SPDX-License-Identifier: GPL-3.0-or-later */
/* paper.h - a page as it is for a paper, a page again:
 *
 * 1. Tables of one heading that have the same columns are one, with a column for what their own headings differ in.
 * 2. A table has a caption: the heading, what their own headings agree in, and the paragraphs that are NB_PAGE_SHARED,
 *    NB_PAGE_ABOVE or NB_PAGE_HOLDS. If the page has a name, the table has it too, with its number from the second on.
 * 3. Notes below a table stay notes, and a remark on it becomes one.
 * 4. All else is for who runs the program: other notes are paragraphs. */
#ifndef NB_PAPER_H
#define NB_PAPER_H

#include "show/page_record.h"

/* Texts are those of the page, or of its context. */
nb_status nb_paper_make(const nb_page *page, nb_page *paper);

#endif
