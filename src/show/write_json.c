/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write_json.c - rows of cells as JSON. */
#include "base/text.h"
#include "show/cells.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

static json_t *text_value(const char *text)
{
    return *text ? json_string(text) : json_null();
}

/* JSON has no infinite numbers. */
static json_t *real_value(double x)
{
    return isnan(x) ? json_null() : isinf(x) ? json_string(nb_text_of_odd(x)) : json_real(x);
}

/* Returns NULL when out of memory. */
static json_t *value_of(const nb_cell *cell, nb_ctx *ctx)
{
    const char *clean = cell->text ? nb_clean(ctx, cell->text, "\t\r\n") : "";
    if (!clean) return NULL;
    switch (cell->type) {
    case NB_CELL_TEXT: return text_value(clean);
    case NB_CELL_JSON: return json_loads(clean, 0, NULL);
    case NB_CELL_NUMERAL: return *clean ? json_real(strtod(clean, NULL)) : json_null();
    case NB_CELL_FLAG: return json_boolean(cell->integer);
    case NB_CELL_INT: return json_integer(cell->integer);
    case NB_CELL_REAL: return real_value(cell->real);
    default: return json_null();
    }
}

json_t *nb_json_object(const nb_cells *row, nb_ctx *ctx)
{
    json_t *object = json_object();
    int bad = !object;
    for (int c = 0; c < row->count && !bad; c++)
        bad = json_object_set_new(object, row->names[c], value_of(&row->cells[c], ctx));
    if (!bad) return object;
    json_decref(object);
    return NULL;
}

static nb_status print_object(FILE *out, const nb_cells *row, nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    json_t *object = nb_json_object(row, ctx);
    /* the stream has its own error */
    int bad = !object || (json_dumpf(object, out, JSON_REAL_PRECISION(17)) && !ferror(out));
    json_decref(object);
    nb_ctx_release(ctx, mark);
    NB_REQUIRE(ctx, !bad, NB_ENOMEM, "a row cannot be written as JSON");
    return NB_OK;
}

static nb_status write_row(FILE *out, const nb_cells *row, long long before, nb_ctx *ctx)
{
    fputs(before > 0 ? ",\n " : "[\n ", out);
    return print_object(out, row, ctx);
}

static void write_end(FILE *out, long long rows)
{
    fputs(rows > 0 ? "\n]\n" : "[\n]\n", out);
}

const nb_cells_writer nb_json_writer = {write_row, write_end};

nb_status nb_rows_print_json(FILE *out, const nb_row_list *rows, nb_ctx *ctx)
{
    nb_row_cells of;
    NB_TRY(ctx, nb_row_cells_make(rows, &of, ctx));
    for (int i = 0; i < rows->count; i++) {
        nb_row_cells_take(&of, nb_row_at(rows, i));
        NB_TRY(ctx, write_row(out, &of.row, i, ctx));
    }
    write_end(out, rows->count);
    return NB_OK;
}

nb_status nb_row_print_json(FILE *out, const nb_column *columns, const nb_row *row, nb_ctx *ctx)
{
    nb_row_cells of;
    NB_TRY(ctx, nb_row_cells_make(&(nb_row_list){.columns = columns}, &of, ctx));
    nb_row_cells_take(&of, row);
    return print_object(out, &of.row, ctx);
}
