/* SPDX-License-Identifier: GPL-3.0-or-later */
/* describe.h - what a component says of itself. */
#ifndef NB_DESCRIBE_H
#define NB_DESCRIBE_H

#include "components/registry.h"

/* What an option may be ("integer 1 ... 8"); NULL when out of memory. */
const char *nb_option_range(const nb_option *option, nb_ctx *ctx);

/* A few sentences beside the summary; NULL: there are none. */
const char *nb_explanation_of(const nb_registry *registry, const nb_component *component);

#endif
