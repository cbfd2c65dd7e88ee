/* csv.c - rows as text. */
#include "report/csv.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void nb_csv_print_text(FILE *out, const char *text)
{
    if (!text) return;
    if (!text[strcspn(text, ",\"\r\n")]) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (const char *quote; (quote = strchr(text, '"')); text = quote + 1) {
        fwrite(text, 1, (size_t)(quote + 1 - text), out);
        fputc('"', out);
    }
    fputs(text, out);
    fputc('"', out);
}

void nb_csv_print_real(FILE *out, double x)
{
    char text[32];
    if (isnan(x)) return;
    strfromd(text, sizeof text, "%.17g", x); /* faster than fprintf */
    fputs(text, out);
}

static void print_field(FILE *out, const nb_column *c, const nb_row *row)
{
    const char *field = (const char *)row + c->offset;
    switch (c->type) {
    case NB_COLUMN_TEXT:
        nb_csv_print_text(out, *(const char *const *)field);
        break;
    case NB_COLUMN_INT:
        fprintf(out, "%d", *(const int *)field);
        break;
    case NB_COLUMN_SEED:
        fprintf(out, "%lld", *(const long long *)field);
        break;
    case NB_COLUMN_REAL:
        nb_csv_print_real(out, *(const double *)field);
        break;
    }
}

void nb_csv_print(FILE *out, int count, const nb_row *rows)
{
    for (const nb_column *c = nb_columns; c->name; c++) fprintf(out, "%s%s", c == nb_columns ? "" : ",", c->name);
    fputc('\n', out);
    for (int i = 0; i < count; i++) {
        for (const nb_column *c = nb_columns; c->name; c++) {
            if (c != nb_columns) fputc(',', out);
            print_field(out, c, &rows[i]);
        }
        fputc('\n', out);
    }
}

static json_t *json_field(const nb_column *c, const nb_row *row)
{
    const char *field = (const char *)row + c->offset;
    switch (c->type) {
    case NB_COLUMN_TEXT:
        return *(const char *const *)field ? json_string(*(const char *const *)field) : json_null();
    case NB_COLUMN_INT:
        return json_integer(*(const int *)field);
    case NB_COLUMN_SEED:
        return json_integer(*(const long long *)field);
    case NB_COLUMN_REAL:
        return isfinite(*(const double *)field) ? json_real(*(const double *)field) : json_null();
    }
    return NULL;
}

nb_status nb_json_print_row(FILE *out, const nb_row *row, nb_ctx *ctx)
{
    json_t *object = json_object();
    int bad = !object;
    for (const nb_column *c = nb_columns; c->name && !bad; c++) bad = json_object_set_new(object, c->name, json_field(c, row));
    bad = bad || json_dumpf(object, out, JSON_REAL_PRECISION(17));
    json_decref(object);
    NB_REQUIRE(ctx, !bad, NB_ENOMEM, "a row cannot be written as JSON");
    return NB_OK;
}

nb_status nb_json_print(FILE *out, int count, const nb_row *rows, nb_ctx *ctx)
{
    fputs("[", out);
    for (int i = 0; i < count; i++) {
        fputs(i ? ",\n " : "\n ", out);
        NB_TRY(ctx, nb_json_print_row(out, &rows[i], ctx));
    }
    fputs("\n]\n", out);
    return NB_OK;
}
