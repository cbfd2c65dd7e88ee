/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims_private.h - shared by the files that read claims. */
#ifndef NB_CLAIMS_PRIVATE_H
#define NB_CLAIMS_PRIVATE_H

#include "config/claims.h"

typedef struct {
    const nb_study *study;
    bool look_up; /* search paths beside the file */
    nb_claim *claim;
    const char **columns; /* columns that can select rows; ends with NULL */
    nb_mistakes *mistakes;
    nb_ctx *ctx;
} nb_claim_reader;

/* Collects a mapping's values by key, in the order of `names`; the node of a missing one is NULL. `what` begins each
 * mistake. */
nb_status nb_claim_collect(const nb_claim_reader *r, const char *what, nb_yaml mapping, const char *const *names,
                           nb_yaml **values);

/* Reports a missing key, unless the value is no mapping. */
nb_status nb_claim_missing(const nb_claim_reader *r, const char *what, nb_yaml mapping, const char *key);

/* Reads a text that must be words on one line. */
nb_status nb_claim_sentence(const nb_claim_reader *r, const char *what, nb_yaml value, const char **out);

const nb_axis *nb_claim_axis(const nb_study *study, const char *column); /* NULL: no axis has that column */

/* True if values of the axis can be compared: it is part of a method, not of the data. */
bool nb_claim_compares(const nb_axis *axis);

/* Reads a list of values of a column and appends them. */
nb_status nb_claim_values_read(const nb_claim_reader *r, const char *what, const char *column, nb_yaml value,
                               int *count, nb_claim_value **values);

/* Reads a mapping from columns to values; a missing node is no condition. */
nb_status nb_claim_where_read(const nb_claim_reader *r, nb_yaml value, nb_claim_where *where);

/* Reads the part of a claim that depends on its form, which is known. */
nb_status nb_claim_body_read(const nb_claim_reader *r, nb_yaml body);

/* Reads one expectation that the claim's form allows. */
nb_status nb_claim_expect_read(const nb_claim_reader *r, nb_yaml value);

#endif
