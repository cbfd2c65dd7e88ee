/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workers.c - runs a plan in workers, which are forked copies of this process.
 *
 * 1. The parent sends a worker the rows of a job; the worker computes them and sends results back.
 * 2. The parent keeps the results of an instance until it is complete, gives the worker its next job, and only then
 *    hands the instance to the sink.
 * 3. A worker writes what it is doing, and since when, into a page that it shares with its parent. When the worker
 *    dies, the parent reads there what it was doing (blame.c). */
#include "run/workers.h"

#include "base/clock.h"
#include "base/server.h"
#include "components/plugin.h"
#include "linalg/blas.h"
#include "run/blame.h"
#include "run/pool.h"
#include "run/prediction.h"

#include <errno.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { AT_UNKNOWN = -1 }; /* a phase that is not known */
enum { START_S = 120 };   /* until one does something: after that it never will */

static int scene_of(const nb_pool *p, const nb_unit *unit)
{
    return p->plan->rows[unit->first].scene;
}

/* The next job's. A worker waits for its next job while the sink keeps rows, so a job is not to be shorter than that;
 * but the last jobs are to end together. */
static int count_units(const nb_pool *p)
{
    static const double LEAST_S = 0.02;
    enum { JOBS_LEFT = 4 }; /* for each worker, at least */
    const nb_unit *next = &p->units[p->next_unit];
    int count = 1, left = p->unit_count - p->next_unit, scene = scene_of(p, next);
    if (scene != p->pace_scene || p->unit_s <= 0) return 1;
    double most = fmin(LEAST_S / p->unit_s, (double)left / JOBS_LEFT / p->worker_count);
    while (count < most && scene_of(p, &next[count]) == scene) count++;
    return count;
}

static void note_pace(nb_pool *p, const nb_worker *w)
{
    if (w->job->units == 0) return;
    p->pace_scene = p->plan->rows[w->job->rows[0]].scene;
    p->unit_s = (nb_clock_s() - w->since_s) / w->job->units;
}

/* The pending rows of the next units; those of suspects go to the queue. */
static nb_status job_of_units(nb_pool *p, nb_job **job, nb_ctx *memory)
{
    nb_job *parts;
    int units = count_units(p), first = p->units[p->next_unit].first;
    p->next_unit += units;
    int end = p->units[p->next_unit - 1].end;
    NB_NEED(*job, nb_alloc(memory, 1, sizeof **job));
    NB_NEED((*job)->rows, nb_alloc(memory, (size_t)(end - first), sizeof *(*job)->rows));
    (*job)->units = units;
    for (int i = first; i < end; i++)
        if (p->left[i]) (*job)->rows[(*job)->count++] = i;
    NB_TRY(p->ctx, nb_job_part_suspects(p->plan, &p->suspects, *job, &parts, p->ctx));
    nb_pool_push(p, parts);
    return NB_OK;
}

/* The next job that there is, or NULL. */
static nb_status next_job(nb_pool *p, nb_job **job, nb_ctx *memory)
{
    *job = NULL;
    while (!*job && !p->stopping && (p->queue || p->next_unit < p->unit_count)) {
        if (p->queue) {
            *job = p->queue;
            p->queue = (*job)->next;
            (*job)->next = NULL;
            return NB_OK;
        }
        NB_TRY(p->ctx, job_of_units(p, job, memory));
        if ((*job)->count == 0) *job = NULL;
    }
    return NB_OK;
}

static bool is_work_left(const nb_pool *p)
{
    return !p->stopping && (p->queue || p->next_unit < p->unit_count);
}

/* Gives the worker of this place something to do: a new worker if there is none, where the job is for a fresh one, or
 * where either job is for a worker of its own; if there is nothing, it goes. Whether it takes it shows later: its
 * channel ends where it died. */
