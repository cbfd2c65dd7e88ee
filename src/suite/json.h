/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json.h - what is read and written of a result's file. */
#ifndef NB_SUITE_JSON_H
#define NB_SUITE_JSON_H

#include "suite/suite.h"

#include <jansson.h>

/* null for what is not finite, and for NULL. */
json_t *nb_suite_json_real(double x);
json_t *nb_suite_json_text(const char *text);
/* The digest of the rows in a run's folder, the files that they were computed from but for the heads, and this
 * program. */
nb_status nb_suite_json_origin(const nb_suite *suite, const char *rows, json_t **digest, json_t **code, nb_ctx *ctx);
nb_status nb_suite_json_program(json_t **facts, nb_ctx *ctx);
/* For nb_write_file; `object`: a json_t, of which each key and each item of a list has a line. */
nb_status nb_suite_json_print(FILE *out, const void *object, nb_ctx *ctx);

/* NB_EINVAL where the file says another number than `found`; `place`: where in it. */
nb_status nb_suite_json_compare(const char *path, const char *place, const json_t *from, const char *key, double found,
                                nb_ctx *ctx);
double nb_suite_json_number(const json_t *from, const char *key); /* NaN: it is none */

/* Reads the blocks `damage` and `timed` of a result, if it has them, and computes their numbers again. NB_EINVAL where
 * they say others, or are of other settings or sources. */
nb_status nb_suite_json_blocks(const char *path, const json_t *all, nb_suite_result *result, nb_ctx *ctx);

#endif
