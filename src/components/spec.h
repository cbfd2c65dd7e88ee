/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spec.h - the notation of components: name, or name(option=value, ...).
 *
 * A value is a bare word, a number, true or false, a "quoted string" with backslash escapes, a list [a, b], a range of
 * integers (range.h), which is read as a list, or another spec, which may be quoted. Spaces do not matter. */
#ifndef NB_SPEC_H
#define NB_SPEC_H

#include "base/ctx.h"
#include "base/mistakes.h"

enum { NB_MOST_OPTIONS = 64 }; /* of one spec, and so of a component's table */

typedef struct nb_spec nb_spec;
typedef struct nb_value nb_value;

typedef enum { NB_WORD, NB_STRING, NB_LIST, NB_SPEC } nb_value_kind;

struct nb_value {
    nb_value_kind kind;
    nb_place place;
    const char *text; /* WORD, STRING: unescaped */
    nb_spec *spec;    /* SPEC */
    nb_value *items;  /* LIST: count of them */
    int count;
};

typedef struct {
    const char *key;
    nb_place place;
    nb_value value;
} nb_argument;

struct nb_spec {
    const char *name;
    nb_place place;
    nb_argument *arguments;
    int count;
};

/* Parses one spec that begins at `place`. A syntax error becomes one mistake and *spec = NULL. */
nb_status nb_spec_parse(const char *text, nb_place place, nb_spec **spec, nb_mistakes *mistakes, nb_ctx *ctx);

/* Expands a spec to one for each combination of the items of its lists, the last list running fastest. The results have
 * no lists. */
nb_status nb_spec_expand(const nb_spec *spec, nb_spec ***specs, int *count, nb_ctx *ctx);

#endif
