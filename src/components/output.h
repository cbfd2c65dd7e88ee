/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output.h - figures and tables, which the studies make of rows. */
#ifndef NB_OUTPUT_H
#define NB_OUTPUT_H

#include "components/component.h"

/* The record of a figure or a table begins with NB_OUTPUT_FIRST. */
typedef struct {
    nb_component component; /* has no options */
    const char *study;      /* whose rows it reads */
    bool standard;          /* used if a config names none */
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

/* Lists the names of a study's outputs, sorted; NULL-terminated. */
nb_status nb_output_names(const nb_registry *registry, const char *study, const char *const **names, nb_ctx *ctx);

#endif
