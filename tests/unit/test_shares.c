/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The comparison with the baseline, on rows written by hand. */
#include "pages.h"
#include "stored_rows.h"

#include "show/query.h"
#include "show/table.h"
#include "rows/views.h"
#include "statistics/crossed.h"
#include "studies/error/study.h"

#include <math.h>

static nb_error_row row(const char *strategy, int head, int trial, int m, double error, double subspace)
{
    nb_error_row r = {.experiment = "x",
                      .problem = "p",
                      .kernel = "k",
                      .strategy = strategy,
                      .pairing = "joint",
                      .factors = "nystromformer",
                      .core = "c",
                      .rows = "all",
                      .status = "ok",
                      .head = head,
                      .trial = trial,
                      .n = 9,
                      .d = 2,
                      .landmarks = m};
    nb_measures_clear(&r.measures);
    r.measures.error = error;
    r.measures.error_subspace = subspace;
    r.measures.error_noise = 1e-14;
    r.measures.baseline_mean = 10; /* no error is in brackets */
    r.measures.select_s = 0.5;
    return r;
}

static nb_relation *relation(nb_ctx *ctx, int count, const nb_error_row *rows)
{
    nb_row_list *list = nb_alloc(ctx, 1, sizeof *list);
    assert_non_null(list);
    *list = (nb_row_list){.count = count, .columns = nb_error_columns, .row_size = sizeof *rows};
    list->bytes = nb_alloc(ctx, (size_t)count, sizeof *rows);
    assert_non_null(list->bytes);
    memcpy(list->bytes, rows, (size_t)count * sizeof *rows);
    return relation_of(&nb_study_error.run.config.study, list, ctx);
}

static nb_grid ask(nb_ctx *ctx, int count, const nb_error_row *rows, const char *baseline, const char *sql)
{
    nb_grid answer;
    nb_relation *r = relation(ctx, count, rows);
    assert_ok(ctx, nb_relation_take_baseline(r, baseline, ctx));
    assert_ok(ctx, nb_relation_ask_freely(r, sql, &answer, NULL, NULL, ctx));
    return answer;
}

/* What a table prints of the rows. */
static const char *table_text(nb_ctx *ctx, const char *name, int count, const nb_error_row *rows, const char *baseline,
                              bool csv)
{
    const nb_table *table = (const nb_table *)nb_registry_find(&nb_tables, name);
    nb_relation *r = relation(ctx, count, rows);
    nb_page page;
    nb_grid grid;
    assert_non_null(table);
    nb_page_make(&page, ctx);
    assert_ok(ctx, nb_relation_take_baseline(r, baseline, ctx));
    if (csv)
        assert_ok(ctx, nb_query_fill(r, table->sql, &grid, ctx));
    else
        assert_ok(ctx, nb_table_show(&page, table, r, ctx));
    return csv ? csv_text(&grid, ctx) : page_text(&page, NB_PAGE_TEXT, 0, ctx);
}

typedef struct { /* a part of the error; numbers that are not known are NaN */
    double ratio, share, best, error;
    int count, noise;
} part;
typedef struct {
    part whole, subspace;
    double select_s;
    bool fixed;
} comparison;

/* m = 0: pooled. */
static comparison compare(nb_ctx *ctx, int count, const nb_error_row *rows, const char *baseline, const char *strategy,
                          int m)
{
    nb_grid a = ask(ctx, count, rows, baseline,
                    nb_format(ctx,
                              "SELECT ratio, share, best, error, count, noise, sub_ratio, sub_share, sub_best, "
                              "subspace, sub_count, sub_noise, share.select_s, fixed FROM share JOIN variant AS v ON "
                              "v.id = variant_id WHERE strategy = '%s' AND coalesce(landmarks, 0) = %d",
                              strategy, m));
    comparison c;
    part *parts[] = {&c.whole, &c.subspace};
    assert_int_equal(a.count, 1);
    for (int i = 0; i < 2; i++) {
        const nb_cell *cells = nb_grid_at(&a, 0, 6 * i);
        *parts[i] = (part){cells[0].real, cells[1].real,         cells[2].real,
                           cells[3].real, (int)cells[4].integer, (int)cells[5].integer};
    }
    c.select_s = nb_grid_at(&a, 0, 12)->real;
    c.fixed = nb_grid_at(&a, 0, 13)->integer != 0;
    return c;
}

