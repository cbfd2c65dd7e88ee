/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workers_child.c - the worker's side: it computes the rows of one job after the other, and tells them. */
#include "run/workers_private.h"

#include "base/clock.h"
#include "base/server.h"
#include "linalg/blas.h"
#include "run/run_study.h"
#include "run/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
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
    const nb_plan *plan;
    nb_ctx *ctx;
    nb_worker_page *page;
    nb_packet outbox;
    double sent_s; /* when rows that waited were sent last */
} child;

/* The time is written first: a new time with an old position does no harm. */
void nb_worker_note(nb_worker_page *page, int phase, int first, int end)
{
    atomic_store(&page->since_s, nb_clock_s());
    atomic_store(&page->phase, phase);
    atomic_store(&page->first, first);
    atomic_store(&page->end, end);
}

/* The position is read first, for the same reason. */
nb_doing nb_worker_doing(const nb_worker *w)
{
    nb_doing d = {.phase = atomic_load(&w->page->phase)};
    d.first = atomic_load(&w->page->first);
    d.end = atomic_load(&w->page->end);
    d.since_s = atomic_load(&w->page->since_s);
    return d;
}

/* Ends the worker if its parent is gone: nothing is left to do. */
static void send_message(child *c, nb_message message)
{
    if (!nb_channel_send(CHANNEL, &c->outbox, message)) _exit(EXIT_FAILURE);
}

/* Ends a worker in which an allocation has failed: what it computes next may fail for want of memory that the culprit
 * holds. */
static void end_if_unfit(child *c)
{
    const char *what = nb_ctx_exhausted(c->ctx);
    if (!what) return;
    send_message(c, (nb_message){.kind = NB_HEARD_ERROR, .number = NB_ENOMEM, .text = what});
    _exit(EXIT_SUCCESS);
}

/* An interrupt loses no row that is sent. Called now and then, and before another process is asked, such as a function
 * of a session, which its user may interrupt. */
static void send_waiting_rows(void *self)
{
    child *c = self;
    c->sent_s = nb_clock_s();
    if (!nb_channel_flush(CHANNEL, &c->outbox)) _exit(EXIT_FAILURE);
}

static void note_position(void *self, int phase, int first, int end)
{
    const double every_s = 0.01; /* not so often that it costs time */
    child *c = self;
    end_if_unfit(c);
    if (c->outbox.used > 0 && nb_clock_s() >= c->sent_s + every_s) send_waiting_rows(c);
    nb_worker_note(c->page, phase, first, end);
}

static nb_status send_row(void *self, int index, const nb_row *row, nb_ctx *ctx)
{
    child *c = self;
    const nb_study *study = c->plan->config->study;
    char result[NB_MOST_ROW];
    const char *text;
    end_if_unfit(c);
    nb_mark mark = nb_ctx_mark(ctx);
    NB_TRY(ctx, nb_channel_join(study->columns, row, &text, ctx));
    memcpy(result, (const char *)row + study->result_offset, study->result_size);
    send_message(c, (nb_message){NB_HEARD_ROW, index, row->status, text, result, study->result_size});
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

static nb_status send_instance(void *self, nb_ctx *ctx)
{
    child *c = self;
    (void)ctx;
    end_if_unfit(c);
    send_message(c, (nb_message){.kind = NB_HEARD_INSTANCE});
    return NB_OK;
}

static nb_status run_job(child *c)
{
    const nb_sink sink = {.self = c,
                          .begin = nb_sink_ignore,
                          .row = send_row,
                          .end = send_instance,
                          .stop = nb_sink_never_stop,
                          .at = note_position};
    const bool *first = memchr(c->page->job, true, (size_t)c->plan->row_count * sizeof *c->page->job);
    return nb_run_study_of(c->plan->config->study)
        ->run(c->plan, c->plan->rows[first - c->page->job].scene, c->page->job, &sink, c->ctx);
}

/* No dump of its memory when it crashes; and no more memory than it has inherited and its share, so that what grows
 * without end fails before the machine does. The sanitizers' shadow is beyond any limit. */
static nb_status limit_memory(double share, nb_ctx *ctx)
{
    struct rlimit limit = {0, 0};
    long pages = 0;
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

/* Waits until the next job is in the page; false: there is none. */
static bool await_job(void)
{
    ssize_t count;
    do count = recv(CHANNEL, &(char){0}, 1, 0);
    while (count < 0 && errno == EINTR);
    return count > 0;
}

static nb_status do_jobs(child *c, const nb_workers *how)
{
    NB_TRY(c->ctx, nb_blas_set_threads(how->blas_threads, c->ctx));
    NB_TRY(c->ctx, nb_blas_warm_up(c->ctx)); /* before its memory is limited */
    NB_TRY(c->ctx, limit_memory(how->share, c->ctx));
    do {
        NB_TRY(c->ctx, run_job(c));
        end_if_unfit(c);
        send_message(c, (nb_message){.kind = NB_HEARD_JOB});
    } while (await_job());
    return NB_OK;
}

/* What a plug-in writes into the worker's memory must reach nobody else: the worker gives up the pages that the parent
 * shares with the others, and its children do not get its own. */
static bool keep_own_page(const nb_pool *p, const nb_worker *w)
{
    bool done = madvise(w->page, p->page_bytes, MADV_DONTFORK) == 0;
    for (int i = 0; i < p->worker_count; i++)
        if (&p->workers[i] != w) done = munmap(p->workers[i].page, p->page_bytes) == 0 && done;
    return done;
}

/* A worker keeps only the standard streams, its page and its channel of all that it has inherited: the store's files
 * and the lock on the run's folder stay the parent's alone. */
_Noreturn void nb_worker_live(const nb_pool *p, const nb_worker *w, int fd)
{
    child c = {.plan = p->plan, .ctx = p->ctx, .page = w->page};
    if (dup2(fd, CHANNEL) != CHANNEL || !keep_own_page(p, w)) _exit(EXIT_FAILURE);
    dup2(STDERR_FILENO, STDOUT_FILENO); /* what a component prints is not the run's output, */
    setvbuf(stdout, NULL, _IOLBF, 0);   /* and is there even if it crashes then */
    closefrom(CHANNEL + 1);
    fcntl(CHANNEL, F_SETFD, FD_CLOEXEC);
    signal(SIGXFSZ, SIG_IGN); /* as in main */
    signal(SIGPIPE, SIG_IGN);
    nb_ctx_forget_exhausted(c.ctx);
    nb_ctx_isolate(c.ctx, p->how.timeout_s > 0 ? p->how.timeout_s : INFINITY);
    nb_ctx_on_wait(c.ctx, send_waiting_rows, &c);
    nb_status status = do_jobs(&c, &p->how);
    if (status != NB_OK)
        send_message(&c, (nb_message){.kind = NB_HEARD_ERROR, .number = (int)status, .text = nb_error_message(c.ctx)});
    nb_servers_end();
    fflush(stdout);
    _exit(EXIT_SUCCESS);
}
