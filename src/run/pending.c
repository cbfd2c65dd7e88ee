/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pending.c - see pending.h. */
#include "run/pending.h"

#include <string.h>

const nb_planned_scene *nb_pending_scene(const nb_pending *p)
{
    return &p->plan->scenes[p->scene];
}

/* Returns the first pending row from there on, or `end`. */
static int next_pending(const nb_pending *p, int from, int end)
{
    const bool *found = memchr(p->rows + from, true, (size_t)(end - from) * sizeof *p->rows);
    return found ? (int)(found - p->rows) : end;
}

bool nb_pending_any(const nb_pending *p, int first, int end)
{
    return next_pending(p, first, end) < end;
}

void nb_pending_at(const nb_pending *p, int phase, int first, int end)
{
    if (p->sink->at) p->sink->at(p->sink->self, phase, first, end);
}

nb_status nb_pending_put(const nb_pending *p, int index, nb_row *row)
{
    if (row->reason) NB_NEED(row->reason, nb_clean(p->ctx, row->reason, ""));
    return p->sink->row(p->sink->self, index, row, p->ctx);
}

nb_status nb_pending_put_all(const nb_pending *p, int first, int end, const char *status, const char *reason)
{
    for (int i = first; i < end; i++) {
        nb_any_row row;
        if (!p->rows[i]) continue;
        nb_plan_row(p->plan, i, &row);
        row.row.status = status;
        row.row.reason = reason;
        NB_TRY(p->ctx, nb_pending_put(p, i, &row.row));
    }
    return NB_OK;
}

const char *nb_pending_outcome(nb_status status)
{
    return status == NB_ECRASHED ? "crashed" : status == NB_ELATE ? "timeout" : "failed";
}

nb_status nb_pending_fail(const nb_pending *p, nb_status status, int first, int end)
{
    const char *reason;
    if (status == NB_EHOST) return status;
    NB_NEED(reason, nb_strdup(p->ctx, nb_error_message(p->ctx)));
    nb_error_clear(p->ctx);
    return nb_pending_put_all(p, first, end, nb_pending_outcome(status), reason);
}

static bool same_instance(const nb_planned_row *a, const nb_planned_row *b)
{
    return a->scene == b->scene && a->trial == b->trial;
}

/* A worker is asked for one instance of many, so the others are passed over quickly. */
nb_status nb_pending_run(const nb_pending *p, nb_instance_run *run, void *self)
{
    const nb_planned_row *rows = p->plan->rows;
    const char *refusal = nb_pending_scene(p)->refusal;
    int count = nb_plan_first_row(p->plan, p->scene + 1), end = nb_plan_first_row(p->plan, p->scene);
    for (int at; (at = next_pending(p, end, count)) < count;) {
        int first = at;
        while (first > end && same_instance(&rows[first - 1], &rows[at])) first--;
        for (end = at + 1; end < count && same_instance(&rows[end], &rows[at]);) end++;
        if (p->sink->stop(p->sink->self)) break;
        NB_TRY(p->ctx, p->sink->begin(p->sink->self, p->ctx));
        NB_TRY(p->ctx, refusal ? nb_pending_put_all(p, first, end, "skipped", refusal) : run(self, first, end));
        NB_TRY(p->ctx, p->sink->end(p->sink->self, p->ctx));
    }
    return NB_OK;
}
