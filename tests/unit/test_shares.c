/* The comparison with the baseline, on rows written by hand. */
#include "testing.h"

#include "report/shares.h"

static nb_row row(const char *strategy, int head, int trial, int m, double error, double subspace)
{
    nb_row r = {.experiment = "x", .problem = "p", .kernel = "k", .strategy = strategy, .pairing = "joint", .factors = "nystromformer",
                .core = "c", .rows = "all", .status = "ok", .head = head, .trial = trial, .n = 9, .d = 2, .landmarks = m};
    nb_measures_clear(&r.measures);
    r.measures.error = error;
    r.measures.error_subspace = subspace;
    r.measures.select_s = 0.5;
    return r;
}

static nb_comparison compare(nb_ctx *ctx, int count, const nb_row *rows, const char *baseline, const char *strategy, int m)
{
    nb_summary s;
    nb_shares shares;
    nb_choice choice = {.canonical = baseline, .label = baseline};
    int v = 0, l = 0;
    assert_ok(ctx, nb_summary_make(count, rows, &s, ctx));
    assert_ok(ctx, nb_shares_make(count, rows, &s, &choice, &shares, ctx));
    while (strcmp(s.variants[v].strategy, strategy) != 0) v++;
    if (m == 0) return shares.pooled[v];
    while (s.landmarks[l] != m) l++;
    return shares.cells[nb_summary_cell(&s, 0, v, 0, l)];
}

/* Random `a` against the baseline in the same trial; `b` is the same in all trials and
 * stands once; `c` is the worst. Medians by hand. */
static void test_shares(void **state)
{
    nb_row rows[] = {
        row("base", 0, 0, 4, 0.8, 0.5), row("base", 0, 1, 4, 0.4, 0.4), row("base", 0, 2, 4, 0.5, 0.3),
        row("a", 0, 0, 4, 0.2, 0.1),    row("a", 0, 1, 4, 0.3, 0.2),    row("a", 0, 2, 4, 0.1, 0.3),
        row("b", 0, 0, 4, 0.4, 0.2),    row("c", 0, 0, 4, 1.0, 0.8),
    };
    int count = sizeof rows / sizeof *rows;
    nb_comparison a = compare(*state, count, rows, "base", "a", 4), b = compare(*state, count, rows, "base", "b", 4),
                  c = compare(*state, count, rows, "base", "c", 4), base = compare(*state, count, rows, "base", "base", 4);
    const double exact = 1e-15; /* a few roundings of numbers of order 1 */
    assert_int_equal(a.whole.pairs, 3);
    assert_close(a.whole.relative, 0.25, exact); /* of 0.25, 0.75, 0.2 */
    assert_close(a.whole.share, 1, exact);       /* 0.5 - 0.2 of 0.5 - 0.2 */
    assert_close(a.subspace.relative, 0.5, exact); /* of 0.2, 0.5, 1 */
    assert_int_equal(b.whole.pairs, 3);
    assert_close(b.whole.relative, 0.8, exact);  /* of 0.5, 1, 0.8 */
    assert_close(b.whole.share, 1.0 / 3, exact); /* 0.5 - 0.4 of 0.3 */
    assert_close(b.subspace.share, 1, exact);    /* both 0.2 */
    assert_close(c.whole.relative, 2, exact);    /* of 1.25, 2.5, 2 */
    assert_close(c.whole.share, -5.0 / 3, exact);
    assert_close(base.whole.relative, 1, 0);
    assert_close(base.whole.share, 0, 0);
    assert_close(base.select_s, 0.5, 0);
    nb_comparison turned = compare(*state, count, rows, "b", "a", 4); /* the baseline stands once */
    assert_int_equal(turned.whole.pairs, 3);
    assert_close(turned.whole.relative, 0.5, exact); /* 0.2, 0.3, 0.1 over 0.4 */
}

/* Heads are matched with themselves, and what failed is left out with its pair. */
static void test_pairs_by_head(void **state)
{
    nb_row rows[] = {
        row("base", 0, 0, 4, 0.8, 0.5), row("base", 0, 1, 4, 0.4, 0.4), row("a", 0, 0, 4, 0.2, 0.1), row("a", 0, 1, 4, 0.3, 0.2),
        row("base", 2, 0, 4, 1.0, 0.5), row("base", 2, 1, 4, 0.9, 0.4), row("a", 2, 0, 4, 0.9, 0.1), row("a", 2, 1, 4, 0.1, 0.2),
        row("a", 1, 0, 4, 0.5, 0.1), /* without a baseline */
        row("base", 3, 0, 4, 0.1, 0.1), row("base", 3, 1, 4, 0.2, 0.1), row("base", 3, 2, 4, 0.5, 0.1),
        row("a", 3, 0, 4, 0.2, 0.1),    row("a", 3, 2, 4, 0.4, 0.1), /* no trial 1 */
    };
    int count = sizeof rows / sizeof *rows;
    rows[7].status = "failed";
    nb_comparison a = compare(*state, count, rows, "base", "a", 4);
    assert_int_equal(a.whole.pairs, 5);
    assert_close(a.whole.relative, 0.8, 1e-15);  /* of 0.25, 0.75, 0.9, 2, 0.8 */
    assert_close(a.whole.error, 0.35, 1e-15);    /* of 0.2, 0.3, 0.9, 0.5, 0.2, 0.4 */
}

