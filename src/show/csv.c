/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv.c - rows as text. */
#include "show/csv.h"

#include "base/numbers.h"
#include "base/text.h"
#include "config/labels.h"

#include <float.h>
#include <jansson.h>
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

enum { NUMBER = 32 }; /* the room that the text of a number takes */

/* NaN, and what is no number: "". */
static void number_text(const nb_cell *cell, char text[NUMBER])
{
    *text = '\0';
    if (cell->type == NB_CELL_INT)
        snprintf(text, NUMBER, "%lld", cell->integer);
    else if (!isnan(cell->real))
        strfromd(text, NUMBER, "%.17g", cell->real); /* faster than snprintf */
}

static void print_cell(FILE *out, const nb_cell *cell)
{
    char text[NUMBER];
    number_text(cell, text);
    if (cell->type == NB_CELL_FLAG)
        fputs(cell->integer ? "true" : "false", out);
    else if (cell->type == NB_CELL_TEXT || cell->type == NB_CELL_JSON)
        nb_csv_print_text(out, cell->text);
    else if (cell->type == NB_CELL_NUMERAL)
        fputs(cell->text, out);
    else
        fputs(text, out);
}

static nb_cell cell_of(const nb_column *c, const nb_row *row)
{
    const char *field = (const char *)row + c->offset;
    nb_cell cell = {.type = NB_CELL_INT};
    switch (c->type) {
    case NB_COLUMN_TEXT: return (nb_cell){.type = NB_CELL_TEXT, .text = *(const char *const *)field, .real = NAN};
    case NB_COLUMN_REAL: return (nb_cell){.type = NB_CELL_REAL, .real = *(const double *)field};
    case NB_COLUMN_INT: cell.integer = *(const int *)field; break;
    case NB_COLUMN_SEED: cell.integer = *(const long long *)field; break;
    }
    return cell;
}

typedef struct { /* a number that is printed */
    nb_cell cell;
    char text[NUMBER];
} printed;

/* Returns whether both are printed alike. A NaN is printed anew. */
static bool same_number(const nb_cell *a, const nb_cell *b)
{
    return a->integer == b->integer && a->real == b->real && signbit(a->real) == signbit(b->real);
}

/* One line; `numbers` are those of the row above, by column, and become this one's: most are the same where many cores
 * share their landmarks, and printing them is what takes time. */
static void print_row(FILE *out, const nb_row_labels *labels, const nb_row *row, bool first, printed *numbers)
{
    for (int i = 0; labels->columns[i].name; i++) {
        printed *above = &numbers[i];
        if (i) fputc(',', out);
        if (i >= labels->own) {
            nb_csv_print_text(out, nb_row_labels_at(labels, i, row));
            continue;
        }
        nb_cell cell = cell_of(&labels->columns[i], row);
        if (cell.type != NB_CELL_TEXT && (first || !same_number(&cell, &above->cell))) number_text(&cell, above->text);
        above->cell = cell;
        if (cell.type == NB_CELL_TEXT)
            nb_csv_print_text(out, cell.text);
        else
            fputs(above->text, out);
    }
    fputc('\n', out);
}

nb_status nb_csv_print(FILE *out, const void *rows_, nb_ctx *ctx)
{
    const nb_row_list *rows = rows_;
    nb_row_labels labels;
    printed *numbers;
    NB_TRY(ctx, nb_row_labels_make(rows, &labels, ctx));
    NB_NEED(numbers, nb_alloc(ctx, (size_t)nb_column_count(labels.columns), sizeof *numbers));
    for (const nb_column *c = labels.columns; c->name; c++)
        fprintf(out, "%s%s", c == labels.columns ? "" : ",", c->name);
    fputc('\n', out);
    int locking = __fsetlocking(out, FSETLOCKING_BYCALLER); /* no other thread prints, and locks take time */
    for (int i = 0; i < rows->count; i++) print_row(out, &labels, nb_row_at(rows, i), i == 0, numbers);
    __fsetlocking(out, locking);
    return NB_OK;
}

static json_t *json_cell(const nb_cell *cell, nb_ctx *ctx)
{
    const char *clean = cell->text ? nb_clean(ctx, cell->text, "\t\r\n") : NULL;
    switch (cell->type) {
    case NB_CELL_TEXT: return cell->text && !clean ? NULL : clean && *clean ? json_string(clean) : json_null();
    case NB_CELL_JSON: return clean ? json_loads(clean, 0, NULL) : NULL;
    case NB_CELL_NUMERAL: return clean && *clean ? json_real(strtod(clean, NULL)) : json_null();
    case NB_CELL_FLAG: return json_boolean(cell->integer);
    case NB_CELL_INT: return json_integer(cell->integer);
    case NB_CELL_REAL: return isfinite(cell->real) ? json_real(cell->real) : json_null();
    default: return json_null();
    }
}

