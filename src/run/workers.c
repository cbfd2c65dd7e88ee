/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workers.c - a worker is a forked copy of this process that is told which rows to do
 * next, and answers with them. The parent keeps the rows of an instance until it is
 * complete, and hands them to the sink only then, after it has given the worker what
 * it does next. Where a worker is, it writes into a page that it shares with its
 * parent: what it was at when it died, and since when. */
#include "run/workers.h"

#include "base/clock.h"
#include "base/process.h"
#include "run/channel.h"
#include "run/prediction.h"
#include "run/jobs.h"
#include "run/units.h"
#include "linalg/blas.h"

#include <errno.h>
#include <fcntl.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined __SANITIZE_ADDRESS__
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

enum { CHANNEL = 3 };     /* a worker's end, its only open file but the standard streams */
enum { PATIENCE_S = 10 }; /* with one that has nothing left to do but to end */
enum { AT_UNKNOWN = -1 }; /* a phase that does not show */
enum { START_S = 120 };   /* until one does something: after that it never will */

typedef struct { /* shared between a worker and its parent */
    _Atomic double since_s;
    _Atomic int phase, first, end;
} whereabouts;

typedef struct kept_row {
    int index;
    nb_row *row; /* the study's */
    struct kept_row *next;
} kept_row;

typedef struct {
    pid_t pid;
    long serial;        /* how many there were at its place before */
    int fd;             /* -1: there is none */
    bool leaving;       /* its channel is closed, and it is not waited for yet */
    bool fresh;         /* it has not been given anything yet */
    nb_job *job;        /* NULL: none */
    whereabouts *where; /* a mapping of its own */
    nb_inbox inbox;
    nb_ctx *memory;         /* of the job */
    kept_row *rows, **last; /* of the instance in flight */
    kept_row *complete;     /* of the one before, which the sink has not got yet; NULL: it has */
    nb_ctx *mail, *read;    /* of these rows, and of those */
} worker;

typedef struct {
    const nb_plan *plan;
    const nb_sink *sink;
    nb_ctx *ctx;
    nb_workers how;
    bool *left; /* by row of the plan: to be done */
    bool *told; /* by row of the plan: kept, of an instance in flight */
    nb_unit *units;
    int unit_count, next_unit;
    nb_job *queue; /* parts of jobs that went wrong: before the next unit */
    nb_suspects suspects;
    worker *workers;
    struct pollfd *polled;
    int worker_count;
    bool stopping;
    bool begun;                /* the workers have something to do */
    sigset_t signals, blocked; /* the masks outside of the pool, and in it */
} pool;

typedef struct { /* in the worker */
    const nb_study *study;
    nb_ctx *ctx;
    whereabouts *where;
    nb_outbox outbox;
} post;

/* Without a parent there is nothing left to do. */
static void tell(post *self, nb_message message)
{
    if (!nb_channel_tell(CHANNEL, &self->outbox, &message)) _exit(EXIT_FAILURE);
}

/* Where an allocation has failed, what follows may fail for want of what the culprit
 * holds; where somebody has changed what others rely on, it may be wrong: it is not done
 * here. */
static void end_if_unfit(post *self)
{
    const char *spoilt = nb_ctx_spoilt(self->ctx), *what = spoilt ? spoilt : nb_ctx_exhausted(self->ctx);
    if (!what) return;
    tell(self, (nb_message){.kind = NB_TOLD_FAILURE, .number = spoilt ? NB_EBUG : NB_ENOMEM, .reason = what});
    _exit(EXIT_SUCCESS);
}

/* The time comes first: a new one with an old position is no reason to end anything. */
static void note_position(whereabouts *w, int phase, int first, int end)
{
    atomic_store(&w->since_s, nb_clock_s());
    atomic_store(&w->phase, phase);
    atomic_store(&w->first, first);
    atomic_store(&w->end, end);
}

static void at(void *self, int phase, int first, int end)
{
    post *p = self;
    end_if_unfit(p);
    note_position(p->where, phase, first, end);
}

static nb_status begin_nothing(void *self, nb_ctx *ctx)
{
    (void)self, (void)ctx;
    return NB_OK;
}

