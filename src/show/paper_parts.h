/* SPDX-License-Identifier: GPL-3.0-or-later */
/* paper_parts.h - tables of a page that are one in a paper: each has a heading, and all the same columns. */
#ifndef NB_PAPER_PARTS_H
#define NB_PAPER_PARTS_H

#include "show/page_record.h"

typedef struct {
    const nb_page_sheet *table;
    const nb_page_block *heading; /* NULL: none */
    const char *name;             /* the items of its heading that are not the same in all */
    int at;                       /* its block */
} nb_paper_part;

/* Returns how many tables from that of block `first` on are one, below `heading`, and sets as many parts, of which
 * there is room for the rest of the page. `own`: the first is the first of its heading. Behind a note or a paragraph
 * that belongs to one no other follows. */
int nb_paper_find_parts(const nb_page *page, int first, const nb_page_block *heading, bool own, nb_paper_part *parts);

/* Names the parts; *shared <- the items that all headings have at one place. */
nb_status nb_paper_name_parts(int count, nb_paper_part *parts, const char **shared, nb_ctx *ctx);
/* *joined <- a table of all their rows, in whose first column each part's name stands beside its first row. */
nb_status nb_paper_join_parts(int count, const nb_paper_part *parts, nb_page_sheet **joined, nb_ctx *ctx);

#endif
