/* SPDX-License-Identifier: GPL-3.0-or-later */
/* store_rows.c - reading the rows. */
#include "run/store_private.h"

#include "base/builder.h"
#include "base/texts.h"

#include <math.h>
#include <string.h>

typedef struct { /* rows on their way out of the store */
    const nb_store *store;
    const nb_column *columns;
    int status; /* which column that is */
    sqlite3_stmt *statement;
    nb_texts *texts; /* each once: most are those of many rows */
} reader;

static nb_status read_text(const reader *r, int index, const char **text)
{
    const char *here = (const char *)sqlite3_column_text(r->statement, index);
    int number = 0;
    if (here) NB_TRY(r->texts->ctx, nb_texts_number(r->texts, here, &number));
    *text = here ? r->texts->items[number] : NULL;
    return NB_OK;
}

nb_status nb_store_status(const nb_store *store, sqlite3_stmt *row, int column, const char **status, nb_ctx *ctx)
{
    nb_string allowed = NB_NO_TEXT;
    const char *text = (const char *)sqlite3_column_text(row, column);
    *status = text ? nb_row_status_of(text) : NULL;
    if (*status) return NB_OK;
    for (int i = 0; nb_row_statuses[i]; i++) NB_TRY(ctx, nb_append_item(&allowed, ", ", ctx, "%s", nb_row_statuses[i]));
    NB_FAIL(ctx, NB_EIO, "%s: a row has the status %s; allowed are %s: something else has written into the store",
            store->path, text ? text : "NULL", allowed.text);
}

/* The statement's present row. */
static nb_status read_row(const reader *r, nb_row *row)
{
    sqlite3_stmt *s = r->statement;
    for (int i = 0; r->columns[i].name; i++) {
        void *field = (char *)row + r->columns[i].offset;
        switch (r->columns[i].type) {
        case NB_COLUMN_TEXT: NB_TRY(r->texts->ctx, read_text(r, i, field)); break;
        case NB_COLUMN_INT: *(int *)field = sqlite3_column_int(s, i); break;
        case NB_COLUMN_SEED: *(long long *)field = sqlite3_column_int64(s, i); break;
        case NB_COLUMN_REAL:
            *(double *)field = sqlite3_column_type(s, i) == SQLITE_NULL ? NAN : sqlite3_column_double(s, i);
            break;
        }
    }
    NB_TRY(r->texts->ctx, nb_store_status(r->store, s, r->status, &row->status, r->texts->ctx));
    if (row->reason) NB_NEED(row->reason, nb_clean(r->texts->ctx, row->reason, "")); /* an older program's may not be */
    return NB_OK;
}

nb_status nb_store_signatures(nb_store *store, int *count, long long **manifests, nb_ctx *ctx)
{
    sqlite3_stmt *s;
    int room = 0, code;
    *manifests = NULL;
    NB_TRY(ctx, nb_store_prepare(store, "store.signatures", &s, ctx));
    for (*count = 0; (code = sqlite3_step(s)) == SQLITE_ROW; ++*count) {
        NB_GROW(ctx, *manifests, *count, room);
        (*manifests)[*count] = sqlite3_column_int64(s, 0);
    }
    return code == SQLITE_DONE ? NB_OK : nb_store_fail(store, "reading rows", ctx);
}

nb_status nb_store_rows(nb_store *store, nb_row_list *rows, nb_ctx *ctx)
{
    nb_texts texts;
    reader r = {.store = store, .columns = store->study->columns, .texts = &texts};
    int total = 0, code;
    *rows = (nb_row_list){.columns = r.columns, .row_size = store->study->row_size};
    nb_texts_init(&texts, ctx);
    while (strcmp(r.columns[r.status].name, "status") != 0) r.status++;
    NB_TRY(ctx, nb_store_number(store, "store.count_rows", "counting rows", &total, ctx));
    NB_NEED(rows->bytes, nb_alloc(ctx, (size_t)total, rows->row_size));
    NB_TRY(ctx, nb_store_prepare(store, "store.rows", &r.statement, ctx));
    for (; (code = sqlite3_step(r.statement)) == SQLITE_ROW && rows->count < total; rows->count++)
        NB_TRY(ctx, read_row(&r, nb_row_at(rows, rows->count)));
    return code == SQLITE_DONE ? NB_OK : nb_store_fail(store, "reading rows", ctx);
}
