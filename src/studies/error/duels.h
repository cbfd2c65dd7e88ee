/* SPDX-License-Identifier: GPL-3.0-or-later */
/* duels.h - entrants against each other: the ratio of their errors, as lists and as matrices. */
#ifndef NB_DUELS_H
#define NB_DUELS_H

#include "studies/error/entrants.h"

typedef struct {
    nb_statistic ratio; /* of errors; of choices where both are known */
    double below;       /* the share of these where it is below 1 */
} nb_duel;

typedef struct {
    const nb_entrants *entrants;
    double *mine, *other; /* room: the error of either, by choice; NaN: it is none of those compared */
    double *ratios;       /* likewise */
    const double *errors; /* entrant * choices + choice: nb_entrant_error */
    bool *shown;          /* by entrant: it is compared */
} nb_duels;

/* Compares the usual entrants: all, or those that are no oracles. */
nb_status nb_duels_make(nb_duels *duels, const nb_entrants *entrants, bool oracles, nb_ctx *ctx);
double nb_duels_error(const nb_duels *duels, int entrant, int choice);
/* Of mine[] over other[]. */
nb_duel nb_duel_of(const nb_duels *duels);

/* A table of entrants, numbered, each against each: `cell` writes what is in a place. */
typedef nb_status nb_duel_cell(const void *what, int a, int b, char *text, size_t size);
nb_status nb_duels_show(nb_page *page, const nb_duels *duels, const char *corner, nb_duel_cell *cell, const void *what);

#endif
