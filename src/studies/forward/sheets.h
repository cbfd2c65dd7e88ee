/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sheets.h - what the study's figures of curves share: a figure for each number of threads. */
#ifndef NB_FORWARD_SHEETS_H
#define NB_FORWARD_SHEETS_H

#include "report/figure.h"
#include "report/sheet.h"
#include "studies/forward/summary.h"

typedef struct {
    nb_forward_summary summary;
    int thread_count;
    int *threads; /* ascending */
} nb_forward_sheet;

/* `times`: figures for each number of threads; panels and series have room for all that the rows could need. */
nb_status nb_forward_sheet_make(nb_forward_sheet *of, const nb_figure *figure, const nb_frame *frame,
                                const nb_drawing *drawing, int times, nb_sheet *sheet, nb_ctx *ctx);

int nb_forward_figure_of(const nb_forward_sheet *of, int threads); /* by its number of threads, from 0 */

/* The next figure's name: the text behind the number of threads, if there are several. */
nb_status nb_forward_name_figure(const nb_forward_sheet *of, int threads, const char *text, nb_sheet *sheet,
                                 nb_ctx *ctx);

/* A panel for each family with several n: by family, its number; -1: it has but one n. */
nb_status nb_forward_family_panels(const nb_forward_sheet *of, nb_sheet *sheet, int **panels, nb_ctx *ctx);

#endif