static nb_status hand_out(nb_pool *p, nb_worker *w)
{
    nb_job *job;
    nb_ctx_release(w->memory, 0);
    w->job = NULL;
    NB_TRY(p->ctx, next_job(p, &job, w->memory));
    if (w->fd >= 0 && !job) nb_worker_let_go(w);
    if (!job) return NB_OK;
    bool apart = nb_job_is_apart(p->plan, &p->suspects, job);
    if (w->fd >= 0 && !w->fresh && (job->fresh || apart || w->apart)) nb_worker_dismiss(w, NB_PATIENCE_S, false);
    if (w->fd < 0) NB_TRY(p->ctx, nb_worker_start(p, w));
    job->fresh = w->fresh;
    w->apart = apart;
    w->job = job;
    w->since_s = nb_clock_s();
    w->fresh = false;
    if (nb_channel_send(w->fd, &job->count, sizeof job->count))
        nb_channel_send(w->fd, job->rows, (size_t)job->count * sizeof *job->rows);
    return NB_OK;
}

/* A worker that is gone, or that was ended for what it did: forgets what it has told
 * of the instance in flight. */
static nb_status bury(nb_pool *p, nb_worker *w, const nb_death *d)
{
    for (const nb_kept_row *kept = w->rows; kept; kept = kept->next) p->told[kept->index] = false;
    if (!p->stopping && w->job) NB_TRY(p->ctx, nb_death_take_up(p, w->job, d));
    return hand_out(p, w);
}

static nb_status bury_silent(nb_pool *p, nb_worker *w)
{
    nb_death d = {.status = NULL};
    NB_TRY(p->ctx, nb_death_autopsy(p, w, &d));
    return bury(p, w, &d);
}

/* A malformed message does not show who wrote it: any code in the worker may have, and it is noticed only when the next
 * message is parsed. */
static nb_status bury_liar(nb_pool *p, nb_worker *w)
{
    nb_death d = {.status = "crashed", .at.phase = AT_UNKNOWN};
    nb_worker_dismiss(w, 0, false);
    NB_NEED(d.reason, nb_strdup(p->ctx, "something wrote into the channel between the worker and its parent"));
    return bury(p, w, &d);
}

static nb_status bury_failed(nb_pool *p, nb_worker *w, const nb_message *m)
{
    nb_death d = {.status = "failed", .at = nb_death_position(w)};
    NB_NEED(d.reason, nb_strdup(p->ctx, m->reason ? m->reason : ""));
    nb_status status = m->number > NB_OK && m->number < NB_STATUS_COUNT ? (nb_status)m->number : NB_EBUG;
    nb_worker_dismiss(w, NB_PATIENCE_S, false);
    NB_REQUIRE(p->ctx, p->stopping || status != NB_EHOST, status, "%s; the same command continues when there is enough",
               d.reason);
    NB_REQUIRE(p->ctx, p->stopping || d.at.phase != NB_AT_START || !w->job || !w->job->fresh, status, "%s", d.reason);
    return bury(p, w, &d);
}

static nb_status bury_late(nb_pool *p, nb_worker *w, double limit_s)
{
    nb_death d = {.status = "timeout", .at = nb_death_position(w)};
    nb_ending ending = nb_worker_dismiss(w, 0, true);
    ending.timed_out = true;
    NB_TRY(p->ctx, nb_ending_sentence(nb_pool_doing(p, d.at.phase), &ending, limit_s, &d.reason, p->ctx));
    return bury(p, w, &d);
}

