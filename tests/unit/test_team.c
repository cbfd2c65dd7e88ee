/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Teams of threads: each task of each list is done once, by one of the team's threads, whose multiplications are the
 * caller's. What is expected follows from the header's promises. */
#include "testing.h"

#include "base/clock.h"
#include "layers/team.h"
#include "linalg/work.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MOST_TASKS = 1000 };
static const int sizes[] = {1, 2, 3, 8};
static const int counts[] = {0, 1, 2, 3, 7, 8, 9, 64, MOST_TASKS};
enum { SIZES = sizeof sizes / sizeof *sizes, COUNTS = sizeof counts / sizeof *counts };

typedef struct {
    nb_team *team;
    pthread_t caller;
    atomic_int done[MOST_TASKS]; /* how often */
    atomic_int strangers;        /* tasks of a thread that the team has not, or that is another than it says */
    atomic_int present;          /* tasks that have begun */
    int sum[MOST_TASKS];
} list;

static list *new_list(nb_team *team, nb_ctx *ctx)
{
    list *l = nb_alloc(ctx, 1, sizeof *l);
    assert_non_null(l);
    l->team = team;
    l->caller = pthread_self();
    return l;
}

static void count_task(void *self, int task, int thread)
{
    list *l = self;
    atomic_fetch_add(&l->done[task], 1);
    bool known = thread >= 0 && thread < nb_team_threads(l->team);
    if (!known || (thread == 0) != (pthread_equal(pthread_self(), l->caller) != 0)) atomic_fetch_add(&l->strangers, 1);
    nb_count_multiplications(task + 1);
}

static void test_each_task_once(void **state)
{
    nb_ctx *ctx = *state;
    for (int s = 0; s < SIZES; s++) {
        nb_team *team;
        assert_ok(ctx, nb_team_new(sizes[s], &team, ctx));
        assert_int_equal(nb_team_threads(team), sizes[s]);
        for (int c = 0; c < COUNTS; c++) {
            list *l = new_list(team, ctx);
            uint64_t before = nb_multiplications();
            nb_team_run(team, counts[c], count_task, l);
            assert_int_equal(nb_multiplications() - before, (uint64_t)counts[c] * (uint64_t)(counts[c] + 1) / 2);
            for (int i = 0; i < MOST_TASKS; i++) assert_int_equal(l->done[i], i < counts[c]);
            assert_int_equal(l->strangers, 0);
        }
    }
}

/* Reads what earlier lists wrote, whoever did. */
static void add_neighbour(void *self, int task, int thread)
{
    list *l = self;
    (void)thread;
    l->sum[task] = 1 + l->sum[task + 8];
}

static void copy_down(void *self, int task, int thread)
{
    list *l = self;
    (void)thread;
    l->sum[task + 8] = l->sum[(task + 1) % 8];
}

/* Lists that follow at once, and after a while, when the threads sleep. */
static void test_lists_one_after_another(void **state)
{
    enum { LISTS = 3000, TASKS = 8 };
    nb_ctx *ctx = *state;
    for (int s = 0; s < SIZES; s++) {
        nb_team *team;
        assert_ok(ctx, nb_team_new(sizes[s], &team, ctx));
        list *l = new_list(team, ctx);
        for (int i = 1; i <= LISTS; i++) {
            if (i % 500 == 0) usleep(2000);
            nb_team_run(team, TASKS, add_neighbour, l);
            nb_team_run(team, TASKS, copy_down, l);
            for (int j = 0; j < TASKS; j++) assert_int_equal(l->sum[j], i);
        }
    }
}

/* Goes on when as many tasks have begun as there are threads, or after ten seconds. */
static void meet(void *self, int task, int thread)
{
    list *l = self;
    double end_s = nb_clock_s() + 10;
    atomic_fetch_add(&l->present, 1);
    while (l->present < nb_team_threads(l->team) && nb_clock_s() < end_s) sched_yield();
    l->sum[task] = l->present;
    atomic_fetch_add(&l->done[thread], 1);
}

static void test_all_threads_work_at_a_time(void **state)
{
    nb_ctx *ctx = *state;
    for (int s = 0; s < SIZES; s++) {
        nb_team *team;
        assert_ok(ctx, nb_team_new(sizes[s], &team, ctx));
        list *l = new_list(team, ctx);
        nb_team_run(team, sizes[s], meet, l);
        for (int i = 0; i < sizes[s]; i++) {
            assert_int_equal(l->sum[i], sizes[s]);
            assert_int_equal(l->done[i], 1);
        }
    }
}

enum { FIRST, MIDDLE, LAST, STAGES, MOST_HEADS = 5, AT_MOST = 3 };
static const int per_head[STAGES] = {[FIRST] = 1, [MIDDLE] = AT_MOST, [LAST] = 2};

typedef struct {
    nb_team *team;
    int heads;
    atomic_int done[STAGES][MOST_HEADS * AT_MOST]; /* how often */
    atomic_int early;                              /* tasks that began before the head's last stage was done */
    atomic_int ahead;                              /* heads that are in the second stage or behind it */
    int overtook;                                  /* of these, while the last head was in its first */
} staged;

