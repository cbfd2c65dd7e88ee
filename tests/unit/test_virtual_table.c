/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_virtual_table.c - a table whose rows C makes: a statement reads them once, in their order; what keeps C from
 * making one is the statement's error; and the table is gone with its context. */
#include "rows/virtual_table.h"
#include "rows/made_tables.h"
#include "testing.h"

typedef struct {
    int count, last;
    nb_status end; /* what comes behind the last */
    nb_ctx *ctx;
} countdown;

/* id 3, 2, 1, and a number above 2^32. */
static nb_status count_down(void *self, sqlite3_int64 *row, bool *there)
{
    countdown *c = self;
    *there = c->count > c->last;
    row[0] = c->count--;
    row[1] = row[0] << 33;
    NB_REQUIRE(c->ctx, *there || c->end == NB_OK, c->end, "row %d cannot be made", c->last);
    return NB_OK;
}

static nb_relation *relation_with(countdown *c, nb_ctx *ctx, nb_ctx *table_ctx)
{
    nb_relation *r = nb_alloc(ctx, 1, sizeof *r);
    nb_store *store = nb_alloc(ctx, 1, sizeof *store);
    assert_non_null(r);
    assert_non_null(store);
    assert_int_equal(sqlite3_open(":memory:", &store->db), SQLITE_OK);
    *r = (nb_relation){.store = store, .ctx = ctx};
    *c = (countdown){.count = 3, .ctx = ctx};
    const nb_virtual_table table = {.name = "down",
                                    .definition = "CREATE TABLE down (id, large)", /* NOLINT(wording): SQL */
                                    .columns = 2,
                                    .next = count_down,
                                    .self = c};
    assert_ok(ctx, nb_virtual_table_add(r, &table, table_ctx));
    return r;
}

static void test_rows(void **state)
{
    nb_ctx *ctx = *state, *table_ctx = nb_ctx_child(ctx);
    countdown c;
    nb_grid a;
    nb_relation *r = relation_with(&c, ctx, table_ctx);
    assert_ok(ctx, nb_relation_run_file(r, "CREATE TABLE word (id INTEGER PRIMARY KEY, text)", ctx));
    assert_ok(ctx, nb_relation_run_file(r, "INSERT INTO word VALUES (1, 'one'), (3, 'three'), (4, 'four')", ctx));
    assert_ok(ctx, nb_relation_ask(r, "SELECT d.id, large, text FROM down AS d CROSS JOIN word USING (id)", &a, ctx));
    assert_int_equal(a.count, 2);
    assert_int_equal(nb_grid_at(&a, 0, 0)->integer, 3);
    assert_string_equal(nb_grid_at(&a, 0, 2)->text, "three");
    assert_int_equal(nb_grid_at(&a, 1, 0)->integer, 1);
    assert_true(nb_grid_at(&a, 1, 1)->integer == 1LL << 33);
    nb_ctx_release(table_ctx, 0);
    assert_error(ctx, nb_relation_ask(r, "SELECT * FROM down", &a, ctx), NB_EINVAL);
    sqlite3_close_v2(r->store->db);
}

static void test_mistakes(void **state)
{
    nb_ctx *ctx = *state;
    static const nb_status ends[] = {NB_ENOMEM, NB_EINVAL};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        countdown c;
        nb_grid a;
        nb_ctx *table_ctx = nb_ctx_child(ctx);
        nb_relation *r = relation_with(&c, ctx, table_ctx);
        c.last = 1;
        c.end = ends[i];
        assert_error(ctx, nb_relation_ask(r, "SELECT sum(id) FROM down", &a, ctx), ends[i]);
        nb_ctx_release(table_ctx, 0);
        sqlite3_close_v2(r->store->db);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_rows), test_with_ctx(test_mistakes)};
    return run_all(tests);
}
