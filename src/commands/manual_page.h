/* SPDX-License-Identifier: GPL-3.0-or-later */
/* manual_page.h - prints a page of the manual, which is Markdown (libcmark-gfm), as text for a terminal or as roff for
 * man(1). A heading of level 2 is a section, and the one of level 1 is left out. Each row of a table is a term, the
 * first cell, with its meaning, as a code followed by a block quote is; code is as who has installed the program types
 * it. */
#ifndef NB_MANUAL_PAGE_H
#define NB_MANUAL_PAGE_H

#include "base/ctx.h"

#include <stdio.h>

/* Prints the page in lines of so many columns. */
void nb_manual_print_text(const char *markdown, int width, FILE *out);

/* Prints the page as NAME(SECTION), such as nysbench-run(1); `date` is the manual's, as 2026-11-23. */
nb_status nb_manual_print_roff(const char *markdown, const char *name, int section, const char *date, FILE *out,
                               nb_ctx *ctx);

#endif
