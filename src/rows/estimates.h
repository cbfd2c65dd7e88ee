/* SPDX-License-Identifier: GPL-3.0-or-later */
/* estimates.h - ratios of pairs: geometric means over heads within sources within strata, by group, and their verdicts:
 * what the stars of tables and the figures of ratios say. Each pair's own ratio is that of statistics/pairs.h, as in a
 * comparison. */
#ifndef NB_ESTIMATES_H
#define NB_ESTIMATES_H

#include "rows/relation.h"

/* Makes the table `VIEW_estimate` of a view of pairs, whose last eleven columns are x, y, noise_x, noise_y, se_x, se_y,
 * stratum_id, source_id, head_id, trial and draws (pairs.sql); those before say which group a pair is of, by whole
 * numbers and texts. A row for each group: these columns and
 *
 *   ratio                     of x to y; 0 or infinite where that of a head is; NULL of no pair
 *   low, high                 the ends of its 95 % t interval, where they are finite and of 6 sources or more
 *   sources, heads, missing   how many it is of; pairs of which one has no result
 *   verdict                   on the terms of a comparison, of intervals so wide that all of the table hold together:
 *                             "better", "none" ...
 *   why                       the reason for which there is no verdict; NULL where there is one
 *   untested                  why another test of these pairs, over their sources, says nothing, or NULL: the run is
 *                             unfinished, or draws that sources share are of too few trials */
nb_status nb_estimates_make(const nb_relation *relation, const char *view, nb_ctx *ctx);

#endif
