/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_forward.c - the parts of the forward study whose results do not depend on a clock: the line through points and
 * the crossing of two (by hand), turns and batches (of contestants that count), exact outputs (against closed forms and
 * an attention in single precision), likeness (of multiples of the exact outputs), and the peak of memory that is
 * touched. */
#include "testing.h"

#include "attentions/attention.h"
#include "statistics/line.h"
#include "studies/forward/exact.h"
#include "studies/forward/methods.h"
#include "studies/forward/rounds.h"

#include <string.h>

/* (0, 1), (1, 3), (2, 4): slope 3/2, residuals -1/6, 1/3, -1/6, so s^2 = 1/6 and se^2 = 1/12; t(0.975, 1) = 12.7062. */
static void test_the_line_by_hand(void **state)
{
    const double x[] = {0, 1, 2}, y[] = {1, 3, 4};
    (void)state;
    nb_line line = nb_line_fit(3, x, y, 0.95);
    assert_close(line.slope, 1.5, 1e-15);
    assert_close(line.se, sqrt(1.0 / 12), 1e-15);
    assert_close(line.low, 1.5 - 12.706204736432095 * sqrt(1.0 / 12), 1e-9);
    assert_close(line.high, 1.5 + 12.706204736432095 * sqrt(1.0 / 12), 1e-9);
    line = nb_line_fit(2, x, y, 0.95);
    assert_close(line.slope, 2, 1e-15);
    assert_true(isnan(line.low));
    assert_true(isnan(nb_line_fit(1, x, y, 0.95).slope));
    assert_true(isnan(nb_line_fit(2, (const double[]){1, 1}, y, 0.95).slope));
}

static void test_where_lines_cross(void **state)
{
    (void)state;
    assert_close(nb_line_crossing(2, 4, 1, 3, 2, 2), 3, 1e-15);
    assert_close(nb_line_crossing(2, 4, 1, 3, 1, 2), 2, 0);
    assert_close(nb_line_crossing(2, 4, 1, 3, 2, 3), 4, 0);
    assert_true(isnan(nb_line_crossing(2, 4, 1, 2, 3, 4)));
    assert_true(isnan(nb_line_crossing(2, 4, NAN, 2, 3, 4)));
}

/* A contestant that counts, and may fail at its k-th pass. */
typedef struct {
    int begun, passes, ended, fails_at;
    int *log, *logged; /* numbers of contestants in their order */
    int number;
} counter;

static nb_status begin(void *self, nb_ctx *ctx)
{
    counter *c = self;
    (void)ctx;
    c->begun++;
    if (*c->logged < 1000) c->log[(*c->logged)++] = c->number;
    return NB_OK;
}

static nb_status count_pass(void *self, nb_ctx *ctx)
{
    counter *c = self;
    c->passes++;
    NB_REQUIRE(ctx, c->passes != c->fails_at, NB_ENUMERIC, "pass %d fails", c->passes);
    return NB_OK;
}

static nb_status end(void *self, nb_ctx *ctx)
{
    (void)ctx;
    ((counter *)self)->ended++;
    return NB_OK;
}

enum { RIVALS = 3, ROUNDS = 40 };

static void race(counter *counters, int fails_at, nb_timed *timed, int *log, nb_ctx *ctx)
{
    nb_contestant contestants[RIVALS];
    nb_round_terms terms = nb_round_usual;
    gsl_rng *rng;
    int logged = 0;
    terms.rounds = ROUNDS;
    terms.batch_s = 0;
    for (int i = 0; i < RIVALS; i++) {
        counters[i] = (counter){.number = i, .log = log, .logged = &logged, .fails_at = i == 1 ? fails_at : 0};
        contestants[i] = (nb_contestant){.self = &counters[i], .begin = begin, .pass = count_pass, .end = end};
    }
    assert_ok(ctx, nb_random_new(&rng, ctx));
    assert_ok(ctx, nb_rounds_run(RIVALS, contestants, &terms, rng, timed, ctx));
    memmove(log, log + logged - ROUNDS * (fails_at ? RIVALS - 1 : RIVALS), 1000 * sizeof *log / 2);
}

/* Each has one turn in each round, and not always in the same order. */
static void test_turns(void **state)
{
    nb_ctx *ctx = *state;
    counter counters[RIVALS];
    nb_timed timed[RIVALS];
    int log[2000] = {0}, others = 0;
    race(counters, 0, timed, log, ctx);
    for (int i = 0; i < RIVALS; i++) {
        assert_int_equal(timed[i].count, ROUNDS);
        assert_int_equal(timed[i].status, NB_OK);
        assert_int_equal(counters[i].begun, counters[i].ended);
        assert_int_equal(counters[i].begun, counters[i].passes);
        assert_true(timed[i].first_s > 0);
    }
    for (int round = 0; round < ROUNDS; round++) {
        const int *turn = log + round * RIVALS;
        assert_int_equal(turn[0] + turn[1] + turn[2], 3);
        assert_int_equal(turn[0] * turn[1] + turn[1] * turn[2] + turn[0] * turn[2], 2);
        others += turn[0] != log[0];
    }
    assert_true(others > 0);
}

