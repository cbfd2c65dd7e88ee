/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests a job whose worker died: whatever row is to blame, it is found, alone or with those that share the same picks;
 * the others are all done, each once. Also tests that a channel finds noise out. */
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

static nb_jobs whole(const nb_plan *plan, nb_ctx *ctx)
{
    nb_jobs jobs;
    bool *pending = nb_alloc(ctx, (size_t)plan->row_count, sizeof *pending);
    memset(pending, true, (size_t)plan->row_count);
    assert_ok(ctx, nb_jobs_new(plan, pending, &jobs, ctx));
    return jobs;
}

/* Does the jobs that are left, in which each row has to be once; all of them, or those of one unit. */
static int count_rows(nb_jobs *jobs, nb_ctx *ctx)
{
    int count = 0;
    nb_job job;
    bool found;
    for (;;) {
        assert_ok(ctx, nb_jobs_next(jobs, 1, &job, &found));
        if (!found) return count;
        for (int i = job.first; i < job.end; i++) {
            if (!nb_jobs_has(jobs, &job, i)) continue;
            jobs->rows[i] = NB_ROW_DONE;
            count++;
        }
    }
}

/* Whoever has the culprit's row dies in that phase, having completed the instances before, until that row is to blame.
 * Returns the rows that are then, the number of deaths, and the rows that are left. */
typedef struct {
    int blamed, deaths, others;
} verdict;

static verdict hunt(nb_jobs *jobs, int culprit, int phase, nb_ctx *ctx)
{
    verdict v = {0};
    nb_job job;
    bool found, blamed = false;
    while (!blamed) {
        assert_ok(ctx, nb_jobs_next(jobs, 1, &job, &found));
        assert_true(found && v.deaths < 9);
        bool dies = nb_jobs_has(jobs, &job, culprit);
        for (int i = job.first; i < job.end; i++) {
            bool done =
                nb_jobs_has(jobs, &job, i) &&
                (!dies || (phase != NB_AT_SCENE && jobs->plan->rows[i].trial < jobs->plan->rows[culprit].trial));
            if (done) jobs->rows[i] = NB_ROW_DONE;
            v.others += done;
        }
        if (!dies) continue;
        v.deaths++;
        assert_true(job.alone || v.deaths == 1);
        assert_ok(ctx, nb_jobs_take_back(jobs, &job, nb_phase_of(jobs->plan, phase), false, &blamed));
    }
    for (int i = job.first; i < job.end; i++) {
        v.blamed += nb_jobs_has(jobs, &job, i);
        if (nb_jobs_has(jobs, &job, i)) jobs->rows[i] = NB_ROW_DONE;
    }
    v.others += count_rows(jobs, ctx);
    return v;
}

static void test_the_culprit_is_found(void **state)
{
    nb_plan plan = make_plan(*state);
    assert_int_equal(plan.row_count, 2 * 3 * 2 * 2 * 2 * 2);
    const struct {
        int phase, blamed, most_deaths;
    } cases[] = {{NB_AT_PICK, 4, 4}, /* factors x cores of the same picks */
                 {NB_AT_CORE, 1, 5},
                 {NB_AT_MEASURE, 1, 5},
                 {77, 1, 5}, /* what died may have written anything */
                 {NB_AT_SCENE, plan.row_count, 2}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int row = 0; row < plan.row_count; row++) {
            nb_mark mark = nb_ctx_mark(*state);
            nb_jobs jobs = whole(&plan, *state);
            verdict v = hunt(&jobs, row, cases[c].phase, *state);
            assert_int_equal(v.blamed, cases[c].blamed);
            assert_in_range(v.deaths, 2, cases[c].most_deaths);
            assert_int_equal(v.others, plan.row_count - v.blamed);
            nb_ctx_release(*state, mark);
        }
}

/* The trials of a scene whose data are random are made one by one. */
static void test_random_data_cost_their_own_trial(void **state)
{
    nb_plan plan = make_plan(*state);
    plan.scenes[0].random = true;
    nb_jobs jobs = whole(&plan, *state);
    verdict v = hunt(&jobs, 3, NB_AT_SCENE, *state);
    assert_int_equal(v.blamed, plan.row_count / 2);
    assert_int_equal(v.others, plan.row_count / 2);
}

