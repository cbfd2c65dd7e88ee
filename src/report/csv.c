/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv.c - rows as text. */
#include "report/csv.h"

#include "base/text.h"
#include "report/labels.h"

#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio_ext.h>
#include <string.h>

void nb_csv_print_text(FILE *out, const char *text)
{
    if (!text) return;
    if (!text[strcspn(text, ",\"\r\n")]) {
        nb_text_print(out, text, SIZE_MAX, "\t");
        return;
    }
    fputc('"', out);
    for (const char *quote; (quote = strchr(text, '"')); text = quote + 1) {
        nb_text_print(out, text, (size_t)(quote + 1 - text), "\t\r\n");
        fputc('"', out);
    }
    nb_text_print(out, text, SIZE_MAX, "\t\r\n");
    fputc('"', out);
}

enum { NUMBER = 32 }; /* the room that the text of a number takes */

static void real_text(double x, char text[NUMBER])
{
    *text = '\0';
    if (!isnan(x)) strfromd(text, NUMBER, "%.17g", x); /* faster than snprintf */
}

void nb_csv_print_real(FILE *out, double x)
{
    char text[NUMBER];
    real_text(x, text);
    fputs(text, out);
}

static void number_text(const nb_column *c, const nb_row *row, char text[NUMBER])
{
    const char *field = (const char *)row + c->offset;
    switch (c->type) {
    case NB_COLUMN_TEXT: break;
    case NB_COLUMN_INT: snprintf(text, NUMBER, "%d", *(const int *)field); break;
    case NB_COLUMN_SEED: snprintf(text, NUMBER, "%lld", *(const long long *)field); break;
    case NB_COLUMN_REAL: real_text(*(const double *)field, text); break;
    }
}

static bool same_bits(const nb_column *c, const nb_row *a, const nb_row *b)
{
    static const size_t bytes[] = {
        [NB_COLUMN_INT] = sizeof(int), [NB_COLUMN_SEED] = sizeof(long long), [NB_COLUMN_REAL] = sizeof(double)};
    return memcmp((const char *)a + c->offset, (const char *)b + c->offset, bytes[c->type]) == 0;
}

/* One line; `numbers` are those of the row above, by column, and become this one's: most
 * are the same where many cores share their landmarks, and printing them is what takes time. */
static void print_row(FILE *out, const nb_row_labels *labels, const nb_row *row, const nb_row *above,
                      char (*numbers)[NUMBER])
{
    const nb_column *c = labels->columns;
    for (int i = 0; i < labels->own; i++, c++) {
        if (i) fputc(',', out);
        if (c->type == NB_COLUMN_TEXT) {
            nb_csv_print_text(out, *(const char *const *)((const char *)row + c->offset));
            continue;
        }
        if (!above || !same_bits(c, row, above)) number_text(c, row, numbers[i]);
        fputs(numbers[i], out);
    }
    for (int i = labels->own; labels->columns[i].name; i++) {
        fputc(',', out);
        nb_csv_print_text(out, nb_row_labels_at(labels, i, row));
    }
    fputc('\n', out);
}

nb_status nb_csv_print(FILE *out, const void *rows_, nb_ctx *ctx)
{
    const nb_row_list *rows = rows_;
    nb_row_labels labels;
    char(*numbers)[NUMBER];
    NB_TRY(ctx, nb_row_labels_make(rows, &labels, ctx));
    NB_NEED(numbers, nb_alloc(ctx, (size_t)labels.own, sizeof *numbers));
    for (const nb_column *c = labels.columns; c->name; c++)
        fprintf(out, "%s%s", c == labels.columns ? "" : ",", c->name);
    fputc('\n', out);
    int locking = __fsetlocking(out, FSETLOCKING_BYCALLER); /* no other thread prints, and locks take time */
    for (int i = 0; i < rows->count; i++)
        print_row(out, &labels, nb_row_at(rows, i), i ? nb_row_at(rows, i - 1) : NULL, numbers);
    __fsetlocking(out, locking);
    return NB_OK;
}

static json_t *json_text(const char *text, nb_ctx *ctx)
{
    const char *clean = nb_clean(ctx, text, "\t\r\n");
    return !text ? json_null() : clean ? json_string(clean) : NULL;
}

static json_t *json_field(const nb_column *c, const nb_row *row, nb_ctx *ctx)
{
    const char *field = (const char *)row + c->offset;
    switch (c->type) {
    case NB_COLUMN_TEXT: return json_text(*(const char *const *)field, ctx);
    case NB_COLUMN_INT: return json_integer(*(const int *)field);
    case NB_COLUMN_SEED: return json_integer(*(const long long *)field);
    case NB_COLUMN_REAL:
        if (c->infinite && isinf(*(const double *)field))
            return json_string(*(const double *)field > 0 ? "inf" : "-inf");
        if (!isfinite(*(const double *)field)) return json_null();
        return c->integer ? json_integer((json_int_t) * (const double *)field) : json_real(*(const double *)field);
    }
    return NULL;
}

static nb_status print_json_row(FILE *out, const nb_row_labels *labels, const nb_row *row, nb_ctx *ctx)
{
    json_t *object = json_object();
    nb_mark mark = nb_ctx_mark(ctx);
    int bad = !object;
    for (int i = 0; labels->columns[i].name && !bad; i++) {
        const nb_column *c = &labels->columns[i];
        bad = json_object_set_new(object, c->name,
                                  i < labels->own ? json_field(c, row, ctx)
                                                  : json_text(nb_row_labels_at(labels, i, row), ctx));
    }
    bad = bad || (json_dumpf(object, out, JSON_REAL_PRECISION(17)) && !ferror(out)); /* the stream has its own error */
    json_decref(object);
    nb_ctx_release(ctx, mark);
    NB_REQUIRE(ctx, !bad, NB_ENOMEM, "a row cannot be written as JSON");
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
