/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page_record.h - the blocks of a page, the walk over them, and its writers. */
#ifndef NB_PAGE_RECORD_H
#define NB_PAGE_RECORD_H

#include "show/page.h"

typedef struct {
    const char *text;
    int kind;
} nb_page_head;

typedef struct {
    const char *text, *mark;
    const char *digits; /* of a number: the end of the text; NULL: it is none */
} nb_page_entry;

typedef struct {
    const char *band; /* NULL: none */
    bool ruled;       /* in a paper a rule stands above it */
    int first, count; /* cells */
} nb_page_record;

typedef struct {
    bool headless, flush;
    const char *band_head; /* NULL: it has no bands */
    const char *band;      /* of the next row */
    nb_page_head *columns;
    nb_page_record *rows;
    nb_page_entry *cells;
    int column_count, row_count, cell_count;
    int column_capacity, row_capacity, cell_capacity;
} nb_page_sheet;

struct nb_page_block {
    nb_block_kind kind;
    nb_page_use use;     /* of a paragraph */
    int level;           /* of a heading */
    const char *text;    /* of a table: NULL, or in a paper its caption, "": none */
    const char *items;   /* of a heading: the same, a line each */
    const char *formula; /* the part of a heading or a caption that is one; "": none */
    const char *mark;    /* of a note, "": none; of a picture: its address; of a table: its name in a paper, "": none */
    const char *path;    /* of a picture */
    nb_page_sheet *table; /* else NULL */
};

/* Stand for a row and a column of a table: the heads, and the labels of bands. */
enum { NB_PAGE_HEADS = -1, NB_PAGE_BANDS = -1 };

/* "" with no mark where the row has no cell. */
nb_page_entry nb_page_cell_at(const nb_page_sheet *table, int row, int column);
/* The labels of bands stand in a column, NB_PAGE_BANDS, if the table has any, or above their rows. */
int nb_page_first_column(const nb_page_sheet *table);
bool nb_page_begins_band(const nb_page_sheet *table, int row); /* its label stands above that row */
bool nb_page_is_number(const nb_page_sheet *table, int column);

/* A walk over the blocks of a page, but for tables without rows. */
typedef struct {
    FILE *out;
    const nb_page *page;
    int at;                              /* the block at hand */
    const nb_page_block *block, *before; /* the same, NULL at the end; the one that was written before, NULL: none */
    bool bold;                           /* of text, as is the width */
    int width;
    void *own; /* the writer's */
} nb_page_walk;

/* A form of a page: what writes each kind of block. Memory that it takes is freed behind the block. */
typedef struct {
    size_t own_size; /* of walk->own, which begins as zeros */
    nb_status (*block[NB_BLOCK_KINDS])(nb_page_walk *walk);
    void (*between)(nb_page_walk *walk); /* before each block, and at the end; NULL: nothing stands there */
    nb_status (*edit)(const nb_page *page, nb_page *edited); /* makes the page that is written of it; NULL: itself */
} nb_page_writer;

extern const nb_page_writer nb_page_text_writer, nb_page_markdown_writer, nb_page_latex_writer, nb_page_html_writer;

/* Writes all blocks. `walk` has what its writer takes; own NULL: it is made. */
nb_status nb_page_write(const nb_page_writer *writer, nb_page_walk walk);

bool nb_page_is_item(const nb_page_block *block); /* of a list, as a note is; false of NULL */

#endif
