/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sweeps.h - cores that differ in one option only: rcond, steps, rows ... */
#ifndef NB_SWEEPS_H
#define NB_SWEEPS_H

#include "components/component.h"
#include "studies/error/summary.h"

typedef struct {      /* by core of the summary */
    nb_choice choice; /* component NULL if the program no longer has it */
    bool standard;    /* all options have their defaults */
    int family;       /* which sweep it is part of, or -1 */
    double x;         /* the value of the option that is swept */
    int look;         /* the number of its colour in all figures: one for each sweep and each core that is in none */
} nb_swept;

typedef struct {
    const char *option; /* that is swept */
    const char *label;  /* the component with what differs from its defaults beside that option */
    int count;          /* cores */
    int look;           /* of its cores */
} nb_family;

typedef struct {
    nb_swept *cores;
    nb_family *families;
    int family_count;
} nb_sweeps;

/* A sweep has three values at least. */
nb_status nb_sweeps_find(const nb_summary *summary, nb_sweeps *sweeps, nb_ctx *ctx);

bool nb_swept_is_oracle(const nb_swept *core); /* looks at all of S */

/* The core that is the same but for the option, whose text there is `value`; -1: none. */
int nb_sweeps_sibling(const nb_sweeps *sweeps, int core_count, int core, const char *option, const char *value,
                      nb_ctx *ctx);

/* The core's option of that key; NULL: it has none. */
const nb_option *nb_sweeps_option(const nb_choice *choice, const char *option);

#endif