/* A job that was ended from outside is tried once more, whole; its innocent instances remain one job. */
static void test_a_kill_from_outside_costs_nothing_once(void **state)
{
    nb_plan plan = make_plan(*state);
    nb_jobs jobs = whole(&plan, *state);
    nb_job job, next;
    bool found, blamed;
    assert_ok(*state, nb_jobs_next(&jobs, 1, &job, &found));
    assert_true(found && !job.alone && job.first == 0 && job.end == plan.row_count && job.units == 1);
    assert_ok(*state, nb_jobs_take_back(&jobs, &job, nb_phase_of(&plan, NB_AT_CORE), true, &blamed));
    assert_ok(*state, nb_jobs_next(&jobs, 1, &next, &found));
    assert_true(found && next.alone && next.again && next.first == 0 && next.end == plan.row_count / 2);
    next.again = false; /* as if the first had died by itself */
    assert_ok(*state, nb_jobs_take_back(&jobs, &next, nb_phase_of(&plan, NB_AT_CORE), true, &blamed));
    assert_false(blamed);
    assert_ok(*state, nb_jobs_next(&jobs, 1, &next, &found));
    assert_true(next.alone && next.again && next.end - next.first == plan.row_count / 2);
    assert_ok(*state, nb_jobs_next(&jobs, 1, &job, &found));
    assert_true(found && !job.alone && job.first == plan.row_count / 2 && job.end == plan.row_count);
}

/* Rows of a method that has killed a worker are apart from then on. */
static void test_the_deadly_are_kept_apart(void **state)
{
    nb_plan plan = make_plan(*state);
    plan.scenes[0].random = true; /* a unit a trial */
    nb_jobs jobs = whole(&plan, *state);
    nb_job job;
    bool found, blamed;
    int culprit = 5, half = plan.row_count / 2;
    jobs.deadly[plan.rows[culprit].method] = true;
    assert_ok(*state, nb_jobs_next(&jobs, 1, &job, &found));
    assert_true(found && !job.alone && !nb_jobs_has(&jobs, &job, culprit) && nb_jobs_has(&jobs, &job, culprit + 1));
    for (int i = job.first; i < job.end; i++)
        if (nb_jobs_has(&jobs, &job, i)) jobs.rows[i] = NB_ROW_DONE;
    assert_ok(*state, nb_jobs_next(&jobs, 1, &job, &found));
    assert_true(found && job.alone && nb_jobs_has(&jobs, &job, culprit));
    assert_ok(*state, nb_jobs_take_back(&jobs, &job, nb_phase_of(&plan, NB_AT_CORE), false, &blamed));
    assert_true(blamed);
    jobs.rows[culprit] = NB_ROW_DONE;
    assert_int_equal(count_rows(&jobs, *state), half);
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
    assert_int_equal(nb_workers_fit(&plan, pending, &w, *state),
                     NB_EINVAL); /* how many bytes, depends on the machine */
    assert_non_null(strstr(nb_error_message(*state), "vit_astronaut_n257_L6.safetensors"));
    nb_error_clear(*state);
    memset(pending, false, (size_t)plan.row_count);
    assert_ok(*state, nb_workers_fit(&plan, pending, &w, *state));
}

/* Reads the next message into *m. */
static nb_heard hear(int fd, nb_packet *packet, nb_message *m, nb_ctx *ctx)
{
    assert_ok(ctx, nb_channel_read(fd, packet, m, ctx));
    return m->kind;
}

static void test_messages_arrive_whole(void **state)
{
    int ends[2];
    nb_message m;
    nb_packet in = {0}, out = {0};
    double sent = 2.385;
    char long_text[9000];
    memset(long_text, 'y', sizeof long_text);
    long_text[sizeof long_text - 1] = '\0';
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    assert_int_equal(hear(ends[0], &in, &m, *state), NB_HEARD_NOTHING);
    assert_true(
        nb_channel_send(ends[1], &out, (nb_message){NB_HEARD_ROW, 2385, "failed", long_text, &sent, sizeof sent}));
    assert_true(nb_channel_send(ends[1], &out, (nb_message){.kind = NB_HEARD_JOB, .number = 7}));
    assert_int_equal(hear(ends[0], &in, &m, *state), NB_HEARD_ROW);
    assert_int_equal(m.number, 2385);
    assert_string_equal(m.status, "failed");
    assert_int_equal(strlen(m.text), NB_MOST_REASON - 1); /* cut, not lost */
    assert_int_equal(m.result_bytes, sizeof sent);
    assert_memory_equal(m.result, &sent, sizeof sent);
    assert_int_equal(hear(ends[0], &in, &m, *state), NB_HEARD_JOB);
    assert_int_equal(m.number, 7);
    assert_null(m.text);
    assert_int_equal(send(ends[0], "", 1, 0), 1); /* is never read */
    assert_true(nb_channel_send(ends[1], &out, (nb_message){.kind = NB_HEARD_ERROR, .text = "why"}));
    close(ends[1]);
    assert_int_equal(hear(ends[0], &in, &m, *state), NB_HEARD_ERROR);
    assert_string_equal(m.text, "why");
    assert_int_equal(hear(ends[0], &in, &m, *state), NB_HEARD_END);
    close(ends[0]);
}

