/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page_parts.h - tables of a page that are one in a paper: each has its own heading, and they have the same columns. */
#ifndef NB_PAGE_PARTS_H
#define NB_PAGE_PARTS_H

#include "show/page_record.h"

typedef struct {
    const nb_page_sheet *table;
    const nb_page_block *heading; /* NULL: none */
    const char *name;             /* the items of its heading that are not the same in all */
    int at;                       /* its block */
} nb_page_part;

/* Returns how many tables from that of block `first` on are one, below `heading`, and sets as many parts, of which
 * there is room for the rest of the page. `own`: the first is the first of its heading. */
int nb_page_find_parts(const nb_page *page, int first, const nb_page_block *heading, bool own, nb_page_part *parts);

/* Names the parts; *shared <- the items that all headings have at one place. */
nb_status nb_page_name_parts(int count, nb_page_part *parts, const char **shared, nb_ctx *ctx);

#endif
