/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write_csv.c - rows of cells as comma-separated values. */
#include "base/numbers.h"
#include "base/text.h"
#include "show/cells.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

/* Whether a spreadsheet would calculate it: behind any number of apostrophes, which this file may have put there,
 * stands the beginning of a formula. A number, or a sign alone, does no harm. */
static bool is_formula(const char *text)
{
    double number;
    const char *at = text + strspn(text, "'");
    bool sign = *at == '+' || *at == '-';
    if (sign && at == text && (!at[1] || nb_parse_real(at + (*at == '+'), -DBL_MAX, DBL_MAX, &number))) return false;
    return sign || (*at && strchr("=@\t\r", *at));
}

void nb_csv_print_text(FILE *out, const char *text)
{
    if (!text) return;
    const char *mark = is_formula(text) ? "'" : "";
    if (!text[strcspn(text, ",\"\r\n")]) {
        fputs(mark, out);
        nb_text_print(out, text, SIZE_MAX, "\t");
        return;
    }
    fputc('"', out);
    fputs(mark, out);
    for (const char *quote; (quote = strchr(text, '"')); text = quote + 1) {
        nb_text_print(out, text, (size_t)(quote + 1 - text), "\t\r\n");
        fputc('"', out);
    }
    nb_text_print(out, text, SIZE_MAX, "\t\r\n");
    fputc('"', out);
}

typedef struct { /* a number that is printed, "": none */
    nb_cell cell;
    char text[32];
} printed;

static void set_number(printed *number, const nb_cell *cell)
{
    number->cell = *cell;
    *number->text = '\0';
    if (cell->type == NB_CELL_INT)
        snprintf(number->text, sizeof number->text, "%lld", cell->integer);
    else if (cell->type == NB_CELL_REAL && !isnan(cell->real))
        strfromd(number->text, sizeof number->text, "%.17g", cell->real); /* faster than snprintf */
}

/* Returns whether both are printed alike. A NaN is printed anew. */
static bool same_number(const nb_cell *a, const nb_cell *b)
{
    return a->type == b->type && a->integer == b->integer && a->real == b->real && signbit(a->real) == signbit(b->real);
}

/* `number` is that of the row above, and becomes this one's. */
static void print_cell(FILE *out, const nb_cell *cell, printed *number)
{
    if (cell->type == NB_CELL_FLAG) {
        fputs(cell->integer ? "true" : "false", out);
    } else if (cell->type == NB_CELL_TEXT || cell->type == NB_CELL_JSON) {
        nb_csv_print_text(out, cell->text);
    } else if (cell->type == NB_CELL_NUMERAL) {
        fputs(cell->text, out);
    } else {
        if (!same_number(cell, &number->cell)) set_number(number, cell);
        fputs(number->text, out);
    }
}

static void print_names(FILE *out, const nb_cells *row)
{
    for (int c = 0; c < row->count; c++) fprintf(out, "%s%s", c ? "," : "", row->names[c]);
    if (row->count > 0) fputc('\n', out);
}

/* `numbers` are those of the row above, by column, and become this one's; NULL: they are not kept. */
static void print_row(FILE *out, const nb_cells *row, printed *numbers)
{
    for (int c = 0; c < row->count; c++) {
        printed own = {.text = ""};
        if (c > 0) fputc(',', out);
        print_cell(out, &row->cells[c], numbers ? &numbers[c] : &own);
    }
    if (row->count > 0) fputc('\n', out);
}

static nb_status write_row(FILE *out, const nb_cells *row, long long before, nb_ctx *ctx)
{
    (void)ctx;
    if (before == 0) print_names(out, row);
    print_row(out, row, NULL);
    return NB_OK;
}

static void write_end(FILE *out, long long rows)
{
    (void)out;
    (void)rows;
}

const nb_cells_writer nb_csv_writer = {write_row, write_end};

nb_status nb_grid_print_csv(FILE *out, const void *grid, nb_ctx *ctx)
{
    return nb_grid_write(out, &nb_csv_writer, grid, ctx);
}

/* Most numbers are those of the row above where many cores share their landmarks, and printing them is what takes
 * time. No other thread prints, and locks take time too. */
nb_status nb_rows_print_csv(FILE *out, const void *rows_, nb_ctx *ctx)
{
    const nb_row_list *rows = rows_;
    nb_row_cells of;
    printed *numbers;
    NB_TRY(ctx, nb_row_cells_make(rows, &of, ctx));
    NB_NEED(numbers, nb_alloc(ctx, (size_t)of.row.count + 1, sizeof *numbers));
    print_names(out, &of.row);
    int locking = __fsetlocking(out, FSETLOCKING_BYCALLER);
    for (int i = 0; i < rows->count; i++) {
        nb_row_cells_take(&of, nb_row_at(rows, i));
        print_row(out, &of.row, numbers);
    }
    __fsetlocking(out, locking);
    return NB_OK;
}