/* Who fails is left out, with its message; the others go on. */
static void test_who_fails_is_out(void **state)
{
    nb_ctx *ctx = *state;
    counter counters[RIVALS];
    nb_timed timed[RIVALS];
    int log[2000] = {0};
    race(counters, 1, timed, log, ctx);
    assert_int_equal(timed[1].status, NB_ENUMERIC);
    tell("pass 1", timed[1].why);
    assert_int_equal(timed[0].count, ROUNDS);
    assert_int_equal(timed[2].count, ROUNDS);
    assert_int_equal(counters[1].passes, 1);
    assert_string_equal(nb_error_message(ctx), "");
}

/* What takes less than the batch's time is repeated within a span. */
static void test_batches(void **state)
{
    nb_ctx *ctx = *state;
    int log[2000], logged = 0;
    counter c = {.log = log, .logged = &logged};
    nb_contestant contestant = {.self = &c, .begin = begin, .pass = count_pass, .end = end};
    nb_round_terms terms = nb_round_usual;
    nb_timed timed;
    gsl_rng *rng;
    terms.rounds = 4;
    assert_ok(ctx, nb_random_new(&rng, ctx));
    assert_ok(ctx, nb_rounds_run(1, &contestant, &terms, rng, &timed, ctx));
    assert_true(timed.batch > 1);
    assert_int_equal(c.passes, c.begun - 4 + 4 * timed.batch);
}

static void test_timing(void **state)
{
    nb_ctx *ctx = *state;
    double s[] = {5, 1, 4, 2, 3, 6};
    nb_timed timed = {.count = 6, .s = s};
    nb_timing t;
    assert_ok(ctx, nb_timing_of(&timed, &t, ctx));
    assert_close(t.median, 3.5, 0);
    assert_close(t.least, 1, 0);
    assert_close(t.low, 1, 0); /* of 6, all: 2 / 2^6 = 0.03 */
    assert_close(t.high, 6, 0);
    assert_int_equal(t.middle, 4); /* 3, the largest not above 3.5 */
    timed.count = 5;
    assert_ok(ctx, nb_timing_of(&timed, &t, ctx));
    assert_close(t.median, 3, 0);
    assert_int_equal(t.middle, 4);
    assert_true(isnan(t.low));
    timed.count = 0;
    assert_ok(ctx, nb_timing_of(&timed, &t, ctx));
    assert_int_equal(t.middle, -1);
}

static nb_layer layer_of(const char *problem, int heads, nb_ctx *ctx)
{
    nb_head *all = nb_alloc(ctx, (size_t)heads, sizeof *all);
    nb_layer layer;
    assert_non_null(all);
    for (int h = 0; h < heads; h++) all[h] = make_head(problem, 0, h, ctx);
    assert_ok(ctx, nb_layer_of_heads(heads, all, &layer, ctx));
    return layer;
}

static nb_exact exact_of(const nb_layer *layer, int most, int threads, nb_ctx *ctx)
{
    nb_exact exact;
    nb_team *team;
    gsl_rng *rng;
    assert_ok(ctx, nb_random_new(&rng, ctx));
    gsl_rng_set(rng, 7);
    assert_ok(ctx, nb_team_new(threads, &team, ctx));
    assert_ok(ctx, nb_exact_make(layer, most, rng, team, &exact, ctx));
    return exact;
}

/* Two tokens of dimension 1: q = k = 0, ln 3 and v = 1, 5. The second query has logits 0 and (ln 3)^2. */
static void test_exact_by_hand(void **state)
{
    nb_ctx *ctx = *state;
    nb_scalar q[] = {0, (nb_scalar)log(3)}, v[] = {1, 5};
    nb_layer layer = {.shape = {1, 1, 1, 2, 1, 1, false}, .q = q, .k = q, .v = v};
    double w = exp((double)q[1] * (double)q[1]);
    nb_exact exact = exact_of(&layer, 2, 1, ctx);
    assert_int_equal(exact.count, 2);
    assert_close(exact.out[0], 3, 1e-15);
    double last = (1 + 5 * w) / (1 + w);
    assert_close(exact.out[1], last, 1e-14);
    assert_close(exact.mean_error, (last - 3) / hypot(3, last), 1e-14);
    layer.shape.causal = true;
    exact = exact_of(&layer, 2, 2, ctx);
    assert_close(exact.out[0], 1, 0);
    assert_close(exact.out[1], last, 1e-14);
    assert_close(exact.mean_error, (last - 3) / hypot(1, last), 1e-14);
}

/* Sampled rows are those of all rows, whatever the threads; an exact attention in single precision is as near as that
 * allows. */
