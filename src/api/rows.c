/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rows.c - what nysbench_measure has left. */
#include "api/handle.h"

#include "base/files.h"
#include "show/cells.h"

static nb_status find_row(const nysbench *h, int row, const void *value, const nb_error_row **found)
{
    NB_REQUIRE(h->ctx, value, NB_EINVAL, "there is no place for the value: it is NULL");
    NB_REQUIRE(h->ctx, h->row_count > 0, NB_EINVAL, "there is no row %d: the last call measured none", row);
    NB_REQUIRE(h->ctx, row >= 0 && row < h->row_count, NB_EINVAL, "there is no row %d, only 0 to %d", row,
               h->row_count - 1);
    *found = &h->rows[row];
    return NB_OK;
}

static nb_status find_column(const nysbench *h, const char *name, const nb_column **column)
{
    const char *names[128] = {NULL}, *hint;
    NB_REQUIRE(h->ctx, name, NB_EINVAL, "the column is NULL");
    if ((*column = nb_column_find(nb_error_columns, name))) return NB_OK;
    for (int i = 0; nb_error_columns[i].name && i < 127; i++) names[i] = nb_error_columns[i].name;
    NB_NEED(hint, nb_hint(name, names, h->ctx));
    NB_FAIL(h->ctx, NB_EINVAL, "there is no column '%s'%s", name, hint);
}

static nb_status print_row(FILE *out, const void *row, nb_ctx *ctx)
{
    return nb_row_print_json(out, nb_error_columns, row, ctx);
}

static nb_status row_json(nysbench *h, int row, const char **json)
{
    const nb_error_row *found;
    const char *made;
    NB_TRY(h->ctx, find_row(h, row, json, &found));
    *json = NULL;
    NB_TRY(h->ctx, nb_print_text(print_row, &found->row, &made, h->ctx));
    NB_NEED(*json, nb_strdup(h->results, made));
    return NB_OK;
}

nysbench_status nysbench_row_json(nysbench *handle, int row, const char **json)
{
    NB_CALL(handle, true, row_json(handle, row, json));
}

static nb_status row_real(const nysbench *h, int row, const char *name, double *value)
{
    const nb_error_row *found;
    const nb_column *column;
    NB_TRY(h->ctx, find_row(h, row, value, &found));
    NB_TRY(h->ctx, find_column(h, name, &column));
    const void *field = (const char *)found + column->offset;
    NB_REQUIRE(h->ctx, column->type != NB_COLUMN_TEXT, NB_EINVAL, "the column '%s' holds text", name);
    *value = column->type == NB_COLUMN_INT    ? *(const int *)field
             : column->type == NB_COLUMN_SEED ? (double)*(const long long *)field
                                              : *(const double *)field;
    return NB_OK;
}

nysbench_status nysbench_row_real(nysbench *handle, int row, const char *column, double *value)
{
    NB_CALL(handle, true, row_real(handle, row, column, value));
}

static nb_status row_text(const nysbench *h, int row, const char *name, const char **value)
{
    const nb_error_row *found;
    const nb_column *column;
    NB_TRY(h->ctx, find_row(h, row, value, &found));
    NB_TRY(h->ctx, find_column(h, name, &column));
    NB_REQUIRE(h->ctx, column->type == NB_COLUMN_TEXT, NB_EINVAL, "the column '%s' holds numbers", name);
    const char *text = *(const char *const *)((const char *)found + column->offset);
    *value = text ? text : "";
    return NB_OK;
}

nysbench_status nysbench_row_text(nysbench *handle, int row, const char *column, const char **value)
{
    NB_CALL(handle, true, row_text(handle, row, column, value));
}
