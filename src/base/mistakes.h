/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mistakes.h - a list of everything wrong with an input, so that all of it is reported at once. */
#ifndef NB_MISTAKES_H
#define NB_MISTAKES_H

#include "base/ctx.h"

/* The place of a mistake: source:line:column, or source alone if line is 0. */
typedef struct {
    const char *source; /* a file, or an option of the command line; NULL: nothing to name */
    int line, column;   /* from 1 */
} nb_place;

nb_place nb_place_shift(nb_place place, int columns);

/* An empty list is {.ctx = ctx}. */
typedef struct {
    nb_ctx *ctx;  /* owns the texts */
    char **texts; /* "place: message" */
    int count, capacity;
} nb_mistakes;

nb_status nb_mistakes_add(nb_mistakes *mistakes, nb_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds the mistakes of another list of the same ctx. */
nb_status nb_mistakes_append(nb_mistakes *mistakes, const nb_mistakes *others);
/* Moves the ctx's error into the list and clears it; out of memory stays an error. */
nb_status nb_mistakes_take(nb_mistakes *mistakes, nb_place place, nb_status status);

/* Returns the name that was probably meant, by spelling; NULL: none is close. `names` is NULL-terminated. */
const char *nb_near(const char *given, const char *const *names);

/* Returns "; did you mean 'NAME'?"; if none is close, the allowed names, or of more than twelve the nearest three. ctx
 * owns the text; NULL when out of memory. */
const char *nb_hint(const char *given, const char *const *names, nb_ctx *ctx);

#endif
