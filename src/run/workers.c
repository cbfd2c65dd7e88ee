/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workers.c - runs a plan in workers, which are forked copies of this process.
 *
 * 1. The rows that are left are taken in jobs: a unit of the plan, or several short ones (jobs.c). The parent writes a
 *    job into a page that it shares with a worker, and forks the worker or sends it a byte (workers_events.c).
 * 2. The worker computes the rows, tells each, the end of each instance and the end of the job (workers_child.c,
 *    channel.c), and waits for the next byte. It writes into the page what it is doing, and since when.
 * 3. The parent waits for messages, signals and the end of somebody's time. It keeps the rows of an instance until that
 *    is complete, and then hands them to the sink. What it does is in one table, by the worker's state and by what was
 *    heard (workers_events.c).
 * 4. A worker that dies, is late or sends nonsense is ended. The rows that it was at are done again in a process of
 *    their own; if that ends too, they are divided, and what cannot be divided is to blame (jobs.c). The phase in the
 *    page says which rows are done together.
 * 5. A worker without a job ends. No worker is left when this returns. */
#include "run/workers_private.h"

#include "base/clock.h"
#include "base/server.h"
#include "components/plugin.h"
#include "linalg/blas.h"
#include "run/prediction.h"
#include "run/run_study.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

static void kill_all(nb_pool *p)
{
    for (int i = 0; i < p->worker_count; i++)
        if (p->workers[i].state != NB_ABSENT) nb_process_kill(p->workers[i].pid);
}

/* Signals come only here and while the pool waits, so that none is missed between the look and the wait. What killed
 * workers had completed is still heard. */
static void check_stop(nb_pool *p)
{
    sigprocmask(SIG_SETMASK, &p->signals, NULL); /* ppoll lets none in where messages are there already */
    sigprocmask(SIG_SETMASK, &p->blocked, NULL);
    if (!p->stopping && p->sink->stop(p->sink->self)) {
        p->stopping = true;
        kill_all(p);
    }
}

/* Handles what has come from a worker. */
static nb_status read_messages(nb_pool *p, nb_worker *w)
{
    if (w->state == NB_LEAVING) return nb_worker_actions[w->state][NB_HEARD_END](p, w);
    while (w->state == NB_BUSY || w->state == NB_READY) {
        NB_TRY(p->ctx, nb_channel_read(w->fd, &w->inbox, &p->heard, w->mail));
        if (p->heard.kind == NB_HEARD_NOTHING) break;
        if (p->heard.kind != NB_HEARD_ROW) check_stop(p); /* before the next job is handed out */
        NB_TRY(p->ctx, nb_worker_actions[w->state][p->heard.kind](p, w));
    }
    return NB_OK;
}

/* A call in a child of the worker has the same limit as the worker, which ends it and loses nothing else. */
double nb_worker_deadline(const nb_pool *p, const nb_worker *w, double *limit_s)
{
    enum { START_S = 120, ENDING_S = 3 }; /* a worker that has not begun anything by then never will */
    nb_doing now = nb_worker_doing(w);
    const nb_phase *phase = nb_phase_of(p->plan, now.phase);
    bool known = now.first >= 0 && now.first < p->plan->row_count;
    *limit_s = w->state == NB_READY || now.phase == NB_AT_START ? START_S : p->how.timeout_s;
    if (w->state == NB_LEAVING) *limit_s = NB_PATIENCE_S;
    if (w->state == NB_LEAVING) return fmax(w->since_s, p->resumed_s) + *limit_s;
    if (w->state == NB_ABSENT || *limit_s <= 0) return INFINITY;
    if (phase->of_all && w->state == NB_BUSY) *limit_s *= nb_jobs_count_together(&p->jobs, &w->job);
    if (phase->axis >= 0 && known && nb_plugin_within(nb_plan_choice(p->plan, now.first, phase->axis)))
        now.since_s += ENDING_S;
    return fmax(fmax(now.since_s, w->heard_s), p->resumed_s) + *limit_s;
}

/* A worker that sent something while the sink was slow is not late: its message will be read. */
static nb_status end_late(nb_pool *p)
{
    for (int i = 0; i < p->worker_count; i++) {
        nb_worker *w = &p->workers[i];
        double limit_s;
        if (nb_clock_s() > nb_worker_deadline(p, w, &limit_s) &&
            poll(&(struct pollfd){.fd = w->fd, .events = POLLIN}, 1, 0) == 0)
            NB_TRY(p->ctx, nb_worker_actions[w->state][NB_HEARD_NOTHING](p, w));
    }
    return NB_OK;
}

