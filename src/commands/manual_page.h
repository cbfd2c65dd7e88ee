/* SPDX-License-Identifier: GPL-3.0-or-later */
/* manual_page.h - a page of the manual, put together from texts and Markdown as a tree (libcmark-gfm), and printed as
 * text for a terminal or as roff for man(1). */
#ifndef NB_MANUAL_PAGE_H
#define NB_MANUAL_PAGE_H

#include "base/ctx.h"

#include <cmark-gfm.h>
#include <stdio.h>

typedef cmark_node nb_manual_page;

nb_status nb_manual_page_new(nb_manual_page **page, nb_ctx *ctx); /* freed with ctx's memory */

/* Add to the page; the texts are plain UTF-8 without markup. */
void nb_manual_heading(nb_manual_page *page, int level, const char *text); /* level 1: a section; 2: within one */
void nb_manual_paragraph(nb_manual_page *page, const char *text);
void nb_manual_item(nb_manual_page *page, const char *term, const char *text); /* a term and its meaning */

/* Adds Markdown, whose top heading, if there is one, is left out. Each row of a table is a term, the first cell, with
 * its meaning; code is as who has installed the program types it. */
void nb_manual_markdown(nb_manual_page *page, const char *markdown);

/* Prints the page in lines of so many columns. */
void nb_manual_print_text(nb_manual_page *page, int width, FILE *out);

/* Prints the page as NAME(SECTION), such as nysbench-run(1); `date` is the manual's, as 2026-11-23. */
nb_status nb_manual_print_roff(nb_manual_page *page, const char *name, int section, const char *date, FILE *out,
                               nb_ctx *ctx);

#endif
