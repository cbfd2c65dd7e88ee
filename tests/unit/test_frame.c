/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_frame.c - selecting and grouping rows of no study: a table of fruit, whose
 * answers can be read off it. */
#include "testing.h"

#include "report/frame.h"

#include <math.h>
#include <string.h>

typedef struct {
    const char *fruit, *status;
    int weight, trial;
    long long seed;
    double price;
} fruit_row;

static const nb_column columns[] = {
    {.name = "fruit", .type = NB_COLUMN_TEXT, .offset = offsetof(fruit_row, fruit)},
    {.name = "status", .type = NB_COLUMN_TEXT, .offset = offsetof(fruit_row, status)},
    {.name = "weight", .type = NB_COLUMN_INT, .offset = offsetof(fruit_row, weight)},
    {.name = "trial", .type = NB_COLUMN_INT, .offset = offsetof(fruit_row, trial)},
    {.name = "seed", .type = NB_COLUMN_SEED, .offset = offsetof(fruit_row, seed)},
    {.name = "price", .type = NB_COLUMN_REAL, .offset = offsetof(fruit_row, price)},
    {.name = NULL},
};

static nb_frame frame_of(nb_ctx *ctx, int count, const fruit_row *rows)
{
    nb_frame f;
    assert_ok(ctx, nb_frame_make(&f, columns, rows, sizeof *rows, count, ctx));
    return f;
}

static nb_selection all_of(nb_ctx *ctx, const nb_frame *f)
{
    nb_selection all;
    assert_ok(ctx, nb_frame_all(f, &all, ctx));
    return all;
}

/* Of plums one failed, of figs one is planned. */
static const fruit_row basket[] = {
    {"plum", "ok", 30, 0, 5, 2.385},     {"fig", "ok", 30, 0, 1LL << 40, NAN}, {"plum", "failed", 40, 1, 5, NAN},
    {"fig", "planned", 40, 1, 5, 1.25},  {"pear", "ok", 30, 0, 5, 0.0},        {"plum", "ok", 40, 2, 5, -0.0},
    {"plum", "ok", 30, 1, 1LL << 40, 7}, {"fig", "ok", 40, 0, 5, 2.385},
};
enum { BASKET = sizeof basket / sizeof *basket };

static void expect_rows(nb_selection rows, int count, const int *at)
{
    assert_int_equal(rows.count, count);
    for (int i = 0; i < count; i++) assert_int_equal(rows.at[i], at[i]);
}

static void test_columns(void **state)
{
    static char other_plum[] = "plum"; /* the same text elsewhere is the same value */
    fruit_row rows[BASKET];
    const double *price;
    const int *weight;
    const char *const *fruit;
    nb_codes codes;
    memcpy(rows, basket, sizeof rows);
    rows[6].fruit = other_plum;
    nb_frame f = frame_of(*state, BASKET, rows);
    assert_ok(*state, nb_frame_reals(&f, "price", &price, *state));
    assert_ok(*state, nb_frame_ints(&f, "weight", &weight, *state));
    assert_ok(*state, nb_frame_texts(&f, "fruit", &fruit, *state));
    assert_true(price[0] == 2.385 && isnan(price[1]) && price[6] == 7);
    assert_true(weight[2] == 40 && fruit[4] == rows[4].fruit);
    assert_ptr_equal(nb_frame_row(&f, 3), &rows[3]);
    assert_ok(*state, nb_frame_codes(&f, "fruit", &codes, *state));
    assert_int_equal(codes.count, 3);
    static const int of[] = {0, 1, 0, 1, 2, 0, 0, 1}, first[] = {0, 1, 4};
    for (int i = 0; i < BASKET; i++) assert_int_equal(codes.of[i], of[i]);
    for (int i = 0; i < 3; i++) assert_int_equal(codes.first[i], first[i]);
    assert_ok(*state, nb_frame_codes(&f, "price", &codes, *state));
    assert_int_equal(codes.count, 5); /* 2.385, NaN, 1.25, 0 and -0, 7 */
    assert_ok(*state, nb_frame_codes(&f, "seed", &codes, *state));
    assert_int_equal(codes.count, 2);
}

static void test_unknown_columns(void **state)
{
    nb_frame f = frame_of(*state, BASKET, basket);
    const double *price;
    const int twice[BASKET] = {0};
    assert_error(*state, nb_frame_reals(&f, "taste", &price, *state), NB_EBUG, "no column 'taste'");
    assert_error(*state, nb_frame_reals(&f, "weight", &price, *state), NB_EBUG, "of another type");
    assert_ok(*state, nb_frame_derive(&f, "basket", twice, *state));
    assert_error(*state, nb_frame_derive(&f, "basket", twice, *state), NB_EBUG, "already");
}

static bool is_dear(const void *row, const void *what)
{
    return ((const fruit_row *)row)->price > *(const double *)what;
}

