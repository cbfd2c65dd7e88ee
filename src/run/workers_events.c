/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workers_events.c - the transitions of a worker, by its state and what was heard of it: see the table below. */
#include "run/workers_private.h"

#include "base/clock.h"
#include "base/fields.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct {                 /* how a worker ended */
    const char *status, *reason; /* of its rows, if they are to blame */
    bool outside;                /* it was a signal that may have come from outside */
    int phase;                   /* -1: unknown */
} death;

nb_ending nb_worker_end(nb_worker *w, double patience_s, bool ask)
{
    close(w->fd);
    w->fd = -1;
    w->state = NB_ABSENT;
    return nb_process_end(w->pid, patience_s, ask);
}

static nb_status start_worker(nb_pool *p, nb_worker *w)
{
    int ends[2], number = (int)(w - p->workers) + 1;
    const char *reason;
    NB_REQUIRE(p->ctx, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0, NB_EHOST,
               "worker %d of %d: a channel cannot be made: %s", number, p->worker_count, strerror(errno));
    fflush(NULL); /* the worker must not write what is buffered */
    nb_status status = nb_process_fork(&w->pid, p->ctx);
    if (status == NB_OK && w->pid == 0) nb_worker_live(p, w, ends[1]);
    close(ends[1]);
    w->inbox.first = w->inbox.used = 0;
    if (status == NB_OK) w->fd = ends[0];
    if (status == NB_OK) return NB_OK;
    close(ends[0]);
    NB_NEED(reason, nb_strdup(p->ctx, nb_error_message(p->ctx)));
    nb_error_clear(p->ctx);
    NB_FAIL(p->ctx, status, "worker %d of %d: %s; try fewer %s", number, p->worker_count, reason,
            nb_field(p->ctx, "jobs", NULL));
}

/* At the end of its channel a worker ends. That may take seconds, in which others are heard. */
static nb_status let_go(nb_pool *p, nb_worker *w)
{
    close(w->fd);
    w->state = NB_LEAVING;
    w->since_s = nb_clock_s();
    w->fd = nb_pidfd_open(w->pid);
    NB_REQUIRE(p->ctx, w->fd >= 0, NB_EHOST, "a process cannot be waited for: %s", strerror(errno));
    return NB_OK;
}

nb_status nb_worker_hand_out(nb_pool *p, nb_worker *w)
{
    nb_job next = {.units = 0};
    bool found = false;
    if (w->state == NB_LEAVING) return NB_OK;
    if (!p->stopping) NB_TRY(p->ctx, nb_jobs_next(&p->jobs, p->worker_count, &next, &found));
    if (w->state != NB_ABSENT && (!found || next.alone || w->job.alone)) {
        if (found) NB_TRY(p->ctx, nb_jobs_put_back(&p->jobs, &next)); /* for the first place that is empty */
        return let_go(p, w);
    }
    if (!found) return NB_OK;
    w->job = next;
    w->since_s = nb_clock_s();
    memset(w->page->job, 0, p->page_bytes - sizeof *w->page);
    for (int i = next.first; i < next.end; i++) w->page->job[i] = nb_jobs_has(&p->jobs, &next, i);
    nb_worker_note(w->page, NB_AT_START, 0, 0);
    if (w->state == NB_ABSENT)
        NB_TRY(p->ctx, start_worker(p, w));
    else
        send(w->fd, "", 1, MSG_NOSIGNAL); /* where it has died, that is heard later */
    w->state = NB_BUSY;
    return NB_OK;
}

static void forget_rows(nb_worker *w)
{
    nb_ctx_release(w->mail, 0);
    w->rows = NULL;
    w->last = &w->rows;
}

/* Committing is the slowest step, so instances that come within a short time share one commit. */
static nb_status deliver_rows(nb_pool *p, nb_worker *w)
{
    static const double WHILE_S = 0.1;
    double commit_at_s = p->commit_at_s;
    if (!w->rows) return NB_OK;
    p->commit_at_s = INFINITY; /* half an instance must not be committed */
    NB_TRY(p->ctx, p->sink->begin(p->sink->self, p->ctx));
    for (const nb_kept_row *kept = w->rows; kept; kept = kept->next)
        NB_TRY(p->ctx, p->sink->row(p->sink->self, kept->index, kept->row, p->ctx));
    NB_TRY(p->ctx, p->sink->end(p->sink->self, p->ctx));
    if (p->sink->commit) p->commit_at_s = fmin(commit_at_s, nb_clock_s() + WHILE_S);
    forget_rows(w);
    return NB_OK;
}

