/* SPDX-License-Identifier: GPL-3.0-or-later */
/* grid.h - cells of text and numbers, printed as CSV or as columns for people. */
#ifndef NB_GRID_H
#define NB_GRID_H

#include "base/ctx.h"

#include <stdio.h>

typedef struct {
    bool csv;
    int columns, count; /* cells so far, row by row */

    /* Private. */
    nb_ctx *ctx;
    const char *const *heads;
    const char **cells;
    bool *numbers;
    int room;
} nb_grid;

/* `heads`: of the columns, ends with NULL; it is kept, not copied. */
nb_status nb_grid_make(nb_grid *grid, const char *const *heads, bool csv, nb_ctx *ctx);

/* The next cell. Texts are kept, not copied. */
nb_status nb_grid_text(nb_grid *grid, const char *text);
nb_status nb_grid_int(nb_grid *grid, int value);
/* In CSV with 17 digits, for people in the format; NaN: empty, and `-` for people. */
nb_status nb_grid_real(nb_grid *grid, const char *format, double value);

/* Header and rows; nothing where there are no rows. Of a text only its first 64 bytes are shown to people. */
void nb_grid_print(FILE *out, const nb_grid *grid);

#endif
