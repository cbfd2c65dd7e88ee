/* SPDX-License-Identifier: GPL-3.0-or-later */
/* registry.h - the registries of all components. The Makefile finds them in the tree and writes build/registry.c;
 * plug-ins add to them when the program starts. */
#ifndef NB_REGISTRY_H
#define NB_REGISTRY_H

#include "components/component.h"

enum { NB_PLUGIN_ROOM = 64 }; /* components of each kind that plug-ins may add */

extern const nb_registry nb_problems, nb_kernels, nb_strategies, nb_cores, nb_partitions, nb_attentions, nb_studies;
extern const nb_registry *const nb_registries[]; /* all registries; NULL-terminated */

/* The figures and tables of all studies (study.h); plug-ins cannot add any. */
extern const nb_registry nb_figures, nb_tables;
extern const nb_registry *const nb_outputs[]; /* both; NULL-terminated */

#endif
