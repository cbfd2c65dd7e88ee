/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pool.c - workers begin and end. */
#include "run/pool.h"

#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* The rows of the instance in flight. */
void nb_worker_forget_mail(nb_worker *w)
{
    nb_ctx_release(w->mail, 0);
    w->rows = NULL;
    w->last = &w->rows;
}

nb_status nb_worker_start(nb_pool *p, nb_worker *w)
{
    int ends[2];
    void *page = mmap(NULL, sizeof *w->where, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    NB_REQUIRE(p->ctx, page != MAP_FAILED, NB_ENOMEM, "out of memory: a worker's page");
    w->where = page;
    nb_whereabouts_note(w->where, NB_AT_START, 0, 0);
    fflush(NULL); /* the worker must not write what is buffered */
    bool linked = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
    const char *reason = strerror(errno);
    nb_status status = linked ? nb_process_fork(&w->pid, p->ctx) : NB_EHOST;
    if (status == NB_OK && w->pid == 0)
        nb_child_live(&(nb_child){.plan = p->plan,
                                  .ctx = p->ctx,
                                  .blas_threads = p->how.blas_threads,
                                  .timeout_s = p->how.timeout_s,
                                  .share = p->how.share,
                                  .where = w->where,
                                  .fd = ends[1]});
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
    nb_worker_forget_mail(w);
    w->inbox.first = w->inbox.used = 0;
    return NB_OK;
}

/* Tells a worker that there is no more to do. */
void nb_worker_let_go(nb_worker *w)
{
    close(w->fd);
    w->fd = -1;
    w->leaving = true;
}

/* Ends a worker that was let go, and all that it has left. Its job, if any, stays for the caller. */
nb_ending nb_worker_see_off(nb_worker *w, double patience_s, bool ask)
{
    nb_ending ending = nb_process_end(w->pid, patience_s, ask);
    munmap(w->where, sizeof *w->where);
    w->leaving = false;
    return ending;
}

nb_ending nb_worker_dismiss(nb_worker *w, double patience_s, bool ask)
{
    nb_worker_let_go(w);
    return nb_worker_see_off(w, patience_s, ask);
}

void nb_pool_push(nb_pool *p, nb_job *parts)
{
    nb_job **last = &p->queue;
    while (*last) last = &(*last)->next;
    *last = parts;
}

nb_status nb_pool_begin(nb_pool *p)
{
    p->putting = true;
    return p->sink->begin(p->sink->self, p->ctx);
}

nb_status nb_pool_end(nb_pool *p)
{
    NB_TRY(p->ctx, p->sink->end(p->sink->self, p->ctx));
    p->putting = false;
    if (!p->unkept) p->unkept_s = nb_clock_s();
    p->unkept = p->sink->keep;
    return NB_OK;
}

nb_status nb_pool_keep(nb_pool *p)
{
    bool due = p->unkept && !p->putting;
    p->unkept = false;
    return due ? p->sink->keep(p->sink->self, p->ctx) : NB_OK;
}
