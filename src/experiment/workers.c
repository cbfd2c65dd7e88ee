/* workers.c - a worker is a forked copy of this process that is told which unit
 * of work to do next, and answers with its rows. The parent keeps the rows of
 * an instance until it is complete, and hands them to the sink only then. */
#include "experiment/workers.h"

#include "experiment/channel.h"
#include "experiment/units.h"
#include "linalg/blas.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHANNEL = 3 }; /* a worker's end, its only open file but the standard streams */

typedef struct kept_row {
    int index;
    nb_row row;
    struct kept_row *next;
} kept_row;

typedef struct {
    pid_t pid;
    int fd;                 /* -1: it has ended */
    int unit;               /* -1: none */
    nb_ctx *memory;         /* of the rows */
    kept_row *rows, **last; /* of the instance in flight */
} worker;

typedef struct {
    const nb_plan *plan;
    const bool *pending;
    const nb_sink *sink;
    nb_ctx *ctx;
    nb_workers how;
    nb_unit *units;
    int unit_count, next_unit;
    worker *workers;
    struct pollfd *polled;
    int worker_count, lost;
    const char *first_loss;
    bool stopping;
    sigset_t signals, blocked; /* the masks outside of the pool, and in it */
} pool;

/* In the worker. Without a parent there is nothing left to do. */
static void tell(nb_message message)
{
    if (!nb_channel_tell(CHANNEL, &message)) _exit(EXIT_FAILURE);
}

static nb_status begin_nothing(void *self, nb_ctx *ctx)
{
    (void)self, (void)ctx;
    return NB_OK;
}

static nb_status tell_row(void *self, int index, const nb_row *row, nb_ctx *ctx)
{
    (void)self, (void)ctx;
    tell((nb_message){NB_TOLD_ROW, index, row->status, row->reason, row->measures});
    return NB_OK;
}

static nb_status tell_instance_done(void *self, nb_ctx *ctx)
{
    (void)self, (void)ctx;
    tell((nb_message){.kind = NB_TOLD_INSTANCE_DONE});
    return NB_OK;
}

static bool never_stop(void *self)
{
    (void)self;
    return false;
}

/* The flags of the unit's rows are set in `mine` while it runs, and no others. */
static nb_status run_unit(const pool *p, const nb_unit *u, bool *mine)
{
    static const nb_sink sink = {NULL, begin_nothing, tell_row, tell_instance_done, never_stop};
    size_t count = (size_t)(u->end - u->first);
    memcpy(mine + u->first, p->pending + u->first, count * sizeof *mine);
    nb_status status = nb_run_scene(p->plan, p->plan->rows[u->first].scene, mine, &sink, p->ctx);
    memset(mine + u->first, 0, count * sizeof *mine);
    return status;
}

static nb_status work(const pool *p)
{
    bool *mine;
    int number;
    NB_TRY(p->ctx, nb_blas_set_threads(p->how.blas_threads, p->ctx));
    NB_NEED(mine, nb_alloc(p->ctx, (size_t)p->plan->row_count, sizeof *mine));
    while (nb_channel_receive(CHANNEL, &number, sizeof number)) {
        NB_TRY(p->ctx, run_unit(p, &p->units[number], mine));
        tell((nb_message){.kind = NB_TOLD_UNIT_DONE});
    }
    return NB_OK;
}

/* The life of a worker. Of all that it has inherited it keeps the standard
 * streams and its channel: the store's files and the lock on the run's folder
 * stay the parent's alone. SIGINT and SIGTERM stay blocked, since a terminal
 * sends them to the workers too, and what they mean is for the parent to say. */
static _Noreturn void live(const pool *p, int fd, pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent || dup2(fd, CHANNEL) != CHANNEL) _exit(EXIT_FAILURE);
    closefrom(CHANNEL + 1);
    fcntl(CHANNEL, F_SETFD, FD_CLOEXEC);
    nb_status status = work(p);
    if (status != NB_OK) tell((nb_message){.kind = NB_TOLD_FAILURE, .number = (int)status, .reason = nb_error_message(p->ctx)});
    _exit(EXIT_SUCCESS);
}

