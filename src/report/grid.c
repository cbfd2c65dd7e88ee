/* SPDX-License-Identifier: GPL-3.0-or-later */
/* grid.c - see grid.h */
#include "report/grid.h"

#include "report/csv.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum { NONE, TEXT, FLAG, INTEGER, REAL } cell_kind;

struct nb_grid_cell {
    cell_kind kind;
    const char *text;
};

nb_status nb_grid_make(nb_grid *g, const char *const *heads, bool exact, nb_ctx *ctx)
{
    *g = (nb_grid){.exact = exact, .heads = heads, .ctx = ctx};
    while (heads[g->columns]) g->columns++;
    return NB_OK;
}

static nb_status add(nb_grid *g, cell_kind kind, const char *text)
{
    NB_GROW(g->ctx, g->cells, g->count, g->room);
    g->cells[g->count++] = (nb_grid_cell){kind, text};
    return NB_OK;
}

nb_status nb_grid_text(nb_grid *g, const char *text)
{
    return add(g, text ? TEXT : NONE, text ? text : "");
}

nb_status nb_grid_flag(nb_grid *g, bool value)
{
    return add(g, FLAG, value ? "true" : "false");
}

nb_status nb_grid_int(nb_grid *g, int value)
{
    const char *text;
    NB_NEED(text, nb_format(g->ctx, "%d", value));
    return add(g, INTEGER, text);
}

nb_status nb_grid_whole(nb_grid *g, double value)
{
    const char *text = g->exact ? "" : "-";
    if (isfinite(value)) NB_NEED(text, nb_format(g->ctx, "%.0f", value));
    return add(g, INTEGER, text);
}

nb_status nb_grid_real(nb_grid *g, const char *format, double value)
{
    char digits[64];
    const char *text;
    strfromd(digits, sizeof digits, g->exact ? "%.17g" : format, value);
    if (!g->exact && strtod(digits, NULL) == 0)
        strfromd(digits, sizeof digits, format, 0); /* a sign would come from rounding */
    NB_NEED(text, nb_strdup(g->ctx, !isnan(value) ? digits : g->exact ? "" : "-"));
    return add(g, REAL, text);
}

void nb_grid_print_csv(FILE *out, const nb_grid *g)
{
    if (g->count == 0) return;
    for (int c = 0; c < g->columns; c++) fprintf(out, "%s%s", c ? "," : "", g->heads[c]);
    fputc('\n', out);
    for (int i = 0; i < g->count; i++) {
        nb_csv_print_text(out, g->cells[i].text);
        fputc((i + 1) % g->columns ? ',' : '\n', out);
    }
}

static json_t *json_cell(const nb_grid *g, const nb_grid_cell *cell)
{
    const char *clean = nb_clean(g->ctx, cell->text, "\t\r\n");
    double x = cell->kind == INTEGER || cell->kind == REAL ? strtod(cell->text, NULL) : 0;
    if (cell->kind == NONE || !*cell->text || !isfinite(x)) return json_null();
    switch (cell->kind) {
    case FLAG: return json_boolean(strcmp(cell->text, "true") == 0);
    case INTEGER: return json_integer(strtoll(cell->text, NULL, 10));
    case REAL: return json_real(x);
    default: return clean ? json_string(clean) : NULL;
    }
}

static nb_status print_object(FILE *out, const nb_grid *g, const nb_grid_cell *row)
{
    json_t *object = json_object();
    int failed = !object;
    for (int c = 0; c < g->columns && !failed; c++)
        failed = json_object_set_new(object, g->heads[c], json_cell(g, &row[c]));
    failed = failed || json_dumpf(object, out, JSON_REAL_PRECISION(17));
    json_decref(object);
    NB_REQUIRE(g->ctx, !failed, NB_ENOMEM, "a table cannot be written as JSON");
    return NB_OK;
}

nb_status nb_grid_print_json(FILE *out, const nb_grid *g)
{
    fputc('[', out);
    for (int i = 0; i < g->count; i += g->columns) {
        fputs(i ? ",\n " : "\n ", out);
        NB_TRY(g->ctx, print_object(out, g, &g->cells[i]));
    }
    fputs("\n]\n", out);
    return NB_OK;
}

static bool has_number(const nb_grid *g, int column)
{
    for (int i = column; i < g->count; i += g->columns)
        if (g->cells[i].kind == INTEGER || g->cells[i].kind == REAL) return true;
    return false;
}

/* A sentence, which may be broken. */
static bool has_prose(const nb_grid *g, int column)
{
    enum { LONGEST_WORD = 32 };
    for (int i = column; i < g->count; i += g->columns)
        if (strlen(g->cells[i].text) > LONGEST_WORD) return true;
    return false;
}

void nb_grid_show(const nb_grid *g, nb_page *page)
{
    int labels = g->labels;
    while (g->labels == 0 && labels < g->columns && !has_number(g, labels)) labels++;
    nb_page_table(page);
    for (int c = 0; c < g->columns; c++) {
        int kind = has_number(g, c) ? NB_PAGE_NUMBER : c >= labels && has_prose(g, c) ? NB_PAGE_PROSE : NB_PAGE_WORD;
        nb_page_column(page, kind | (c < labels ? NB_PAGE_LABEL : 0), "%s", g->heads[c]);
    }
    for (int i = 0; i < g->count; i++) {
        if (i % g->columns == 0) nb_page_row(page);
        nb_page_cell(page, "%s", g->cells[i].text);
    }
}
