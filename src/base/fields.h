/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fields.h - how messages call what a caller can ask for. The library knows the fields of a request by name, such as
 * "fresh"; the program that it is in may spell them as its own options. The commands name their options in the same
 * way, since the Python package may have asked, which has keywords in their place. */
#ifndef NB_FIELDS_H
#define NB_FIELDS_H

#include "base/ctx.h"

#define NB_IS_SET "True" /* the value of a field that is set or not */

typedef struct {
    const char *(*name)(const char *field); /* NULL: the field's own */
    const char *before, *between, *set; /* what stands before a name, between it and a value, behind it if it is set */
    const char *key, *call;             /* what stands before a key of the config, and before a function's name */
} nb_spelling;

/* From now on messages spell so; before, as Python's keywords do: fresh=True, where=VALUE, by_model=True. */
void nb_spell_as(const nb_spelling *spelling);
bool nb_spells_keywords(void); /* nobody has asked for anything else */

/* Return a text in ctx's memory; if that runs out, the name alone. */

const char *nb_field(nb_ctx *ctx, const char *name, const char *value);          /* value NULL: the name alone */
const char *nb_spell_option(nb_ctx *ctx, const char *option, const char *value); /* likewise */
const char *nb_spell_quoted(nb_ctx *ctx, const char *option, const char *value); /* --option 'VALUE' */
const char *nb_key(nb_ctx *ctx, const char *key);   /* a key of the config that the caller sets */
const char *nb_call(nb_ctx *ctx, const char *name); /* what the caller can call: "run" */

#endif
