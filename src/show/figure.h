/* SPDX-License-Identifier: GPL-3.0-or-later */
/* figure.h - figures of the studies: tables with a script that draws them. Each is a file of SQL,
 * src/studies/STUDY/figures/NAME.sql (show/query.h), of which the build makes
 *     const nb_figure nb_figure_NAME;
 * figure.c asks its queries. The rows of the first are NAME.csv, and what the pictures show unless a second says that.
 * Further ones, and a second whose only column is `note`, answer with notes, which are printed on standard error. Its
 * own directives:
 *
 *   -- is: standard of_one_m again whole  as in nb_figure; with of_one_m the parameter :m is the number of landmarks
 *   -- compares: COLUMN                   as in nb_figure
 *   -- prepare: NAME                      the function nb_prepare_NAME makes what the query asks, as nb_figure.prepare
 *   -- script: NAME.gp                    of plots/, which draws it
 *   -- title: TEXT                        behind the experiment's name; {COLUMN} is what the picture's first row has
 *   -- data: COLUMN COLUMN ...            of numbers: those of the file that the script reads. A row in which one of
 *                                         them is NULL is in the CSV alone. `panel` and `series` among them are the
 *                                         numbers of these in the picture, from 1
 *   -- arrays: COLUMN COLUMN ...          what each series has there, in its first row, as arrays of the script
 *   -- ticks: COLUMN                      of `data`: x has its numbers at this column's values, which are few. Where
 *                                         bars, whose ends are the last two of `data`, would cover each other, series
 *                                         are shifted aside
 *   -- bars: mean | median | spread       intervals of a mean or of a median, or the range of 80 % of the rows
 *   -- set: NAME VALUE                    a variable of the script; VALUE is a number, or a text as the title
 *   -- most: N FIGURE                     of more than N coloured series, that figure is drawn instead
 *
 * Columns that begin with _ are not in the CSV. These say where a row belongs, with _ or without:
 *   figure, _figure   its picture, NAME_FIGURE; NULL: all pictures that have its panel
 *   panel, _panel     in order of appearance
 *   series, _series   in order of appearance, or, where there is a column _order, of these numbers; those that have
 *                     the same number are one. Rows of one panel and series stand together
 *   _style, _look     of the series: what the script calls it; the number of its colour, from 0, NULL: black
 *
 * The script of a picture, NAME_FIGURE.gp, which gnuplot runs and which loads the other, sets for it: output, data (a
 * file, in which rows of one panel and series are a block), title, what is set, bar_text, panels[], series[], styles[],
 * looks[] (from 1; 0: black), and block[], the number of the block of each panel and series from 0, -1 where there is
 * none. With `ticks`: values[], in ascending order, log_x (1: the axis is logarithmic) and aside[], the share of the
 * axis by which each series is shifted. */
#ifndef NB_FIGURE_H
#define NB_FIGURE_H

#include "base/gnuplot.h"
#include "components/study.h"
#include "components/registry.h"
#include "run/plan.h"

typedef struct nb_relation nb_relation; /* rows/relation.h */

typedef struct {            /* what figures are made of besides the rows, and where they go */
    nb_relation *relation;  /* of the same rows */
    const char *run;        /* the folder of the run */
    const char *folder;     /* of its figures: made if it is not there */
    const char *experiment; /* its name */
    const nb_plan *plan;    /* NULL: not at hand; the run's folder has it */
    int m;                  /* of figures of one m; 0: the middle one */
    int most_panels;        /* of a picture; 0: any number */
    bool programs;          /* those that the run's config names may be started, to make something again */
    nb_gnuplots *gnuplots;  /* that draw; NULL: data and scripts alone */
} nb_drawing;

typedef nb_status nb_figure_prepare(const nb_drawing *drawing, nb_ctx *ctx);

typedef struct {
    NB_OUTPUT_FIRST             /* the name is the stem of its files */
        const char *sql;        /* the file's text */
    nb_figure_prepare *prepare; /* makes tables that it asks; NULL: there are none */
    bool of_one_m;              /* takes nb_drawing.m */
    bool again;                 /* makes something of the run again: only on request */
    bool whole;                 /* its panels are of one picture, however many: nb_drawing.most_panels does not count */
    const char *compares;       /* a column whose values it compares: of fewer than two only on request; NULL: none */
    int place;                  /* in a report: 1, 2 ... stand first; 0: behind those, by name */
} nb_figure;

/* The run has rows of m landmarks; 0 becomes the middle one of its numbers, where there are any. NB_EINVAL where it has
 * none of m. */
nb_status nb_figure_choose_m(const nb_relation *relation, int *m, nb_ctx *ctx);

/* Writes NAME.csv, and the data and a script for gnuplot of one picture or several, and starts to draw them. *figures:
 * how many there are; 0 where the rows have nothing for it. NB_EINVAL where the run does not have m, NB_EIO where a
 * file cannot be written, or gnuplot failed on a figure before. */
nb_status nb_graph_draw(const nb_figure *figure, const nb_drawing *drawing, int *figures, nb_ctx *ctx);

/* Finds whether it is drawn where all figures are that the rows allow. */
nb_status nb_figure_is_offered(const nb_figure *figure, const nb_relation *relation, bool *offered, nb_ctx *ctx);

void nb_figure_warn(const char *name); /* reports that the run has no rows for it */

#endif
