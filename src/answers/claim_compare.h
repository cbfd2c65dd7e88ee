/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claim_compare.h - the units of a claim that compares one value of a column with the next. */
#ifndef NB_CLAIM_COMPARE_H
#define NB_CLAIM_COMPARE_H

#include "answers/claim_units.h"

/* Makes the units of values[pair] against values[pair + 1] in the rows of the part that is asked. */
nb_status nb_claim_compare(nb_relation *relation, const nb_claim *claim, int pair, nb_claim_units *units, nb_ctx *ctx);

#endif