/* Adds a row to those of the instance in flight; text: as nb_channel_join has it. */
static nb_status append_row(nb_pool *p, nb_worker *w, int index, const char *status, const char *text,
                            const void *result)
{
    const nb_study *study = p->plan->config->study;
    nb_kept_row *kept;
    NB_NEED(kept, nb_alloc(w->mail, 1, sizeof *kept));
    NB_NEED(kept->row, nb_alloc(w->mail, 1, study->row_size));
    kept->index = index;
    nb_plan_row(p->plan, index, kept->row);
    kept->row->status = status;
    NB_TRY(p->ctx, nb_channel_split(study->columns, text, kept->row, w->mail));
    if (result) memcpy((char *)kept->row + study->result_offset, result, study->result_size);
    p->jobs.rows[index] = NB_ROW_TOLD;
    *w->last = kept;
    w->last = &kept->next;
    return NB_OK;
}

static void mark_rows(const nb_pool *p, const nb_worker *w, nb_row_progress progress)
{
    for (const nb_kept_row *kept = w->rows; kept; kept = kept->next) p->jobs.rows[kept->index] = (char)progress;
}

/* Tells users of a death that no row has. */
static nb_status give_notice(const nb_pool *p, int row, const death *d, const char *then)
{
    const char *text;
    nb_any_row any;
    nb_plan_row(p->plan, row, &any);
    if (!p->sink->notice) return NB_OK;
    NB_NEED(text, nb_format(p->ctx, "a worker ended at %s head %d, trial %d: %s; %s",
                            nb_plan_choice(p->plan, row, NB_AXIS_PROBLEM)->label, any.row.head, any.row.trial,
                            d->reason, then));
    p->sink->notice(p->sink->self, text);
    return NB_OK;
}

static nb_status blame_rows(nb_pool *p, nb_worker *w, const death *d)
{
    const nb_planned_row *rows = p->plan->rows;
    for (int i = w->job.first; i < w->job.end; i++) {
        if (!nb_jobs_has(&p->jobs, &w->job, i)) continue;
        if (w->rows && rows[w->rows->index].trial != rows[i].trial) NB_TRY(p->ctx, deliver_rows(p, w));
        NB_TRY(p->ctx, append_row(p, w, i, d->status, d->reason, NULL));
        p->jobs.rows[i] = NB_ROW_DONE;
    }
    return deliver_rows(p, w);
}

/* Decides about the rows of a job whose worker is gone. One that ends before it began twice ends the run. */
static nb_status take_back_rows(nb_pool *p, nb_worker *w, const death *d)
{
    bool blamed, retry = d->outside && !w->job.again;
    if (!nb_jobs_any(&p->jobs, &w->job)) return give_notice(p, w->job.end - 1, d, "its rows were complete");
    if (retry) NB_TRY(p->ctx, give_notice(p, w->job.first, d, "another continues its work"));
    NB_REQUIRE(p->ctx, d->phase != NB_AT_START || !w->job.alone || retry, NB_EIO, "a worker ended before it began: %s",
               d->reason);
    NB_TRY(p->ctx, nb_jobs_take_back(&p->jobs, &w->job, nb_phase_of(p->plan, d->phase), d->outside, &blamed));
    return blamed ? blame_rows(p, w, d) : NB_OK;
}

/* The worker has been ended: what it has told of an instance that is not complete is forgotten, since that is measured
 * again; not so where the run stops. */
static nb_status replace_worker(nb_pool *p, nb_worker *w, const death *d)
{
    bool complete = p->stopping || (w->rows && p->jobs.rows[w->rows->index] == NB_ROW_DONE);
    if (!complete) mark_rows(p, w, NB_ROW_LEFT);
    if (!complete) forget_rows(w);
    NB_TRY(p->ctx, deliver_rows(p, w));
    if (!p->stopping) NB_TRY(p->ctx, take_back_rows(p, w, d));
    return nb_worker_hand_out(p, w);
}

/* A malformed message does not show who wrote it: any code in the worker may have. */
static nb_status end_liar(nb_pool *p, nb_worker *w)
{
    nb_worker_end(w, 0, false);
    return replace_worker(
        p, w, &(death){"crashed", "something wrote into the channel between the worker and its parent", false, -1});
}

/* The channel has ended, and so has its worker, or it is ended now. */
static nb_status end_silent(nb_pool *p, nb_worker *w)
{
    death d = {.status = "crashed", .phase = nb_worker_doing(w).phase};
    nb_ending ending = nb_worker_end(w, 1, false);
    d.outside = nb_ended_from_outside(&ending);
    if (!ending.timed_out)
        NB_TRY(p->ctx, nb_ending_sentence(nb_phase_of(p->plan, d.phase)->doing, &ending, 0, &d.reason, p->ctx));
    else
        NB_NEED(d.reason, nb_format(p->ctx, "%s closed the channel between the worker and its parent",
                                    nb_phase_of(p->plan, d.phase)->doing));
    return replace_worker(p, w, &d);
}

