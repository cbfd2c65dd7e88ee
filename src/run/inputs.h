/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inputs.h - what a plan's rows are made from beside the program and the config:
 * the files that options name, and plugins. A row is another row where one of its
 * files holds something else. */
#ifndef NB_INPUTS_H
#define NB_INPUTS_H

#include "run/plan.h"

#include <sys/stat.h>

typedef struct {
    const char *path, *sha256; /* path: as the option has it */
    long long bytes;
    struct stat info; /* when it was read */
} nb_input;

struct nb_inputs {
    int count, capacity;
    nb_input *items;
    const char **of_scene, **of_method; /* first letters of digests joined by '+', "" where there are no files */
};

/* Reads every file of the plan's scenes and methods once. An option that names files
 * holds a path, of a file or of a folder of .npy files, or words, split as a shell would,
 * of which some are paths of files; what names nothing that is there adds nothing. NB_EIO where a
 * file cannot be read. */
nb_status nb_inputs_find(const nb_plan *plan, nb_inputs **inputs, nb_ctx *ctx);

/* Digests of what row `index` of the plan is made from; ctx's. */
nb_status nb_inputs_of_row(const nb_plan *plan, int index, const char **digests, nb_ctx *ctx);

/* NB_EIO where a file does not hold any more what it held when it was found. Costs
 * a stat() a file while nobody touches them. */
nb_status nb_inputs_check(nb_inputs *inputs, nb_ctx *ctx);

#endif
