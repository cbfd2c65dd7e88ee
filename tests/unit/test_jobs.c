/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a job is divided whose worker died: whatever row is to blame, it is found, alone or
 * with those that share the same picks; the parts are all of the job, each row once;
 * rows that share computations stay together while there is somebody else to blame. And
 * what a channel makes of noise. */
#include "planning.h"

#include "run/channel.h"
#include "studies/error/study.h"
#include "run/jobs.h"
#include "run/workers.h"
#include "config/config.h"

#include <sys/socket.h>
#include <unistd.h>

/* 3 strategies (one with two pairings) x 2 m x 2 factors x 2 cores, 2 trials that share the data. */
static nb_plan make_plan(nb_ctx *ctx)
{
    static const nb_override overrides[] = {
        {"problems", "\"heads(file=experiments/data/vit_astronaut_n257_L6.safetensors, head=0)\""},
        {"strategies", "[uniform, dsquared, group_means]"},
        {"factors", "[nystromformer, cur]"},
        {"metrics", "[error]"},
        {"pairing", "[independent, joint]"},
        {"landmarks", "[3, 8]"},
        {"trials", "2"},
        {"cores", "[svd, iterative]"}};
    return plan_with(sizeof overrides / sizeof *overrides, overrides, ctx);
}

static nb_job *whole(const nb_plan *plan, bool fresh, nb_ctx *ctx)
{
    nb_job *job = nb_alloc(ctx, 1, sizeof *job);
    job->rows = nb_alloc(ctx, (size_t)plan->row_count, sizeof *job->rows);
    job->fresh = fresh;
    for (int i = 0; i < plan->row_count; i++) job->rows[job->count++] = i;
    return job;
}

static bool holds(const nb_job *job, int row)
{
    for (int i = 0; i < job->count; i++)
        if (job->rows[i] == row) return true;
    return false;
}

/* Each row once, in ascending order within a part, none of which is empty. */
static void check_parts(const nb_plan *plan, const nb_job *job, const nb_job *parts, nb_ctx *ctx)
{
    bool *seen = nb_alloc(ctx, (size_t)plan->row_count, sizeof *seen);
    int count = 0;
    for (; parts; parts = parts->next) {
        assert_true(parts->count > 0 && parts->fresh);
        for (int i = 0; i < parts->count; i++) {
            assert_true(holds(job, parts->rows[i]) && !seen[parts->rows[i]]);
            assert_true(i == 0 || parts->rows[i - 1] < parts->rows[i]);
            seen[parts->rows[i]] = true;
            count++;
        }
    }
    assert_int_equal(count, job->count);
}

/* Follows the culprit through the parts until its job is not divided any more. */
static const nb_job *hunt(const nb_plan *plan, int culprit, int phase, nb_ctx *ctx)
{
    const nb_job *job = whole(plan, false, ctx);
    for (int round = 0; round < 10; round++) {
        nb_job *parts;
        nb_position at = {phase, culprit, culprit + 1};
        if (phase == NB_AT_MEASURE) at = (nb_position){phase, job->rows[0], job->rows[job->count - 1] + 1};
        assert_ok(ctx, nb_job_divide(plan, job, at, &parts, ctx));
        if (!parts) return job;
        check_parts(plan, job, parts, ctx);
        while (!holds(parts, culprit)) parts = parts->next;
        job = parts;
    }
    fail_msg("row %d is not found", culprit);
    return NULL;
}

static void test_the_culprit_is_found(void **state)
{
    nb_plan plan = make_plan(*state);
    assert_int_equal(plan.row_count, 2 * 3 * 2 * 2 * 2 * 2);
    for (int row = 0; row < plan.row_count; row++) {
        nb_mark mark = nb_ctx_mark(*state);
        assert_int_equal(hunt(&plan, row, NB_AT_PICK, *state)->count, 4); /* factors x cores of the same picks */
        assert_int_equal(hunt(&plan, row, NB_AT_CORE, *state)->count, 1);
        assert_int_equal(hunt(&plan, row, NB_AT_MEASURE, *state)->count, 1);
        assert_int_equal(hunt(&plan, row, NB_AT_MEASURE + 1, *state)->count, 1);
        assert_int_equal(hunt(&plan, row, NB_AT_SCENE, *state)->count, plan.row_count);
        nb_ctx_release(*state, mark);
    }
}