static int compare_rows(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Its name in the program's memory; NULL: there is no such status. */
static const char *known_status(const char *text)
{
    const char *const *s = nb_row_statuses;
    while (*s && (!text || strcmp(*s, text) != 0)) s++;
    return *s;
}

/* *good is false if the worker cannot have done that row. */
static nb_status keep(const nb_pool *p, nb_worker *w, const nb_message *m, bool *good)
{
    nb_kept_row *kept;
    const char *status = known_status(m->status);
    const nb_study *study = p->plan->config->study;
    *good = status && w->job && m->result_bytes == study->result_size &&
            bsearch(&m->number, w->job->rows, (size_t)w->job->count, sizeof *w->job->rows, compare_rows) &&
            p->left[m->number] && !p->told[m->number];
    if (!*good) return NB_OK;
    NB_NEED(kept, nb_alloc(w->mail, 1, sizeof *kept));
    kept->index = m->number;
    NB_NEED(kept->row, nb_alloc(w->mail, 1, study->row_size));
    nb_plan_row(p->plan, kept->index, kept->row);
    kept->row->status = status;
    kept->row->reason = m->reason;
    memcpy((char *)kept->row + study->result_offset, m->result, study->result_size);
    p->told[kept->index] = true;
    *w->last = kept;
    w->last = &kept->next;
    return NB_OK;
}

static nb_status deliver(nb_pool *p, nb_worker *w)
{
    if (!w->complete) return NB_OK;
    NB_TRY(p->ctx, nb_pool_begin(p));
    for (const nb_kept_row *kept = w->complete; kept; kept = kept->next)
        NB_TRY(p->ctx, p->sink->row(p->sink->self, kept->index, kept->row, p->ctx));
    NB_TRY(p->ctx, nb_pool_end(p));
    w->complete = NULL;
    return NB_OK;
}

/* The instance in flight is: whatever becomes of its worker, these rows are done. */
static nb_status complete(nb_pool *p, nb_worker *w)
{
    NB_TRY(p->ctx, deliver(p, w));
    for (const nb_kept_row *kept = w->rows; kept; kept = kept->next)
        p->left[kept->index] = p->told[kept->index] = false;
    w->complete = w->rows;
    nb_ctx *mail = w->read;
    w->read = w->mail;
    w->mail = mail;
    nb_worker_forget_mail(w);
    return NB_OK;
}

static bool is_done(const nb_pool *p, const nb_job *job)
{
    for (int i = 0; job && i < job->count; i++)
        if (p->left[job->rows[i]]) return false;
    return job;
}

/* One message. */
static nb_status hear(nb_pool *p, nb_worker *w, const nb_message *m)
{
    bool good = true;
    if (m->kind == NB_TOLD_FAILURE) return bury_failed(p, w, m);
    if (m->kind == NB_TOLD_INSTANCE_DONE) return complete(p, w);
    if (m->kind == NB_TOLD_ROW) NB_TRY(p->ctx, keep(p, w, m, &good));
    if (m->kind == NB_TOLD_JOB_DONE && (good = !w->rows && is_done(p, w->job))) {
        note_pace(p, w);
        return hand_out(p, w);
    }
    return good ? NB_OK : bury_liar(p, w);
}

static void kill_all(nb_pool *p)
{
    for (int i = 0; i < p->worker_count; i++)
        if (p->workers[i].fd >= 0 || p->workers[i].leaving) nb_process_kill(p->workers[i].pid);
}

/* Signals come only here and while the pool waits, so that none is missed
 * between the look and the wait. What killed workers had completed is still heard. */
static void look_for_stop(nb_pool *p)
{
    sigprocmask(SIG_SETMASK, &p->signals, NULL); /* ppoll lets none in where messages are there already */
    sigprocmask(SIG_SETMASK, &p->blocked, NULL);
    if (!p->stopping && p->sink->stop(p->sink->self)) {
        p->stopping = true;
        kill_all(p);
    }
}

/* All that has come from a worker, or its end. */
static nb_status listen_to(nb_pool *p, nb_worker *w)
{
    long serial = w->serial;
    bool more = nb_channel_fill(w->fd, &w->inbox);
    nb_heard heard = NB_HEARD_MESSAGE;
    while (heard == NB_HEARD_MESSAGE) {
        nb_message m;
        NB_TRY(p->ctx, nb_channel_hear(&w->inbox, &heard, &m, w->mail));
        if (heard == NB_HEARD_NONSENSE) return bury_liar(p, w);
        if (heard == NB_HEARD_MESSAGE && m.kind != NB_TOLD_ROW)
            look_for_stop(p); /* before the next job is handed out */
        if (heard == NB_HEARD_MESSAGE) NB_TRY(p->ctx, hear(p, w, &m));
        if (w->fd < 0 || w->serial != serial) return NB_OK; /* it was ended, and another perhaps started */
    }
    return more ? NB_OK : bury_silent(p, w);
}

/* After a worker was heard, or ended. The sink is slow: one that is about to ask for its
 * next job gets that first. */
static nb_status settle(nb_pool *p, nb_worker *w)
{
    if (!is_done(p, w->job)) NB_TRY(p->ctx, deliver(p, w));
    if (w->leaving) nb_worker_see_off(w, NB_PATIENCE_S, false);
    return NB_OK;
}

static nb_status attend(nb_pool *p, nb_worker *w)
{
    NB_TRY(p->ctx, listen_to(p, w));
    return settle(p, w);
}

/* The rows of its job that are of the instance which it is at. A worker may write anything into its page. */
static int count_together(const nb_pool *p, const nb_worker *w)
{
    int at = atomic_load(&w->where->first), count = 0;
    const nb_planned_row *rows = p->plan->rows;
    for (int i = 0; i < w->job->count && at >= 0 && at < p->plan->row_count; i++) {
        const nb_planned_row *row = &rows[w->job->rows[i]];
        count += row->scene == rows[at].scene && row->trial == rows[at].trial;
    }
    return count > 0 ? count : w->job->count;
}

/* A call in a child of the worker has the same limit: the worker ends it, and loses nothing else. */
static double grace_s(const nb_pool *p, const nb_phase *phase, const nb_worker *w)
{
    enum { ENDING_S = 3 };
    int at = atomic_load(&w->where->first);
    bool known = phase && phase->axis >= 0 && at >= 0 && at < p->plan->row_count;
    return known && nb_plugin_within(nb_plan_choice(p->plan, at, phase->axis)) ? ENDING_S : 0;
}

/* When a worker's time for what it does is over; infinity: never. */
static double deadline_s(const nb_pool *p, const nb_worker *w, double *limit_s)
{
    double since_s = atomic_load(&w->where->since_s);
    int at = atomic_load(&w->where->phase);
    const nb_phase *phase = nb_pool_phase(p, at);
    *limit_s = 0;
    if (!w->job) return INFINITY;
    *limit_s = at == NB_AT_START ? START_S : p->how.timeout_s;
    if (phase && phase->of_all && *limit_s > 0) *limit_s *= count_together(p, w);
    return *limit_s > 0 ? since_s + *limit_s + grace_s(p, phase, w) : INFINITY;
}

/* A worker that sent something while the sink was slow is not late: its message will be read. */
static nb_status end_late(nb_pool *p)
{
    for (int i = 0; i < p->worker_count; i++) {
        nb_worker *w = &p->workers[i];
        struct pollfd now = {.fd = w->fd, .events = POLLIN};
        double limit_s;
        bool late = w->fd >= 0 && nb_clock_s() > deadline_s(p, w, &limit_s);
        if (!late || poll(&now, 1, 0) != 0) continue;
        NB_TRY(p->ctx, bury_late(p, w, limit_s));
        NB_TRY(p->ctx, settle(p, w));
    }
    return NB_OK;
}

/* Fills the places that are empty while there is work, and says until when to wait:
 * nobody tells when a worker begins something else, whose time ends sooner. */
static nb_status prepare_wait(nb_pool *p, bool *alive, double *first_s)
{
    double limit_s;
    *alive = false;
    *first_s = p->how.timeout_s > 0 ? nb_clock_s() + p->how.timeout_s : INFINITY;
    for (int i = 0; i < p->worker_count; i++) {
        nb_worker *w = &p->workers[i];
        if (w->fd < 0 && is_work_left(p)) NB_TRY(p->ctx, hand_out(p, w));
        p->polled[i] = (struct pollfd){.fd = w->fd, .events = POLLIN};
        if (w->fd < 0) continue;
        *alive = true;
        *first_s = fmin(*first_s, deadline_s(p, w, &limit_s));
    }
    return NB_OK;
}

static double watch_period_s(const nb_pool *p)
{
    return p->plan->config->study->exclusive ? 1 : 0.2;
}

/* Tells the sink what the workers are doing. A worker may write anything into its page. */
static void tell_watch(nb_pool *p)
{
    double now_s = nb_clock_s();
    if (!p->sink->watch || now_s < p->watched_s + watch_period_s(p)) return;
    p->watched_s = now_s;
    for (int i = 0; i < p->worker_count; i++) {
        const nb_worker *w = &p->workers[i];
        nb_position at = {.phase = NB_AT_START};
        bool busy = w->fd >= 0 && w->job;
        if (busy) at = nb_death_position(w);
        busy = busy && at.first >= 0 && at.first < at.end && at.end <= p->plan->row_count;
        p->doing[i] = (nb_doing){.phase = at.phase};
        if (busy) p->doing[i] = (nb_doing){at.phase, at.first, at.end, atomic_load(&w->where->since_s)};
    }
    p->sink->watch(p->sink->self, p->doing, p->worker_count);
}

static nb_status meanwhile(nb_pool *p)
{
    bool first = !p->begun && p->sink->meanwhile;
    p->begun = true;
    return first ? p->sink->meanwhile(p->sink->self, p->ctx) : NB_OK;
}

/* All that has come. */
static nb_status attend_all(nb_pool *p)
{
    for (int i = 0; i < p->worker_count; i++)
        if (p->polled[i].revents) NB_TRY(p->ctx, attend(p, &p->workers[i]));
    return NB_OK;
}

/* Committing is the slowest step, so results that come within a short time share one commit. */
static double keep_at_s(const nb_pool *p)
{
    static const double WHILE_S = 0.1;
    return p->unkept ? p->unkept_s + WHILE_S : INFINITY;
}

/* Waits for the next messages, a signal, or the end of somebody's time. */
static nb_status serve(nb_pool *p, bool *alive)
{
    double first_s;
    look_for_stop(p);
    NB_TRY(p->ctx, prepare_wait(p, alive, &first_s));
    NB_TRY(p->ctx, meanwhile(p));
    if (!*alive) return NB_OK;
    if (p->sink->watch) first_s = fmin(first_s, p->watched_s + watch_period_s(p));
    first_s = fmin(first_s, keep_at_s(p));
    double wait_s = fmin(fmax(0, first_s - nb_clock_s()) + 1e-3, 1e6);
    struct timespec wait = {.tv_sec = (time_t)wait_s, .tv_nsec = (long)(1e9 * (wait_s - floor(wait_s)))};
    int ready = ppoll(p->polled, (nfds_t)p->worker_count, isinf(first_s) ? NULL : &wait, &p->signals);
    NB_REQUIRE(p->ctx, ready >= 0 || errno == EINTR, NB_EIO, "the workers' messages cannot be read: %s",
               strerror(errno));
    if (ready > 0) NB_TRY(p->ctx, attend_all(p));
    tell_watch(p);
    if (ready >= 0 && !p->stopping) NB_TRY(p->ctx, end_late(p));
    return nb_clock_s() >= keep_at_s(p) ? nb_pool_keep(p) : NB_OK;
}

/* No worker outlives the pool, however it ends. */
static void close_pool(void *pool_)
{
    nb_pool *p = pool_;
    kill_all(p);
    for (int i = 0; i < p->worker_count; i++) {
        if (p->workers[i].fd >= 0) nb_worker_let_go(&p->workers[i]);
        if (p->workers[i].leaving) nb_worker_see_off(&p->workers[i], NB_PATIENCE_S, false);
    }
    sigprocmask(SIG_SETMASK, &p->signals, NULL);
}

static nb_status open_pool(nb_pool *p, const bool *pending)
{
    size_t rows = (size_t)p->plan->row_count;
    p->worker_count = p->how.jobs < p->unit_count ? p->how.jobs : p->unit_count;
    NB_NEED(p->left, nb_alloc(p->ctx, rows, sizeof *p->left));
    NB_NEED(p->told, nb_alloc(p->ctx, rows, sizeof *p->told));
    memcpy(p->left, pending, rows * sizeof *pending);
    NB_TRY(p->ctx, nb_suspects_new(p->plan, &p->suspects, p->ctx));
    NB_NEED(p->workers, nb_alloc(p->ctx, (size_t)p->worker_count, sizeof *p->workers));
    NB_NEED(p->polled, nb_alloc(p->ctx, (size_t)p->worker_count, sizeof *p->polled));
    NB_NEED(p->doing, nb_alloc(p->ctx, (size_t)p->worker_count, sizeof *p->doing));
    for (int i = 0; i < p->worker_count; i++) {
        nb_worker *w = &p->workers[i];
        w->fd = -1;
        NB_NEED(w->memory, nb_ctx_child(p->ctx));
        NB_NEED(w->mail, nb_ctx_child(p->ctx));
        NB_NEED(w->read, nb_ctx_child(p->ctx));
    }
    sigprocmask(SIG_SETMASK, NULL, &p->signals);
    p->blocked = p->signals;
    sigaddset(&p->blocked, SIGINT);
    sigaddset(&p->blocked, SIGTERM);
    sigaddset(&p->blocked, SIGHUP);
    sigaddset(&p->blocked, SIGQUIT);
    sigprocmask(SIG_SETMASK, &p->blocked, NULL);
    return nb_defer(p->ctx, close_pool, p);
}

static nb_status run_pool(nb_pool *p, const bool *pending)
{
    bool alive = true;
    NB_TRY(p->ctx, nb_units_find(p->plan, pending, &p->units, &p->unit_count, p->ctx));
    if (p->unit_count == 0) return meanwhile(p);
    nb_servers_end(); /* those that planning asked: workers have their own */
    NB_TRY(p->ctx, open_pool(p, pending));
    nb_status status = NB_OK;
    while (alive && status == NB_OK) status = serve(p, &alive);
    nb_status kept = nb_pool_keep(p); /* also what came before an error */
    return status == NB_OK ? kept : status;
}

static nb_status run_here(const nb_plan *plan, const bool *pending, int blas_threads, const nb_sink *sink, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_blas_set_threads(blas_threads, ctx));
    if (sink->meanwhile) NB_TRY(ctx, sink->meanwhile(sink->self, ctx));
    for (int scene = 0; scene < plan->scene_count && !sink->stop(sink->self); scene++)
        NB_TRY(ctx, plan->config->study->run(plan, scene, pending, sink, ctx));
    return NB_OK;
}

