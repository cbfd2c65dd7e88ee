/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page.h - what is printed for people: headings, paragraphs and tables, put together once and printed in several forms.
 *
 * Functions that add to a page return nothing: if memory runs out, the page keeps that, and nb_page_print returns it.
 * All texts are copied, as clean text (base/text.h). */
#ifndef NB_PAGE_H
#define NB_PAGE_H

#include "base/ctx.h"

#include <stdio.h>

typedef enum {
    NB_PAGE_TEXT,
    NB_PAGE_TERMINAL, /* text, with headings in bold; without the escape sequences it is the same */
    NB_PAGE_MARKDOWN, /* GitHub's; what would have a meaning there is escaped */
    NB_PAGE_LATEX     /* the tables, with booktabs and siunitx; the rest as comments */
} nb_page_form;

/* How a column of a table is set. */
enum {
    NB_PAGE_WORD = 0,   /* on the left, never broken */
    NB_PAGE_PROSE = 1,  /* on the left; where it is too long it goes on below */
    NB_PAGE_NUMBER = 2, /* on the right; marks hang behind the digits */
    NB_PAGE_LABEL = 4   /* besides one of these: it tells rows apart */
};

typedef struct nb_page_block nb_page_block;
typedef struct nb_page {
    int count;        /* of blocks; 0: there is nothing to print */
    const char *name; /* of its tables, for references in LaTeX; NULL: they have none */

    /* Private. */
    nb_ctx *ctx;
    nb_status status;
    nb_page_block *blocks;
    int capacity;
    int deeper; /* levels that are added to those of headings */
} nb_page;

void nb_page_make(nb_page *page, nb_ctx *ctx); /* empty */

/* A heading of level 1, 2, ... begins a part of the page. In a part of a larger page, those that follow are so many
 * levels deeper, but at most NB_PAGE_DEEPEST, until 0 is set again. */
enum { NB_PAGE_DEEPEST = 5 };
void nb_page_deepen(nb_page *page, int levels);
void nb_page_heading(nb_page *page, int level, const char *format, ...) __attribute__((format(printf, 3, 4)));
void nb_page_paragraph(nb_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
void nb_page_item(nb_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds what a mark or a word of the tables above means, or (mark NULL) a remark on the last of them. */
void nb_page_note(nb_page *page, const char *mark, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A picture: its SVG file, the address of that as seen from the page, which needs no escapes, and what it shows. */
void nb_page_picture(nb_page *page, const char *path, const char *address, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void nb_page_verbatim(nb_page *page, const char *text); /* as it stands, line by line */

/* Begins a table; what follows adds to it. First its columns, then row after row of cells, from the left; the last
 * ones of a row may be missing. A table without rows is not printed. */
void nb_page_table(nb_page *page);
void nb_page_column(nb_page *page, int kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
void nb_page_row(nb_page *page);
void nb_page_cell(nb_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
void nb_page_mark(nb_page *page, const char *mark); /* behind the last cell */
/* The rows from here on have a label in common, which stands above them, or in Markdown in a first column, whose name
 * is `head`; NULL: they have none. */
void nb_page_band(nb_page *page, const char *head, const char *label);

/* Without heads, where cells speak for themselves; Markdown has them all the same. */
void nb_page_headless(nb_page *page);
void nb_page_flush(nb_page *page); /* not set in, where scripts read lines */

/* Paragraphs are wrapped at `width` columns, or at NB_PAGE_PARAGRAPH if that is less or width is 0. A table that is
 * wider than `width` (0: any width is fine) has its long labels shortened, so that they still tell rows apart, then
 * goes on below with its labels repeated, and last becomes a list of its rows. A line is wider only for a single
 * word. */
enum { NB_PAGE_PARAGRAPH = 110 };
nb_status nb_page_print(FILE *out, const nb_page *page, nb_page_form form, int width);

/* In HTML (html/html.h), what stands below a heading of this level is folded, up to the next of that level, or of one
 * above NB_PAGE_DEEPEST. */
enum { NB_PAGE_FOLDED = 6 };

#endif
