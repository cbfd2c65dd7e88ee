/* SPDX-License-Identifier: GPL-3.0-or-later */
/* open.h - opens the rows of a run, or of several, as a relation: the store, with views and functions of this
 * connection's own.
 *
 * Views of every study:
 *   run        a row each, in the order of the plan: the columns of rows.csv; NAME_label beside a column NAME of
 *              components; NAME_id beside a column NAME of texts, as strategy_id, a number in order of appearance; and
 *              those of `key`
 *   key        a row each, few bytes: number (from 0, in the order of the plan), position, the NAME_id, the row's whole
 *              numbers, its status and the study's metric with its noise, standard error and unseen part, and
 *                head_id         its problem and head
 *                panel_id        the data of its kind that one table or panel shows together
 *                stratum_id, source_id   what a statement may be generalised over, see `source`
 *                line_id         all that identifies the row but its trial
 *                opens           it is the first of its line
 *                last_trial      its result is that of the trials from its own up to this: its own alone, or, where its
 *                                line has trial 0 alone and nothing draws, every trial that others have (keys.sql)
 *                draws           another trial may give another result, though the data stay, and its luck is that of
 *                                all sources
 *   scored     `key` with the study's metric, x, its noise, and the number of the method whose it is, method
 *   stretch    a row for the first of successive rows whose data are the same: its number, id, position, trial,
 *              problem_id, head_id, panel_id, source_id
 *   measured   a row for each row and measure but for times: id, measure, place (among the columns), x; measure: place,
 *              name
 *   component  id, kind (the column), spec, label, full (with the first option always), name; of strategies and cores
 *              oracle, random; of cores filter; of attentions exact; plain: all options have their defaults;
 *              kind_place: where its column stands among those of the identity; first_row: the number of its first;
 *              has_result: or may get one;
 *              input: how a problem reads its files, in what others of the run read them otherwise, "max_n = 12"
 *   option     an option each of a component (kind, id), in their order (place): key, value, number (NULL of a text or
 *              a word), rest (the component's other options, which two share that differ in this one only), rest_label,
 *              size (it sets n, or an attention's landmarks or the like)
 *   panel      id, title, problem (NULL of several), kernel ..., n, d, problems, sources, heads, trials
 *   stratum    id, name, label, drawn: a model, or a problem whose data are drawn
 *   without    kind, text: which components of a method have no result, where others of their kind have one, and why;
 *              a sentence for each kind and reason
 *   unfinished text: "only 12 of 40 rows have been run"; nothing where all have: then there is no verdict yet
 *   source     id, stratum_id, name: a text, image or recording; of drawn data, a trial
 * A study adds its own, src/studies/STUDY/views/NAME.sql, which are made when a query names them as needed. */
#ifndef NB_OPEN_H
#define NB_OPEN_H

#include "components/condition.h"
#include "rows/relation.h"

/* Opens a relation of a store that is open, and stays so as long as the relation is asked. `labels`: those that the
 * config gives. */
nb_status nb_relation_open(nb_relation **relation, nb_store *store, const nb_given_labels *labels, nb_ctx *ctx);

/* Opens one relation of several runs of one study, with a column `run`: its name. NB_EINVAL for different studies. */
nb_status nb_relation_gather(nb_relation **relation, int count, nb_store *const *stores, const char *const *names,
                             const nb_given_labels *labels, nb_ctx *ctx);

/* Sets the value that others are compared with, in the column of the study's baseline: the wanted one, which is that of
 * the run's config; where no row has it, or none is wanted (NULL), the first that is no oracle, or the first of all.
 * NULL where the study compares none. A relation is opened with none wanted. */
nb_status nb_relation_take_baseline(nb_relation *relation, const char *wanted, nb_ctx *ctx);

/* Only the rows that these conditions choose (rows/where.h) are there from now on, and are numbered anew; another
 * baseline is taken where they lack it. Before any view of a study is made; but its view `look`, tables look_*, is that
 * of all rows: a method looks the same in all figures of a run. */
nb_status nb_relation_keep(nb_relation *relation, const nb_condition_text *conditions, nb_ctx *ctx);

#endif
