/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report.h - runs as one report: what was asked, what the rows answer, what speaks against that, figures, the methods
 * compared (as at the run's end, but pooled over m, except for times), tables, the rows that went wrong, and how it was
 * measured. */
#ifndef NB_REPORT_H
#define NB_REPORT_H

#include "components/study.h"
#include "show/page.h"
#include "rows/relation.h"

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

typedef struct {
    const char *path;    /* of the SVG file */
    const char *caption; /* what it shows */
    int rank;            /* private: by which they are in order */
} nb_picture;

typedef struct {
    int count;
    nb_picture *items;
    bool undrawn; /* one is missing, and gnuplot is */
} nb_pictures;

/* All SVG files among the run's figures: those that the run's config names first, in its order, then those of the study
 * that have a place, the others of the study, and others, by name. What the run's config names, or a figure whose data
 * are there, is drawn if it has no such file, where gnuplot is installed. */
nb_status nb_pictures_find(const char *run, nb_relation *relation, nb_pictures *pictures, nb_ctx *ctx);

/* *address <- the way from a folder to a file, both of which exist: "../results/a%20run/plots/error.svg". What has a
 * meaning in an address or in Markdown is encoded. */
nb_status nb_address_of(const char *folder, const char *path, const char **address, nb_ctx *ctx);

#endif