static void test_first_the_one_at_work_is_parted_from_the_rest(void **state)
{
    nb_plan plan = make_plan(*state);
    nb_job *job = whole(&plan, false, *state), *parts;
    int row = plan.row_count / 2; /* of trial 1: what its strategy does in trial 0 goes along */
    assert_ok(*state, nb_job_divide(&plan, job, (nb_position){NB_AT_PICK, row, row + 1}, &parts, *state));
    assert_int_equal(parts->count, plan.row_count / 3);
    assert_int_equal(parts->next->count, plan.row_count * 2 / 3);
    for (int i = 0; i < parts->count; i++)
        assert_ptr_equal(nb_error_method_of(&plan, parts->rows[i])->strategy, nb_error_method_of(&plan, row)->strategy);
    assert_ok(*state, nb_job_divide(&plan, job, (nb_position){NB_AT_CORE, row, row + 1}, &parts, *state));
    assert_int_equal(parts->count, plan.row_count / 2);
    for (int i = 0; i < parts->count; i++)
        assert_ptr_equal(nb_error_method_of(&plan, parts->rows[i])->core, nb_error_method_of(&plan, row)->core);
    assert_ok(*state, nb_job_divide(&plan, job, (nb_position){NB_AT_MEASURE, 0, 1}, &parts, *state));
    assert_int_equal(parts->count, plan.row_count); /* once more, by a fresh worker */
    assert_ok(*state, nb_job_divide(&plan, parts, (nb_position){NB_AT_MEASURE, 0, 1}, &parts, *state));
    assert_int_equal(parts->count, 8); /* a trial, strategy and pairing */
    check_parts(&plan, job, parts, *state);
}

/* Whoever died may have written there. */
static void test_positions_that_cannot_be(void **state)
{
    nb_plan plan = make_plan(*state);
    nb_job *parts;
    const nb_position wrong[] = {
        {NB_AT_PICK, -1, 3}, {NB_AT_PICK, 1 << 30, 3}, {NB_AT_CORE, 0, 1 << 30}, {77, 0, 1}, {NB_AT_CORE, 2, 2}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_ok(*state, nb_job_divide(&plan, whole(&plan, true, *state), wrong[i], &parts, *state));
        check_parts(&plan, whole(&plan, true, *state), parts, *state);
    }
}

static void test_suspects_are_kept_apart(void **state)
{
    nb_plan plan = make_plan(*state);
    nb_suspects suspects;
    nb_job *job = whole(&plan, false, *state), *parts;
    assert_ok(*state, nb_suspects_new(&plan, &suspects, *state));
    assert_ok(*state, nb_job_part_suspects(&plan, &suspects, job, &parts, *state));
    assert_null(parts);
    assert_int_equal(job->count, plan.row_count);
    nb_suspects_add(&plan, (nb_position){NB_AT_MEASURE, 0, 4}, &suspects);
    nb_suspects_add(&plan, (nb_position){NB_AT_PICK, 0, 4}, &suspects);
    assert_ok(*state, nb_job_part_suspects(&plan, &suspects, job, &parts, *state));
    assert_int_equal(job->count, plan.row_count * 2 / 3);
    int count = 0;
    for (; parts; parts = parts->next, count++) assert_int_equal(parts->count, 8);
    assert_int_equal(count, 4); /* trials x pairings */
    nb_suspects_add(&plan, (nb_position){NB_AT_CORE, 0, 1}, &suspects);
    assert_ok(*state, nb_job_part_suspects(&plan, &suspects, job, &parts, *state));
    assert_int_equal(job->count, plan.row_count / 3);
    int row = plan.row_count - 1; /* of the last strategy */
    assert_ok(*state, nb_suspects_new(&plan, &suspects, *state));
    nb_suspects_add(&plan, (nb_position){NB_AT_PICK, row, row + 1}, &suspects);
    assert_ok(*state, nb_job_part_suspects(&plan, &suspects, whole(&plan, false, *state), &parts, *state));
    for (count = 0; parts; parts = parts->next)
        for (int i = 0; i < parts->count; i++, count++)
            assert_ptr_equal(nb_error_method_of(&plan, parts->rows[i])->strategy,
                             nb_error_method_of(&plan, row)->strategy);
    assert_int_equal(count, plan.row_count / 3);
}

