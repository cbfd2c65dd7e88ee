/* SPDX-License-Identifier: GPL-3.0-or-later */
/* grid.c - see grid.h */
#include "report/grid.h"

#include "report/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 64 };

nb_status nb_grid_make(nb_grid *g, const char *const *heads, bool csv, nb_ctx *ctx)
{
    *g = (nb_grid){.csv = csv, .heads = heads, .ctx = ctx};
    while (heads[g->columns]) g->columns++;
    return NB_OK;
}

static nb_status add(nb_grid *g, const char *text, bool number)
{
    if (g->count == g->room) {
        const char **cells;
        bool *numbers;
        g->room = g->room ? 2 * g->room : 256;
        NB_NEED(cells, nb_alloc(g->ctx, (size_t)g->room, sizeof *cells));
        NB_NEED(numbers, nb_alloc(g->ctx, (size_t)g->room, sizeof *numbers));
        for (int i = 0; i < g->count; i++) cells[i] = g->cells[i], numbers[i] = g->numbers[i];
        g->cells = cells;
        g->numbers = numbers;
    }
    g->cells[g->count] = text;
    g->numbers[g->count++] = number;
    return NB_OK;
}

nb_status nb_grid_text(nb_grid *g, const char *text)
{
    return add(g, text ? text : "", false);
}

nb_status nb_grid_int(nb_grid *g, int value)
{
    const char *text;
    NB_NEED(text, nb_format(g->ctx, "%d", value));
    return add(g, text, true);
}

nb_status nb_grid_real(nb_grid *g, const char *format, double value)
{
    char digits[64];
    const char *text;
    strfromd(digits, sizeof digits, g->csv ? "%.17g" : format, value);
    if (!g->csv && strtod(digits, NULL) == 0)
        strfromd(digits, sizeof digits, format, 0); /* a sign would come from rounding */
    NB_NEED(text, nb_strdup(g->ctx, !isnan(value) ? digits : g->csv ? "" : "-"));
    return add(g, text, true);
}

static void print_csv(FILE *out, const nb_grid *g)
{
    for (int c = 0; c < g->columns; c++) fprintf(out, "%s%s", c ? "," : "", g->heads[c]);
    fputc('\n', out);
    for (int i = 0; i < g->count; i++) {
        nb_csv_print_text(out, g->cells[i]);
        fputc((i + 1) % g->columns ? ',' : '\n', out);
    }
}

static int width_of(const char *text)
{
    size_t length = strlen(text);
    return (int)(length < LONGEST ? length : LONGEST);
}

/* Texts on the left, numbers on the right; two blanks between. */
static void print_cell(FILE *out, const char *text, int width, bool right, bool last)
{
    if (right)
        fprintf(out, "  %*s", width, text);
    else
        fprintf(out, "  %-*.*s", last ? 0 : width, width, text);
}

void nb_grid_print(FILE *out, const nb_grid *g)
{
    if (g->count == 0) return;
    if (g->csv) {
        print_csv(out, g);
        return;
    }
    for (int row = -1; row < g->count / g->columns; row++) {
        for (int c = 0; c < g->columns; c++) {
            int width = width_of(g->heads[c]);
            for (int i = c; i < g->count; i += g->columns)
                width = width_of(g->cells[i]) > width ? width_of(g->cells[i]) : width;
            print_cell(out, row < 0 ? g->heads[c] : g->cells[row * g->columns + c], width, g->numbers[c],
                       c + 1 == g->columns);
        }
        fputc('\n', out);
    }
}
