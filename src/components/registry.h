/* SPDX-License-Identifier: GPL-3.0-or-later */
/* registry.h - all components, found in the tree by the Makefile, which writes
 * build/registry.c; plugins add to them when the program starts. */
#ifndef NB_REGISTRY_H
#define NB_REGISTRY_H

#include "components/component.h"

enum { NB_PLUGIN_ROOM = 64 }; /* components of a kind that plugins may add */

extern const nb_registry nb_problems, nb_kernels, nb_strategies, nb_cores, nb_partitions, nb_attentions, nb_studies;
extern const nb_registry *const nb_registries[]; /* all of them; NULL-terminated */

/* The figures and tables of all studies, output.h; no plugin adds to them. */
extern const nb_registry nb_figures, nb_tables;
extern const nb_registry *const nb_outputs[]; /* both; NULL-terminated */

#endif
