/* SPDX-License-Identifier: GPL-3.0-or-later */
/* query.h - a table that is a file of SQL, src/studies/STUDY/tables/NAME.sql, or, with a script that draws it, a
 * figure, src/studies/STUDY/figures/NAME.sql: directives that say what it is, then queries. The build refuses unknown
 * directives. A line that goes on with the one before begins with "--" and three blanks.
 *
 * Of tables and figures:
 *   -- summary: what it is, in one line       -- reference: of its statistics
 *   -- place: N                               as in nb_table and nb_figure
 *   -- needs: NAME NAME                       views of the study
 *   -- cell: COLUMN: TEXT | TEXT              the first text of which all {COLUMN}s are known stands in the place of
 *                                             what the column has; {COLUMN: FORMAT} is a number in a format of C's, as
 *                                             %.3g, in brief, as an error is read, or in ratio %.3g, with digits that
 *                                             tell the end of an interval of ratios from 1
 * Of figures (show/figure.h): is, compares, prepare, script, title, data, arrays, ticks, bars, set, most
 * Of tables:
 *   -- exists: VIEW                           a view of the study, or key: has rows where the table has some
 *   -- suffices: VIEW                         has rows only where the table has some
 *   -- file: NAME.csv                         as in nb_table
 *   -- flags: COLUMN COLUMN                   columns that are true or false
 *   -- heading: TEXT                          for people, from here on; {COLUMN} is the first row's, as in a cell
 *   -- labels: N                              so many first columns tell rows apart; unless said, those before a number
 *   -- format: COLUMN: %.4g                   of its numbers, else %.3g
 *   -- headless: WHY                          without the names of columns, where cells speak for themselves
 *   -- formula: TEXT                          the part of the heading that is one
 *   -- shared: TEXT                           a paragraph before the tables: what they share, no sentence
 *   -- above: TEXT                            the same, sentences
 *   -- holds: TEXT                            behind them: what they hold, sentences; all three are of a caption in a
 *                                             paper
 *   -- remark: TEXT                           behind them, in a paper too
 *   -- paragraph: TEXT                        behind them, but not in a paper: it leads to notes, or names an option
 *   -- word: WORD: TEXT                       what a word of the table means
 *   -- note: MARK: TEXT                       what a mark means, where it occurs
 *
 * The first query of a table answers programs. The second, or the first where there is no other, answers people, and
 * so does each further one, but only where the first has rows: without these there is no page. Directives for people
 * may stand at the top or before such a query. Its columns are those of the table, but for these:
 *   _part    a heading of its own for each value, "" has none: its items, a line each, which differ or are the same in
 *            other parts; _about: the paragraph below it, no sentence; _note: notes below its table, a line each
 *   _band    rows with one value have it as their label in common; its name is that behind it: "_band core"
 *   _across  its values are the heads of further columns, _cell what stands there, for programs too; a part with no
 *            value, and so with labels alone, has no table; "-- format: _cell:" is theirs
 *   _before NAME, _mark NAME, _low NAME, _high NAME, _format NAME
 *            what stands before and behind the numbers of a column, the ends of their interval, and how they are
 *            written where rows differ in that, "brief" as an error is read; those of _cell have no name behind them
 * and others that begin with _, which are not shown. A query whose first column is named shared, above, holds, remark,
 * paragraph, item, verbatim, note (behind which its mark may stand) or "heading 2" answers with sentences; of kind,
 * with the kind of each before it. */
#ifndef NB_QUERY_H
#define NB_QUERY_H

#include "rows/relation.h"
#include "show/answer.h"

/* The first query, for programs. Without rows a grid may have no columns. */
nb_status nb_query_fill(nb_relation *relation, const char *sql, nb_grid *grid, nb_ctx *ctx);
/* Whether the first query, which answers programs, has a row: no more of it is asked, and less of `exists` and
 * `suffices`. */
nb_status nb_query_has_rows(nb_relation *relation, const char *sql, bool *any, nb_ctx *ctx);
/* All queries, for people. */
nb_status nb_query_show(nb_relation *relation, const char *sql, nb_page *page, nb_ctx *ctx);
/* Each query of `sql` answers people, without tables for programs. */
nb_status nb_query_tell(const nb_relation *relation, const char *sql, nb_page *page, nb_ctx *ctx);

#endif