static void test_exact_of_a_sample(void **state)
{
    nb_ctx *ctx = *state;
    for (int causal = 0; causal < 2; causal++) {
        nb_layer layer = layer_of("gaussian(n=131, d=7)", 3, ctx);
        layer.shape.causal = causal;
        nb_exact all = exact_of(&layer, 131, 1, ctx), some = exact_of(&layer, 40, 3, ctx);
        assert_int_equal(some.count, 40);
        for (int h = 0; h < 3; h++)
            for (int i = 0; i < 40; i++) {
                assert_true(i == 0 || some.tokens[i] > some.tokens[i - 1]);
                for (int j = 0; j < 7; j++)
                    assert_close(some.out[(h * 40 + i) * 7 + j], all.out[(h * 131 + some.tokens[i]) * 7 + j], 1e-13);
            }
        nb_choice attention = choose(&nb_attentions, "streamed", ctx);
        nb_team *team;
        nb_attending attending;
        nb_passed passed;
        nb_scalar *out = nb_alloc_scalars(ctx, 3 * 131 * 7);
        assert_ok(ctx, nb_team_new(2, &team, ctx));
        assert_ok(ctx, nb_attention_open(&attention, &layer.shape, team, (nb_stream){.seed = 1}, &attending, ctx));
        assert_ok(ctx, nb_attention_forward(&attending, &layer, out, &passed, ctx));
        nb_likeness like = nb_exact_compare(&layer.shape, &some, out);
        assert_true(like.finite);
        assert_at_most(like.error, 2e-6);
        assert_true(like.error > 0);
    }
}

/* Outputs that are a multiple c of the exact ones: error |c - 1|, cosine the sign of c. */
static void test_likeness(void **state)
{
    nb_ctx *ctx = *state;
    nb_layer layer = layer_of("gaussian(n=50, d=6)", 2, ctx);
    nb_exact exact = exact_of(&layer, 50, 1, ctx);
    nb_scalar *out = nb_alloc_scalars(ctx, 600);
    static const double multiples[][3] = {{1, 0, 1}, {2, 1, 1}, {-1, 2, -1}, {0, 1, 0}};
    for (int i = 0; i < 4; i++) {
        double squares = 0, most = 0;
        for (int j = 0; j < 600; j++) {
            out[j] = (nb_scalar)(multiples[i][0] * exact.out[j]);
            squares += exact.out[j] * exact.out[j];
            most = fmax(most, fabs(exact.out[j]));
        }
        nb_likeness like = nb_exact_compare(&layer.shape, &exact, out);
        assert_close(like.error, multiples[i][1], 1e-6);
        assert_close(like.cosine, multiples[i][2], 1e-6);
        assert_close(like.mse, multiples[i][1] * multiples[i][1] * squares / 600, 1e-6);
        assert_close(like.max_error, multiples[i][1] * most, 1e-5);
        assert_close(like.error_p99, multiples[i][1], 1e-6);
    }
    for (int few = 1; few <= 2; few++) { /* the 99th percentile of 100 is 0.01 of the last and 0.99 of that before */
        for (int j = 0; j < 600; j++) out[j] = (nb_scalar)((j / 6 % 50 < few && j < 300 ? 8 : 1) * exact.out[j]);
        assert_close(nb_exact_compare(&layer.shape, &exact, out).error_p99, few == 1 ? 0.07 : 7, 1e-5);
    }
    out[17] = NAN;
    assert_false(nb_exact_compare(&layer.shape, &exact, out).finite);
    assert_true(isnan(nb_exact_compare(&layer.shape, &exact, out).error));
    assert_true(isnan(nb_exact_compare(&layer.shape, &exact, out).error_p99));
}

enum { TOUCHED = 48 << 20 };

static nb_status touch(void *self, nb_ctx *ctx)
{
    char *bytes;
    nb_mark mark = nb_ctx_mark(ctx);
    (void)self;
    NB_NEED(bytes, nb_alloc(ctx, TOUCHED, 1));
    memset(bytes, 1, TOUCHED);
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

static nb_status crash(void *self, nb_ctx *ctx)
{
    (void)self, (void)ctx;
    abort();
}

#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* What is given back by the end counts too; what this process holds does not. */
static void test_peak(void **state)
{
    nb_ctx *ctx = *state;
    double bytes;
    char *held = nb_alloc(ctx, TOUCHED, 1);
    memset(held, 1, TOUCHED);
    assert_ok(ctx, nb_peak_of(touch, NULL, &bytes, ctx));
    if (!(bytes >= TOUCHED - (1 << 20)))
        fail_msg("%.0f of %d bytes", bytes, TOUCHED); /* the system counts pages in batches */
    assert_true(SANITIZED || bytes < TOUCHED + (8 << 20));
    assert_error(ctx, nb_peak_of(crash, NULL, &bytes, ctx), NB_EBUG);
    assert_true(isnan(bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_the_line_by_hand),
        test_with_ctx(test_where_lines_cross),
        test_with_ctx(test_turns),
        test_with_ctx(test_who_fails_is_out),
        test_with_ctx(test_batches),
        test_with_ctx(test_timing),
        test_with_ctx(test_exact_by_hand),
        test_with_ctx(test_exact_of_a_sample),
        test_with_ctx(test_likeness),
        test_with_ctx(test_peak),
    };
    return run_all(tests);
}
