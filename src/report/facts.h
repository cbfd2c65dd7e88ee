/* SPDX-License-Identifier: GPL-3.0-or-later */
/* facts.h - the manifests of a run as JSON objects: what signed its rows. */
#ifndef NB_FACTS_H
#define NB_FACTS_H

#include "run/store.h"

#include <jansson.h>

/* *list <- an object for each manifest, in the order in which they came: its number ("manifest"), how many rows hang on
 * it ("rows"), how many of rows that the plan does not hold ("rows_unused"), and what it says (run/provenance.h).
 * ctx's. */
nb_status nb_facts_read(nb_store *store, json_t **list, nb_ctx *ctx);

/* A fact as text; "" where the manifest has none of that name, or it is no text. */
const char *nb_fact(const json_t *manifest, const char *name);

/* A manifest's "arguments" as a line that a shell would read as them. */
nb_status nb_fact_command(const json_t *arguments, const char **line, nb_ctx *ctx);

#endif
