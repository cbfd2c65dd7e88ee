/* SPDX-License-Identifier: GPL-3.0-or-later */
/* values.h - reads the kinds of values that keys have. A value of another kind becomes a mistake that names the key;
 * the status is NB_OK all the same. */
#ifndef NB_VALUES_H
#define NB_VALUES_H

#include "base/range.h"
#include "config/yaml.h"

/* Collects a mapping's values by key, in the order of `names` (NULL-terminated); the node of a missing one is NULL.
 * Adds a mistake for what is no mapping, and for each key that is unknown, stands twice or has no value. */
nb_status nb_read_mapping(const char *what, nb_yaml mapping, const char *const *names, nb_yaml **values,
                          nb_mistakes *mistakes);

nb_status nb_read_integer(const char *key, nb_yaml value, long long lo, long long hi, long long *out,
                          nb_mistakes *mistakes);

/* Returns a hint for a list without brackets, "; write a list in brackets: [uniform, kmeans]"; "" for other texts. ctx
 * owns it; NULL when out of memory. */
const char *nb_list_hint(const char *text, nb_ctx *ctx);

/* Reads a list of ranges within lo to hi; *out has the valid ones. */
nb_status nb_read_ranges(const char *key, nb_yaml value, long long lo, long long hi, int *count, nb_range **out,
                         nb_mistakes *mistakes);

/* Reads a list of numbers from lo to hi; *out has the valid ones. */
nb_status nb_read_reals(const char *key, nb_yaml value, double lo, double hi, int *count, double **out,
                        nb_mistakes *mistakes);

/* Reads each item's text, in order; *out ends with NULL. */
nb_status nb_read_texts(const char *key, nb_yaml value, int *count, const char ***out, nb_mistakes *mistakes);

/* Reads a list of words out of `allowed` (NULL-terminated) and perhaps `extra`. */
nb_status nb_read_words(const char *key, nb_yaml value, const char *const *allowed, const char *extra, int *count,
                        const char ***out, nb_mistakes *mistakes);

/* Reads one word out of `allowed`; *index is 0 if it is none. */
nb_status nb_read_word(const char *key, nb_yaml value, const char *const *allowed, int *index, nb_mistakes *mistakes);

#endif