static json_t *object_of(int count, const char *const *names, const nb_cell *cells, nb_ctx *ctx)
{
    json_t *object = json_object();
    int bad = !object;
    for (int c = 0; c < count && !bad; c++) bad = json_object_set_new(object, names[c], json_cell(&cells[c], ctx));
    if (!bad) return object;
    json_decref(object);
    return NULL;
}

json_t *nb_json_row(const nb_grid *g, int row, nb_ctx *ctx)
{
    return object_of(g->columns, g->names, nb_grid_at(g, row, 0), ctx);
}

static nb_status print_cells(FILE *out, int count, const char *const *names, const nb_cell *cells, nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    json_t *object = object_of(count, names, cells, ctx);
    /* the stream has its own error */
    int bad = !object || (json_dumpf(object, out, JSON_REAL_PRECISION(17)) && !ferror(out));
    json_decref(object);
    nb_ctx_release(ctx, mark);
    NB_REQUIRE(ctx, !bad, NB_ENOMEM, "a row cannot be written as JSON");
    return NB_OK;
}

static nb_status write_csv_row(FILE *out, const nb_grid *g, int row, long long before, nb_ctx *ctx)
{
    (void)ctx;
    for (int c = 0; before == 0 && c < g->columns; c++)
        fprintf(out, "%s%s%s", c ? "," : "", g->names[c], c + 1 == g->columns ? "\n" : "");
    for (int c = 0; c < g->columns; c++) {
        print_cell(out, nb_grid_at(g, row, c));
        fputc(c + 1 < g->columns ? ',' : '\n', out);
    }
    return NB_OK;
}

static nb_status write_json_row(FILE *out, const nb_grid *g, int row, long long before, nb_ctx *ctx)
{
    fputs(before > 0 ? ",\n " : "[\n ", out);
    return print_cells(out, g->columns, g->names, nb_grid_at(g, row, 0), ctx);
}

static void end_csv(FILE *out, long long rows)
{
    (void)out;
    (void)rows;
}

static void end_json(FILE *out, long long rows)
{
    fputs(rows > 0 ? "\n]\n" : "[\n]\n", out);
}

const nb_grid_writer nb_grid_csv_writer = {write_csv_row, end_csv}, nb_grid_json_writer = {write_json_row, end_json};

nb_status nb_grid_write_rows(FILE *out, const nb_grid_writer *writer, const nb_grid *g, long long before, nb_ctx *ctx)
{
    for (int i = 0; i < g->count; i++) NB_TRY(ctx, writer->row(out, g, i, before + i, ctx));
    return NB_OK;
}

nb_status nb_grid_write(FILE *out, const nb_grid_writer *writer, const nb_grid *g, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_grid_write_rows(out, writer, g, 0, ctx));
    writer->end(out, g->count);
    return NB_OK;
}

nb_status nb_grid_print_csv(FILE *out, const void *grid, nb_ctx *ctx)
{
    return nb_grid_write(out, &nb_grid_csv_writer, grid, ctx);
}

static nb_status print_json_row(FILE *out, const nb_row_labels *labels, const nb_row *row, nb_ctx *ctx)
{
    int count = nb_column_count(labels->columns);
    nb_mark mark = nb_ctx_mark(ctx);
    const char **names;
    nb_cell *cells;
    NB_NEED(names, nb_alloc(ctx, (size_t)count, sizeof *names));
    NB_NEED(cells, nb_alloc(ctx, (size_t)count, sizeof *cells));
    for (int i = 0; i < count; i++) {
        const nb_column *c = &labels->columns[i];
        names[i] = c->name;
        cells[i] = (nb_cell){.type = NB_CELL_TEXT};
        if (i >= labels->own) cells[i].text = nb_row_labels_at(labels, i, row);
        if (i >= labels->own) continue;
        cells[i] = cell_of(c, row);
        double x = cells[i].real;
        if (c->infinite && isinf(x)) cells[i] = (nb_cell){.type = NB_CELL_TEXT, .text = x > 0 ? "inf" : "-inf"};
        if (c->integer && isfinite(x)) cells[i] = (nb_cell){.type = NB_CELL_INT, .integer = (long long)x};
    }
    NB_TRY(ctx, print_cells(out, count, names, cells, ctx));
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

nb_status nb_json_print_row(FILE *out, const nb_column *columns, const nb_row *row, nb_ctx *ctx)
{
    const nb_row_labels none = {.columns = columns, .own = nb_column_count(columns)};
    return print_json_row(out, &none, row, ctx);
}

nb_status nb_json_print(FILE *out, const nb_row_list *rows, nb_ctx *ctx)
{
    nb_row_labels labels;
    NB_TRY(ctx, nb_row_labels_make(rows, &labels, ctx));
    fputs("[", out);
    for (int i = 0; i < rows->count; i++) {
        fputs(i ? ",\n " : "\n ", out);
        NB_TRY(ctx, print_json_row(out, &labels, nb_row_at(rows, i), ctx));
    }
    fputs("\n]\n", out);
    return NB_OK;
}