/* Gives how it ended. */
static int await(worker *w)
{
    int how = 0;
    close(w->fd); /* tells it that there is no more to do */
    w->fd = -1;
    while (waitpid(w->pid, &how, 0) < 0 && errno == EINTR) {}
    return how;
}

/* Whether the worker takes it shows later: its channel ends where it died. */
static void hand_out(pool *p, worker *w)
{
    w->unit = p->stopping || p->next_unit == p->unit_count ? -1 : p->next_unit++;
    if (w->unit < 0)
        await(w);
    else
        nb_channel_send(w->fd, &w->unit, sizeof w->unit);
}

static nb_status start(pool *p, worker *w)
{
    int ends[2], reason = 0;
    pid_t self = getpid();
    NB_NEED(w->memory, nb_ctx_child(p->ctx));
    w->last = &w->rows;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
        w->pid = fork();
        if (w->pid == 0) live(p, ends[1], self);
        reason = w->pid < 0 ? errno : 0;
        close(ends[1]);
        if (reason) close(ends[0]);
    } else {
        reason = errno;
    }
    NB_REQUIRE(p->ctx, !reason, NB_EIO, "worker %d of %d cannot be started: %s; try fewer --jobs",
               (int)(w - p->workers) + 1, p->worker_count, strerror(reason));
    w->fd = ends[0];
    hand_out(p, w);
    return NB_OK;
}

/* Its channel has ended: remembers how and where, unless that was asked for. */
static nb_status bury(pool *p, worker *w)
{
    nb_row row;
    int how = await(w);
    if (p->stopping || p->lost++) return NB_OK;
    nb_plan_row(p->plan, p->units[w->unit].first, &row);
    const char *end, *trial = "";
    if (WIFSIGNALED(how))
        NB_NEED(end, nb_format(p->ctx, "was killed by signal %d (%s)", WTERMSIG(how), strsignal(WTERMSIG(how))));
    else
        NB_NEED(end, nb_format(p->ctx, "ended with exit status %d", WEXITSTATUS(how)));
    if (p->plan->scenes[p->plan->rows[p->units[w->unit].first].scene].random)
        NB_NEED(trial, nb_format(p->ctx, " trial %d", row.trial));
    NB_NEED(p->first_loss, nb_format(p->ctx, "%s, at %s head %d%s, %s", end, row.problem, row.head, trial, row.kernel));
    return NB_OK;
}

static nb_status keep(const pool *p, worker *w, const nb_message *m)
{
    kept_row *kept;
    NB_NEED(kept, nb_alloc(w->memory, 1, sizeof *kept));
    kept->index = m->number;
    nb_plan_row(p->plan, kept->index, &kept->row);
    kept->row.status = m->status;
    kept->row.reason = m->reason;
    kept->row.measures = m->measures;
    *w->last = kept;
    w->last = &kept->next;
    return NB_OK;
}

static nb_status deliver(const pool *p, worker *w)
{
    NB_TRY(p->ctx, p->sink->begin(p->sink->self, p->ctx));
    for (const kept_row *kept = w->rows; kept; kept = kept->next)
        NB_TRY(p->ctx, p->sink->row(p->sink->self, kept->index, &kept->row, p->ctx));
    NB_TRY(p->ctx, p->sink->end(p->sink->self, p->ctx));
    w->rows = NULL;
    w->last = &w->rows;
    nb_ctx_release(w->memory, 0);
    return NB_OK;
}

/* One message, or the end. */
static nb_status hear(pool *p, worker *w)
{
    nb_message m;
    bool there;
    NB_TRY(p->ctx, nb_channel_hear(w->fd, &m, &there, w->memory));
    if (!there) return bury(p, w);
    if (m.kind == NB_TOLD_ROW) return keep(p, w, &m);
    if (m.kind == NB_TOLD_INSTANCE_DONE) return deliver(p, w);
    NB_REQUIRE(p->ctx, m.kind == NB_TOLD_UNIT_DONE, (nb_status)m.number, "%s", m.reason);
    hand_out(p, w);
    return NB_OK;
}

