/* SPDX-License-Identifier: GPL-3.0-or-later */
/* html_page.h - a page as one HTML page of a report, that needs nothing else: no network, no other file. Tables sort by
 * a click on a head, and long ones have a box that filters their rows (report.js); without scripts, all is there to
 * read. */
#ifndef NB_HTML_PAGE_H
#define NB_HTML_PAGE_H

#include "show/page.h"

/* NB_EIO for a figure that cannot be read. */
nb_status nb_html_print_page(FILE *out, const char *title, const nb_page *page, nb_ctx *ctx);

#endif
