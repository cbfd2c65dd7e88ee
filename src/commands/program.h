/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program.h - the program as a user of its own library. */
#ifndef NB_PROGRAM_H
#define NB_PROGRAM_H

#include "api/handle.h"
#include "commands/command.h"

/* Makes a handle that is freed with ctx's memory, of the program as its host, which may have more set and must outlive
 * it. */
nb_status nb_program_handle(nysbench **handle, nb_host *host, nb_ctx *ctx);

/* Ends a call of the library that was made aside: prints its warning; ctx takes its error, and the line its stage. */
nb_status nb_program_end(nb_command_line *line, const nysbench *handle, nysbench_status status, int aside, nb_ctx *ctx);

/* Takes the error of a call of the library, whose context that is. Returns its status. */
nb_status nb_program_take(nysbench_status status, const nb_ctx *from, nb_ctx *ctx);

/* From now on, sends the output of components to standard error, so that only the command's answer is on standard
 * output, and names a component that ends the program. Returns a value for nb_program_output, which ends that. */
int nb_program_aside(void);
void nb_program_output(int aside);

/* Options that fill in a request for one head, one strategy and one m, which has its defaults, and the host. */
#define NB_ONE_HEAD_OPTIONS(request, host, line) \
    NB_TEXT_OPTION("head", '\0', (request).file, \
                   "A .safetensors file or a folder of .npy files, and which of its heads", "FILE[:H]"), \
        NB_TEXT_OPTION("strategy", 's', (request).strategy, "How the landmarks are picked", "SPEC"), \
        NB_TEXT_OPTION("landmarks", 'm', (host).landmarks, "How many", "M"), \
        NB_TEXT_OPTION("pairing", '\0', (request).pairing, \
                       "Whose points the strategy looks at: joint, independent, ... (default: its own, as `describe " \
                       "pairing` says)", \
                       "P"), \
        NB_TEXT_OPTION("seed", '\0', (host).seed, "Seed, as in an experiment (default: 20260101)", "S"), \
        NB_TEXT_OPTION("draws", '\0', (request).draws, \
                       "Whether the head's source has a seed of its own, or all share that: as the key `draws`", \
                       "source|shared"), \
        NB_TEXT_OPTION("trial", '\0', (host).trial, "Which of its trials (default: 0)", "T"), \
        NB_TEXT_OPTION("kernel", 'k', (request).kernel, "The matrix S (default: as in an experiment)", "SPEC"), \
        NB_TEXT_OPTION("causal", '\0', (host).causal, \
                       "Whether a query sees only the keys up to its own (default: auto, as the file says)", \
                       "true|false|auto"), \
        NB_PLUGIN_OPTION(line)

#endif
