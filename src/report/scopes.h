/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scopes.h - settings that differ in nothing but one column, such as the number of landmarks: what one figure or one
 * block of a table shows along that column. */
#ifndef NB_SCOPES_H
#define NB_SCOPES_H

#include "report/contrast.h"

typedef struct {
    int count;
    const int *of;            /* by setting: its scope */
    const int *along;         /* by setting: the column's value */
    const char *const *names; /* of each: "COLUMN VALUE, ..." in what scopes differ; "" where there is one */
    const char *const
        *stems; /* of each: the value of `named` and those in which scopes differ, as in names of figures */
    const char *const *over; /* of each: "all models", "all problems" or "all models and problems", as it has them */
    const char *constant;    /* "COLUMN VALUE, ..." in what all agree */
} nb_scopes;

/* `along`: an INT column of the identity; `named`: one whose value a stem has though it be the same in all, or NULL. */
nb_status nb_scopes_find(const nb_contrasts *contrasts, int planned, const nb_planned *rows, const char *along,
                         const char *named, nb_scopes *scopes, nb_ctx *ctx);

#endif
