/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_standings.c - strategies ranked source by source. Six sources of four, with ties, whose mean ranks and tests
 * SciPy 1.17 has (friedmanchisquare, rankdata), and the critical difference 2.569032 sqrt(4 5 / (6 6)) of Demsar's
 * table 5 (J. Mach. Learn. Res. 7, 2006), to more digits; the rest by hand. */
#include "stored_rows.h"

#include "rows/views.h"
#include "studies/error/study.h"

#include <math.h>

enum { SOURCES = 6, RIVALS = 4, TRIALS = 3, MOST = 256 };

static const double errors[SOURCES][RIVALS] = {{0.50, 0.42, 0.47, 0.61}, {0.71, 0.66, 0.66, 0.80},
                                               {0.33, 0.35, 0.30, 0.41}, {0.90, 0.72, 0.81, 0.88},
                                               {0.55, 0.49, 0.52, 0.55}, {0.62, 0.58, 0.60, 0.70}};
static const char *const rivals[RIVALS] = {"anna", "boris", "carla", "dirk"};
static const char *const days[SOURCES] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

typedef struct {
    nb_error_row rows[MOST];
    int count;
} season;

/* Each trial is as the others. */
static void measure_trials(season *s, int trials)
{
    s->count = 0;
    for (int day = 0; day < SOURCES; day++)
        for (int r = 0; r < RIVALS * trials; r++) {
            nb_error_row *row = &s->rows[s->count++];
            *row = (nb_error_row){.experiment = "x",
                                  .problem = days[day],
                                  .kernel = "k",
                                  .strategy = rivals[r / trials],
                                  .trial = r % trials,
                                  .pairing = "joint",
                                  .factors = "nystromformer",
                                  .core = "c",
                                  .rows = "all",
                                  .engine = "streamed",
                                  .precision = "double",
                                  .model = "M",
                                  .source = days[day],
                                  .status = "ok",
                                  .n = 9,
                                  .d = 2,
                                  .landmarks = 8};
            nb_measures_clear(&row->measures);
            row->measures.error = row->measures.error_unseen = errors[day][r / trials];
            row->measures.error_noise = 0;
        }
}

static void measure(season *s)
{
    measure_trials(s, TRIALS);
}

/* The first of its trials. */
static nb_error_row *row_of(season *s, int day, int rival)
{
    return &s->rows[(day * RIVALS + rival) * TRIALS];
}

static void lose(nb_error_row *row)
{
    row->status = "failed";
    row->measures.error = NAN;
}

static void lose_all(season *s, int day, int rival)
{
    for (int t = 0; t < TRIALS; t++) lose(row_of(s, day, rival) + t);
}

static nb_relation *relation(nb_ctx *ctx, const season *s)
{
    nb_row_list *list = nb_alloc(ctx, 1, sizeof *list);
    assert_non_null(list);
    *list = (nb_row_list){.count = s->count, .columns = nb_error_columns, .row_size = sizeof *s->rows};
    list->bytes = nb_alloc(ctx, (size_t)s->count, sizeof *s->rows);
    assert_non_null(list->bytes);
    memcpy(list->bytes, s->rows, (size_t)s->count * sizeof *s->rows);
    return relation_of(&nb_study_error.run.config.study, list, ctx);
}

/* What the query answers, cells by blanks and rows by lines; "-" for NULL. */
static const char *answer(nb_ctx *ctx, nb_relation *r, const char *sql)
{
    nb_grid a;
    const char *text = "";
    assert_ok(ctx, nb_relation_ask_freely(r, sql, &a, NULL, NULL, ctx));
    for (int i = 0; i < a.count; i++)
        for (int c = 0; c < a.columns; c++) {
            const nb_cell *cell = nb_grid_at(&a, i, c);
            text = nb_format(ctx, "%s%s", text, c ? " " : i ? "\n" : "");
            if (cell->type == NB_CELL_TEXT)
                text = nb_format(ctx, "%s%s", text, cell->text);
            else
                text = cell->type == NB_CELL_NONE ? nb_format(ctx, "%s-", text)
                                                  : nb_format(ctx, "%s%.10g", text, cell->real);
        }
    return text;
}

/* NOLINT(wording): names and numbers of the test */
static void expect(nb_ctx *ctx, nb_relation *r, const char *sql, const char *wanted)
{
    assert_string_equal(answer(ctx, r, sql), wanted);
}

