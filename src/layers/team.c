/* SPDX-License-Identifier: GPL-3.0-or-later */
/* team.c - threads that wait for the next list of tasks: for some microseconds awake, since lists follow each other
 * closely within a pass, then asleep. */
#include "layers/team.h"

#include "base/clock.h"
#include "linalg/work.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#define AWAKE_S 100e-6

typedef struct {
    nb_team *team;
    int number;
    pthread_t thread;
} member;

struct nb_team {
    int threads, started;
    member *members; /* but for the first thread, the caller */
    nb_ctx **ctxs;   /* by thread */
    nb_task *task;
    void *self;
    int count;
    atomic_int next;       /* task */
    atomic_int busy;       /* members that are not done with the list */
    atomic_ullong counted; /* multiplications of the members */
    atomic_int list;       /* number of the list; -1: the team ends */
    pthread_mutex_t lock;
    pthread_cond_t called;
};

static void do_tasks(nb_team *team, int thread)
{
    for (int i; (i = atomic_fetch_add(&team->next, 1)) < team->count;) team->task(team->self, i, thread);
}

/* Waits for another list than `last`, and returns its number. */
static int await_list(nb_team *team, int last)
{
    int list;
    double end_s = nb_clock_s() + AWAKE_S;
    while ((list = atomic_load(&team->list)) == last && nb_clock_s() < end_s) sched_yield();
    if (list != last) return list;
    pthread_mutex_lock(&team->lock);
    while ((list = atomic_load(&team->list)) == last) pthread_cond_wait(&team->called, &team->lock);
    pthread_mutex_unlock(&team->lock);
    return list;
}

static void *live(void *self)
{
    const member *m = self;
    for (int list = 0; (list = await_list(m->team, list)) >= 0;) {
        uint64_t before = nb_multiplications();
        do_tasks(m->team, m->number);
        atomic_fetch_add(&m->team->counted, nb_multiplications() - before);
        atomic_fetch_sub(&m->team->busy, 1);
    }
    return NULL;
}

static void call(nb_team *team, int list)
{
    pthread_mutex_lock(&team->lock);
    atomic_store(&team->list, list);
    pthread_cond_broadcast(&team->called);
    pthread_mutex_unlock(&team->lock);
}

static void end_team(void *self)
{
    nb_team *team = self;
    call(team, -1);
    for (int i = 0; i < team->started; i++) pthread_join(team->members[i].thread, NULL);
    pthread_cond_destroy(&team->called);
    pthread_mutex_destroy(&team->lock);
    for (int i = 0; i < team->threads; i++) nb_ctx_free(team->ctxs[i]);
}

/* Signals are the first thread's to take, but for those of a crash, which are the culprit's. */
static int start_member(member *m)
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    sigset_t others, before;
    sigfillset(&others);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) sigdelset(&others, crashes[i]);
    pthread_sigmask(SIG_SETMASK, &others, &before);
    int error = pthread_create(&m->thread, NULL, live, m);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

nb_status nb_team_new(int threads, nb_team **out, nb_ctx *ctx)
{
    nb_team *team;
    NB_REQUIRE(ctx, threads >= 1 && threads <= NB_MOST_THREADS, NB_EINVAL, "%d threads, allowed are 1 to %d", threads,
               NB_MOST_THREADS);
    NB_NEED(team, nb_alloc(ctx, 1, sizeof *team));
    team->threads = threads;
    NB_NEED(team->members, nb_alloc(ctx, (size_t)threads, sizeof *team->members));
    NB_NEED(team->ctxs, nb_alloc(ctx, (size_t)threads, sizeof *team->ctxs));
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->called, NULL);
    NB_TRY(ctx, nb_defer(ctx, end_team, team));
    for (int i = 0; i < threads; i++)
        NB_REQUIRE(ctx, (team->ctxs[i] = nb_ctx_new()), NB_ENOMEM, "out of memory: a context");
    for (int i = 0; i < threads - 1; i++) {
        team->members[i] = (member){.team = team, .number = i + 1};
        int error = start_member(&team->members[i]);
        NB_REQUIRE(ctx, error == 0, NB_EHOST, "thread %d of %d could not be started: %s", i + 2, threads,
                   strerror(error));
        team->started++;
    }
    *out = team;
    return NB_OK;
}

int nb_team_threads(const nb_team *team)
{
    return team->threads;
}

nb_ctx *nb_team_ctx(const nb_team *team, int thread)
{
    return team->ctxs[thread];
}

void nb_team_run(nb_team *team, int count, nb_task *task, void *self)
{
    team->task = task;
    team->self = self;
    team->count = count;
    atomic_store(&team->next, 0);
    if (team->started == 0 || count <= 1) {
        do_tasks(team, 0);
        return;
    }
    atomic_store(&team->counted, 0);
    atomic_store(&team->busy, team->started);
    call(team, atomic_load(&team->list) % 1000000 + 1);
    do_tasks(team, 0);
    while (atomic_load(&team->busy) > 0) sched_yield();
    nb_count_multiplications((double)atomic_load(&team->counted));
}

typedef struct {
    int heads, count;
    nb_stage *stages;
    void *self;
    atomic_int *done; /* tasks of each stage's heads */
    double *busy_s;   /* of each thread's stages */
} pipeline;

/* Tasks are taken in order, so that those of the stage before have been taken when this one waits for them. */
static void do_staged(void *self, int task, int thread)
{
    pipeline *p = self;
    int stage = 0;
    for (; task >= p->heads * p->stages[stage].per_head; stage++) task -= p->heads * p->stages[stage].per_head;
    int head = task / p->stages[stage].per_head, before = (stage - 1) * p->heads + head;
    while (stage > 0 && atomic_load(&p->done[before]) < p->stages[stage - 1].per_head) sched_yield();
    double start_s = nb_clock_s();
    p->stages[stage].task(p->self, task, thread);
    p->busy_s[thread * p->count + stage] += nb_clock_s() - start_s;
    atomic_fetch_add(&p->done[stage * p->heads + head], 1);
}

nb_status nb_team_run_stages(nb_team *team, int heads, int count, nb_stage *stages, void *self, nb_ctx *ctx)
{
    pipeline p = {.heads = heads, .count = count, .stages = stages, .self = self};
    int tasks = 0;
    NB_NEED(p.done, nb_alloc(ctx, (size_t)count * (size_t)heads, sizeof *p.done));
    NB_NEED(p.busy_s, nb_alloc_reals(ctx, (size_t)count, (size_t)team->threads));
    for (int i = 0; i < count; i++) tasks += heads * stages[i].per_head;
    nb_team_run(team, tasks, do_staged, &p);
    for (int i = 0; i < count; i++) stages[i].busy_s = 0;
    for (int i = 0; i < count * team->threads; i++) stages[i % count].busy_s += p.busy_s[i];
    return NB_OK;
}
