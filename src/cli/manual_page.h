/* SPDX-License-Identifier: GPL-3.0-or-later */
/* manual_page.h - a page of the manual while it is printed: as text for a terminal, or as roff for man(1). Texts given
 * are plain UTF-8, and nothing in them is markup. */
#ifndef NB_MANUAL_PAGE_H
#define NB_MANUAL_PAGE_H

#include "base/ctx.h"

#include <stdio.h>

typedef struct {
    FILE *out;
    nb_ctx *ctx;
    bool roff;
    int width;        /* columns of a line of text */
    int depth;        /* of lists in lists */
    bool begun;       /* something is printed */
    bool at_start;    /* nothing stands under the heading, or in the item, yet */
    nb_status status; /* the first error; nothing is printed after one */
} nb_manual_page;

/* Begins the page NAME(SECTION), such as nysbench-run(1); `date`: of the manual, as 2026-11-23. */
void nb_manual_begin(nb_manual_page *page, const char *name, int section, const char *date);
void nb_manual_heading(nb_manual_page *page, int level, const char *text); /* level 1: a section; 2: within one */
void nb_manual_paragraph(nb_manual_page *page, const char *text);
void nb_manual_item(nb_manual_page *page, const char *term, const char *text); /* what a term means */
void nb_manual_code(nb_manual_page *page, const char *text);                   /* lines that stay as they are */

/* Markdown, with headings of `level` and below; the heading above them, if there is one, is left out. */
void nb_manual_markdown(nb_manual_page *page, const char *markdown);

/* What nb_manual_markdown is made of: text that is escaped for the page already. */
void nb_manual_escape(const nb_manual_page *page, FILE *out, const char *text, bool code);
void nb_manual_fill(nb_manual_page *page, const char *before, int indent, const char *escaped);
void nb_manual_break(nb_manual_page *page);
void nb_manual_point(nb_manual_page *page, const char *mark, const char *escaped);
void nb_manual_term(nb_manual_page *page, const char *term, const char *escaped);

#endif
