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
    nb_ctx *ctx;
} nb_candidates;

/* Adds BEFORE + text + MORE if it begins with the word. */
nb_status nb_complete_add(nb_candidates *c, const char *before, const char *text, const char *more, const char *help);

/* Adds BEFORE + each word; `words` ends with NULL. */
nb_status nb_complete_words(nb_candidates *c, const char *before, const char *const *words);

/* Adds BEFORE + path for the paths that begin with `start`: files that end with `ending` (NULL: none, "": all), and
 * folders. */
nb_status nb_complete_files(nb_candidates *c, const char *before, const char *start, const char *ending);

/* Adds BEFORE + spec: components of that kind (NULL: of any) that begin with `start`, their options, and the values of
 * these. */
nb_status nb_complete_spec(nb_candidates *c, const char *before, const char *start, const nb_registry *registry);

#endif