/* Random `a` against the baseline in the same trial; `b` is the same in all trials and
 * stands once; `c` is the worst. Medians by hand. */
static void test_shares(void **state)
{
    nb_error_row rows[] = {
        row("base", 0, 0, 4, 0.8, 0.5), row("base", 0, 1, 4, 0.4, 0.4), row("base", 0, 2, 4, 0.5, 0.3),
        row("a", 0, 0, 4, 0.2, 0.1),    row("a", 0, 1, 4, 0.3, 0.2),    row("a", 0, 2, 4, 0.1, 0.3),
        row("b", 0, 0, 4, 0.4, 0.2),    row("c", 0, 0, 4, 1.0, 0.8),
    };
    int count = sizeof rows / sizeof *rows;
    comparison a = compare(*state, count, rows, "base", "a", 4), b = compare(*state, count, rows, "base", "b", 4),
               c = compare(*state, count, rows, "base", "c", 4), base = compare(*state, count, rows, "base", "base", 4);
    const double exact = 1e-15; /* a few roundings of numbers of order 1 */
    assert_int_equal(a.whole.count, 3);
    assert_close(a.whole.ratio, 0.25, exact); /* of 0.25, 0.75, 0.2 */
    assert_close(a.whole.share, 1, exact);
    assert_close(a.subspace.ratio, 0.5, exact); /* of 0.2, 0.5, 1 */
    assert_int_equal(b.whole.count, 3);
    assert_close(b.whole.ratio, 0.8, exact);                  /* of 0.5, 1, 0.8 */
    assert_close(b.whole.share, log(0.8) / log(0.25), exact); /* a has the least */
    assert_close(b.subspace.ratio, 0.5, exact);               /* of 0.4, 0.5, 2/3 */
    assert_close(b.subspace.share, 1, exact);                 /* as a has */
    assert_close(c.whole.ratio, 2, exact);                    /* of 1.25, 2.5, 2 */
    assert_close(c.whole.share, -0.5, exact);                 /* twice, where the best has a quarter */
    assert_close(base.whole.ratio, 1, 0);
    assert_close(base.whole.share, 0, 0);
    assert_close(base.select_s, 0.5, 0);
    comparison turned = compare(*state, count, rows, "b", "a", 4); /* the baseline stands once */
    assert_int_equal(turned.whole.count, 3);
    assert_close(turned.whole.ratio, 0.5, exact); /* 0.2, 0.3, 0.1 over 0.4 */
}

/* Of each core to the first: an error that is noise counts as its noise, 1e-14, against one that is none; two that are
 * noise are not compared. */
static void test_ratios_of_cores(void **state)
{
    nb_error_row rows[] = {row("a", 0, 0, 4, 0.5, 0.4),     row("a", 0, 0, 4, 1e-15, 1e-15),
                           row("a", 0, 0, 5, 1e-15, 1e-15), row("a", 0, 0, 5, 0.5, 0.4),
                           row("a", 0, 0, 6, 1e-15, 1e-15), row("a", 0, 0, 6, 2e-15, 2e-15)};
    rows[1].core = rows[3].core = rows[5].core = "second";
    nb_grid a = ask(*state, 6, rows, NULL, "SELECT count, median FROM core_ratio ORDER BY landmarks");
    assert_int_equal(a.count, 3);
    assert_close(nb_grid_at(&a, 0, 1)->real, 1e-14 / 0.5, 0);
    assert_close(nb_grid_at(&a, 1, 1)->real, 0.5 / 1e-14, 0);
    assert_true(nb_grid_at(&a, 2, 0)->integer == 0 && nb_grid_at(&a, 2, 1)->type == NB_CELL_NONE);
}

/* Heads are matched with themselves, and what failed is left out with its pair. */
static void test_pairs_by_head(void **state)
{
    nb_error_row rows[] = {
        row("base", 0, 0, 4, 0.8, 0.5), row("base", 0, 1, 4, 0.4, 0.4),
        row("a", 0, 0, 4, 0.2, 0.1),    row("a", 0, 1, 4, 0.3, 0.2),
        row("base", 2, 0, 4, 1.0, 0.5), row("base", 2, 1, 4, 0.9, 0.4),
        row("a", 2, 0, 4, 0.9, 0.1),    row("a", 2, 1, 4, 0.1, 0.2),
        row("a", 1, 0, 4, 0.5, 0.1), /* without a baseline */
        row("base", 3, 0, 4, 0.1, 0.1), row("base", 3, 1, 4, 0.2, 0.1),
        row("base", 3, 2, 4, 0.5, 0.1), row("a", 3, 0, 4, 0.2, 0.1),
        row("a", 3, 2, 4, 0.4, 0.1), /* no trial 1 */
    };
    int count = sizeof rows / sizeof *rows;
    rows[7].status = "failed";
    comparison a = compare(*state, count, rows, "base", "a", 4);
    assert_int_equal(a.whole.count, 5);
    assert_close(a.whole.ratio, 0.8, 1e-15);  /* of 0.25, 0.75, 0.9, 2, 0.8 */
    assert_close(a.whole.error, 0.35, 1e-15); /* of 0.2, 0.3, 0.9, 0.5, 0.2, 0.4 */
}

