/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kinds.h - the kinds of components, then those of outputs. */
#ifndef NB_KINDS_H
#define NB_KINDS_H

#include "components/registry.h"

enum { NB_MOST_KINDS = 15 };

const nb_registry *nb_kind_at(int index); /* NULL past the end */

/* Finds a kind by "strategy" or "strategies"; NB_EINVAL lists the kinds there are. */
nb_status nb_kind_find(const char *kind, const nb_registry **registry, nb_ctx *ctx);

/* Texts that describe a component. */

/* Returns the few sentences that a component has beside its summary; NULL: none. */
const char *nb_explanation_of(const nb_registry *registry, const nb_component *component);

#endif
