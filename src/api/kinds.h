/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kinds.h - the kinds of components, then those of outputs. */
#ifndef NB_KINDS_H
#define NB_KINDS_H

#include "components/registry.h"

enum { NB_MOST_KINDS = 15 };

const nb_registry *nb_kind_at(int index); /* NULL behind the last */

/* By "strategy" or "strategies"; NB_EINVAL with what there is. */
nb_status nb_kind_find(const char *kind, const nb_registry **registry, nb_ctx *ctx);

#endif