static const char *untested(nb_ctx *ctx, nb_relation *r)
{
    return answer(ctx, r, "SELECT untested FROM test");
}

static const char ranks[] =
    "SELECT label, rank, groups FROM ranking JOIN method ON method.id = strategy_id ORDER BY place";

static void test_reference(void **state)
{
    static season s;
    measure(&s);
    nb_relation *r = relation(*state, &s);
    /* the first three are within 1.915, and the last two; one model: none over models */
    expect(*state, r, ranks, "boris 1.416666667 a\ncarla 1.75 a\nanna 3.083333333 ab\ndirk 3.75 b");
    expect(*state, r, "SELECT planned, sources, left_out, untested FROM test", "6 6  -");
    expect(*state, r, "SELECT chi2, chi2_p, f, f_p, w, critical_difference FROM test",
           "13.55172414 0.00358341305 15.23255814 8.020589833e-05 0.7528735632 1.914843227");
}

/* boris against carla: less on Mon, Thu, Fri, Sat, more on Wed, equal on Tue. */
static void test_bouts(void **state)
{
    static season s;
    measure(&s);
    nb_relation *r = relation(*state, &s);
    expect(*state, r, "SELECT below, above, equal FROM bout WHERE a_id = 1 AND b_id = 2", "4 1 1");
    expect(*state, r, "SELECT below, above, equal FROM bout WHERE a_id = 2 AND b_id = 1", "1 4 1");
    expect(*state, r, "SELECT below, above, equal FROM bout WHERE a_id = 2 AND b_id = 3", "6 0 0");
}

/* The mean over heads of the mean log over trials. Alone, head 1 would turn Mon round for anna and boris: 0.50 0.42 on
 * head 0, 0.1 0.2 on head 1. */
static void test_heads(void **state)
{
    static season s;
    measure(&s);
    for (int r = 0; r < 2; r++)
        for (int t = 0; t < 2; t++) {
            nb_error_row row = *row_of(&s, 0, r);
            row.head = 1;
            row.trial = t;
            row.measures.error = row.measures.error_unseen = (r ? 0.2 : 0.1) * (t ? 1.5 : 1 / 1.5);
            s.rows[s.count++] = row;
        }
    expect(*state, relation(*state, &s), "SELECT below, above FROM bout WHERE a_id = 0 AND b_id = 1", "2 4");
}

/* Errors that differ by no more than their noise are equal. */
static void test_ties(void **state)
{
    static season s;
    measure(&s);
    for (int i = 0; i < s.count; i++) s.rows[i].measures.error_noise = 1;
    nb_relation *r = relation(*state, &s);
    expect(*state, r, ranks, "anna 2.5 a\nboris 2.5 a\ncarla 2.5 a\ndirk 2.5 a");
    expect(*state, r, "SELECT chi2, chi2_p FROM test", "0 1");
    expect(*state, r, "SELECT DISTINCT below, above, equal FROM bout", "0 0 6");
}

/* One without any result is not ranked, and one without a result on Tue leaves it to the other days: five, which are
 * too few for a test. */
static void test_missing(void **state)
{
    static season s;
    measure(&s);
    for (int day = 0; day < SOURCES; day++) lose_all(&s, day, 3);
    lose_all(&s, 1, 0);
    nb_relation *r = relation(*state, &s);
    expect(*state, r, "SELECT missing, ranked FROM contender ORDER BY strategy_id", "1 1\n0 1\n0 1\n6 0");
    /* anna 3 2 3 3 3, boris 1 3 1 1 1, carla 2 1 2 2 2 */
    expect(*state, r, ranks, "boris 1.4 \ncarla 1.8 \nanna 2.8 ");
    expect(*state, r, "SELECT ranked, sources, left_out, chi2, critical_difference FROM test", "3 5 M: Tue - -");
    tell("five days", untested(*state, r));
    expect(*state, r, "SELECT below + above + equal FROM bout WHERE a_id < b_id ORDER BY a_id, b_id",
           "5\n5\n0\n6\n0\n0");
}

/* On Mon boris has a result on head 0 alone, and carla on head 1 alone: each meets anna, but not the other, and the day
 * is left out. */
