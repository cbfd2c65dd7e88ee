/* SPDX-License-Identifier: GPL-3.0-or-later */
/* child.c - the worker's side: it is told which rows to do next, and answers with them. */
#include "run/child.h"

#include "base/clock.h"
#include "base/server.h"
#include "linalg/blas.h"
#include "run/channel.h"
#include "run/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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

enum { CHANNEL = 3 }; /* a worker's end, its only open file but the standard streams */

typedef struct {
    const nb_study *study;
    nb_ctx *ctx;
    nb_whereabouts *where;
    nb_outbox outbox;
} post;

/* The time is written first: a new time with an old position does no harm. */
void nb_whereabouts_note(nb_whereabouts *w, int phase, int first, int end)
{
    atomic_store(&w->since_s, nb_clock_s());
    atomic_store(&w->phase, phase);
    atomic_store(&w->first, first);
    atomic_store(&w->end, end);
}

/* Ends if the parent is gone, since nothing is left to do. */
static void tell(post *self, nb_message message)
{
    if (!nb_channel_tell(CHANNEL, &self->outbox, &message)) _exit(EXIT_FAILURE);
}

/* Ends a worker in which an allocation has failed: what it computes next may fail for want of memory that the culprit
 * holds. */
static void end_if_unfit(post *self)
{
    const char *what = nb_ctx_exhausted(self->ctx);
    if (!what) return;
    tell(self, (nb_message){.kind = NB_TOLD_FAILURE, .number = NB_ENOMEM, .reason = what});
    _exit(EXIT_SUCCESS);
}

static void at(void *self, int phase, int first, int end)
{
    post *p = self;
    end_if_unfit(p);
    nb_whereabouts_note(p->where, phase, first, end);
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
static nb_status run_job(const nb_child *c, post *self, int count, const int *rows, bool *mine)
{
    const nb_sink sink = {
        .self = self, .begin = begin_nothing, .row = tell_row, .end = tell_instance_done, .stop = never_stop, .at = at};
    nb_whereabouts_note(self->where, NB_AT_START, 0, 0);
    for (int i = 0; i < count; i++) mine[rows[i]] = true;
    nb_status status = c->plan->config->study->run(c->plan, c->plan->rows[rows[0]].scene, mine, &sink, c->ctx);
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

static nb_status work(const nb_child *c, post *self)
{
    bool *mine;
    int count, *rows;
    NB_TRY(c->ctx, nb_blas_set_threads(c->blas_threads, c->ctx));
    NB_TRY(c->ctx, nb_blas_warm_up(c->ctx)); /* before its memory is limited */
    NB_TRY(c->ctx, limit_memory(c->share, c->ctx));
    NB_NEED(mine, nb_alloc(c->ctx, (size_t)c->plan->row_count, sizeof *mine));
    NB_NEED(rows, nb_alloc(c->ctx, (size_t)c->plan->row_count, sizeof *rows));
    while (nb_channel_receive(CHANNEL, &count, sizeof count) &&
           nb_channel_receive(CHANNEL, rows, (size_t)count * sizeof *rows)) {
        NB_TRY(c->ctx, run_job(c, self, count, rows, mine));
        end_if_unfit(self);
        tell(self, (nb_message){.kind = NB_TOLD_JOB_DONE});
    }
    return NB_OK;
}

/* The life of a worker. Of all that it has inherited it keeps the standard
 * streams and its channel: the store's files and the lock on the run's folder
 * stay the parent's alone. */
_Noreturn void nb_child_live(const nb_child *c)
{
    post self = {.study = c->plan->config->study, .ctx = c->ctx, .where = c->where};
    if (dup2(c->fd, CHANNEL) != CHANNEL) _exit(EXIT_FAILURE);
    dup2(STDERR_FILENO, STDOUT_FILENO); /* what a component prints is not the run's output, */
    setvbuf(stdout, NULL, _IOLBF, 0);   /* and is there even if it crashes then */
    closefrom(CHANNEL + 1);
    fcntl(CHANNEL, F_SETFD, FD_CLOEXEC);
    signal(SIGXFSZ, SIG_IGN); /* as in main */
    signal(SIGPIPE, SIG_IGN);
    nb_ctx_forget_exhausted(c->ctx);
    nb_ctx_isolate(c->ctx, c->timeout_s > 0 ? c->timeout_s : INFINITY);
    nb_status status = work(c, &self);
    if (status != NB_OK)
        tell(&self, (nb_message){.kind = NB_TOLD_FAILURE, .number = (int)status, .reason = nb_error_message(c->ctx)});
    nb_servers_end();
    fflush(stdout);
    _exit(EXIT_SUCCESS);
}
