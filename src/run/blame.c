/* SPDX-License-Identifier: GPL-3.0-or-later */
/* blame.c - see blame.h */
#include "run/blame.h"

nb_position nb_death_position(const nb_worker *w)
{
    return (nb_position){atomic_load(&w->where->phase), atomic_load(&w->where->first), atomic_load(&w->where->end)};
}

/* Returns the study's record of a phase; NULL: the worker is in none. */
const nb_phase *nb_pool_phase(const nb_pool *p, int phase)
{
    const nb_phase *phases = p->plan->config->study->phases;
    int count = 0;
    while (phases[count].doing) count++;
    return phase > NB_AT_START && phase <= count ? &phases[phase - 1] : NULL;
}

const char *nb_pool_doing(const nb_pool *p, int phase)
{
    const nb_phase *known = nb_pool_phase(p, phase);
    return known ? known->doing : "the start";
}

/* Called on EOF from a worker: reaps it and records how it ended. */
nb_status nb_death_autopsy(const nb_pool *p, nb_worker *w, nb_death *d)
{
    d->at = nb_death_position(w);
    nb_ending ending = nb_worker_dismiss(w, 1, false);
    const char *where = nb_pool_doing(p, d->at.phase);
    d->status = "crashed";
    d->outside = nb_ended_from_outside(&ending);
    if (!ending.timed_out) return nb_ending_sentence(where, &ending, 0, &d->reason, p->ctx);
    NB_NEED(d->reason, nb_format(p->ctx, "%s closed the channel between the worker and its parent", where));
    return NB_OK;
}

static nb_status put_blame(nb_pool *p, const nb_job *job, const nb_death *d)
{
    nb_suspects_add(p->plan, d->at, &p->suspects);
    for (int i = 0, next; i < job->count; i = next) { /* an instance at a time */
        NB_TRY(p->ctx, nb_pool_begin(p));
        for (next = i; next < job->count && p->plan->rows[job->rows[next]].trial == p->plan->rows[job->rows[i]].trial;
             next++) {
            nb_any_row any;
            nb_plan_row(p->plan, job->rows[next], &any);
            any.row.status = d->status;
            any.row.reason = d->reason;
            NB_TRY(p->ctx, p->sink->row(p->sink->self, job->rows[next], &any.row, p->ctx));
            p->left[job->rows[next]] = false;
        }
        NB_TRY(p->ctx, nb_pool_end(p));
    }
    return NB_OK;
}

/* Tells users of a death that no row has. */
static nb_status notice(const nb_pool *p, int row, const nb_death *d, const char *then)
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

nb_status nb_death_take_up(nb_pool *p, const nb_job *job, const nb_death *d)
{
    enum { ATTEMPTS = 1 };
    nb_job *rest, *parts;
    NB_TRY(p->ctx, nb_job_rest(job, p->left, &rest, p->ctx));
    if (rest->count == 0) return notice(p, job->rows[job->count - 1], d, "its rows were complete");
    rest->fresh = job->fresh;
    if (d->outside && rest->attempts < ATTEMPTS) {
        NB_TRY(p->ctx, notice(p, rest->rows[0], d, "another continues its work"));
        rest->attempts++;
        rest->fresh = true;
        nb_pool_push(p, rest);
        return NB_OK;
    }
    NB_REQUIRE(p->ctx, d->at.phase != NB_AT_START || !job->fresh, NB_EIO, "a worker ended before it began: %s",
               d->reason);
    NB_TRY(p->ctx, nb_job_divide(p->plan, rest, d->at, &parts, p->ctx));
    if (!parts) return put_blame(p, rest, d);
    nb_pool_push(p, parts);
    return NB_OK;
}
