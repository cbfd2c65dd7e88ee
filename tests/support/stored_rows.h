/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stored_rows.h - rows as the relation that tables ask. */
#ifndef NB_STORED_ROWS_H
#define NB_STORED_ROWS_H

#include "testing.h"

#include "rows/open.h"
#include "rows/relation.h"

static inline void bind_cell(sqlite3_stmt *s, int at, const nb_column *column, const nb_row *row)
{
    const char *field = (const char *)row + column->offset;
    switch (column->type) {
    case NB_COLUMN_TEXT: sqlite3_bind_text(s, at, *(const char *const *)field, -1, SQLITE_STATIC); break;
    case NB_COLUMN_INT: sqlite3_bind_int(s, at, *(const int *)field); break;
    case NB_COLUMN_SEED: sqlite3_bind_int64(s, at, *(const long long *)field); break;
    case NB_COLUMN_REAL: sqlite3_bind_double(s, at, *(const double *)field); break;
    }
}

static inline void close_database(void *db)
{
    sqlite3_close(db);
}

/* The rows as a store holds them; `builds`: by row, the number of the program that has measured it, from 1; NULL: one
 * has. */
static inline nb_relation *relation_of_builds(const nb_study *study, const nb_row_list *rows, const int *builds,
                                              nb_ctx *ctx)
{
    const char *names = "position, manifest", *marks = "?, ?";
    nb_store *store = nb_alloc(ctx, 1, sizeof *store);
    nb_relation *relation;
    sqlite3_stmt *s;
    int last = 1;
    for (int i = 0; i < rows->count && builds; i++) last = builds[i] > last ? builds[i] : last;
    assert_non_null(store);
    store->study = study;
    for (const nb_column *c = study->columns; c->name; c++) {
        names = nb_format(ctx, "%s, %s", names, c->name);
        marks = nb_format(ctx, "%s, ?", marks);
    }
    assert_int_equal(sqlite3_open(":memory:", &store->db), SQLITE_OK);
    assert_ok(ctx, nb_defer(ctx, close_database, store->db));
    const char *sql = nb_format(ctx,
                                "CREATE TABLE meta (key, value); CREATE TABLE manifests (id, text, executable); "
                                "WITH program (id) AS (VALUES (1) UNION ALL SELECT id + 1 FROM program WHERE id < %d) "
                                "INSERT INTO manifests SELECT id, '{\"jobs\": 1}', 'program ' || id FROM program; "
                                "CREATE TABLE results (%s)",
                                last, names);
    assert_int_equal(sqlite3_exec(store->db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(store->db, nb_format(ctx, "INSERT INTO results VALUES (%s)", marks), -1, &s, NULL), 0);
    for (int i = 0; i < rows->count; i++) {
        sqlite3_bind_int(s, 1, i);
        sqlite3_bind_int(s, 2, builds ? builds[i] : 1);
        for (int c = 0; study->columns[c].name; c++) bind_cell(s, 3 + c, &study->columns[c], nb_row_at(rows, i));
        assert_int_equal(sqlite3_step(s), SQLITE_DONE);
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    assert_ok(ctx, nb_relation_open(&relation, store, NULL, ctx));
    return relation;
}

static inline nb_relation *relation_of(const nb_study *study, const nb_row_list *rows, nb_ctx *ctx)
{
    return relation_of_builds(study, rows, NULL, ctx);
}

#endif
