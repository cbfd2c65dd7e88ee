/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims.h - a run's rows are asked its claims. */
#ifndef NB_CLI_CLAIMS_H
#define NB_CLI_CLAIMS_H

#include "report/claims_print.h"
#include "report/relation.h"

/* The claims must outlive the answers. */
nb_status nb_claims_ask(nb_relation *relation, int count, const nb_claim *claims, nb_claim_results *results,
                        nb_ctx *ctx);

/* Writes the answers into the run's folder, or removes those of claims that are no longer made. */
nb_status nb_claims_write(const char *folder, const nb_claim_results *results, nb_ctx *ctx);

#endif
