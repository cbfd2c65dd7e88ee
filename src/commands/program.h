/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program.h - the program as a user of its own library. */
#ifndef NB_PROGRAM_H
#define NB_PROGRAM_H

#include "api/handle.h"
#include "base/default_seed.h"
#include "commands/command.h"

/* Makes messages name the options of the command line; those for the Python package, which says so in the variable
 * NYSBENCH_CALLER, its keywords. */
void nb_program_spell(void);

/* Makes a handle that is freed with ctx's memory, of the program as its host, which may have more set and must outlive
 * it. */
nb_status nb_program_handle(nysbench **handle, nb_host *host, nb_ctx *ctx);

/* Ends a call of the library that was made aside: prints its warning; ctx takes its error, and the line its stage. */
nb_status nb_program_end(nb_command_line *line, const nysbench *handle, nysbench_status status, int aside, nb_ctx *ctx);

/* Copies the error of a call of the library, with the option that stands for the request's field. Returns its
 * status. */
nb_status nb_program_take(nysbench_status status, const nysbench *handle, nb_ctx *ctx);

/* From now on, sends the output of components to standard error, so that only the command's answer is on standard
 * output, and names a component that ends the program. Returns a value for nb_program_output, which ends that. */
int nb_program_aside(void);
void nb_program_output(int aside);

/* Whether a query sees only the keys up to its own: true, false or auto. */
extern const char *const nb_causal_words[];
/* Returns that of a request: 1, 0 or -1. */
int nb_causal_of(const nb_word_value *causal);

/* A request for one head, one strategy and one m, and its fields that options give as texts. */
typedef struct {
    nysbench_request request;
    nb_whole_value landmarks, seed, trial;
    nb_word_value causal;
} nb_head_request;

void nb_head_request_init(nb_head_request *asked);

/* Fills in the fields once the options below have been read. NB_EINVAL if there is no head. */
nb_status nb_head_request_finish(nb_head_request *asked, nb_ctx *ctx);

#define NB_ONE_HEAD_OPTIONS(asked, line) \
    NB_TEXT_OPTION("head", '\0', (asked).request.file, \
                   "A .safetensors file or a folder of .npy files, and which of its heads", "FILE[:H]"), \
        NB_TEXT_OPTION("strategy", 's', (asked).request.strategy, "How the landmarks are picked", "SPEC"), \
        NB_WHOLE_OPTION("landmarks", 'm', (asked).landmarks, "How many", "M"), \
        NB_TEXT_OPTION("pairing", '\0', (asked).request.pairing, \
                       "Whose points the strategy looks at: joint, independent, ... (default: its own, as `describe " \
                       "pairing` says)", \
                       "P"), \
        NB_WHOLE_OPTION("seed", '\0', (asked).seed, "Seed, as in an experiment (default: " NB_DEFAULT_SEED_TEXT ")", \
                        "S"), \
        NB_TEXT_OPTION("draws", '\0', (asked).request.draws, \
                       "Whether the head's source has a seed of its own, or all share that: as the key `draws`", \
                       "source|shared"), \
        NB_WHOLE_OPTION("trial", '\0', (asked).trial, "Which of its trials (default: 0)", "T"), \
        NB_TEXT_OPTION("kernel", 'k', (asked).request.kernel, "The matrix S (default: as in an experiment)", "SPEC"), \
        NB_WORD_OPTION("causal", '\0', (asked).causal, \
                       "Whether a query sees only the keys up to its own (default: auto, as the file says)", \
                       "true|false|auto"), \
        NB_PLUGIN_OPTION(line)

#endif
