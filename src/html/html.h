/* SPDX-License-Identifier: GPL-3.0-or-later */
/* html.h - Markdown as one HTML page that needs nothing else: no network, no other file.
 *
 * The Markdown is GitHub's, read by libcmark-gfm; HTML in it is not let through. An image alone in its paragraph, with
 * the address of a figure, becomes the figure itself. What stands below a heading of level NB_HTML_FOLDED is folded, up
 * to the next of that level, or of one above NB_PAGE_DEEPEST (report/page.h). Cells of tables are text alone. Tables
 * sort by a click on a head, and long ones have a box that filters their rows (report.js); without scripts, all is
 * there to read. A policy in the page (CSP) forbids whatever is not its own. */
#ifndef NB_HTML_H
#define NB_HTML_H

#include "base/ctx.h"

#include <stdio.h>

enum { NB_HTML_FOLDED = 6 };

typedef struct {
    const char *address; /* as the Markdown has it */
    const char *path;    /* of its SVG file */
    const char *caption;
} nb_html_figure;

typedef struct {
    const char *title, *markdown;
    int figure_count;
    const nb_html_figure *figures;
} nb_html_page;

/* `what` is an nb_html_page. NB_EIO for a figure that cannot be read or may not stand in a page, see svg.h. */
nb_status nb_html_print(FILE *out, const void *what, nb_ctx *ctx);

#endif
