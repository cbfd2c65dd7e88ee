/* SPDX-License-Identifier: GPL-3.0-or-later */
/* html.h - what stands around the elements of a page of HTML, and texts in these. A policy in the page (CSP) forbids
 * whatever is not its own. */
#ifndef NB_HTML_H
#define NB_HTML_H

#include <stdio.h>

/* The texts of a page's styles and scripts, each NULL-terminated. */
typedef struct {
    const char *const *styles, *const *scripts;
} nb_html_assets;

/* These print what stands before and behind the elements of a page's body. */
void nb_html_begin(FILE *out, const char *title, const nb_html_assets *assets);
void nb_html_end(FILE *out, const nb_html_assets *assets);
/* A text, which has no markup, between what has. */
void nb_html_print_text(FILE *out, const char *begin, const char *text, const char *end);
/* A method's label, in which a line may end before the options and after '_' and '='. */
void nb_html_print_method(FILE *out, const char *label);

/* The files of this folder that are part of a page, of which the Makefile makes texts. */
extern const char nb_asset_report_css[], nb_asset_report_js[], nb_asset_board_css[], nb_asset_board_js[];

#endif