/* Pooled: the median over m of each number. */
static void test_pooled(void **state)
{
    nb_row rows[] = {
        row("base", 0, 0, 2, 1.0, 1), row("base", 0, 0, 4, 0.8, 1), row("base", 0, 0, 8, 0.4, 1),
        row("a", 0, 0, 2, 0.9, 1),    row("a", 0, 0, 4, 0.2, 1),    row("a", 0, 0, 8, 0.3, 1),
    };
    nb_row missing[6];
    memcpy(missing, rows, sizeof rows);
    missing[4].status = "skipped";
    nb_comparison a = compare(*state, 6, rows, "base", "a", 0), some = compare(*state, 6, missing, "base", "a", 0);
    assert_close(a.whole.relative, 0.75, 1e-15); /* of 0.9, 0.25, 0.75 */
    assert_int_equal(a.cells, 3);
    assert_close(some.whole.relative, 0.825, 1e-15);
    assert_int_equal(some.cells, 2);
    assert_int_equal(some.planned, 3);
    assert_true(isnan(a.subspace.share)); /* nothing to win */
    nb_comparison none = compare(*state, 6, rows, "gone", "a", 0);
    assert_true(isnan(none.whole.relative) && isnan(none.whole.share) && none.cells == 0);
}

/* One that loses twice the baseline and wins a tenth of it once has lost: (-1 + 0.1) of
 * (0 + 0.1). Errors that are rounding count for nothing. */
static void test_the_pooled_share_counts_losses(void **state)
{
    const nb_row rows[] = {
        row("base", 0, 0, 2, 1.0, 1), row("base", 0, 0, 4, 1.0, 1), row("base", 0, 0, 8, 1e-14, 1),
        row("a", 0, 0, 2, 2.0, 1),    row("a", 0, 0, 4, 0.9, 1),    row("a", 0, 0, 8, 5e-13, 1),
    };
    nb_comparison a = compare(*state, 6, rows, "base", "a", 0);
    assert_close(a.whole.share, -9, 1e-13);
    assert_close(a.whole.relative, 1.45, 1e-15);
    assert_int_equal(a.cells, 2);
}

/* Each factors' own baseline and best. */
static void test_factors_apart(void **state)
{
    nb_row rows[] = {row("base", 0, 0, 4, 1.0, 1), row("base", 0, 0, 4, 0.5, 1), row("a", 0, 0, 4, 0.5, 1), row("a", 0, 0, 4, 0.4, 1)};
    nb_summary s;
    nb_shares shares;
    nb_choice choice = {.canonical = "base", .label = "base"};
    rows[1].factors = rows[3].factors = "cur";
    assert_ok(*state, nb_summary_make(4, rows, &s, *state));
    assert_ok(*state, nb_shares_make(4, rows, &s, &choice, &shares, *state));
    assert_int_equal(s.variant_count, 4);
    for (int v = 0; v < 4; v++)
        assert_close(shares.pooled[v].whole.relative, strcmp(s.variants[v].strategy, "base") == 0 ? 1 : strcmp(s.variants[v].factors, "cur") ? 0.5 : 0.8, 1e-15);
}

/* An X so large that its error is noisy counts like any other: to leave it out would
 * flatter the core. */
static void test_above_the_best(void **state)
{
    (void)state;
    nb_row row = {.status = "ok", .measures = {.error = 3, .error_subspace = 0.5, .error_noise = 1}};
    assert_close(nb_above_best(&row), 5, 0);
    row.measures.error_subspace = 1e-13;
    assert_true(isnan(nb_above_best(&row)));
    row.measures.error_subspace = NAN;
    assert_true(isnan(nb_above_best(&row)));
    row.measures.error_subspace = 0.5;
    row.status = "diverged";
    assert_true(isnan(nb_above_best(&row)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_shares),
        test_with_ctx(test_above_the_best),
        test_with_ctx(test_the_pooled_share_counts_losses),
        test_with_ctx(test_pairs_by_head),
        test_with_ctx(test_pooled),
        test_with_ctx(test_factors_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
