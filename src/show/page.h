/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page.h - what is printed for people: headings, paragraphs and tables, put together once and printed in several forms.
 * A form is one of nb_page_form, and has a writer (page_record.h), which page_walk.c lists; its name for --format is in
 * commands/command.h and commands/format.c.
 *
 * Functions that add to a page return nothing: if memory runs out, the page keeps that, and nb_page_print returns it.
 * All texts are copied, as clean text (base/text.h). */
#ifndef NB_PAGE_H
#define NB_PAGE_H

#include "base/ctx.h"
#include "base/texts.h"

#include <stdio.h>

typedef enum {
    NB_PAGE_TEXT,
    NB_PAGE_TERMINAL, /* text, with headings in bold; without the escape sequences it is the same */
    NB_PAGE_MARKDOWN, /* GitHub's; what would have a meaning there is escaped */
    NB_PAGE_LATEX,    /* the tables, with booktabs and siunitx; the rest as comments */
    NB_PAGE_HTML      /* an element of another page, such as a notebook's, whose styles it takes */
} nb_page_form;

/* What a paragraph is for, which only LaTeX asks: in the other forms all look the same. */
typedef enum {
    NB_PAGE_ASIDE,  /* who runs the program: it leads to items or notes, or names an option; not for a paper */
    NB_PAGE_SHARED, /* the tables below it, which have it in common, no sentence: of their caption */
    NB_PAGE_ABOVE,  /* the same, sentences */
    NB_PAGE_HOLDS,  /* the table above it, which holds that, sentences: of its caption */
    NB_PAGE_REMARK  /* the table above it: below that in a paper too */
} nb_page_use;

/* How a column of a table is set. */
enum {
    NB_PAGE_WORD = 0,   /* on the left, never broken */
    NB_PAGE_PROSE = 1,  /* on the left; where it is too long it goes on below */
    NB_PAGE_NUMBER = 2, /* on the right; marks hang behind the digits */
    NB_PAGE_LABEL = 4   /* besides one of these: it tells rows apart */
};

typedef enum {
    NB_HEADING,
    NB_PARAGRAPH,
    NB_ITEM,
    NB_NOTE,
    NB_PICTURE,
    NB_VERBATIM,
    NB_TABLE,
    NB_BLOCK_KINDS
} nb_block_kind;

typedef struct nb_page_block nb_page_block;
typedef struct nb_page {
    int count;        /* of blocks; 0: there is nothing to print */
    const char *name; /* of its tables, for references in LaTeX; NULL: they have none */
    int deeper;       /* levels that are added to those of the headings from here on, up to NB_PAGE_DEEPEST */

    /* Private. */
    nb_ctx *ctx;
    nb_status status;
    nb_page_block *blocks;
    int capacity;
    nb_texts texts; /* of cells, each once */
} nb_page;

void nb_page_make(nb_page *page, nb_ctx *ctx); /* empty */

enum { NB_PAGE_DEEPEST = 5 };

/* Adds a block, by these names: a heading of level 1, 2, ..., which begins a part of the page; a paragraph, which is an
 * aside, or prose for what `use` says; an item of a list; what a mark or a word of the tables above means, or (mark
 * NULL) a remark on the last of them; and a picture, its SVG file, the address of that as seen from the page, which
 * needs no escapes, and what it shows. */
void nb_page_add(nb_page *page, nb_block_kind kind, int level_or_use, const char *path, const char *mark,
                 const char *format, ...) __attribute__((format(printf, 6, 7)));
#define nb_page_heading(page, level, ...) nb_page_add(page, NB_HEADING, level, NULL, NULL, __VA_ARGS__)
#define nb_page_paragraph(page, ...) nb_page_prose(page, NB_PAGE_ASIDE, __VA_ARGS__)
#define nb_page_prose(page, use, ...) nb_page_add(page, NB_PARAGRAPH, use, NULL, NULL, __VA_ARGS__)
#define nb_page_item(page, ...) nb_page_add(page, NB_ITEM, 0, NULL, NULL, __VA_ARGS__)
#define nb_page_note(page, mark, ...) nb_page_add(page, NB_NOTE, 0, NULL, mark, __VA_ARGS__)
#define nb_page_picture(page, path, address, ...) nb_page_add(page, NB_PICTURE, 0, path, address, __VA_ARGS__)
void nb_page_verbatim(nb_page *page, const char *text); /* as it stands, line by line */

/* Adds a heading that is a list, from a line for each item. In a paper, tables below such headings are one: what all of
 * these have is of the caption, and the items that differ tell the tables apart. */
void nb_page_title(nb_page *page, int level, const char *items);
/* Says that a part of the heading that was added last is a formula, such as "|S|_F". */
void nb_page_formula(nb_page *page, const char *formula);

/* Begins a table; what follows adds to it. First its columns, then row after row of cells, from the left; the last
 * ones of a row may be missing. A table without rows is not printed. */
void nb_page_table(nb_page *page);
void nb_page_column(nb_page *page, int kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
void nb_page_row(nb_page *page);
void nb_page_cell(nb_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
void nb_page_mark(nb_page *page, const char *mark); /* behind the last cell */
/* A number, whose format is such as "%.3g"; what is not known is a dash. */
void nb_page_number(nb_page *page, const char *format, double x);
/* A number in digits, with what stands in front of it, and its mark; without digits no number. */
void nb_page_numeral(nb_page *page, const char *before, const char *digits, const char *mark);
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

/* In HTML, what stands below a heading of this level is folded, up to the next of that level, or of one
 * above NB_PAGE_DEEPEST. */
enum { NB_PAGE_FOLDED = 6 };

#endif