static void test_as_many_workers_as_fit(void **state)
{
    nb_plan plan = make_plan(*state);
    plan.scenes[0].random = true; /* a unit a trial */
    bool *pending = nb_alloc(*state, (size_t)plan.row_count, sizeof *pending);
    memset(pending, true, (size_t)plan.row_count);
    double bytes = nb_cost_of(&plan, &(nb_unit){0, plan.row_count / 2}, pending).bytes;
    const struct {
        double units;
        int jobs, expected;
    } cases[] = {{2.001, 7, 7}, {2.001, 2, 2}, {1.999, 7, 1}, {1.001, 2, 1}, {100, 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nb_workers w = {.jobs = cases[i].jobs, .memory = cases[i].units * bytes};
        assert_ok(*state, nb_workers_fit(&plan, pending, &w, *state));
        assert_int_equal(w.jobs, cases[i].expected);
        assert_true(w.share >= bytes && w.share <= w.memory);
    }
    nb_workers w = {.jobs = 2, .memory = 0.999 * bytes};
    assert_error(*state, nb_workers_fit(&plan, pending, &w, *state), NB_EINVAL, "vit_astronaut_n257_L6.safetensors");
    memset(pending, false, (size_t)plan.row_count);
    assert_ok(*state, nb_workers_fit(&plan, pending, &w, *state));
}

static nb_heard hear(int fd, nb_inbox *inbox, nb_message *m, nb_ctx *ctx)
{
    nb_heard heard;
    nb_channel_fill(fd, inbox);
    assert_ok(ctx, nb_channel_hear(inbox, &heard, m, ctx));
    return heard;
}

static void test_messages_arrive_whole(void **state)
{
    static nb_inbox inbox;
    static nb_outbox outbox;
    int ends[2];
    nb_message m;
    const double sent = 2.385;
    char long_text[9000];
    memset(long_text, 'y', sizeof long_text);
    long_text[sizeof long_text - 1] = '\0';
    inbox.first = inbox.used = 0;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(hear(ends[0], &inbox, &m, *state), NB_HEARD_NOTHING);
    assert_true(
        nb_channel_tell(ends[1], &outbox, &(nb_message){NB_TOLD_ROW, 2385, "failed", long_text, &sent, sizeof sent}));
    assert_int_equal(hear(ends[0], &inbox, &m, *state), NB_HEARD_NOTHING); /* it waits for company */
    assert_true(nb_channel_tell(ends[1], &outbox, &(nb_message){.kind = NB_TOLD_JOB_DONE, .reason = ""}));
    assert_int_equal(hear(ends[0], &inbox, &m, *state), NB_HEARD_MESSAGE);
    assert_int_equal(m.number, 2385);
    assert_string_equal(m.status, "failed");
    assert_int_equal(strlen(m.reason), 4095); /* cut, not lost */
    assert_int_equal(m.result_bytes, sizeof sent);
    assert_memory_equal(m.result, &sent, sizeof sent);
    assert_int_equal(hear(ends[0], &inbox, &m, *state), NB_HEARD_MESSAGE);
    assert_int_equal(m.kind, NB_TOLD_JOB_DONE);
    assert_null(m.status);
    assert_string_equal(m.reason, "");
    close(ends[1]);
    assert_false(nb_channel_fill(ends[0], &inbox));
    close(ends[0]);
}

/* Rows of any length, more than an outbox holds, come in order, and none stays behind. */
static void test_rows_keep_order(void **state)
{
    enum { ROWS = 300 };
    static nb_inbox inbox;
    static nb_outbox outbox;
    int ends[2], heard = 0;
    nb_message m;
    char text[4096];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    for (int i = 0; i <= ROWS; i++) {
        memset(text, 'z', sizeof text);
        text[i * 37 % 4000] = '\0';
        nb_message row = {NB_TOLD_ROW, i, "ok", text, &i, sizeof i},
                   end = {.kind = NB_TOLD_INSTANCE_DONE, .number = ROWS};
        assert_true(nb_channel_tell(ends[1], &outbox, i < ROWS ? &row : &end));
        for (; hear(ends[0], &inbox, &m, *state) == NB_HEARD_MESSAGE; heard++) {
            assert_int_equal(m.number, heard);
            assert_int_equal(m.kind, heard < ROWS ? NB_TOLD_ROW : NB_TOLD_INSTANCE_DONE);
            if (heard < ROWS) assert_memory_equal(m.result, &heard, sizeof heard);
            if (heard < ROWS) assert_int_equal(strlen(m.reason), heard * 37 % 4000);
        }
    }
    assert_int_equal(heard, ROWS + 1);
    close(ends[0]);
    close(ends[1]);
}

/* A message with any of its bytes changed is heard, or is nonsense, or waits for more; nothing else. */
static void test_noise(void **state)
{
    static nb_inbox good, inbox;
    static nb_outbox outbox;
    const double one = 1;
    int ends[2], nonsense = 0;
    nb_message m;
    nb_heard heard;
    good.used = 0;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_true(nb_channel_tell(ends[1], &outbox, &(nb_message){NB_TOLD_FAILURE, 7, "ok", "why", &one, sizeof one}));
    assert_true(nb_channel_fill(ends[0], &good));
    for (size_t i = 0; i < good.used; i++)
        for (int bit = 0; bit < 8; bit++) {
            inbox = good;
            inbox.bytes[i] = (char)(inbox.bytes[i] ^ (1 << bit));
            assert_ok(*state, nb_channel_hear(&inbox, &heard, &m, *state));
            assert_in_range(heard, NB_HEARD_NOTHING, NB_HEARD_NONSENSE);
            nonsense += heard == NB_HEARD_NONSENSE;
        }
    assert_in_range(nonsense, 32, 8 * good.used); /* the first four bytes, and more */
    for (size_t cut = 0; cut < good.used; cut++) {
        inbox = good;
        inbox.used = cut;
        assert_ok(*state, nb_channel_hear(&inbox, &heard, &m, *state));
        assert_int_equal(heard, NB_HEARD_NOTHING);
    }
    inbox.first = 0;
    memset(inbox.bytes, 'x', inbox.used = 700);
    assert_ok(*state, nb_channel_hear(&inbox, &heard, &m, *state));
    assert_int_equal(heard, NB_HEARD_NONSENSE);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_the_culprit_is_found),     test_with_ctx(test_first_the_one_at_work_is_parted_from_the_rest),
        test_with_ctx(test_positions_that_cannot_be), test_with_ctx(test_suspects_are_kept_apart),
        test_with_ctx(test_as_many_workers_as_fit),   test_with_ctx(test_messages_arrive_whole),
        test_with_ctx(test_rows_keep_order),          test_with_ctx(test_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
