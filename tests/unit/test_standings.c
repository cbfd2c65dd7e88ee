/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_standings.c - methods ranked source by source. Six sources of four methods, with ties, whose mean ranks and
 * tests SciPy 1.17 has (friedmanchisquare, rankdata), and the critical difference 2.569032 sqrt(4 5 / (6 6)) of
 * Demsar's table 5 (J. Mach. Learn. Res. 7, 2006), to more digits; the rest by hand. */
#include "relations.h"

#include "report/standings_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    NB_ROW_FIRST
    const char *runner, *track;
    int laps;
    double time, time_noise, time_unseen;
    bool seen; /* the rows that it is judged on */
} heat;

static const nb_column columns[] = {
    NB_COLUMN_EXPERIMENT(heat),
    NB_COLUMN_PROBLEM(heat),
    NB_COLUMN_HEAD(heat),
    NB_COLUMN_TRIAL(heat),
    NB_COLUMN_MODEL(heat),
    NB_COLUMN_SOURCE(heat),
    NB_COLUMN_TEXT_OF(heat, runner, .identity = true),
    NB_COLUMN_TEXT_OF(heat, track, .identity = true),
    NB_COLUMN_INT_OF(heat, laps, .identity = true),
    NB_COLUMN_STATUS(heat),
    {.name = "time",
     .type = NB_COLUMN_REAL,
     .offset = offsetof(heat, time),
     .noise = "time_noise",
     .unseen = "time_unseen"},
    {.name = "time_unseen", .type = NB_COLUMN_REAL, .offset = offsetof(heat, time_unseen)},
    {.name = "time_noise", .type = NB_COLUMN_REAL, .offset = offsetof(heat, time_noise)},
    NB_COLUMN_SEED_OF(heat),
    {.name = NULL}};

enum { SOURCES = 6, RUNNERS = 4, MOST = 64 };

static const double times[SOURCES][RUNNERS] = {{0.50, 0.42, 0.47, 0.61}, {0.71, 0.66, 0.66, 0.80},
                                               {0.33, 0.35, 0.30, 0.41}, {0.90, 0.72, 0.81, 0.88},
                                               {0.55, 0.49, 0.52, 0.55}, {0.62, 0.58, 0.60, 0.70}};
static const char *const runners[RUNNERS] = {"anna", "boris", "carla", "dirk"};
static const char *const days[SOURCES] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

typedef struct {
    heat rows[MOST];
    int count;
} season;

static void run_season(season *s)
{
    s->count = 0;
    for (int day = 0; day < SOURCES; day++)
        for (int r = 0; r < RUNNERS; r++)
            s->rows[s->count++] = (heat){.problem = days[day],
                                         .model = "M",
                                         .source = days[day],
                                         .status = "ok",
                                         .runner = runners[r],
                                         .track = "grass",
                                         .laps = 8,
                                         .time = times[day][r]};
}

static heat *row_of(season *s, int day, int runner)
{
    return &s->rows[day * RUNNERS + runner];
}

static void lose(heat *row)
{
    row->status = "failed";
    row->time = NAN;
}

static nb_standings_view view(nb_ctx *ctx, season *s)
{
    static const nb_standing_terms terms = {.by = "runner", .metric = "time"};
    nb_standings_view v;
    for (int i = 0; i < s->count; i++) s->rows[i].time_unseen = s->rows[i].seen ? NAN : s->rows[i].time;
    nb_relation *r = relation_of(&(test_rows){columns, s->rows, sizeof *s->rows, s->count, NULL, false}, ctx);
    assert_ok(ctx, nb_standings_view_make(r, &terms, "laps", "track", &v, ctx));
    return v;
}

static void test_reference(void **state)
{
    static season s;
    static const double ranks[RUNNERS] = {3.0833333333333335, 1.4166666666666667, 1.75, 3.75};
    static const int order[RUNNERS] = {1, 2, 0, 3};
    run_season(&s);
    nb_standings_view v = view(*state, &s);
    assert_int_equal(v.standings.count, 1); /* one model: none over models */
    const nb_ranking *x = v.standings.items;
    assert_int_equal(x->stratum, 0);
    assert_int_equal(x->count, RUNNERS);
    assert_int_equal(x->sources, SOURCES);
    assert_int_equal(x->left_out_count, 0);
    for (int r = 0; r < RUNNERS; r++) {
        assert_close(x->ranks[r], ranks[r], 1e-14);
        assert_int_equal(x->order[r], order[r]);
        assert_int_equal(x->missing[r], 0);
    }
    assert_close(x->test.chi2, 13.551724137931, 1e-12);
    assert_close(x->test.p, 0.0035834130496981, 1e-14);
    assert_close(x->test.f, 15.2325581395349, 1e-12);
    assert_close(x->test.f_p, 8.02058983308757e-05, 1e-16);
    assert_close(x->test.w, 0.752873563218391, 1e-14);
    assert_close(x->difference, 1.914843227, 1e-8);
    /* 1.417 1.75 3.083 3.75: the first three are within 1.915, and the last two */
    assert_int_equal(x->group_count, 2);
    assert_int_equal(x->groups[0].first, 0);
    assert_int_equal(x->groups[0].last, 2);
    assert_int_equal(x->groups[1].first, 2);
    assert_int_equal(x->groups[1].last, 3);
    int first, last;
    nb_standing_groups(x, 2, &first, &last);
    assert_int_equal(first, 0);
    assert_int_equal(last, 1);
}

