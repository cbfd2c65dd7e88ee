/* SPDX-License-Identifier: GPL-3.0-or-later */
/* estimates.h - ratios of pairs: geometric means over heads within sources within strata, by group, and their verdicts:
 * what the stars of tables and the figures of ratios say. They are functions of SQL:
 *
 *   estimate(x, y, noise_x, noise_y, se_x, se_y, stratum_id, source_id, head_id, trial, draws)
 *                              aggregate: the ratio of x to y over pairs (pairs.sql), a value for those below; each
 *                              pair's own ratio is that of statistics/pairs.h, as in a comparison
 *   estimate_ratio(e)          0 or infinite where that of a head is; NULL of no pair
 *   estimate_low(e), estimate_high(e)
 *                              the ends of its 95 % t interval, where they are finite and of 6 sources or more
 *   estimate_sources(e), estimate_heads(e), estimate_missing(e)
 *                              how many it is of; pairs of which one has no result
 *   estimate_tested(e)         1 where it has a p
 *   estimate_untested(e, unfinished)
 *                              why another test of these pairs, over their sources, says nothing, or NULL: the run is
 *                              unfinished, or draws that sources share are of too few trials
 *   estimate_verdict(e, tests, unfinished)
 *                              on the terms of a comparison, of an interval so wide that so many tests hold together:
 *                              "better", "none" ...; unfinished: which rows have not been run, or NULL */
#ifndef NB_ESTIMATES_H
#define NB_ESTIMATES_H

#include "rows/relation.h"

nb_status nb_estimate_functions_add(sqlite3 *db, nb_ctx *ctx);

/* Makes the table `VIEW_estimate` of a view of pairs, whose last eleven columns are what estimate() takes; those before
 * say which group a pair is of. A row for each group: these, ratio, low, high, sources, heads, missing and verdict, as
 * above; the tests are those of the table. */
nb_status nb_estimates_make(const nb_relation *relation, const char *view, nb_ctx *ctx);

#endif