static void test_no_common_head(void **state)
{
    static season s;
    measure(&s);
    for (int r = 0; r < RIVALS; r++) {
        nb_error_row row = *row_of(&s, 0, r);
        row.head = 1;
        if (r == 1) lose(&row);
        s.rows[s.count++] = row;
    }
    lose_all(&s, 0, 2);
    nb_relation *r = relation(*state, &s);
    expect(*state, r, "SELECT max(missing) FROM contender", "0");
    expect(*state, r, "SELECT sources, left_out FROM test", "5 M: Mon");
}

/* Carla has looked at what she is judged on: she is not compared with the others, nor ranked among them. */
static void test_refusal(void **state)
{
    static season s;
    measure(&s);
    for (int day = 0; day < SOURCES; day++) row_of(&s, day, 2)->measures.error_unseen = NAN;
    nb_relation *r = relation(*state, &s);
    expect(*state, r, "SELECT refusal, ranked FROM contender ORDER BY strategy_id", "- 1\n- 1\nrows_seen 0\n- 1");
    /* boris: the least of three every day but Wed; dirk is before anna on Thu, and beside her on Fri */
    expect(*state, r, ranks, "boris 1.166666667 a\nanna 2.083333333 ab\ndirk 2.75 b");
    expect(*state, r, "SELECT refusal, below, above FROM bout WHERE a_id = 2 AND b_id = 0", "rows_seen 0 0");
    expect(*state, r, "SELECT refusal FROM bout WHERE a_id = 0 AND b_id = 1", "-");
}

/* Where two trials of what sources share are all that there is, or a row has not been run, compare has no verdict, and
 * ranks have no test: the season's alone would have one. */
static void test_unsure(void **state)
{
    static const char tests[] = "SELECT sources, chi2, chi2_p, f, f_p, w, critical_difference FROM test",
                      none[] = "6 - - - - - -";
    static season s;
    measure_trials(&s, 2);
    nb_relation *r = relation(*state, &s);
    expect(*state, r, tests, none);
    expect(*state, r, ranks, "boris 1.416666667 \ncarla 1.75 \nanna 3.083333333 \ndirk 3.75 ");
    tell("two trials", untested(*state, r));
    measure(&s);
    s.rows[s.count] = s.rows[s.count - 1];
    s.rows[s.count].trial = TRIALS;
    s.rows[s.count].status = "planned";
    s.rows[s.count++].measures.error = NAN;
    r = relation(*state, &s);
    expect(*state, r, tests, none);
    tell("one to come", untested(*state, r));
}

static void test_nothing(void **state)
{
    static season s;
    measure(&s);
    for (int i = 0; i < s.count; i++) lose(&s.rows[i]);
    nb_relation *r = relation(*state, &s);
    expect(*state, r, "SELECT ranked, sources FROM test", "0 0");
    tell("nothing has a result", untested(*state, r));
    measure(&s);
    s.count = 1; /* one alone has no standing */
    expect(*state, relation(*state, &s), "SELECT count(*) FROM standing", "0");
}

/* Half of the days under another model, and each day again with 4 landmarks. */
static void test_standings(void **state)
{
    static season s;
    measure(&s);
    for (int i = 0; i < s.count; i++) s.rows[i].model = i < s.count / 2 ? "M one" : "M two";
    for (int i = 0, rows = s.count; i < rows; i++) {
        s.rows[s.count] = s.rows[i];
        s.rows[s.count++].landmarks = 4;
    }
    nb_relation *r = relation(*state, &s);
    expect(*state, r,
           "SELECT title, landmarks, sources FROM titled JOIN test USING (standing_id) ORDER BY stratum_id, landmarks",
           "all models 4 6\nall models 8 6\nM one 4 3\nM one 8 3\nM two 4 3\nM two 8 3");
    expect(*state, r, "SELECT DISTINCT scope, constant, stem FROM titled",
           " core c, kernel k, pairing joint, factors nystromformer, rows all, engine streamed, precision double c");
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_reference), test_with_ctx(test_bouts),
                                       test_with_ctx(test_heads),     test_with_ctx(test_ties),
                                       test_with_ctx(test_missing),   test_with_ctx(test_no_common_head),
                                       test_with_ctx(test_nothing),   test_with_ctx(test_refusal),
                                       test_with_ctx(test_standings), test_with_ctx(test_unsure)};
    return run_all(tests);
}