/* boris against carla: less on Mon, Thu, Fri, Sat, more on Wed, equal on Tue; 6 pairs of runners. */
static void test_meetings(void **state)
{
    static season s;
    run_season(&s);
    nb_standings_view v = view(*state, &s);
    const nb_meeting *x = &v.standings.items[0].meetings[1 * RUNNERS + 2],
                     *y = &v.standings.items[0].meetings[2 * RUNNERS + 1];
    assert_int_equal(x->below, 4);
    assert_int_equal(x->above, 1);
    assert_int_equal(x->ties, 1);
    assert_int_equal(y->below, 1);
    assert_int_equal(y->above, 4);
    assert_close(x->sign_p, 0.375, 1e-12); /* 2 (1 + 5) / 32 */
    assert_close(y->sign_p, x->sign_p, 0);
    /* carla and boris are before dirk on all six days: 2 / 64, the least of 6 p */
    const nb_meeting *best = &v.standings.items[0].meetings[2 * RUNNERS + 3];
    assert_int_equal(best->below, 6);
    assert_close(best->sign_p, 0.03125, 1e-12);
    assert_close(best->holm_p, 6 * 0.03125, 1e-12);
}

/* Heads and trials: the mean over heads of the mean log over trials. Alone, head 1 would turn Mon round for anna and
 * boris: 0.50 0.42 on head 0, 0.1 0.2 on head 1. */
static void test_heads(void **state)
{
    static season s;
    run_season(&s);
    for (int r = 0; r < 2; r++)
        for (int t = 0; t < 2; t++) {
            heat row = *row_of(&s, 0, r);
            row.head = 1;
            row.trial = t;
            row.time = (r ? 0.2 : 0.1) * (t ? 1.5 : 1 / 1.5);
            s.rows[s.count++] = row;
        }
    nb_standings_view v = view(*state, &s);
    const nb_meeting *x = &v.standings.items[0].meetings[0 * RUNNERS + 1];
    assert_int_equal(x->below, 2); /* Mon and Wed */
    assert_int_equal(x->above, 4);
}

/* Times that differ by no more than their noise are equal. */
static void test_ties(void **state)
{
    static season s;
    run_season(&s);
    for (int i = 0; i < s.count; i++) s.rows[i].time_noise = 1;
    nb_standings_view v = view(*state, &s);
    const nb_ranking *x = v.standings.items;
    for (int r = 0; r < RUNNERS; r++) assert_close(x->ranks[r], 2.5, 0);
    assert_close(x->test.chi2, 0, 0);
    assert_close(x->test.p, 1, 0);
    assert_int_equal(x->group_count, 1);
    assert_close(x->meetings[1].sign_p, 1, 0);
}

/* One runner without any result is not ranked, and one without a result on Tue leaves it to the other days: five, which
 * are too few for a test. */
static void test_missing(void **state)
{
    static season s;
    const char *why;
    run_season(&s);
    for (int day = 0; day < SOURCES; day++) lose(row_of(&s, day, 3));
    lose(row_of(&s, 1, 0));
    nb_standings_view v = view(*state, &s);
    const nb_ranking *x = v.standings.items;
    assert_int_equal(x->count, RUNNERS);
    assert_int_equal(x->ranked, 3);
    assert_true(isnan(x->ranks[3]));
    assert_int_equal(x->missing[3], SOURCES);
    assert_int_equal(x->missing[0], 1);
    assert_int_equal(x->planned, SOURCES);
    assert_int_equal(x->sources, 5);
    assert_int_equal(x->left_out_count, 1);
    assert_string_equal(nb_answer_at(&v.standings.sources, x->left_out[0], 1)->text, "Tue");
    /* anna 3 2 3 3 3, boris 1 3 1 1 1, carla 2 1 2 2 2 */
    assert_close(x->ranks[0], 2.8, 1e-14);
    assert_close(x->ranks[1], 1.4, 1e-14);
    assert_close(x->ranks[2], 1.8, 1e-14);
    assert_true(isnan(x->test.p) && isnan(x->difference));
    assert_int_equal(x->group_count, 0);
    assert_ok(*state, nb_standing_untested(x, &why, *state));
    assert_string_equal(why, "5 sources, fewer than 6");
    assert_true(isnan(x->meetings[0 * RUNNERS + 1].sign_p));  /* five days */
    assert_true(!isnan(x->meetings[1 * RUNNERS + 2].sign_p)); /* six */
    assert_true(isnan(x->meetings[3].sign_p) && x->meetings[3].below == 0);
}

