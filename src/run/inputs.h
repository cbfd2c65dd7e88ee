/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inputs.h - what a plan's rows are made from besides the program and the config:
 * the files that options name, and plugins. A row is a different row if one of its files has other contents. */
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
    const char **of_scene, **of_method; /* first letters of digests joined by '+', "" if there are no files */
};

/* Reads every file of the plan's scenes and methods once. An option that names files holds a path, of a file or of a
 * folder of .npy files, or words, split as a shell would, of which some are paths of files; names that do not exist
 * add nothing. NB_EIO if a file cannot be read. */
nb_status nb_inputs_find(const nb_plan *plan, nb_inputs **inputs, nb_ctx *ctx);

/* Digests of what row `index` of the plan is made from; ctx's. */
nb_status nb_inputs_of_row(const nb_plan *plan, int index, const char **digests, nb_ctx *ctx);

/* NB_EIO if a file has changed since it was found. Costs a stat() a file while nobody touches them. */
nb_status nb_inputs_check(nb_inputs *inputs, nb_ctx *ctx);

#endif
