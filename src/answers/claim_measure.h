/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claim_measure.h - the units of a claim that measures: the values of a query of its rows.
 *
 * The query reads two views (claim_rows.sql has their columns), of the rows that the claim means:
 *   claim_row     the columns of `run`, with group_id, at, x and y
 *   claim_point   the same rows, narrow, one for each metric
 * and answers with a row for each value: `stratum` and `source`, the stratum_id and source_id of the rows; `value`, a
 * number, NULL if it is missing; and, if it likes, `head`, their head_id (values of a head are averaged first), and
 * `group_id` (they count the same). */
#ifndef NB_CLAIM_MEASURE_H
#define NB_CLAIM_MEASURE_H

#include "answers/claim_units.h"

/* Makes the units in the rows of the part that is asked. A claim's own query may be anybody's: it is refused whatever
 * but reads; what is wrong with it is units->why. */
nb_status nb_claim_measure(nb_relation *relation, const nb_claim *claim, nb_claim_units *units, nb_ctx *ctx);

#endif
