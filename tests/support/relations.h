/* SPDX-License-Identifier: GPL-3.0-or-later */
/* relations.h - rows made by hand as a relation, in memory. */
#ifndef NB_RELATIONS_H
#define NB_RELATIONS_H

#include "testing.h"

#include "components/study.h"
#include "rows/open.h"
#include "rows/relation.h"

typedef struct {
    const nb_column *columns;
    const void *rows;
    size_t size;
    int count;
    const int *manifests;   /* by row; NULL: all have one */
    bool of_several_builds; /* else the manifests are calls of one program */
} test_rows;

static inline void bind(sqlite3_stmt *s, int place, const nb_column *c, const char *row)
{
    const void *field = row + c->offset;
    if (c->type == NB_COLUMN_TEXT)
        sqlite3_bind_text(s, place, *(const char *const *)field, -1, SQLITE_STATIC);
    else if (c->type == NB_COLUMN_INT)
        sqlite3_bind_int(s, place, *(const int *)field);
    else if (c->type == NB_COLUMN_SEED)
        sqlite3_bind_int64(s, place, *(const long long *)field);
    else
        sqlite3_bind_double(s, place, *(const double *)field); /* NaN becomes NULL */
}

static inline void make_results(sqlite3 *db, const test_rows *t, nb_ctx *ctx)
{
    static const char *const types[] = {[NB_COLUMN_TEXT] = "TEXT",
                                        [NB_COLUMN_INT] = "INTEGER",
                                        [NB_COLUMN_SEED] = "INTEGER",
                                        [NB_COLUMN_REAL] = "REAL"};
    const char *columns = "position INTEGER, inputs INTEGER, manifest INTEGER", *places = "?, NULL, ?";
    sqlite3_stmt *s;
    for (const nb_column *c = t->columns; c->name; c++) {
        columns = nb_format(ctx, "%s, %s %s", columns, c->name, types[c->type]);
        places = nb_format(ctx, "%s, ?", places);
    }
    for (int i = 0; i < 2; i++) {
        if (nb_column_find(t->columns, i ? "n" : "d")) continue;
        columns = nb_format(ctx, "%s, %s INTEGER", columns, i ? "n" : "d");
        places = nb_format(ctx, "%s, 1", places);
    }
    const char *sql = nb_format(ctx,
                                "CREATE TABLE meta (key, value); CREATE TABLE results (%s); "
                                "CREATE TABLE manifests (id INTEGER, text TEXT, build TEXT, executable TEXT)",
                                columns);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, nb_format(ctx, "INSERT INTO results VALUES (%s)", places), -1, &s, NULL),
                     SQLITE_OK);
    for (int i = 0; i < t->count; i++) {
        sqlite3_bind_int(s, 1, i);
        sqlite3_bind_int(s, 2, t->manifests ? t->manifests[i] : 0);
        for (int c = 0; t->columns[c].name; c++)
            bind(s, 3 + c, &t->columns[c], (const char *)t->rows + (size_t)i * t->size);
        assert_int_equal(sqlite3_step(s), SQLITE_DONE);
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    sql = nb_format(ctx, "INSERT INTO manifests SELECT DISTINCT manifest, '{}', 'build', %s FROM results",
                    t->of_several_builds ? "manifest" : "'program'");
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static inline void close_database(void *db)
{
    sqlite3_close(db);
}

static inline nb_relation *relation_of(const test_rows *t, nb_ctx *ctx)
{
    static const nb_axis no_axes[] = {{.key = NULL}};
    nb_study *study = nb_alloc(ctx, 1, sizeof *study);
    nb_store *store = nb_alloc(ctx, 1, sizeof *store);
    nb_relation *relation;
    assert_non_null(study);
    assert_non_null(store);
    static const nb_option no_options[] = {NB_OPTION_END};
    *study =
        (nb_study){.component = {.name = "by hand", .options = no_options}, .axes = no_axes, .columns = t->columns};
    *store = (nb_store){.study = study, .path = "in memory"};
    assert_int_equal(sqlite3_open(":memory:", &store->db), SQLITE_OK);
    assert_ok(ctx, nb_defer(ctx, close_database, store->db));
    make_results(store->db, t, ctx);
    assert_ok(ctx, nb_relation_open(&relation, store, NULL, ctx));
    return relation;
}

#endif