/* On Mon boris has a result on head 0 alone, and carla on head 1 alone: each meets anna, but not the other, and the day
 * is left out. */
static void test_no_common_head(void **state)
{
    static season s;
    run_season(&s);
    for (int r = 0; r < RUNNERS; r++) {
        heat row = *row_of(&s, 0, r);
        row.head = 1;
        if (r == 1) lose(&row);
        s.rows[s.count++] = row;
    }
    lose(row_of(&s, 0, 2));
    nb_standings_view v = view(*state, &s);
    const nb_ranking *x = v.standings.items;
    assert_int_equal(x->missing[1], 0);
    assert_int_equal(x->missing[2], 0);
    assert_int_equal(x->sources, 5);
    assert_int_equal(x->left_out_count, 1);
    assert_string_equal(nb_answer_at(&v.standings.sources, x->left_out[0], 1)->text, "Mon");
}

/* Carla has looked at what she is judged on: she is not compared with the others, nor ranked among them. */
static void test_refusal(void **state)
{
    static season s;
    run_season(&s);
    for (int day = 0; day < SOURCES; day++) row_of(&s, day, 2)->seen = true;
    nb_standings_view v = view(*state, &s);
    const nb_ranking *x = v.standings.items;
    assert_int_equal(x->ranked, 3);
    assert_true(isnan(x->ranks[2]) && x->refusals[2] && !x->refusals[0] && !x->refusals[3]);
    assert_close(x->ranks[1], 7 / 6.0, 1e-15); /* the least of three every day but Wed */
    assert_non_null(x->meetings[2 * RUNNERS + 0].refusal);
    assert_null(x->meetings[0 * RUNNERS + 1].refusal);
}

static void test_nothing(void **state)
{
    static season s;
    const char *why;
    run_season(&s);
    for (int i = 0; i < s.count; i++) lose(&s.rows[i]);
    nb_standings_view v = view(*state, &s);
    assert_int_equal(v.standings.count, 1);
    assert_int_equal(v.standings.items[0].ranked, 0);
    assert_int_equal(v.standings.items[0].sources, 0);
    assert_ok(*state, nb_standing_untested(v.standings.items, &why, *state));
    assert_string_equal(why, "no method has a result");
    /* one runner alone has no standing */
    run_season(&s);
    for (int i = 0; i < s.count; i++) s.rows[i].runner = "anna";
    s.count = 1;
    v = view(*state, &s);
    assert_int_equal(v.standings.count, 0);
}

/* Half of the days under another model, and each day again on the track `sand` with 4 laps: a block for each track,
 * first over models, with the laps ascending. */
static void test_blocks(void **state)
{
    static season s;
    nb_standings_block *blocks;
    int count;
    run_season(&s);
    for (int i = 0; i < s.count; i++) s.rows[i].model = i < s.count / 2 ? "M one" : "M two";
    for (int i = 0, rows = s.count; i < rows; i++) {
        s.rows[s.count] = s.rows[i];
        s.rows[s.count].laps = 4;
        s.count++;
    }
    nb_standings_view v = view(*state, &s);
    assert_int_equal(v.standings.count, 6);
    assert_ok(*state, nb_standings_view_blocks(&v, &count, &blocks));
    assert_int_equal(count, 3);
    assert_int_equal(blocks[0].stratum, NB_OVER_STRATA);
    assert_string_equal(blocks[0].stratum_label, "all models");
    assert_string_equal(blocks[1].stratum_label, "M one"); /* both begin with M */
    assert_int_equal(blocks[0].count, 2);
    assert_int_equal(blocks[0].along[0], 4);
    assert_int_equal(blocks[0].along[1], 8);
    assert_int_equal(blocks[0].items[0]->sources, SOURCES);
    assert_int_equal(blocks[1].items[0]->sources, SOURCES / 2);
    assert_close(blocks[0].items[1]->test.chi2, 13.551724137931, 1e-12);
    assert_string_equal(v.scopes.constant, "track grass");
    assert_string_equal(v.scopes.stems[0], "grass");
}

static void test_letters(void **state)
{
    static const struct {
        int first, last;
        const char *wanted;
    } cases[] = {{-1, -1, ""},     {0, 0, "a"},    {0, 1, "ab"},        {1, 3, "b-d"},
                 {25, 26, "z-aa"}, {27, 27, "ab"}, {701, 702, "zz-aaa"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text;
        assert_ok(*state, nb_standing_letters(cases[i].first, cases[i].last, &text, *state));
        assert_string_equal(text, cases[i].wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_reference), test_with_ctx(test_meetings),
                                       test_with_ctx(test_heads),     test_with_ctx(test_ties),
                                       test_with_ctx(test_missing),   test_with_ctx(test_no_common_head),
                                       test_with_ctx(test_nothing),   test_with_ctx(test_blocks),
                                       test_with_ctx(test_refusal),   test_with_ctx(test_letters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
