/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write_html.h - what a page of HTML (show/html_page.h) tells the writer of blocks. */
#ifndef NB_WRITE_HTML_H
#define NB_WRITE_HTML_H

#include "show/page_record.h"

typedef struct {                /* nb_page_walk.own of nb_page_html_writer */
    const char *const *anchors; /* of headings, by block; NULL: an element of another page, and they have none */
    bool folded;                /* private: what is written now is */
    int tables;                 /* private: written so far */
} nb_html_state;

#endif