static nb_status tell_row(void *self, int index, const nb_row *row, nb_ctx *ctx)
{
    post *p = self;
    (void)ctx;
    end_if_unfit(p);
    tell(p, (nb_message){NB_TOLD_ROW, index, row->status, row->reason, (const char *)row + p->study->result_offset,
                         p->study->result_size});
    return NB_OK;
}

static nb_status tell_instance_done(void *self, nb_ctx *ctx)
{
    (void)ctx;
    end_if_unfit(self);
    tell(self, (nb_message){.kind = NB_TOLD_INSTANCE_DONE});
    return NB_OK;
}

static bool never_stop(void *self)
{
    (void)self;
    return false;
}

/* The flags of the job's rows are set in `mine` while it runs, and no others. */
static nb_status run_job(const pool *p, post *self, int count, const int *rows, bool *mine)
{
    const nb_sink sink = {self, begin_nothing, tell_row, tell_instance_done, never_stop, at, NULL, NULL};
    note_position(self->where, NB_AT_START, 0, 0);
    for (int i = 0; i < count; i++) mine[rows[i]] = true;
    nb_status status = p->plan->config->study->run(p->plan, p->plan->rows[rows[0]].scene, mine, &sink, p->ctx);
    for (int i = 0; i < count; i++) mine[rows[i]] = false;
    return status;
}

/* No dump of its memory when it crashes; and no more memory than it has inherited and
 * its share, so that what grows without end fails before the machine does. The
 * sanitizers' shadow is beyond any limit. */
static nb_status limit_memory(double share, nb_ctx *ctx)
{
    struct rlimit limit;
    long pages = 0;
    NB_REQUIRE(ctx, getrlimit(RLIMIT_CORE, &limit) == 0, NB_EIO, "a worker's limits cannot be read: %s",
               strerror(errno));
    limit.rlim_cur = 0;
    NB_REQUIRE(ctx, setrlimit(RLIMIT_CORE, &limit) == 0, NB_EIO, "a worker's core dumps cannot be limited: %s",
               strerror(errno));
    if (share <= 0 || SANITIZED) return NB_OK;
    FILE *statm = fopen("/proc/self/statm", "r");
    int read = statm ? fscanf(statm, "%*d %*d %*d %*d %*d %ld", &pages) : 0;
    if (statm) fclose(statm);
    NB_REQUIRE(ctx, read == 1 && getrlimit(RLIMIT_DATA, &limit) == 0, NB_EIO,
               "/proc/self/statm: a worker cannot read its size there");
    double most = (double)pages * (double)sysconf(_SC_PAGESIZE) + share;
    if (limit.rlim_max != RLIM_INFINITY && (double)limit.rlim_max <= most) return NB_OK; /* somebody is stricter */
    limit.rlim_cur = limit.rlim_max = (rlim_t)most;
    NB_REQUIRE(ctx, setrlimit(RLIMIT_DATA, &limit) == 0, NB_EIO, "a worker's memory cannot be limited: %s",
               strerror(errno));
    return NB_OK;
}

static nb_status work(const pool *p, post *self)
{
    bool *mine;
    int count, *rows;
    NB_TRY(p->ctx, nb_blas_set_threads(p->how.blas_threads, p->ctx));
    NB_TRY(p->ctx, nb_blas_warm_up(p->ctx)); /* before its memory is limited */
    NB_TRY(p->ctx, limit_memory(p->how.share, p->ctx));
    NB_NEED(mine, nb_alloc(p->ctx, (size_t)p->plan->row_count, sizeof *mine));
    NB_NEED(rows, nb_alloc(p->ctx, (size_t)p->plan->row_count, sizeof *rows));
    while (nb_channel_receive(CHANNEL, &count, sizeof count) &&
           nb_channel_receive(CHANNEL, rows, (size_t)count * sizeof *rows)) {
        NB_TRY(p->ctx, run_job(p, self, count, rows, mine));
        end_if_unfit(self);
        tell(self, (nb_message){.kind = NB_TOLD_JOB_DONE});
    }
    return NB_OK;
}

/* The life of a worker. Of all that it has inherited it keeps the standard
 * streams and its channel: the store's files and the lock on the run's folder
 * stay the parent's alone. */
