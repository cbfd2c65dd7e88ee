/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims_print.h - the answers to claims, for people and for programs. */
#ifndef NB_CLAIMS_PRINT_H
#define NB_CLAIMS_PRINT_H

#include "answers/claims.h"
#include "show/page.h"

#include <stdio.h>

/* How many claims there are of each verdict, by verdict. */
void nb_claims_tally(int runs, const nb_claim_results *results, int tally[NB_CLAIM_VERDICTS]);
/* "3 reproduced, 1 void"; "": there are none. */
nb_status nb_claims_tell_tally(int runs, const nb_claim_results *results, const char **text, nb_ctx *ctx);

/* Shows claims to people: a part for each, with its models and parts; a line for each; or a table of those that are
 * tested, and a list of the others. */
typedef enum { NB_CLAIMS_PARTS, NB_CLAIMS_LINES, NB_CLAIMS_TABLE } nb_claims_form;
nb_status nb_claims_show(nb_page *page, nb_claims_form form, int runs, const nb_claim_results *results, nb_ctx *ctx);

/* A row for each claim, then one for each of its models and parts. */
nb_status nb_claims_print_csv(FILE *out, int runs, const nb_claim_results *results, nb_ctx *ctx);
/* A list of objects, one for each claim; what is not known, open or infinite is null. */
nb_status nb_claims_print_json(FILE *out, int runs, const nb_claim_results *results, nb_ctx *ctx);

#endif