static nb_status fill_empty_places(nb_pool *p)
{
    check_stop(p);
    for (int i = 0; i < p->worker_count; i++)
        if (p->workers[i].state == NB_ABSENT) NB_TRY(p->ctx, nb_worker_hand_out(p, &p->workers[i]));
    return NB_OK;
}

static void call_watch(nb_pool *p)
{
    double now_s = nb_clock_s();
    if (!p->sink->watch || now_s < p->watch_at_s) return;
    p->watch_at_s = now_s + (nb_study_alone(p->plan->config->study, p->plan->config) ? 1 : 0.2);
    p->sink->watch(p->sink->self);
}

/* Commits the instances that the sink has got. */
static nb_status commit_now(nb_pool *p)
{
    bool due = !isinf(p->commit_at_s);
    p->commit_at_s = INFINITY;
    return due ? p->sink->commit(p->sink->self, p->ctx) : NB_OK;
}

/* Waits for the next messages, a signal, the end of somebody's time or of a slice (base/process.h). */
static nb_status serve(nb_pool *p, bool *alive)
{
    /* Nobody tells when a worker begins something else, whose time ends sooner. */
    double limit_s, first_s = p->how.timeout_s > 0 ? nb_clock_s() + p->how.timeout_s : INFINITY;
    NB_TRY(p->ctx, fill_empty_places(p));
    *alive = false;
    for (int i = 0; i < p->worker_count; i++) {
        const nb_worker *w = &p->workers[i];
        p->polled[i] = (struct pollfd){.fd = w->fd, .events = POLLIN};
        *alive = *alive || w->state != NB_ABSENT;
        first_s = fmin(first_s, nb_worker_deadline(p, w, &limit_s));
    }
    if (!*alive) return NB_OK;
    if (p->sink->watch) first_s = fmin(first_s, p->watch_at_s);
    first_s = fmin(first_s, p->commit_at_s);
    double begun_s = nb_clock_s(), wait_s = fmin(fmax(0, first_s - begun_s) + 1e-3, NB_SLICE_S);
    struct timespec wait = {.tv_sec = (time_t)wait_s, .tv_nsec = (long)(1e9 * (wait_s - floor(wait_s)))};
    int ready = ppoll(p->polled, (nfds_t)p->worker_count, &wait, &p->signals);
    NB_REQUIRE(p->ctx, ready >= 0 || errno == EINTR, NB_EIO, "the workers' messages cannot be read: %s",
               strerror(errno));
    if (nb_note_wait(begun_s, wait_s)) p->resumed_s = nb_clock_s();
    for (int i = 0; i < p->worker_count && ready > 0; i++)
        if (p->polled[i].revents) NB_TRY(p->ctx, read_messages(p, &p->workers[i]));
    call_watch(p);
    if (ready >= 0 && !p->stopping) NB_TRY(p->ctx, end_late(p));
    return nb_clock_s() >= p->commit_at_s ? commit_now(p) : NB_OK;
}

/* No worker outlives the pool, however it ends. */
static void close_pool(void *pool_)
{
    nb_pool *p = pool_;
    kill_all(p);
    for (int i = 0; i < p->worker_count; i++) {
        nb_worker *w = &p->workers[i];
        if (w->state != NB_ABSENT) nb_worker_end(w, 0, false);
        if (w->page) munmap(w->page, p->page_bytes);
    }
    sigprocmask(SIG_SETMASK, &p->signals, NULL);
}