static _Noreturn void live(const pool *p, whereabouts *where, int fd)
{
    post self = {.study = p->plan->config->study, .ctx = p->ctx, .where = where};
    if (dup2(fd, CHANNEL) != CHANNEL) _exit(EXIT_FAILURE);
    closefrom(CHANNEL + 1);
    fcntl(CHANNEL, F_SETFD, FD_CLOEXEC);
    signal(SIGXFSZ, SIG_IGN); /* as in main */
    signal(SIGPIPE, SIG_IGN);
    nb_ctx_forget_exhausted(p->ctx);
    nb_status status = work(p, &self);
    if (status != NB_OK)
        tell(&self, (nb_message){.kind = NB_TOLD_FAILURE, .number = (int)status, .reason = nb_error_message(p->ctx)});
    _exit(EXIT_SUCCESS);
}

/* The rows of the instance in flight. */
static void forget_mail(worker *w)
{
    nb_ctx_release(w->mail, 0);
    w->rows = NULL;
    w->last = &w->rows;
}

static nb_status start(pool *p, worker *w)
{
    int ends[2];
    void *page = mmap(NULL, sizeof *w->where, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    NB_REQUIRE(p->ctx, page != MAP_FAILED, NB_ENOMEM, "out of memory: a worker's page");
    w->where = page;
    note_position(w->where, NB_AT_START, 0, 0);
    fflush(NULL); /* what is buffered is not the worker's to write */
    bool linked = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
    const char *reason = strerror(errno);
    nb_status status = linked ? nb_process_fork(&w->pid, p->ctx) : NB_EHOST;
    if (status == NB_OK && w->pid == 0) live(p, w->where, ends[1]);
    if (linked) close(ends[1]);
    if (linked && status != NB_OK) close(ends[0]);
    if (status != NB_OK) munmap(w->where, sizeof *w->where);
    NB_REQUIRE(p->ctx, linked, status, "worker %d of %d: a channel cannot be made: %s", (int)(w - p->workers) + 1,
               p->worker_count, reason);
    if (status == NB_EHOST) NB_NEED(reason, nb_strdup(p->ctx, nb_error_message(p->ctx)));
    if (status == NB_EHOST) nb_error_clear(p->ctx);
    NB_REQUIRE(p->ctx, status != NB_EHOST, status, "worker %d of %d: %s; try fewer --jobs", (int)(w - p->workers) + 1,
               p->worker_count, reason);
    NB_TRY(p->ctx, status);
    w->fd = ends[0];
    w->serial++;
    w->fresh = true;
    w->job = NULL;
    forget_mail(w);
    w->inbox.first = w->inbox.used = 0;
    return NB_OK;
}

/* Tells a worker that there is no more to do. */
static void let_go(worker *w)
{
    close(w->fd);
    w->fd = -1;
    w->leaving = true;
}

/* Ends one that was let go, and all that it has left. Its job, if any, stays to be looked at. */
static nb_ending see_off(worker *w, double patience_s, bool ask)
{
    nb_ending ending = nb_process_end(w->pid, patience_s, ask);
    munmap(w->where, sizeof *w->where);
    w->leaving = false;
    return ending;
}

static nb_ending dismiss(worker *w, double patience_s, bool ask)
{
    let_go(w);
    return see_off(w, patience_s, ask);
}

static void push(pool *p, nb_job *parts)
{
    nb_job **last = &p->queue;
    while (*last) last = &(*last)->next;
    *last = parts;
}

/* The pending rows of the next unit; those of suspects go to the queue. */
static nb_status job_of_unit(pool *p, nb_job **job, nb_ctx *memory)
{
    nb_job *parts;
    const nb_unit *unit = &p->units[p->next_unit++];
    NB_NEED(*job, nb_alloc(memory, 1, sizeof **job));
    NB_NEED((*job)->rows, nb_alloc(memory, (size_t)(unit->end - unit->first), sizeof *(*job)->rows));
    for (int i = unit->first; i < unit->end; i++)
        if (p->left[i]) (*job)->rows[(*job)->count++] = i;
    NB_TRY(p->ctx, nb_job_part_suspects(p->plan, &p->suspects, *job, &parts, p->ctx));
    push(p, parts);
    return NB_OK;
}

/* The next job that there is, or NULL. */
static nb_status next_job(pool *p, nb_job **job, nb_ctx *memory)
{
    *job = NULL;
    while (!*job && !p->stopping && (p->queue || p->next_unit < p->unit_count)) {
        if (p->queue) {
            *job = p->queue;
            p->queue = (*job)->next;
            (*job)->next = NULL;
            return NB_OK;
        }
        NB_TRY(p->ctx, job_of_unit(p, job, memory));
        if ((*job)->count == 0) *job = NULL;
    }
    return NB_OK;
}

static bool is_work_left(const pool *p)
{
    return !p->stopping && (p->queue || p->next_unit < p->unit_count);
}

/* Gives the worker of this place something to do: a new worker where there is none, or
 * where the job is for a fresh one; where there is nothing, it goes. Whether it takes
 * it shows later: its channel ends where it died. */
static nb_status hand_out(pool *p, worker *w)
{
    nb_job *job;
    nb_ctx_release(w->memory, 0);
    w->job = NULL;
    NB_TRY(p->ctx, next_job(p, &job, w->memory));
    if (w->fd >= 0 && !job) let_go(w);
    if (!job) return NB_OK;
    if (w->fd >= 0 && job->fresh && !w->fresh) dismiss(w, PATIENCE_S, false);
    if (w->fd < 0) NB_TRY(p->ctx, start(p, w));
    job->fresh = w->fresh;
    w->job = job;
    w->fresh = false;
    if (nb_channel_send(w->fd, &job->count, sizeof job->count))
        nb_channel_send(w->fd, job->rows, (size_t)job->count * sizeof *job->rows);
    return NB_OK;
}

typedef struct {                 /* of a worker */
    const char *status, *reason; /* what its rows become if they are to blame */
    bool outside;                /* a signal that somebody else may have sent */
    nb_position at;
} death;

static nb_position position_of(const worker *w)
{
    return (nb_position){atomic_load(&w->where->phase), atomic_load(&w->where->first), atomic_load(&w->where->end)};
}

/* What the study says of a phase; NULL: the worker is at none. */
static const nb_phase *phase_of(const pool *p, int phase)
{
    const nb_phase *phases = p->plan->config->study->phases;
    int count = 0;
    while (phases[count].doing) count++;
    return phase > NB_AT_START && phase <= count ? &phases[phase - 1] : NULL;
}

static const char *doing(const pool *p, int phase)
{
    const nb_phase *known = phase_of(p, phase);
    return known ? known->doing : "the start";
}

static bool is_from_outside(int signal)
{
    return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

/* Its channel has ended. */
static nb_status autopsy(const pool *p, worker *w, death *d)
{
    d->at = position_of(w);
    nb_ending ending = dismiss(w, 1, false);
    const char *where = doing(p, d->at.phase);
    d->status = "crashed";
    if (ending.timed_out)
        NB_NEED(d->reason, nb_format(p->ctx, "%s closed the channel between the worker and its parent", where));
    else if (WIFSIGNALED(ending.how))
        NB_NEED(d->reason, nb_format(p->ctx, "%s was killed by signal %d (%s)", where, WTERMSIG(ending.how),
                                     strsignal(WTERMSIG(ending.how))));
    else
        NB_NEED(d->reason,
                nb_format(p->ctx, "%s ended the process, with exit status %d", where, WEXITSTATUS(ending.how)));
    d->outside = !ending.timed_out && WIFSIGNALED(ending.how) && is_from_outside(WTERMSIG(ending.how));
    return NB_OK;
}

static nb_status put_blame(pool *p, const nb_job *job, const death *d)
{
    nb_suspects_add(p->plan, d->at, &p->suspects);
    for (int i = 0, next; i < job->count; i = next) { /* an instance at a time */
        NB_TRY(p->ctx, p->sink->begin(p->sink->self, p->ctx));
        for (next = i; next < job->count && p->plan->rows[job->rows[next]].trial == p->plan->rows[job->rows[i]].trial;
             next++) {
            nb_any_row any;
            nb_plan_row(p->plan, job->rows[next], &any);
            any.row.status = d->status;
            any.row.reason = d->reason;
            NB_TRY(p->ctx, p->sink->row(p->sink->self, job->rows[next], &any.row, p->ctx));
            p->left[job->rows[next]] = false;
        }
        NB_TRY(p->ctx, p->sink->end(p->sink->self, p->ctx));
    }
    return NB_OK;
}

/* Who sits at a machine should know that something was killed there. */
static nb_status notice_outside(const pool *p, const nb_job *job, const death *d)
{
    const char *text;
    nb_any_row any;
    nb_plan_row(p->plan, job->rows[0], &any);
    if (!p->sink->notice) return NB_OK;
    NB_NEED(text, nb_format(p->ctx, "a worker ended at %s head %d, trial %d: %s; its work is taken up again",
                            any.row.problem, any.row.head, any.row.trial, d->reason));
    p->sink->notice(p->sink->self, text);
    return NB_OK;
}

/* What becomes of the rows of a job whose worker is gone. */
static nb_status take_up(pool *p, const nb_job *job, const death *d)
{
    enum { ATTEMPTS = 1 };
    nb_job *rest, *parts;
    NB_TRY(p->ctx, nb_job_rest(job, p->left, &rest, p->ctx));
    if (rest->count == 0) return NB_OK;
    rest->fresh = job->fresh;
    if (d->outside && rest->attempts < ATTEMPTS) {
        NB_TRY(p->ctx, notice_outside(p, rest, d));
        rest->attempts++;
        rest->fresh = true;
        push(p, rest);
        return NB_OK;
    }
    NB_REQUIRE(p->ctx, d->at.phase != NB_AT_START || !job->fresh, NB_EIO, "a worker ended before it began: %s",
               d->reason);
    NB_TRY(p->ctx, nb_job_divide(p->plan, rest, d->at, &parts, p->ctx));
    if (!parts) return put_blame(p, rest, d);
    push(p, parts);
    return NB_OK;
}

/* A worker that is gone, or that was ended for what it did: forgets what it has told
 * of the instance in flight. */
static nb_status bury(pool *p, worker *w, const death *d)
{
    for (const kept_row *kept = w->rows; kept; kept = kept->next) p->told[kept->index] = false;
    if (!p->stopping && w->job) NB_TRY(p->ctx, take_up(p, w->job, d));
    return hand_out(p, w);
}

static nb_status bury_silent(pool *p, worker *w)
{
    death d = {.status = NULL};
    NB_TRY(p->ctx, autopsy(p, w, &d));
    return bury(p, w, &d);
}

/* Who it was does not show: what was written is met when the next message is expected. */
static nb_status bury_liar(pool *p, worker *w)
{
    death d = {.status = "crashed", .at.phase = AT_UNKNOWN};
    dismiss(w, 0, false);
    NB_NEED(d.reason, nb_strdup(p->ctx, "something wrote into the channel between the worker and its parent"));
    return bury(p, w, &d);
}

static nb_status bury_failed(pool *p, worker *w, const nb_message *m)
{
    death d = {.status = "failed", .at = position_of(w)};
    NB_NEED(d.reason, nb_strdup(p->ctx, m->reason ? m->reason : ""));
    nb_status status = m->number > NB_OK && m->number < NB_STATUS_COUNT ? (nb_status)m->number : NB_EBUG;
    dismiss(w, PATIENCE_S, false);
    NB_REQUIRE(p->ctx, p->stopping || status != NB_EHOST, status, "%s; the same command continues when there is enough",
               d.reason);
    NB_REQUIRE(p->ctx, p->stopping || d.at.phase != NB_AT_START || !w->job || !w->job->fresh, status, "%s", d.reason);
    return bury(p, w, &d);
}

static nb_status bury_late(pool *p, worker *w, double limit_s)
{
    death d = {.status = "timeout", .at = position_of(w)};
    nb_ending ending = dismiss(w, 0, true);
    bool deaf = WIFSIGNALED(ending.how) && WTERMSIG(ending.how) == SIGKILL;
    NB_NEED(d.reason, nb_format(p->ctx, "%s was not done after %g s%s", doing(p, d.at.phase), limit_s,
                                deaf ? ", and did not end at SIGTERM" : ""));
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

/* *good is false where the row is none that the worker could have done. */
static nb_status keep(const pool *p, worker *w, const nb_message *m, bool *good)
{
    kept_row *kept;
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

static nb_status deliver(const pool *p, worker *w)
{
    if (!w->complete) return NB_OK;
    NB_TRY(p->ctx, p->sink->begin(p->sink->self, p->ctx));
    for (const kept_row *kept = w->complete; kept; kept = kept->next)
        NB_TRY(p->ctx, p->sink->row(p->sink->self, kept->index, kept->row, p->ctx));
    NB_TRY(p->ctx, p->sink->end(p->sink->self, p->ctx));
    w->complete = NULL;
    return NB_OK;
}

/* The instance in flight is: whatever becomes of its worker, these rows are done. */
static nb_status complete(const pool *p, worker *w)
{
    NB_TRY(p->ctx, deliver(p, w));
    for (const kept_row *kept = w->rows; kept; kept = kept->next) p->left[kept->index] = p->told[kept->index] = false;
    w->complete = w->rows;
    nb_ctx *mail = w->read;
    w->read = w->mail;
    w->mail = mail;
    forget_mail(w);
    return NB_OK;
}

static bool is_done(const pool *p, const nb_job *job)
{
    for (int i = 0; job && i < job->count; i++)
        if (p->left[job->rows[i]]) return false;
    return job;
}

/* One message. */
static nb_status hear(pool *p, worker *w, const nb_message *m)
{
    bool good = true;
    if (m->kind == NB_TOLD_FAILURE) return bury_failed(p, w, m);
    if (m->kind == NB_TOLD_INSTANCE_DONE) return complete(p, w);
    if (m->kind == NB_TOLD_ROW) NB_TRY(p->ctx, keep(p, w, m, &good));
    if (m->kind == NB_TOLD_JOB_DONE && (good = !w->rows && is_done(p, w->job))) return hand_out(p, w);
    return good ? NB_OK : bury_liar(p, w);
}

static void kill_all(pool *p)
{
    for (int i = 0; i < p->worker_count; i++)
        if (p->workers[i].fd >= 0 || p->workers[i].leaving) nb_process_kill(p->workers[i].pid);
}

/* Signals come only here and while the pool waits, so that none is missed
 * between the look and the wait. What killed workers had completed is still heard. */
static void look_for_stop(pool *p)
{
    sigprocmask(SIG_SETMASK, &p->signals, NULL); /* ppoll lets none in where messages are there already */
    sigprocmask(SIG_SETMASK, &p->blocked, NULL);
    if (!p->stopping && p->sink->stop(p->sink->self)) {
        p->stopping = true;
        kill_all(p);
    }
}

/* All that has come from a worker, or its end. */
static nb_status listen_to(pool *p, worker *w)
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
static nb_status settle(pool *p, worker *w)
{
    if (!is_done(p, w->job)) NB_TRY(p->ctx, deliver(p, w));
    if (w->leaving) see_off(w, PATIENCE_S, false);
    return NB_OK;
}

static nb_status attend(pool *p, worker *w)
{
    NB_TRY(p->ctx, listen_to(p, w));
    return settle(p, w);
}

/* When a worker's time for what it does is over; infinity: never. */
static double deadline_s(const pool *p, const worker *w, double *limit_s)
{
    double since_s = atomic_load(&w->where->since_s);
    int at = atomic_load(&w->where->phase);
    const nb_phase *phase = phase_of(p, at);
    *limit_s = at == NB_AT_START ? START_S : p->how.timeout_s * (phase && phase->of_all && w->job ? w->job->count : 1);
    return *limit_s > 0 && w->job ? since_s + *limit_s : INFINITY;
}

/* One that has told something while the sink was slow is not late: it will be heard. */
static nb_status end_late(pool *p)
{
    for (int i = 0; i < p->worker_count; i++) {
        worker *w = &p->workers[i];
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
static nb_status prepare_wait(pool *p, bool *alive, double *first_s)
{
    double limit_s;
    *alive = false;
    *first_s = p->how.timeout_s > 0 ? nb_clock_s() + p->how.timeout_s : INFINITY;
    for (int i = 0; i < p->worker_count; i++) {
        worker *w = &p->workers[i];
        if (w->fd < 0 && is_work_left(p)) NB_TRY(p->ctx, hand_out(p, w));
        p->polled[i] = (struct pollfd){.fd = w->fd, .events = POLLIN};
        if (w->fd < 0) continue;
        *alive = true;
        *first_s = fmin(*first_s, deadline_s(p, w, &limit_s));
    }
    return NB_OK;
}

static nb_status meanwhile(pool *p)
{
    bool first = !p->begun && p->sink->meanwhile;
    p->begun = true;
    return first ? p->sink->meanwhile(p->sink->self, p->ctx) : NB_OK;
}

/* Waits for the next messages, a signal, or the end of somebody's time. */
static nb_status serve(pool *p, bool *alive)
{
    double first_s;
    look_for_stop(p);
    NB_TRY(p->ctx, prepare_wait(p, alive, &first_s));
    NB_TRY(p->ctx, meanwhile(p));
    NB_TRY(p->ctx, nb_process_watch(p->ctx));
    if (!*alive) return NB_OK;
    double wait_s = fmin(fmax(0, first_s - nb_clock_s()) + 1e-3, 1e6);
    struct timespec wait = {.tv_sec = (time_t)wait_s, .tv_nsec = (long)(1e9 * (wait_s - floor(wait_s)))};
    int ready = ppoll(p->polled, (nfds_t)p->worker_count, isinf(first_s) ? NULL : &wait, &p->signals);
    NB_REQUIRE(p->ctx, ready >= 0 || errno == EINTR, NB_EIO, "the workers cannot be heard: %s", strerror(errno));
    for (int i = 0; i < p->worker_count && ready > 0; i++)
        if (p->polled[i].revents) NB_TRY(p->ctx, attend(p, &p->workers[i]));
    return ready >= 0 && !p->stopping ? end_late(p) : NB_OK;
}

/* However the pool ends, no worker outlives it. */
static void close_pool(void *pool_)
{
    pool *p = pool_;
    kill_all(p);
    for (int i = 0; i < p->worker_count; i++) {
        if (p->workers[i].fd >= 0) let_go(&p->workers[i]);
        if (p->workers[i].leaving) see_off(&p->workers[i], PATIENCE_S, false);
    }
    sigprocmask(SIG_SETMASK, &p->signals, NULL);
}

static nb_status open_pool(pool *p, const bool *pending)
{
    size_t rows = (size_t)p->plan->row_count;
    p->worker_count = p->how.jobs < p->unit_count ? p->how.jobs : p->unit_count;
    NB_NEED(p->left, nb_alloc(p->ctx, rows, sizeof *p->left));
    NB_NEED(p->told, nb_alloc(p->ctx, rows, sizeof *p->told));
    memcpy(p->left, pending, rows * sizeof *pending);
    NB_TRY(p->ctx, nb_suspects_new(p->plan, &p->suspects, p->ctx));
    NB_NEED(p->workers, nb_alloc(p->ctx, (size_t)p->worker_count, sizeof *p->workers));
    NB_NEED(p->polled, nb_alloc(p->ctx, (size_t)p->worker_count, sizeof *p->polled));
    for (int i = 0; i < p->worker_count; i++) {
        worker *w = &p->workers[i];
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

static nb_status run_pool(pool *p, const bool *pending)
{
    bool alive = true;
    NB_TRY(p->ctx, nb_units_find(p->plan, pending, &p->units, &p->unit_count, p->ctx));
    if (p->unit_count == 0) return meanwhile(p);
    NB_TRY(p->ctx, open_pool(p, pending));
    while (alive) NB_TRY(p->ctx, serve(p, &alive));
    return NB_OK;
}

static nb_status run_here(const nb_plan *plan, const bool *pending, int blas_threads, const nb_sink *sink, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_blas_set_threads(blas_threads, ctx));
    if (sink->meanwhile) NB_TRY(ctx, sink->meanwhile(sink->self, ctx));
    for (int scene = 0; scene < plan->scene_count && !sink->stop(sink->self); scene++)
        NB_TRY(ctx, plan->config->study->run(plan, scene, pending, sink, ctx));
    return NB_OK;
}

nb_status nb_run_plan(const nb_plan *plan, const bool *pending, nb_workers workers, const nb_sink *sink, nb_ctx *ctx)
{
    pool p = {.plan = plan, .sink = sink, .ctx = ctx, .how = workers};
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
    NB_TRY(ctx, nb_row_scene_text(plan->config->study, &any, &scene, ctx));
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