static void test_select(void **state)
{
    nb_frame f = frame_of(*state, BASKET, basket);
    nb_selection all = all_of(*state, &f), rows, fewer;
    nb_frame taken;
    assert_ok(*state, nb_frame_where_text(&f, all, "status", "ok", &rows, *state));
    expect_rows(rows, 6, (const int[]){0, 1, 4, 5, 6, 7});
    assert_ok(*state, nb_frame_where(&f, rows, "weight", (const bool[]){false, true}, &fewer, *state)); /* 30, 40 */
    expect_rows(fewer, 2, (const int[]){5, 7});
    assert_ok(*state, nb_frame_take(&f, fewer, &taken, *state));
    assert_int_equal(taken.count, 2);
    assert_string_equal(((const fruit_row *)nb_frame_row(&taken, 1))->fruit, "fig");
    assert_int_equal(((const fruit_row *)nb_frame_row(&taken, 0))->trial, 2);
    assert_ok(*state, nb_frame_where_text(&f, all, "fruit", "quince", &rows, *state));
    expect_rows(rows, 0, NULL);
    assert_ok(*state, nb_frame_select(&f, all, is_dear, &(const double){2}, &rows, *state));
    expect_rows(rows, 3, (const int[]){0, 6, 7});
}

static void test_group(void **state)
{
    nb_frame f = frame_of(*state, BASKET, basket);
    nb_selection all = all_of(*state, &f), ok;
    nb_groups g;
    const int odd[BASKET] = {0, 1, 0, 1, 0, 1, 0, 1};
    assert_ok(*state, nb_frame_group(&f, all, (const char *const[]){"fruit", "weight", NULL}, &g, *state));
    assert_int_equal(g.count, 5);
    expect_rows(nb_group_rows(&g, 0), 2, (const int[]){0, 6}); /* plum, 30 */
    expect_rows(nb_group_rows(&g, 1), 1, (const int[]){1});
    expect_rows(nb_group_rows(&g, 2), 2, (const int[]){2, 5}); /* plum, 40 */
    expect_rows(nb_group_rows(&g, 3), 2, (const int[]){3, 7});
    expect_rows(nb_group_rows(&g, 4), 1, (const int[]){4});
    assert_ok(*state, nb_frame_where_text(&f, all, "status", "ok", &ok, *state));
    assert_ok(*state, nb_frame_group(&f, ok, (const char *const[]){"fruit", NULL}, &g, *state));
    assert_int_equal(g.count, 3);
    expect_rows(nb_group_rows(&g, 0), 3, (const int[]){0, 5, 6});
    assert_true(g.of[2] == -1 && g.of[3] == -1 && g.of[7] == 1); /* failed, planned */
    assert_ok(*state, nb_frame_group(&f, all, (const char *const[]){NULL}, &g, *state));
    assert_int_equal(g.count, 1);
    expect_rows(nb_group_rows(&g, 0), BASKET, (const int[]){0, 1, 2, 3, 4, 5, 6, 7});
    assert_ok(*state, nb_frame_derive(&f, "odd", odd, *state));
    assert_ok(*state, nb_frame_group(&f, all, (const char *const[]){"odd", NULL}, &g, *state));
    assert_int_equal(g.count, 2);
    expect_rows(nb_group_rows(&g, 1), 4, (const int[]){1, 3, 5, 7});
}

/* Against a comparison of all of the first `count` rows with all of them. */
static nb_groups group_first(nb_ctx *ctx, const nb_frame *f, const fruit_row *rows, int count)
{
    nb_selection first = all_of(ctx, f);
    nb_groups g;
    first.count = count;
    assert_ok(ctx,
              nb_frame_group(f, first, (const char *const[]){"fruit", "status", "weight", "trial", NULL}, &g, ctx));
    for (int i = 0, newest = -1; i < count; i++) {
        assert_true(g.of[i] <= newest + 1); /* in order of appearance */
        newest = g.of[i] > newest ? g.of[i] : newest;
        for (int k = 0; k < i; k++) {
            bool alike = strcmp(rows[i].fruit, rows[k].fruit) == 0 && rows[i].weight == rows[k].weight &&
                         rows[i].trial == rows[k].trial;
            assert_int_equal(g.of[i] == g.of[k], alike);
        }
    }
    return g;
}

/* Of many columns' values by chance: of many rows, and of fewer than there are combinations. */
static void test_group_many(void **state)
{
    enum { MANY = 2000 };
    static fruit_row rows[MANY];
    static const char *const names[] = {"plum", "fig", "pear", "quince", "apple"};
    unsigned x = 20260101;
    for (int i = 0; i < MANY; i++) {
        x = x * 1664525u + 1013904223u;
        rows[i] = (fruit_row){names[(x >> 8) % 5], "ok", (int)((x >> 12) % 7) - 3, (int)((x >> 20) % 11), 0, 0};
    }
    nb_frame f = frame_of(*state, MANY, rows);
    nb_groups all = group_first(*state, &f, rows, MANY), some = group_first(*state, &f, rows, 100);
    assert_true(all.count > 300 && all.count <= 5 * 7 * 11);
    assert_true(some.count > 80 && some.of[100] == -1);
}

