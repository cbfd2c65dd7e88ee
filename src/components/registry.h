/* SPDX-License-Identifier: GPL-3.0-or-later */
/* registry.h - all components, found in the tree by the Makefile, which writes
 * build/registry.c; plugins add to them when the program starts. */
#ifndef NB_REGISTRY_H
#define NB_REGISTRY_H

#include "components/component.h"

enum { NB_PLUGIN_ROOM = 64 }; /* components of a kind that plugins may add */

extern const nb_registry nb_problems, nb_kernels, nb_strategies, nb_cores, nb_studies;
extern const nb_registry *const nb_registries[]; /* all of them; NULL-terminated */

/* What is made of rows: the figures and the tables of all studies. No plugin adds to them. The record of one
 * begins with NB_OUTPUT_FIRST. */
typedef struct {
    nb_component component; /* without options */
    const char *study;      /* whose rows it reads */
    bool standard;          /* of a config that names none */
} nb_output;
#define NB_OUTPUT_FIRST \
    union { \
        nb_output output; \
        struct { \
            nb_component component; \
            const char *study; \
            bool standard; \
        }; \
    };
extern const nb_registry nb_figures, nb_tables;
extern const nb_registry *const nb_outputs[]; /* both; NULL-terminated */

/* The names of those of a study, sorted; NULL-terminated. */
nb_status nb_output_names(const nb_registry *registry, const char *study, const char *const **names, nb_ctx *ctx);

#endif
