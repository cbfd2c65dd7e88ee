/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shards: disjoint, together the plan, no unit split, balanced as the greedy rule
 * promises. Merging: what is united, what is a conflict, what gives way. */
#include "planning.h"

#include "studies/error/study.h"
#include "run/merge.h"
#include "run/shard.h"
#include "run/plan.h"
#include "config/config.h"

/* Two heads of a file, whose trials share the data, and problems of several sizes whose
 * trials have their own: 2 + 3 * 3 units. */
static nb_plan make_plan(nb_ctx *ctx)
{
    static const nb_override overrides[] = {
        {"problems",
         "[\"heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=[0, 2])\", \"gaussian(n=[30, 61, "
         "200], d=4)\"]"},
        {"strategies", "[uniform, segment_means]"},
        {"factors", "nystromformer"},
        {"metrics", "[error]"},
        {"landmarks", "[3, 5]"},
        {"trials", "3"},
        {"cores", "[svd, iterative]"}};
    return plan_with(sizeof overrides / sizeof *overrides, overrides, ctx);
}

enum { UNITS = 11 };

static void test_parse(void **state)
{
    static const char *const bad[] = {
        "",      "1",    "/",     "1/",   "/2",  "0/2",   "3/2",      "-1/2",
        "1/0",   "1/-2", "1/2/3", "1/2x", "a/b", "1.5/2", "1/100001", "1/99999999999999999999",
        "1 of 2"};
    nb_ctx *ctx = *state;
    nb_shard shard;
    assert_ok(ctx, nb_shard_parse("2/7", "it", &shard, ctx));
    assert_int_equal(shard.index, 2);
    assert_int_equal(shard.count, 7);
    assert_ok(ctx, nb_shard_parse("100000/100000", "it", &shard, ctx));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_error_of(bad[i], ctx, nb_shard_parse(bad[i], "it", &shard, ctx), NB_EINVAL);
}

static void assert_same_row(const nb_plan *plan, int index, const nb_plan *part, int at)
{
    nb_error_row a, b;
    nb_plan_row(plan, index, &a);
    nb_plan_row(part, at, &b);
    assert_string_equal(a.problem, b.problem);
    assert_int_equal(a.head, b.head);
    assert_int_equal(a.n, b.n);
    assert_int_equal(a.trial, b.trial);
    assert_string_equal(a.strategy, b.strategy);
    assert_int_equal(a.landmarks, b.landmarks);
    assert_string_equal(a.core, b.core);
}

/* Every row of the plan in one shard, in the plan's order: also for more shards than units. */
static void test_disjoint_and_whole(void **state)
{
    nb_ctx *ctx = *state;
    nb_plan plan = make_plan(ctx);
    for (int count = 1; count <= 2 * UNITS; count++) {
        int *of, sum = 0;
        assert_ok(ctx, nb_shards_assign(&plan, count, &of, ctx));
        for (int s = 1; s <= count; s++) {
            nb_plan part;
            int at = 0;
            assert_ok(ctx, nb_shard_plan(&plan, of, s, &part, ctx));
            for (int i = 0; i < plan.row_count; i++)
                if (of[i] == s) assert_same_row(&plan, i, &part, at++);
            assert_int_equal(at, part.row_count);
            sum += part.row_count;
        }
        assert_int_equal(sum, plan.row_count);
    }
}

static void test_units_are_whole_and_balanced(void **state)
{
    nb_ctx *ctx = *state;
    nb_plan plan = make_plan(ctx);
    bool *all = nb_alloc(ctx, (size_t)plan.row_count, sizeof *all);
    nb_unit *units;
    int count;
    for (int i = 0; i < plan.row_count; i++) all[i] = true;
    assert_ok(ctx, nb_units_find(&plan, all, &units, &count, ctx));
    assert_int_equal(count, UNITS);
    for (int shards = 1; shards <= UNITS + 2; shards++) {
        int *of;
        double *seconds, total = 0, longest = 0, unit_most = 0;
        assert_ok(ctx, nb_shards_assign(&plan, shards, &of, ctx));
        assert_ok(ctx, nb_shards_seconds(&plan, of, shards, NB_USUAL_RATE, &seconds, ctx));
        for (int u = 0; u < count; u++) {
            for (int i = units[u].first; i < units[u].end; i++) assert_int_equal(of[i], of[units[u].first]);
            nb_cost cost = nb_cost_of(&plan, &units[u], NULL);
            unit_most = fmax(unit_most, nb_cost_s(&cost, NB_USUAL_RATE));
        }
        for (int s = 1; s <= shards; s++) {
            total += seconds[s];
            longest = fmax(longest, seconds[s]);
        }
        /* greedy: the unit that made the longest found its shard with no more than the mean of the rest */
        assert_at_most(longest, (total / shards + unit_most) * (1 + 1e-12));
        if (shards <= UNITS) /* the first units have gone to empty shards */
            for (int s = 1; s <= shards; s++) assert_true(seconds[s] > 0);
    }
}

/* A second plan of the same config gives the same shards: nothing else goes in. */
static void test_stateless(void **state)
{
    nb_ctx *ctx = *state;
    nb_plan one = make_plan(ctx), two = make_plan(ctx);
    int *a, *b;
    assert_ok(ctx, nb_shards_assign(&one, 4, &a, ctx));
    assert_ok(ctx, nb_shards_assign(&two, 4, &b, ctx));
    assert_memory_equal(a, b, (size_t)one.row_count * sizeof *a);
}

/* The plan's rows as if they had been run: row i has error i, and took time_s. */
static nb_error_row *make_rows(const nb_plan *plan, double time_s, nb_ctx *ctx)
{
    nb_error_row *rows = nb_alloc(ctx, (size_t)plan->row_count, sizeof *rows);
    for (int i = 0; i < plan->row_count; i++) {
        nb_plan_row(plan, i, &rows[i]);
        rows[i].status = "ok";
        rows[i].measures.error = i;
        rows[i].measures.core_s = time_s;
    }
    return rows;
}