static void test_empty(void **state)
{
    nb_frame f = frame_of(*state, 0, NULL);
    nb_selection all = all_of(*state, &f), rows;
    nb_groups g;
    nb_codes codes;
    const char *const by[] = {"fruit", "trial", NULL};
    expect_rows(all, 0, NULL);
    assert_ok(*state, nb_frame_codes(&f, "fruit", &codes, *state));
    assert_int_equal(codes.count, 0);
    assert_ok(*state, nb_frame_where_text(&f, all, "fruit", "plum", &rows, *state));
    expect_rows(rows, 0, NULL);
    assert_ok(*state, nb_frame_group(&f, all, by, &g, *state));
    assert_int_equal(g.count, 0);
    assert_ok(*state, nb_frame_group(&f, all, by + 2, &g, *state));
    assert_int_equal(g.count, 0);
}

/* Columns stay when what was allocated since the frame was made is released. */
static void test_memory(void **state)
{
    nb_frame f = frame_of(*state, BASKET, basket);
    const double *price, *again;
    nb_codes codes;
    nb_mark mark = nb_ctx_mark(*state);
    assert_ok(*state, nb_frame_reals(&f, "price", &price, *state));
    assert_ok(*state, nb_frame_codes(&f, "fruit", &codes, *state));
    nb_ctx_release(*state, mark);
    assert_non_null(nb_alloc(*state, 4096, 1));
    assert_ok(*state, nb_frame_reals(&f, "price", &again, *state));
    assert_true(again == price && price[0] == 2.385 && codes.of[4] == 2);
}

typedef struct {
    nb_codes fruit;
    const char *text;
} found;

/* What it releases is not the frame's. */
static nb_status find_fruit(const nb_frame *f, void *out, nb_ctx *ctx)
{
    static int calls = 0;
    const double *price;
    found *mine = out;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_TRY(ctx, nb_frame_codes(f, "fruit", &mine->fruit, ctx));
    NB_TRY(ctx, nb_frame_reals(f, "price", &price, ctx));
    nb_ctx_release(ctx, mark);
    NB_NEED(mine->text, nb_format(ctx, "call %d", ++calls));
    return NB_OK;
}

/* Once for a frame and its copies, and again for another; it stays as the frame does. */
static void test_once(void **state)
{
    nb_frame f = frame_of(*state, BASKET, basket), other = frame_of(*state, 1, basket), copy = f;
    found one, two;
    nb_mark mark = nb_ctx_mark(*state);
    assert_ok(*state, nb_frame_once(&f, find_fruit, sizeof one, &one));
    nb_ctx_release(*state, mark);
    assert_ok(*state, nb_frame_once(&copy, find_fruit, sizeof two, &two));
    assert_string_equal(two.text, "call 1");
    assert_ptr_equal(two.text, one.text);
    assert_int_equal(one.fruit.of[4], 2);
    assert_ok(*state, nb_frame_once(&other, find_fruit, sizeof two, &two));
    assert_string_equal(two.text, "call 2");
}

/* What a view derives is its own; what it takes out of the rows is everybody's. */
static void test_view(void **state)
{
    nb_frame f = frame_of(*state, BASKET, basket), one, two;
    const int odd[BASKET] = {0, 1, 0, 1, 0, 1, 0, 1}, even[BASKET] = {1, 0, 1, 0, 1, 0, 1, 0};
    const int *values;
    nb_codes mine, theirs;
    assert_ok(*state, nb_frame_view(&f, &one, *state));
    assert_ok(*state, nb_frame_view(&f, &two, *state));
    assert_ok(*state, nb_frame_derive(&one, "odd", odd, *state));
    assert_ok(*state, nb_frame_derive(&two, "odd", even, *state));
    assert_ok(*state, nb_frame_ints(&one, "odd", &values, *state));
    assert_int_equal(values[1], 1);
    assert_ok(*state, nb_frame_ints(&two, "odd", &values, *state));
    assert_int_equal(values[1], 0);
    assert_error(*state, nb_frame_ints(&f, "odd", &values, *state), NB_EBUG, "no column 'odd'");
    assert_ok(*state, nb_frame_codes(&one, "odd", &mine, *state));
    assert_int_equal(mine.count, 2);
    assert_ok(*state, nb_frame_codes(&one, "fruit", &mine, *state));
    assert_ok(*state, nb_frame_codes(&two, "fruit", &theirs, *state));
    assert_ptr_equal(mine.of, theirs.of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_columns),    test_with_ctx(test_unknown_columns),
        test_with_ctx(test_select),     test_with_ctx(test_group),
        test_with_ctx(test_group_many), test_with_ctx(test_empty),
        test_with_ctx(test_memory),     test_with_ctx(test_once),
        test_with_ctx(test_view),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