static void kill_all(pool *p)
{
    for (int i = 0; i < p->worker_count; i++)
        if (p->workers[i].fd >= 0) kill(p->workers[i].pid, SIGKILL);
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

/* Waits for the next messages, or a signal. */
static nb_status serve(pool *p, bool *alive)
{
    look_for_stop(p);
    *alive = false;
    for (int i = 0; i < p->worker_count; i++) {
        p->polled[i] = (struct pollfd){.fd = p->workers[i].fd, .events = POLLIN};
        *alive = *alive || p->workers[i].fd >= 0;
    }
    if (!*alive) return NB_OK;
    int ready = ppoll(p->polled, (nfds_t)p->worker_count, NULL, &p->signals);
    NB_REQUIRE(p->ctx, ready >= 0 || errno == EINTR, NB_EIO, "the workers cannot be heard: %s", strerror(errno));
    for (int i = 0; i < p->worker_count && ready > 0; i++)
        if (p->polled[i].revents) NB_TRY(p->ctx, hear(p, &p->workers[i]));
    return NB_OK;
}

/* However the pool ends, no worker outlives it. */
static void close_pool(void *pool_)
{
    pool *p = pool_;
    kill_all(p);
    for (int i = 0; i < p->worker_count; i++)
        if (p->workers[i].fd >= 0) await(&p->workers[i]);
    sigprocmask(SIG_SETMASK, &p->signals, NULL);
}

static nb_status open_pool(pool *p)
{
    p->worker_count = p->how.jobs < p->unit_count ? p->how.jobs : p->unit_count;
    NB_NEED(p->workers, nb_alloc(p->ctx, (size_t)p->worker_count, sizeof *p->workers));
    NB_NEED(p->polled, nb_alloc(p->ctx, (size_t)p->worker_count, sizeof *p->polled));
    for (int i = 0; i < p->worker_count; i++) p->workers[i] = (worker){.fd = -1, .unit = -1};
    sigprocmask(SIG_SETMASK, NULL, &p->signals);
    p->blocked = p->signals;
    sigaddset(&p->blocked, SIGINT);
    sigaddset(&p->blocked, SIGTERM);
    sigprocmask(SIG_SETMASK, &p->blocked, NULL);
    NB_TRY(p->ctx, nb_defer(p->ctx, close_pool, p));
    for (int i = 0; i < p->worker_count; i++) NB_TRY(p->ctx, start(p, &p->workers[i]));
    return NB_OK;
}

static nb_status run_pool(pool *p)
{
    bool alive = true;
    NB_TRY(p->ctx, open_pool(p));
    while (alive) NB_TRY(p->ctx, serve(p, &alive));
    NB_REQUIRE(p->ctx, p->lost == 0, NB_EIO, "%d of %d workers died, the first %s; run the same command again: what was done is kept",
               p->lost, p->worker_count, p->first_loss);
    return NB_OK;
}

static nb_status run_here(const nb_plan *plan, const bool *pending, int blas_threads, const nb_sink *sink, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_blas_set_threads(blas_threads, ctx));
    for (int scene = 0; scene < plan->scene_count && !sink->stop(sink->self); scene++)
        NB_TRY(ctx, nb_run_scene(plan, scene, pending, sink, ctx));
    return NB_OK;
}

nb_status nb_run_plan(const nb_plan *plan, const bool *pending, nb_workers workers, const nb_sink *sink, nb_ctx *ctx)
{
    pool p = {.plan = plan, .pending = pending, .sink = sink, .ctx = ctx, .how = workers};
    if (workers.jobs == 1) return run_here(plan, pending, workers.blas_threads, sink, ctx);
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = nb_units_find(plan, pending, &p.units, &p.unit_count, ctx);
    if (status == NB_OK) status = run_pool(&p);
    nb_ctx_release(ctx, mark);
    return status;
}
