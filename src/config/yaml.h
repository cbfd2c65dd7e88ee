/* SPDX-License-Identifier: GPL-3.0-or-later */
/* yaml.h - YAML values with their places, so that messages can name line and column. */
#ifndef NB_YAML_H
#define NB_YAML_H

#include "base/mistakes.h"
#include "base/range.h"

#include <stdio.h>
#include <yaml.h>

typedef struct { /* one value, and the document that it is in */
    yaml_document_t *document;
    yaml_node_t *node;  /* NULL: there is none */
    const char *source; /* a file, or an option of the command line */
    bool in_file;       /* its line and column are known */
} nb_yaml;

/* Parses the one document of a file or a text; root->node = NULL after a mistake. The mistakes' ctx owns it. NB_EIO if
 * the file cannot be read, NB_EINVAL if it is larger than 16 MiB. */
nb_status nb_yaml_file(const char *path, nb_yaml *root, nb_mistakes *mistakes);
nb_status nb_yaml_text(const char *text, const char *source, nb_yaml *root, nb_mistakes *mistakes);

nb_place nb_yaml_place(nb_yaml value);
const char *nb_yaml_kind(nb_yaml value);  /* "a list" ..., for a value that is not a text */
const char *nb_yaml_found(nb_yaml value); /* the text, or the kind of what is none */

/* Adds a mistake at the value's place: a format and its arguments. */
#define nb_yaml_mistake(value, mistakes, ...) nb_mistakes_add((mistakes), nb_yaml_place(value), __VA_ARGS__)

/* Returns the text of a scalar; NULL for other nodes and for texts with a NUL byte, which would be cut. */
const char *nb_yaml_scalar(nb_yaml value);

/* True for YAML's null in any spelling. */
bool nb_yaml_is_null(nb_yaml value);

/* Reads the items of a list; any other value counts as a list of one. */
int nb_yaml_count(nb_yaml value);
nb_yaml nb_yaml_item(nb_yaml value, int index);

/* Reads the pairs of a mapping; any other value has none. */
int nb_yaml_pairs(nb_yaml value);
void nb_yaml_pair(nb_yaml mapping, int index, nb_yaml *key, nb_yaml *value);

/* Returns the value of a mapping's key. Its node is NULL if there is none, as in what is no mapping, or nothing. */
nb_yaml nb_yaml_get(nb_yaml mapping, const char *key);

/* Prints UTF-8 text as a double-quoted scalar on one line that reads back as the same text. */
void nb_yaml_print_quoted(FILE *out, const char *text);

/* Read the kinds of values that keys have. A value of another kind becomes a mistake that names the key; the status is
 * NB_OK all the same. */

/* Collects a mapping's values by key, in the order of `names` (NULL-terminated); the node of a missing one is NULL.
 * Adds a mistake for what is no mapping, and for each key that is unknown, stands twice or has no value. */
nb_status nb_read_mapping(const char *what, nb_yaml mapping, const char *const *names, nb_yaml **values,
                          nb_mistakes *mistakes);

/* Reads a name of letters, digits, '.', '_' and '-'; `hint` ends the mistake. */
nb_status nb_read_name(const char *key, nb_yaml value, const char *hint, const char **out, nb_mistakes *mistakes);

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
