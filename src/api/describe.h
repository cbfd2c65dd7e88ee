/* SPDX-License-Identifier: GPL-3.0-or-later */
/* describe.h - texts that describe a component. */
#ifndef NB_DESCRIBE_H
#define NB_DESCRIBE_H

#include "components/registry.h"

/* Returns the values that an option allows ("integer 1 ... 8"); NULL when out of memory. */
const char *nb_option_range(const nb_option *option, nb_ctx *ctx);

/* Returns the few sentences that a component has beside its summary; NULL: none. */
const char *nb_explanation_of(const nb_registry *registry, const nb_component *component);

#endif
