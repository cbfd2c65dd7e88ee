/* SPDX-License-Identifier: GPL-3.0-or-later */
/* values.h - the kinds of values that keys have. What is not of the kind is a
 * mistake that names the key; NB_OK all the same. */
#ifndef NB_VALUES_H
#define NB_VALUES_H

#include "base/range.h"
#include "config/yaml.h"

nb_status nb_read_integer(const char *key, nb_yaml value, long long lo, long long hi, long long *out,
                          nb_mistakes *mistakes);

/* For a text that is a list without its brackets: "; write a list in brackets: [uniform, kmeans]"; "" for others.
 * The ctx's; NULL when out of memory. */
const char *nb_list_hint(const char *text, nb_ctx *ctx);

/* A list of ranges whose items lie from lo to hi; those that are right. */
nb_status nb_read_ranges(const char *key, nb_yaml value, long long lo, long long hi, int *count, nb_range **out,
                         nb_mistakes *mistakes);

/* A list of numbers from lo to hi; those that are right. */
nb_status nb_read_reals(const char *key, nb_yaml value, double lo, double hi, int *count, double **out,
                        nb_mistakes *mistakes);

/* Each item's text, in order; *out ends with NULL. */
nb_status nb_read_texts(const char *key, nb_yaml value, int *count, const char ***out, nb_mistakes *mistakes);

/* A list of words out of `allowed` (NULL-terminated) and perhaps one more. */
nb_status nb_read_words(const char *key, nb_yaml value, const char *const *allowed, const char *extra, int *count,
                        const char ***out, nb_mistakes *mistakes);

/* One word out of `allowed`; *index tells which, 0 if it is none. */
nb_status nb_read_word(const char *key, nb_yaml value, const char *const *allowed, int *index, nb_mistakes *mistakes);

#endif
