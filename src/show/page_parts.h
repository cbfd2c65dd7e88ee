/* SPDX-License-Identifier: GPL-3.0-or-later */
/* page_parts.h - tables of a page that are one in a paper: each has its own heading, and they have the same columns. */
#ifndef NB_PAGE_PARTS_H
#define NB_PAGE_PARTS_H

#include "show/page_record.h"

typedef struct {
    const nb_page_sheet *table;
    const char *title; /* its heading; NULL: none */
    const char *name;  /* what of it differs from those of the others */
    int at;            /* its block */
} nb_page_part;

/* Returns how many tables from that of block `first` on are one, below the heading `title`, and sets as many parts, of
 * which there is room for the rest of the page. `own`: the first is the first of its heading. */
int nb_page_find_parts(const nb_page *page, int first, const char *title, bool own, nb_page_part *parts);

/* Names parts by what their titles differ in; *shared <- what they agree in. */
nb_status nb_page_name_parts(int count, nb_page_part *parts, const char **shared, nb_ctx *ctx);

#endif