static void do_stage(staged *s, int stage, int task)
{
    int head = task / per_head[stage];
    for (int i = 0; stage > 0 && i < per_head[stage - 1]; i++)
        if (s->done[stage - 1][head * per_head[stage - 1] + i] != 1) atomic_fetch_add(&s->early, 1);
    atomic_fetch_add(&s->done[stage][task], 1);
    nb_count_multiplications(1);
}

/* The last head's ends when another head has got further, or after ten seconds. */
static void do_first(void *self, int task, int thread)
{
    staged *s = self;
    double end_s = nb_clock_s() + 10;
    bool others = s->heads > 1 && nb_team_threads(s->team) > 1;
    (void)thread;
    while (task == s->heads - 1 && others && s->ahead == 0 && nb_clock_s() < end_s) sched_yield();
    if (task == s->heads - 1) s->overtook = s->ahead;
    do_stage(s, FIRST, task);
}

static void do_middle(void *self, int task, int thread)
{
    staged *s = self;
    (void)thread;
    atomic_fetch_add(&s->ahead, 1);
    do_stage(s, MIDDLE, task);
}

static void do_last(void *self, int task, int thread)
{
    (void)thread;
    do_stage(self, LAST, task);
}

/* Two or more heads on two or more threads overtake each other; no task begins before its head's last stage is done. */
static void test_stages(void **state)
{
    nb_ctx *ctx = *state;
    for (int t = 0; t < SIZES; t++)
        for (int heads = 1; heads <= MOST_HEADS; heads++) {
            nb_stage stages[STAGES] = {[FIRST] = {.per_head = per_head[FIRST], .task = do_first},
                                       [MIDDLE] = {.per_head = per_head[MIDDLE], .task = do_middle},
                                       [LAST] = {.per_head = per_head[LAST], .task = do_last, .busy_s = -1}};
            staged *s;
            assert_non_null(s = nb_alloc(ctx, 1, sizeof *s));
            s->heads = heads;
            assert_ok(ctx, nb_team_new(sizes[t], &s->team, ctx));
            uint64_t before = nb_multiplications();
            assert_ok(ctx, nb_team_run_stages(s->team, heads, STAGES, stages, s, ctx));
            assert_int_equal(nb_multiplications() - before, 6 * heads);
            for (int stage = 0; stage < STAGES; stage++) {
                for (int i = 0; i < MOST_HEADS * AT_MOST; i++)
                    assert_int_equal(s->done[stage][i], i < heads * per_head[stage]);
                assert_true(stages[stage].busy_s >= 0);
            }
            assert_int_equal(s->early, 0);
            assert_int_equal(s->overtook > 0, heads > 1 && sizes[t] > 1);
        }
}

static void allocate(void *self, int task, int thread)
{
    list *l = self;
    nb_ctx *own = nb_team_ctx(l->team, thread);
    int *numbers = nb_alloc(own, 100, sizeof *numbers);
    for (int i = 0; numbers && i < 100; i++) numbers[i] = task;
    for (int i = 0; numbers && i < 100; i++) l->sum[task] += numbers[i] == task;
}

static void test_each_thread_has_memory_of_its_own(void **state)
{
    nb_ctx *ctx = *state;
    for (int s = 0; s < SIZES; s++) {
        nb_team *team;
        size_t held = 0;
        assert_ok(ctx, nb_team_new(sizes[s], &team, ctx));
        list *l = new_list(team, ctx);
        nb_team_run(team, MOST_TASKS, allocate, l);
        for (int i = 0; i < MOST_TASKS; i++) assert_int_equal(l->sum[i], 100);
        for (int i = 0; i < sizes[s]; i++) {
            held += nb_ctx_held(nb_team_ctx(team, i));
            for (int j = 0; j < i; j++) assert_ptr_not_equal(nb_team_ctx(team, i), nb_team_ctx(team, j));
        }
        assert_int_equal(held, MOST_TASKS * 100 * sizeof(int));
    }
}

static int threads_alive(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (struct dirent *e; (e = readdir(tasks));) count += e->d_name[0] != '.';
    closedir(tasks);
    return count;
}

static int threads_before; /* there was a team */

/* The system forgets threads a moment after they were joined. */
static void await_their_end(void)
{
    double end_s = nb_clock_s() + 10;
    while (threads_alive() != threads_before && nb_clock_s() < end_s) sched_yield();
    assert_int_equal(threads_alive(), threads_before);
}

static void test_threads_end_with_the_memory(void **state)
{
    nb_ctx *ctx = *state;
    nb_team *team;
    nb_mark mark = nb_ctx_mark(ctx);
    await_their_end(); /* those of other tests */
    assert_ok(ctx, nb_team_new(5, &team, ctx));
    assert_int_equal(threads_alive(), threads_before + 4);
    nb_ctx_release(ctx, mark);
    await_their_end();
}

static void test_refused(void **state)
{
    nb_team *team;
    assert_error(*state, nb_team_new(0, &team, *state), NB_EINVAL);
    assert_error(*state, nb_team_new(NB_MOST_THREADS + 1, &team, *state), NB_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_each_task_once),
        test_with_ctx(test_lists_one_after_another),
        test_with_ctx(test_all_threads_work_at_a_time),
        test_with_ctx(test_stages),
        test_with_ctx(test_each_thread_has_memory_of_its_own),
        test_with_ctx(test_threads_end_with_the_memory),
        test_with_ctx(test_refused),
    };
    threads_before = threads_alive();
    return run_all(tests);
}