static nb_status end_failed(nb_pool *p, nb_worker *w)
{
    const nb_message *m = &p->heard;
    death d = {.status = "failed", .phase = nb_worker_doing(w).phase};
    nb_status status = m->number > NB_OK && m->number < NB_STATUS_COUNT ? (nb_status)m->number : NB_EBUG;
    NB_TRY(p->ctx, let_go(p, w));
    NB_NEED(d.reason, nb_strdup(p->ctx, m->text ? m->text : ""));
    NB_NEED(d.reason, nb_clean(p->ctx, d.reason, ""));
    NB_REQUIRE(p->ctx, p->stopping || status != NB_EHOST, status, "%s; the same command continues when there is enough",
               d.reason);
    NB_REQUIRE(p->ctx, p->stopping || d.phase != NB_AT_START || !w->job.alone, status, "%s", d.reason);
    return replace_worker(p, w, &d);
}

static nb_status end_late(nb_pool *p, nb_worker *w)
{
    double limit_s;
    nb_worker_deadline(p, w, &limit_s);
    death d = {.status = "timeout", .phase = nb_worker_doing(w).phase};
    nb_ending ending = nb_worker_end(w, 0, true);
    ending.timed_out = true;
    NB_TRY(p->ctx, nb_ending_sentence(nb_phase_of(p->plan, d.phase)->doing, &ending, limit_s, &d.reason, p->ctx));
    return replace_worker(p, w, &d);
}

static nb_status keep_row(nb_pool *p, nb_worker *w)
{
    const nb_message *m = &p->heard;
    const char *status = m->status ? nb_row_status_of(m->status) : NULL;
    bool good = status && m->text && m->result && m->result_bytes == p->plan->config->study->result_size &&
                nb_jobs_has(&p->jobs, &w->job, m->number) && p->jobs.rows[m->number] == NB_ROW_LEFT;
    return good ? append_row(p, w, m->number, status, m->text, m->result) : end_liar(p, w);
}

/* The rows of an instance are done, whatever becomes of its worker. The sink is slow: a worker that is about to ask for
 * its next job gets that first. */
static nb_status complete_instance(nb_pool *p, nb_worker *w)
{
    if (!w->rows) return end_liar(p, w);
    mark_rows(p, w, NB_ROW_DONE);
    w->heard_s = nb_clock_s();
    if (nb_jobs_any(&p->jobs, &w->job)) return deliver_rows(p, w);
    w->state = NB_READY;
    return NB_OK;
}

static nb_status continue_with_next(nb_pool *p, nb_worker *w)
{
    nb_jobs_note_pace(&p->jobs, &w->job, nb_clock_s() - w->since_s);
    NB_TRY(p->ctx, nb_worker_hand_out(p, w));
    return deliver_rows(p, w);
}

/* It has ended, or is ended now. Empty places are filled before the next wait. */
static nb_status clear_place(nb_pool *p, nb_worker *w)
{
    (void)p;
    nb_worker_end(w, 0, false);
    return NB_OK;
}

/* From NB_BUSY, an instance leads to NB_BUSY or, if it was the job's last, to NB_READY. What ends a worker and
 * continue_with_next lead to NB_BUSY, with the next job, or to NB_ABSENT, if there is none; where the process has to go
 * first, to NB_LEAVING. */
nb_worker_action *const nb_worker_actions[NB_WORKER_STATES][NB_HEARD_NOTHING + 1] = {
    [NB_BUSY] = {[NB_HEARD_ROW] = keep_row,
                 [NB_HEARD_INSTANCE] = complete_instance,
                 [NB_HEARD_JOB] = end_liar,
                 [NB_HEARD_ERROR] = end_failed,
                 [NB_HEARD_NONSENSE] = end_liar,
                 [NB_HEARD_END] = end_silent,
                 [NB_HEARD_NOTHING] = end_late},
    [NB_READY] = {[NB_HEARD_ROW] = end_liar,
                  [NB_HEARD_INSTANCE] = end_liar,
                  [NB_HEARD_JOB] = continue_with_next,
                  [NB_HEARD_ERROR] = end_failed,
                  [NB_HEARD_NONSENSE] = end_liar,
                  [NB_HEARD_END] = end_silent,
                  [NB_HEARD_NOTHING] = end_late},
    [NB_LEAVING] = {[NB_HEARD_END] = clear_place, [NB_HEARD_NOTHING] = clear_place}};
