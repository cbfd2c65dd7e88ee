/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims_private.h - what the files that read claims share. */
#ifndef NB_CLAIMS_PRIVATE_H
#define NB_CLAIMS_PRIVATE_H

#include "config/claims.h"

typedef struct {
    const nb_study *study;
    bool look_up; /* for paths beside the file */
    nb_claim *claim;
    const char **columns; /* by which rows can be selected; ends with NULL */
    nb_mistakes *mistakes;
    nb_ctx *ctx;
} nb_claim_reader;

/* Sorts the pairs of a mapping by key; a value's node is NULL where it is not there. `what` begins each mistake. */
nb_status nb_claim_collect(const nb_claim_reader *r, const char *what, nb_yaml mapping, const char *const *names,
                           nb_yaml **values);

/* Tells that a key is not there, unless the mapping is none. */
nb_status nb_claim_missing(const nb_claim_reader *r, const char *what, nb_yaml mapping, const char *key);

/* Some words, on one line. */
nb_status nb_claim_sentence(const nb_claim_reader *r, const char *what, nb_yaml value, const char **out);

const nb_axis *nb_claim_axis(const nb_study *study, const char *column); /* NULL: none has that column */

/* Whether values of the axis can be compared: what a method is, apart from the data. */
bool nb_claim_compares(const nb_axis *axis);

/* Adds the values of a column that a list has. */
nb_status nb_claim_values_read(const nb_claim_reader *r, const char *what, const char *column, nb_yaml value,
                               int *count, nb_claim_value **values);

/* A mapping from columns to values; no node: no condition. */
nb_status nb_claim_where_read(const nb_claim_reader *r, nb_yaml value, nb_claim_where *where);

/* What the claim's form, which is known, says. */
nb_status nb_claim_body_read(const nb_claim_reader *r, nb_yaml body);

/* One expectation, of those that the claim's form has. */
nb_status nb_claim_expect_read(const nb_claim_reader *r, nb_yaml value);

#endif
