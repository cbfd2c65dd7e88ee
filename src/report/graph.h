/* SPDX-License-Identifier: GPL-3.0-or-later */
/* graph.h - a figure that is a file of SQL, src/studies/STUDY/figures/NAME.sql: comments that say what it is, then
 * queries. The rows of the first are NAME.csv, and what the pictures show unless a second says that. Further ones
 * answer with notes, which are printed on standard error.
 *
 *   -- summary, reference, place, needs   as in report/query.h
 *   -- is: standard of_one_m again whole  as in nb_figure; with of_one_m the parameter :m is the number of landmarks
 *   -- compares: COLUMN                   as in nb_figure
 *   -- prepare: NAME                      the function nb_prepare_NAME makes what the query asks, as nb_figure.prepare
 *   -- script: NAME.gp                    of plots/, which draws it
 *   -- title: TEXT                        behind the experiment's name; {COLUMN} is what the picture's first row has
 *   -- data: COLUMN COLUMN ...            of numbers: those of the file that the script reads. A row in which one of
 *                                         them is NULL is in the CSV alone. `panel` and `series` among them are the
 *                                         numbers of these in the picture, from 1
 *   -- arrays: COLUMN COLUMN ...          what each series has there, in its first row, as arrays of the script
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
 * The script of a picture sets for the other: output, data (a file, in which rows of one panel and series are a block),
 * title, what is set, panels[], series[], styles[], looks[] (from 1; 0: black), and block[], the number of the block of
 * each panel and series from 0, -1 where there is none. */
#ifndef NB_GRAPH_H
#define NB_GRAPH_H

#include "report/figure.h"

/* Writes NAME.csv, and the data and a script for gnuplot of one picture or several, and starts to draw them. *figures:
 * how many there are; 0 where the rows have nothing for it. NB_EINVAL where the run does not have m, NB_EIO where a
 * file cannot be written, or gnuplot failed on a figure before. */
nb_status nb_graph_draw(const nb_figure *figure, const nb_drawing *drawing, int *figures, nb_ctx *ctx);

#endif
