/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inputs.h - the files that a plan's rows are computed from, besides the program and the config: those that options
 * name, and plug-ins. If the contents of a file change, its rows are different rows. The file that splits sources is
 * among them, but makes no row another one. */
#ifndef NB_INPUTS_H
#define NB_INPUTS_H

#include "run/plan.h"

#include <sys/stat.h>

typedef struct {
    const char *path, *sha256; /* path: as in the option */
    long long bytes;
    struct stat info; /* stat() of the file when it was read */
} nb_input;

typedef struct {             /* a program of the user's, which an option `run` names */
    const char *run, *names; /* the option; the first of its files, joined by ", ", and how many more there are */
    int count;               /* of its files */
} nb_program_files;

struct nb_inputs {
    int count, capacity;
    nb_input *items;
    int program_count, program_capacity; /* programs whose rows may depend on more than their files, each once */
    nb_program_files *programs;
    const char **of_scene, **of_method; /* first letters of the digests, joined by '+'; "" if there are no files */
};

/* Reads every file of the plan's scenes and methods once. An option that names files holds a path, of a file or of a
 * folder of .npy files, or words, split as a shell would, of which some are paths of files; names that do not exist
 * add nothing. With a Python script come the files of its folder that it imports. NB_EIO if a file cannot be read. */
nb_status nb_inputs_find(const nb_plan *plan, nb_inputs **inputs, nb_ctx *ctx);

/* Returns the digests of the files of row `index` of the plan; ctx owns them. */
nb_status nb_inputs_of_row(const nb_plan *plan, int index, const char **digests, nb_ctx *ctx);

/* NB_EIO if a file has changed since nb_inputs_find. Costs one stat() for each file that is unchanged. */
nb_status nb_inputs_check(nb_inputs *inputs, nb_ctx *ctx);

#endif