/* Pooled: the median over m of each number. */
static void test_pooled(void **state)
{
    nb_error_row rows[] = {
        row("base", 0, 0, 2, 1.0, 1), row("base", 0, 0, 4, 0.8, 1), row("base", 0, 0, 8, 0.4, 1),
        row("a", 0, 0, 2, 0.9, 1),    row("a", 0, 0, 4, 0.2, 1),    row("a", 0, 0, 8, 0.3, 1),
    };
    nb_error_row missing[6];
    memcpy(missing, rows, sizeof rows);
    missing[4].status = "skipped";
    comparison a = compare(*state, 6, rows, "base", "a", 0), some = compare(*state, 6, missing, "base", "a", 0);
    assert_close(a.whole.ratio, 0.75, 1e-15); /* of 0.9, 0.25, 0.75 */
    assert_int_equal(a.whole.count, 3);
    assert_close(some.whole.ratio, 0.825, 1e-15);
    assert_int_equal(some.whole.count, 2);
    assert_true(isnan(a.subspace.share));                                            /* nothing to win */
    assert_close(compare(*state, 6, rows, "gone", "a", 0).whole.ratio, 0.75, 1e-15); /* the first stands for it */
}

/* One that loses twice the baseline and wins a tenth of it once has lost; by more than the best wins, so that no share
 * says it. */
static void test_the_pooled_share_counts_losses(void **state)
{
    const nb_error_row rows[] = {
        row("base", 0, 0, 2, 1.0, 1),
        row("base", 0, 0, 4, 1.0, 1),
        row("a", 0, 0, 2, 2.0, 1),
        row("a", 0, 0, 4, 0.9, 1),
    };
    comparison a = compare(*state, 4, rows, "base", "a", 0);
    assert_close(a.whole.ratio, 1.45, 1e-15);
    assert_close(a.whole.best, 0.95, 1e-15); /* of 1, the baseline's own, and 0.9 */
    assert_true(isnan(a.whole.share));
}

/* One error far above 1 is one of five: `a` has 0.8 of the baseline's error elsewhere, `b` half.
 * On the scale of errors, summed, a's share of the gap would be (4 * 0.2 - 4999) / (5 * 0.5). */
static void test_an_outlier_is_one_cell_of_many(void **state)
{
    nb_error_row rows[15];
    for (int k = 0; k < 5; k++) {
        rows[k] = row("base", 0, 0, k + 1, k + 1, 1);
        rows[5 + k] = row("a", 0, 0, k + 1, (k == 2 ? 5000 : 0.8) * (k + 1), 1);
        rows[10 + k] = row("b", 0, 0, k + 1, 0.5 * (k + 1), 1);
    }
    comparison a = compare(*state, 15, rows, "base", "a", 0), b = compare(*state, 15, rows, "base", "b", 0);
    assert_close(a.whole.ratio, 0.8, 1e-15);
    assert_close(a.whole.share, log(0.8) / log(0.5), 1e-15);
    assert_close(b.whole.share, 1, 0);
    assert_true(isnan(compare(*state, 15, rows, "base", "a", 3).whole.share));
}

/* A gap of less than 1 % is none: a share of it would be as large as one likes. */
static void test_no_share_of_no_gap(void **state)
{
    const nb_error_row rows[] = {row("base", 0, 0, 2, 1, 1), row("a", 0, 0, 2, 0.995, 1), row("b", 0, 0, 2, 3, 1)};
    comparison b = compare(*state, 3, rows, "base", "b", 0);
    assert_close(b.whole.ratio, 3, 0);
    assert_true(isnan(b.whole.share) && isnan(compare(*state, 3, rows, "base", "a", 0).whole.share));
}