static nb_status add(nb_merge *merge, const char *name, bool yields, int count, const nb_error_row *of, nb_ctx *ctx)
{
    nb_row_list rows = rows_of_error(count, of);
    return nb_merge_add(merge, name, yields, &rows, NULL, ctx);
}

static const nb_error_row *merged(const nb_merge *merge, int index)
{
    return (const nb_error_row *)merge->rows[index];
}

static void test_merge_parts(void **state)
{
    nb_ctx *ctx = *state;
    nb_plan plan = make_plan(ctx);
    nb_error_row *rows = make_rows(&plan, 1, ctx), *parts = nb_alloc(ctx, (size_t)plan.row_count, sizeof *parts);
    int used = 0;
    nb_merge merge;
    int *of;
    assert_ok(ctx, nb_shards_assign(&plan, 3, &of, ctx));
    assert_ok(ctx, nb_merge_init(&plan, 4, &merge, ctx));
    for (int s = 3; s >= 1; s--) {
        int count = 0;
        for (int i = 0; i < plan.row_count; i++)
            if (of[i] == s) parts[used + count++] = rows[i];
        assert_ok(ctx, add(&merge, "part", false, count, parts + used, ctx));
        used += count;
    }
    for (int i = 0; i < plan.row_count; i++) {
        assert_int_equal(merge.from[i], 4 - of[i]);
        assert_close(merged(&merge, i)->measures.error, i, 0);
    }
    rows[2].status = "planned"; /* a second copy, run elsewhere and unfinished, agrees */
    for (int i = 0; i < plan.row_count; i++) rows[i].measures.core_s = 2;
    assert_ok(ctx, add(&merge, "copy", false, plan.row_count, rows, ctx));
    assert_int_equal(merge.conflict_count, 0);
    assert_close(merged(&merge, 0)->measures.core_s, 1, 0);
}

static void test_merge_holes(void **state)
{
    nb_ctx *ctx = *state;
    nb_plan plan = make_plan(ctx);
    nb_error_row *rows = make_rows(&plan, 1, ctx);
    nb_merge merge;
    rows[5].status = "planned";
    assert_ok(ctx, nb_merge_init(&plan, 1, &merge, ctx));
    assert_ok(ctx, add(&merge, "a", false, plan.row_count, rows, ctx));
    for (int i = 0; i < plan.row_count; i++) assert_int_equal(merge.from[i], i != 5);
}

static void test_merge_conflicts(void **state)
{
    nb_ctx *ctx = *state;
    nb_plan plan = make_plan(ctx);
    nb_error_row *a = make_rows(&plan, 1, ctx), *b = make_rows(&plan, 1, ctx);
    nb_merge merge;
    b[7].measures.error = nextafter(7, 8); /* the last bit counts */
    b[9].measures.cosine = 0.5;            /* a measured there, not here */
    b[11].status = "failed";
    b[11].reason = "luck";
    assert_ok(ctx, nb_merge_init(&plan, 3, &merge, ctx));
    assert_ok(ctx, add(&merge, "runs/a", false, plan.row_count, a, ctx));
    assert_ok(ctx, add(&merge, "runs/b", false, plan.row_count, b, ctx));
    assert_int_equal(merge.conflict_count, 3);
    assert_non_null(strstr(merge.conflicts[0], "7.000000000000001"));
    assert_non_null(strstr(merge.conflicts[0], a[7].core));
    for (int i = 0; i < 3; i++) tell("a conflict", merge.conflicts[i]);
}

/* What was united before: its failures give way, its results do not, but to no failure. */
static void test_merge_yields(void **state)
{
    nb_ctx *ctx = *state;
    nb_plan plan = make_plan(ctx);
    nb_error_row *now = make_rows(&plan, 1, ctx), *before = make_rows(&plan, 1, ctx);
    nb_merge merge;
    before[3].status = "failed";
    before[4].status = "crashed";
    before[5].measures.error = 100;
    before[6].status = "diverged";
    now[8].status = "failed";
    assert_ok(ctx, nb_merge_init(&plan, 2, &merge, ctx));
    assert_ok(ctx, add(&merge, "now", false, plan.row_count, now, ctx));
    assert_ok(ctx, add(&merge, "before", true, plan.row_count, before, ctx));
    assert_int_equal(merge.replaced, 2);
    assert_int_equal(merge.kept, 1);
    assert_int_equal(merge.conflict_count, 2);
    assert_string_equal(merged(&merge, 3)->status, "ok");
    assert_string_equal(merged(&merge, 8)->status, "ok");
    assert_int_equal(merge.from[8], 2);
}

static void test_merge_other_plan(void **state)
{
    nb_ctx *ctx = *state;
    nb_plan plan = make_plan(ctx);
    nb_error_row *rows = make_rows(&plan, 1, ctx);
    nb_merge merge;
    rows[4].landmarks = 4;
    assert_ok(ctx, nb_merge_init(&plan, 1, &merge, ctx));
    assert_error(ctx, add(&merge, "runs/a", false, plan.row_count, rows, ctx), NB_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_parse),
        test_with_ctx(test_disjoint_and_whole),
        test_with_ctx(test_units_are_whole_and_balanced),
        test_with_ctx(test_stateless),
        test_with_ctx(test_merge_parts),
        test_with_ctx(test_merge_holes),
        test_with_ctx(test_merge_conflicts),
        test_with_ctx(test_merge_yields),
        test_with_ctx(test_merge_other_plan),
    };
    return run_all(tests);
}