bool nb_workers_alone(const nb_plan *plan, nb_workers *workers)
{
    bool too_many = plan->config->study->exclusive && workers->jobs > 1;
    if (too_many) workers->jobs = 1;
    return too_many;
}

nb_status nb_run_plan(const nb_plan *plan, const bool *pending, nb_workers workers, const nb_sink *sink, nb_ctx *ctx)
{
    nb_workers_alone(plan, &workers);
    nb_pool p = {.plan = plan, .sink = sink, .ctx = ctx, .how = workers};
    if (workers.jobs == 0) return run_here(plan, pending, workers.blas_threads, sink, ctx);
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = run_pool(&p, pending);
    nb_ctx_release(ctx, mark);
    return status;
}

static nb_status fit(const nb_plan *plan, const nb_unit *units, int count, const bool *pending, nb_workers *workers,
                     nb_ctx *ctx)
{
    double *bytes, sum = 0;
    size_t *order;
    int jobs = 0, most = workers->jobs < count ? workers->jobs : count;
    nb_any_row any;
    const char *scene;
    if (count == 0) return NB_OK;
    NB_NEED(bytes, nb_alloc_reals(ctx, (size_t)count, 1));
    NB_NEED(order, nb_alloc(ctx, (size_t)count, sizeof *order));
    for (int i = 0; i < count; i++) bytes[i] = -nb_cost_of(plan, &units[i], pending).bytes;
    gsl_sort_index(order, bytes, 1, (size_t)count);
    while (jobs < most && (sum -= bytes[order[jobs]]) <= workers->memory) jobs++;
    nb_plan_row(plan, units[order[0]].first, &any);
    NB_TRY(ctx, nb_plan_scene_text(plan, units[order[0]].first, &scene, ctx));
    NB_REQUIRE(ctx, jobs > 0, NB_EINVAL, "%s needs about %.1f MiB (n = %d), but only %.1f MiB of memory may be used",
               scene, -bytes[order[0]] / 0x1p20, any.row.n, workers->memory / 0x1p20);
    workers->share = fmax(workers->memory / jobs, fmin(workers->memory, -1.5 * bytes[order[0]]));
    if (jobs < most) workers->jobs = jobs;
    return NB_OK;
}

nb_status nb_workers_fit(const nb_plan *plan, const bool *pending, nb_workers *workers, nb_ctx *ctx)
{
    nb_unit *units;
    int count;
    nb_mark mark = nb_ctx_mark(ctx);
    if (workers->memory <= 0 || workers->jobs == 0) return NB_OK;
    nb_status status = nb_units_find(plan, pending, &units, &count, ctx);
    if (status == NB_OK) status = fit(plan, units, count, pending, workers, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}
