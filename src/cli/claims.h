/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims.h - tests a run's claims on its rows. */
#ifndef NB_CLI_CLAIMS_H
#define NB_CLI_CLAIMS_H

#include "report/claims_print.h"
#include "report/relation.h"

/* Tests the claims. They must outlive the results. */
nb_status nb_claims_ask(nb_relation *relation, int count, const nb_claim *claims, nb_claim_results *results,
                        nb_ctx *ctx);

/* Writes the results into the run's folder, or removes the file if no claims are made any more. */
nb_status nb_claims_write(const char *folder, const nb_claim_results *results, nb_ctx *ctx);

#endif