static nb_status open_worker(nb_pool *p, nb_worker *w)
{
    void *page = mmap(NULL, p->page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    NB_REQUIRE(p->ctx, page != MAP_FAILED, NB_EHOST, "a worker's page cannot be made: %s", strerror(errno));
    w->page = page;
    w->fd = -1;
    w->last = &w->rows;
    NB_NEED(w->mail, nb_ctx_child(p->ctx));
    return NB_OK;
}

int nb_workers_started(const nb_workers *workers, int units)
{
    return workers->jobs < units ? workers->jobs : units;
}

static nb_status open_pool(nb_pool *p)
{
    p->page_bytes = sizeof(nb_worker_page) + (size_t)p->plan->row_count * sizeof(bool);
    p->worker_count = nb_workers_started(&p->how, p->jobs.unit_count);
    NB_NEED(p->workers, nb_alloc(p->ctx, (size_t)p->worker_count, sizeof *p->workers));
    NB_NEED(p->polled, nb_alloc(p->ctx, (size_t)p->worker_count, sizeof *p->polled));
    sigprocmask(SIG_SETMASK, NULL, &p->signals);
    p->blocked = p->signals;
    for (const int *number = (const int[]){SIGINT, SIGTERM, SIGHUP, SIGQUIT, 0}; *number; number++)
        sigaddset(&p->blocked, *number);
    sigprocmask(SIG_SETMASK, &p->blocked, NULL);
    NB_TRY(p->ctx, nb_defer(p->ctx, close_pool, p));
    for (int i = 0; i < p->worker_count; i++) NB_TRY(p->ctx, open_worker(p, &p->workers[i]));
    return NB_OK;
}

static nb_status run_pool(nb_pool *p, const bool *pending)
{
    bool alive = true;
    NB_TRY(p->ctx, nb_jobs_new(p->plan, pending, &p->jobs, p->ctx));
    nb_servers_end(); /* those that planning asked: workers have their own */
    NB_TRY(p->ctx, open_pool(p));
    NB_TRY(p->ctx, fill_empty_places(p));
    nb_status status = p->sink->meanwhile ? p->sink->meanwhile(p->sink->self, p->ctx) : NB_OK;
    while (alive && status == NB_OK) status = serve(p, &alive);
    nb_status kept = commit_now(p); /* also what came before an error */
    return status == NB_OK ? kept : status;
}

static nb_status run_here(const nb_plan *plan, const bool *pending, int blas_threads, const nb_sink *sink, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_blas_set_threads(blas_threads, ctx));
    if (sink->meanwhile) NB_TRY(ctx, sink->meanwhile(sink->self, ctx));
    for (int scene = 0; scene < plan->scene_count && !sink->stop(sink->self); scene++)
        NB_TRY(ctx, nb_run_study_of(plan->config->study)->run(plan, scene, pending, sink, ctx));
    return NB_OK;
}

bool nb_workers_alone(const nb_plan *plan, nb_workers *workers)
{
    bool too_many = nb_study_alone(plan->config->study, plan->config) && workers->jobs > 1;
    if (too_many) workers->jobs = 1;
    return too_many;
}

nb_status nb_run_plan(const nb_plan *plan, const bool *pending, nb_workers workers, const nb_sink *sink, nb_ctx *ctx)
{
    nb_workers_alone(plan, &workers);
    nb_pool p = {
        .plan = plan, .sink = sink, .ctx = ctx, .how = workers, .commit_at_s = INFINITY, .resumed_s = -INFINITY};
    if (workers.jobs == 0) return run_here(plan, pending, workers.blas_threads, sink, ctx);
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = run_pool(&p, pending);
    nb_ctx_release(ctx, mark);
    return status;
}

nb_status nb_workers_fit(const nb_plan *plan, const bool *pending, nb_workers *workers, nb_ctx *ctx)
{
    const nb_machine_speed any = {.rate = NB_USUAL_RATE, .cpus = 1};
    nb_predicted p;
    const char *scene;
    int jobs = 0;
    if (workers->memory <= 0 || workers->jobs == 0) return NB_OK;
    NB_TRY(ctx, nb_predict(plan, pending, any, workers->jobs, &p, ctx));
    if (p.unit_count == 0) return NB_OK;
    for (double sum = 0; jobs < p.workers && (sum += p.unit_bytes[jobs]) <= workers->memory;) jobs++;
    const nb_unit *largest = p.units;
    while (nb_cost_of(plan, largest, pending).bytes < p.bytes) largest++;
    NB_TRY(ctx, nb_plan_scene_text(plan, largest->first, &scene, ctx));
    NB_REQUIRE(ctx, jobs > 0, NB_EINVAL, "%s needs about %.1f MiB (n = %d), but only %.1f MiB of memory may be used",
               scene, p.bytes / 0x1p20, plan->scenes[plan->rows[largest->first].scene].n, workers->memory / 0x1p20);
    workers->share = fmax(workers->memory / jobs, fmin(workers->memory, 1.5 * p.bytes));
    if (jobs < p.workers) workers->jobs = jobs;
    return NB_OK;
}
