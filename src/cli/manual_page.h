/* SPDX-License-Identifier: GPL-3.0-or-later */
/* manual_page.h - prints a page of the manual: as text for a terminal, or as roff for man(1). The texts given are plain
 * UTF-8 without markup. */
#ifndef NB_MANUAL_PAGE_H
#define NB_MANUAL_PAGE_H

#include "base/ctx.h"

#include <stdio.h>

typedef struct {
    FILE *out;
    nb_ctx *ctx;
    bool roff;
    int width;        /* width of a line of text */
    int depth;        /* depth of nested lists */
    bool begun;       /* something is printed */
    bool at_start;    /* nothing is printed under the heading, or in the item, yet */
    nb_status status; /* the first error; nothing is printed after one */
} nb_manual_page;

/* Begins the page NAME(SECTION), such as nysbench-run(1); `date` is the manual's, as 2026-11-23. */
void nb_manual_begin(nb_manual_page *page, const char *name, int section, const char *date);
void nb_manual_heading(nb_manual_page *page, int level, const char *text); /* level 1: a section; 2: within one */
void nb_manual_paragraph(nb_manual_page *page, const char *text);
void nb_manual_item(nb_manual_page *page, const char *term, const char *text); /* a term and its meaning */
void nb_manual_code(nb_manual_page *page, const char *text);                   /* lines printed verbatim */

/* Prints Markdown whose top heading, if there is one, is left out. */
void nb_manual_markdown(nb_manual_page *page, const char *markdown);

/* The parts of nb_manual_markdown, for text that is escaped already. */
void nb_manual_escape(const nb_manual_page *page, FILE *out, const char *text, bool code);
void nb_manual_fill(nb_manual_page *page, const char *before, int indent, const char *escaped);
void nb_manual_break(nb_manual_page *page);
void nb_manual_point(nb_manual_page *page, const char *mark, const char *escaped);
void nb_manual_term(nb_manual_page *page, const char *term, const char *escaped);

#endif
