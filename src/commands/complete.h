/* SPDX-License-Identifier: GPL-3.0-or-later */
/* complete.h - finds the words that may stand at the end of a command line, for completion by a shell. */
#ifndef NB_COMPLETE_H
#define NB_COMPLETE_H

#include "commands/command.h"
#include "components/component.h"

typedef struct {
    const char *text, *help; /* help: maybe "" */
} nb_candidate;

typedef struct {
    nb_candidate *items;
    int count, capacity;
    const char *word; /* last word of the line, as the program would get it; "" after a blank */
    char quote;       /* open quote at the end of the line; 0: none */
} nb_candidates;

/* Finds the candidates for a line as typed in the shell, with its quotes, from the program's name to the cursor. Each
 * candidate replaces the whole last word, and is longer unless that is complete already. A line that makes no sense has
 * none. Nothing is run, and no plug-in is loaded. */
nb_status nb_complete(const char *line, nb_candidates *candidates, nb_ctx *ctx);

/* Removes a shell's quotes and backslashes from a text of one word. */
nb_status nb_complete_unquote(const char *text, const char **plain, nb_ctx *ctx);

/* Adds a candidate if it begins with candidates->word; for code that completes parts of a word. */
nb_status nb_complete_add(nb_candidates *candidates, const char *text, const char *help, nb_ctx *ctx);

/* Adds BEFORE + path for the paths that begin with `start`: files that end with `ending` ("": all), and folders. */
nb_status nb_complete_files(nb_candidates *candidates, const char *before, const char *start, const char *ending,
                            nb_ctx *ctx);
nb_status nb_complete_folders(nb_candidates *candidates, const char *before, const char *start, nb_ctx *ctx);
/* Adds folders of runs, and those that lead to them; if nothing is typed, those in results/. */
nb_status nb_complete_runs(nb_candidates *candidates, const char *before, const char *start, nb_ctx *ctx);

/* Adds BEFORE + spec: components of that kind (NULL: of any) that begin with `start`, their options, and the values of
 * these. */
nb_status nb_complete_spec(nb_candidates *candidates, const char *before, const char *start,
                           const nb_registry *registry, nb_ctx *ctx);

#endif