/* What counts is the noise of the rows, not a number for all: 1e-9 is an error where the noise
 * is 1e-10, and none where it is 1e-8. One side may be noise, not both. */
static void test_noise(void **state)
{
    nb_error_row rows[] = {
        row("base", 0, 0, 2, 1e-9, 1), row("base", 0, 1, 2, 1e-9, 1), row("base", 0, 2, 2, 1e-9, 1),
        row("a", 0, 0, 2, 5e-9, 1),    row("a", 0, 1, 2, 5e-9, 1),    row("a", 0, 2, 2, 5e-9, 1),
    };
    for (int i = 0; i < 6; i++) rows[i].measures.error_noise = 1e-10;
    comparison a = compare(*state, 6, rows, "base", "a", 0);
    assert_close(a.whole.ratio, 5, 1e-14);
    assert_int_equal(a.whole.noise, 0);
    for (int i = 0; i < 6; i++)
        rows[i].measures.error_noise = i == 3 || i == 1 ? 1e-10 : 1e-8; /* trials 0 and 1 have a side each */
    a = compare(*state, 6, rows, "base", "a", 2);
    assert_int_equal(a.whole.count, 2);
    assert_int_equal(a.whole.noise, 1);
    for (int i = 0; i < 6; i++) rows[i].measures.error_noise = 1e-8;
    a = compare(*state, 6, rows, "base", "a", 0);
    assert_true(isnan(a.whole.ratio) && isnan(a.whole.share));
    assert_int_equal(a.whole.count, 0);
    assert_int_equal(a.whole.noise, 1);
    /* the subspace part has no X in it, and so not its noise */
    assert_close(a.subspace.ratio, 1, 0);
    for (int i = 0; i < 6; i++) rows[i].measures.error_subspace = 1e-15 * (i + 1);
    a = compare(*state, 6, rows, "base", "a", 2);
    assert_true(isnan(a.subspace.ratio));
    assert_int_equal(a.subspace.noise, 3);
}

/* Rows of strategies with these errors, on a head of each source, times a factor of the source that is common to all of
 * them, and for those above the first times or divided by `apart`. */
enum { STARS = 4 };
/* In three trials, all alike: from fewer there is no verdict on a strategy that may draw. */
static const char *stars_of(nb_ctx *ctx, int sources, const double *errors, double apart, double noise)
{
    static const char *const names[STARS] = {"base", "a", "b", "c"}, *const pairings[STARS] = {"joint", "joint", "both",
                                                                                               "both"};
    int of_trial = sources * STARS, count = NB_LEAST_TRIALS * of_trial;
    nb_error_row *rows = nb_alloc(ctx, (size_t)count, sizeof *rows);
    assert_non_null(rows);
    for (int i = 0; i < count; i++) {
        int s = i % of_trial / STARS, v = i % STARS;
        double error = errors[v] * exp(0.1 * s) * (v == 0 ? 1 : s % 2 ? apart : 1 / apart);
        rows[i] = row(names[v], s, i / of_trial, 2, error, 1);
        rows[i].pairing = pairings[v];
        rows[i].measures.error_noise = noise;
        rows[i].source = nb_format(ctx, "text %d", s);
    }
    const char *text = strstr(table_text(ctx, "errors", count, rows, NULL, false), "landmarks");
    return nb_format(ctx, "%.*s", (int)(strstr(text, "best ") - text), text);
}

static int count_stars(const char *text)
{
    int count = 0;
    for (; *text; text++) count += *text == '*';
    return count;
}

/* A star is among strategies of one pairing, and takes an interval below the next over six sources: a below base, and b
 * below c. An apart of 1.1 leaves a / base = 0.75 1.1^(-1 ... 1), whose interval of six is 0.75 exp(-+0.11), and 1.5
 * 0.75 exp(-+0.47). Of two noises neither is less, and the heads of one source say nothing. */
