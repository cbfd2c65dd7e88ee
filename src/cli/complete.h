/* SPDX-License-Identifier: GPL-3.0-or-later */
/* complete.h - what may stand where a command line ends: for a shell that completes it. */
#ifndef NB_COMPLETE_H
#define NB_COMPLETE_H

#include "cli/command.h"
#include "components/component.h"

typedef struct {
    const char *text, *help; /* help: "" if there is none */
} nb_candidate;

typedef struct {
    nb_candidate *items;
    int count, capacity;
    const char *word; /* that the line ends in, as the program would get it; "" after a blank */
    char quote;       /* that the line ends within; 0: none */
} nb_candidates;

/* For a line as the shell has it, with its quotes, from the program's name up to the cursor. Each candidate stands for
 * the whole last word, and is more than it is, but for words that are whole already. A line that makes no sense has
 * none. Nothing is run, and no plug-in loaded. */
nb_status nb_complete(const char *line, nb_candidates *candidates, nb_ctx *ctx);

/* The text, of one word, without a shell's quotes and backslashes. */
nb_status nb_complete_unquote(const char *text, const char **plain, nb_ctx *ctx);

/* One more, if it begins with candidates->word. For what completes parts of a word. */
nb_status nb_complete_add(nb_candidates *candidates, const char *text, const char *help, nb_ctx *ctx);

/* Adds BEFORE + path for the paths that begin with `start`: files that end with `ending` ("": all), and folders. */
nb_status nb_complete_files(nb_candidates *candidates, const char *before, const char *start, const char *ending,
                            nb_ctx *ctx);
nb_status nb_complete_folders(nb_candidates *candidates, const char *before, const char *start, nb_ctx *ctx);
/* Folders of runs, and those on the way to them; where nothing is typed those in results/. */
nb_status nb_complete_runs(nb_candidates *candidates, const char *before, const char *start, nb_ctx *ctx);

/* Adds BEFORE + spec: components of that kind (NULL: of any) that begin with `start`, their options, and values of
 * these. */
nb_status nb_complete_spec(nb_candidates *candidates, const char *before, const char *start,
                           const nb_registry *registry, nb_ctx *ctx);

#endif