/* A message with any of its bytes changed is heard or is nonsense, and so is one that is cut, and what follows one. */
static void test_noise(void **state)
{
    double one = 1;
    int ends[2], nonsense = 0;
    nb_message m;
    static nb_packet packet, in;
    static char bytes[NB_PACKET_BYTES + 1];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    assert_true(nb_channel_send(-1, &packet, (nb_message){NB_HEARD_ROW, 7, "ok", "why", &one, sizeof one})); /* waits */
    size_t whole = packet.used;
    memcpy(bytes, packet.bytes, whole);
    for (size_t i = 0; i < whole; i++)
        for (int bit = 0; bit < 8; bit++) {
            in.first = in.used = 0;
            bytes[i] = (char)(bytes[i] ^ (1 << bit));
            assert_int_equal(send(ends[1], bytes, whole, 0), whole);
            bytes[i] = (char)(bytes[i] ^ (1 << bit));
            nb_heard heard = hear(ends[0], &in, &m, *state);
            assert_in_range(heard, NB_HEARD_ROW, NB_HEARD_NONSENSE);
            nonsense += heard == NB_HEARD_NONSENSE;
        }
    assert_in_range(nonsense, 32, 8 * whole); /* the first four bytes, and more */
    for (size_t sent = 1; sent < sizeof bytes; sent += sent < 2 * whole ? 1 : 997) {
        in.first = in.used = 0;
        assert_int_equal(send(ends[1], bytes, sent, 0), sent);
        nb_heard heard = hear(ends[0], &in, &m, *state);
        assert_int_equal(heard, sent >= whole ? NB_HEARD_ROW : NB_HEARD_NONSENSE);
        if (sent > whole) assert_int_equal(hear(ends[0], &in, &m, *state), NB_HEARD_NONSENSE);
    }
    in.first = in.used = 0;
    assert_int_equal(send(ends[1], bytes, sizeof bytes, 0), sizeof bytes);
    assert_int_equal(hear(ends[0], &in, &m, *state), NB_HEARD_NONSENSE);
    close(ends[0]);
    close(ends[1]);
}

/* Rows of any length, more than a packet holds, come in order, and none stays behind. */
static void test_rows_keep_order(void **state)
{
    enum { ROWS = 300 };
    static nb_packet in, out;
    int ends[2], heard = 0;
    nb_message m;
    char text[4096];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    for (int i = 0; i <= ROWS; i++) {
        memset(text, 'z', sizeof text);
        text[i * 37 % 4000] = '\0';
        nb_message row = {NB_HEARD_ROW, i, "ok", text, &i, sizeof i}, end = {.kind = NB_HEARD_INSTANCE, .number = ROWS};
        assert_true(nb_channel_send(ends[1], &out, i < ROWS ? row : end));
        for (; hear(ends[0], &in, &m, *state) != NB_HEARD_NOTHING; heard++) {
            assert_int_equal(m.number, heard);
            assert_int_equal(m.kind, heard < ROWS ? NB_HEARD_ROW : NB_HEARD_INSTANCE);
            if (heard < ROWS) assert_memory_equal(m.result, &heard, sizeof heard);
            if (heard < ROWS) assert_int_equal(strlen(m.text), heard * 37 % 4000);
        }
    }
    assert_int_equal(heard, ROWS + 1);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_the_culprit_is_found),
        test_with_ctx(test_random_data_cost_their_own_trial),
        test_with_ctx(test_a_kill_from_outside_costs_nothing_once),
        test_with_ctx(test_the_deadly_are_kept_apart),
        test_with_ctx(test_as_many_workers_as_fit),
        test_with_ctx(test_messages_arrive_whole),
        test_with_ctx(test_noise),
        test_with_ctx(test_rows_keep_order),
    };
    return run_all(tests);
}