static void test_stars(void **state)
{
    static const double errors[STARS] = {0.4, 0.3, 0.1, 0.2};
    const char *text = stars_of(*state, 6, errors, 1, 1e-14);
    assert_int_equal(count_stars(text), 2);
    assert_non_null(strstr(text, "    a "));
    assert_int_equal(count_stars(strstr(text, "    a ")), 2);
    assert_int_equal(count_stars(strstr(text, "    b, both")), 1);
    assert_int_equal(count_stars(strstr(text, "    c, both")), 0);
    assert_int_equal(count_stars(stars_of(*state, 5, errors, 1, 1e-14)), 0);
    assert_int_equal(count_stars(stars_of(*state, 6, errors, 1.1, 1e-14)), 2);
    text = stars_of(*state, 6, errors, 1.5, 1e-14); /* b and c are apart from base together */
    assert_int_equal(count_stars(text), 1);
    assert_int_equal(count_stars(strstr(text, "    b, both")), 1);
    assert_int_equal(count_stars(stars_of(*state, 6, errors, 1, 2)), 0);
    /* twelve heads of one source */
    nb_error_row rows[24];
    for (int i = 0; i < 24; i++) rows[i] = row(i % 2 ? "a" : "base", i / 2, 0, 2, i % 2 ? 0.3 : 0.4, 1);
    text = table_text(*state, "errors", 24, rows, NULL, false);
    assert_non_null(strstr(text, "    a           0.3\n"));
    assert_null(strstr(text, "0.3*"));
    for (int i = 1; i < 24; i += 2) rows[i].measures.error_noise = 0.3;
    for (int i = 0; i < 4; i += 2) rows[i].pairing = "both";
    text = table_text(*state, "errors", 24, rows, NULL, false);
    assert_non_null(strstr(text, "0.3~"));
    tell("two pairings", text);
}

/* Rows of base and a on six texts in seven trials, at this many m: the log of their ratio is log 0.75 -+ log 1.24,
 * whose t of five degrees of freedom has p = 0.03. */
static const char *close_stars_of(nb_ctx *ctx, int sizes, const char *last_status)
{
    enum { OF_SIZE = 6 * 7 * 2 };
    nb_error_row *rows = nb_alloc(ctx, (size_t)(sizes * OF_SIZE), sizeof *rows);
    assert_non_null(rows);
    for (int i = 0; i < sizes * OF_SIZE; i++) {
        int s = i / 2 % 6, trial = i % OF_SIZE / 12;
        rows[i] =
            row(i % 2 ? "a" : "base", s, trial, 2 << i / OF_SIZE, i % 2 ? 0.3 * (s % 2 ? 1.24 : 1 / 1.24) : 0.4, 1);
        rows[i].measures.error_noise = 0;
        rows[i].source = nb_format(ctx, "text %d", s);
    }
    rows[sizes * OF_SIZE - 1].status = last_status;
    const char *text = strstr(table_text(ctx, "errors", sizes * OF_SIZE, rows, NULL, false), "landmarks");
    return nb_format(ctx, "%.*s", (int)(strstr(text, "best ") - text), text);
}

/* What has a star is corrected for what may have one beside it: 2 times 0.03 is no longer below 0.05. As of a
 * comparison, there is no verdict as long as a row is not run. */
static void test_stars_together(void **state)
{
    assert_int_equal(count_stars(close_stars_of(*state, 1, "ok")), 1);
    assert_int_equal(count_stars(close_stars_of(*state, 2, "ok")), 0);
    assert_int_equal(count_stars(close_stars_of(*state, 1, "failed")), 1); /* 1 of 42 pairs is less than 5 % */
    assert_int_equal(count_stars(close_stars_of(*state, 1, "planned")), 0);
}

/* A share goes down to -1: as many times worse as the best is better. */
static void test_no_share_below(void **state)
{
    nb_error_row rows[] = {row("base", 0, 0, 2, 1, 1), row("best", 0, 0, 2, 0.5, 1), row("a", 0, 0, 2, 2, 1)};
    assert_close(compare(*state, 3, rows, "base", "a", 2).whole.share, -1, 0);
    rows[2].measures.error = 2.001;
    assert_true(isnan(compare(*state, 3, rows, "base", "a", 2).whole.share));
    assert_null(strstr(table_text(*state, "shares", 3, rows, "base", true), "-1."));
}

/* Of joint `a` the baseline is the joint one, wherever that stands; of `b`, whose pairing the
 * baseline does not have, it is another one, which is told, and there is no share of a gap. */
