/* SPDX-License-Identifier: GPL-3.0-or-later */
/* html.h - a page as one HTML page that needs nothing else: no network, no other file. Tables sort by a click on a
 * head, and long ones have a box that filters their rows (report.js); without scripts, all is there to read. A policy
 * in the page (CSP) forbids whatever is not its own. */
#ifndef NB_HTML_H
#define NB_HTML_H

#include "report/page.h"

#include <stdio.h>

typedef struct {
    const char *address; /* as the page has it */
    const char *path;    /* of its SVG file */
    const char *caption;
} nb_html_figure;

typedef struct {
    const char *title;
    const nb_page *page;
    int figure_count;
    const nb_html_figure *figures;
} nb_html_page;

/* `what` is an nb_html_page. NB_EIO for a figure that cannot be read. */
nb_status nb_html_print(FILE *out, const void *what, nb_ctx *ctx);

#endif
