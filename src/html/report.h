/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report.h - runs as one report: what was asked, what the rows answer, what speaks against that, figures, tables, the
 * rows that went wrong, and how it was measured. */
#ifndef NB_REPORT_H
#define NB_REPORT_H

#include "report/page.h"

typedef struct {
    const char *title;
    nb_page page;
    bool undrawn; /* figures are missing, and gnuplot is */
} nb_report;

/* Makes a report of one run or several, each with a part of its own below a table of all. `place`: the folder where it
 * will lie, from which figures are addressed. Figures that are missing are drawn where gnuplot is. */
nb_status nb_report_make(int runs, const char *const *folders, const char *place, nb_report *report, nb_ctx *ctx);

/* `what` is an nb_report; see base/files.h. */
nb_status nb_report_print_markdown(FILE *out, const void *what, nb_ctx *ctx);
nb_status nb_report_print_html(FILE *out, const void *what, nb_ctx *ctx);

#endif