static void test_pairings_apart(void **state)
{
    nb_error_row rows[] = {
        row("base", 0, 0, 4, 0.8, 1), row("base", 0, 0, 4, 0.4, 1), row("a", 0, 0, 4, 0.2, 1),
        row("b", 0, 0, 4, 0.1, 1),    row("a", 0, 0, 4, 0.4, 1),
    };
    rows[0].pairing = rows[4].pairing = "independent";
    rows[3].pairing = "both";
    nb_grid all = ask(*state, 5, rows, "base",
                      "SELECT v.strategy, v.pairing, fixed, b.strategy, b.pairing, ratio, share FROM share JOIN "
                      "variant AS v ON v.id = variant_id JOIN variant AS b ON b.id = base_id WHERE panel_id IS NULL");
    assert_int_equal(all.count, 5);
    for (int i = 0; i < all.count; i++) {
        const nb_cell *c = nb_grid_at(&all, i, 0);
        assert_string_equal(c[3].text, "base");
        if (strcmp(c[0].text, "b") == 0) {
            assert_false(c[2].integer);
            assert_true(isnan(c[6].real) && !isnan(c[5].real));
            continue;
        }
        assert_true(c[2].integer);
        assert_string_equal(c[4].text, c[1].text);
        assert_close(c[5].real, strcmp(c[0].text, "a") ? 1 : 0.5, 1e-15);
        assert_close(c[6].real, strcmp(c[0].text, "a") ? 0 : 1, 1e-15); /* b's 0.1 is no part of this gap */
    }
    const char *csv = table_text(*state, "shares", 5, rows, "base", true);
    tell("shares", table_text(*state, "shares", 5, rows, "base", false));
    assert_non_null(strstr(csv, "b,both,independent,nystromformer"));
    assert_non_null(strstr(csv, "a,joint,joint,nystromformer"));
}

/* Each factors' own baseline and best. */
static void test_factors_apart(void **state)
{
    nb_error_row rows[] = {row("base", 0, 0, 4, 1.0, 1), row("base", 0, 0, 4, 0.5, 1), row("a", 0, 0, 4, 0.5, 1),
                           row("a", 0, 0, 4, 0.4, 1)};
    rows[1].factors = rows[3].factors = "cur";
    nb_grid all = ask(*state, 4, rows, "base",
                      "SELECT v.strategy, v.factors, ratio FROM share JOIN variant AS v ON v.id = variant_id "
                      "WHERE panel_id IS NULL");
    assert_int_equal(all.count, 4);
    for (int i = 0; i < 4; i++) {
        const nb_cell *c = nb_grid_at(&all, i, 0);
        assert_close(c[2].real, strcmp(c[0].text, "base") == 0 ? 1 : strcmp(c[1].text, "cur") ? 0.5 : 0.8, 1e-15);
    }
}

/* Paths are as long as tells them apart; what no path tells apart is written in full. */
static void test_labels_differ(void **state)
{
    nb_error_row rows[4];
    const char *runs[] = {"command(run=\"python3 /home/x/a/mine.py\", timeout=60, deterministic=false)",
                          "command(run=\"python3 /home/x/b/mine.py\", timeout=60, deterministic=false)",
                          "command(run=\"python3 /home/x/b/other.py\", timeout=60, deterministic=false)",
                          "uniform(strided=false)"};
    const char *expected[] = {"command(run=a/mine.py)", "command(run=b/mine.py)", "command(run=other.py)", "uniform"};
    for (int i = 0; i < 4; i++) rows[i] = row(runs[i], 0, 0, 4, 1, 1);
    rows[0].problem = "heads(file=/a/h.npy, max_n=all, first=0, causal=auto, permute=false)";
    rows[1].problem = "heads(file=/b/h.npy, max_n=all, first=0, causal=auto, permute=false)";
    nb_grid labels = ask(*state, 4, rows, NULL, "SELECT label FROM variant ORDER BY id"),
            titles = ask(*state, 4, rows, NULL, "SELECT DISTINCT title FROM panel");
    for (int i = 0; i < 4; i++) assert_string_equal(nb_grid_at(&labels, i, 0)->text, expected[i]);
    assert_int_equal(titles.count, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_shares),
        test_with_ctx(test_the_pooled_share_counts_losses),
        test_with_ctx(test_an_outlier_is_one_cell_of_many),
        test_with_ctx(test_no_share_of_no_gap),
        test_with_ctx(test_no_share_below),
        test_with_ctx(test_noise),
        test_with_ctx(test_ratios_of_cores),
        test_with_ctx(test_stars),
        test_with_ctx(test_stars_together),
        test_with_ctx(test_pairings_apart),
        test_with_ctx(test_pairs_by_head),
        test_with_ctx(test_pooled),
        test_with_ctx(test_factors_apart),
        test_with_ctx(test_labels_differ),
    };
    return run_all(tests);
}
