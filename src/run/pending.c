/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pending.c - see pending.h. */
#include "run/pending.h"

#include "base/last_words.h"
#include "components/plugin.h"

const nb_planned_scene *nb_pending_scene(const nb_pending *p)
{
    return &p->plan->scenes[p->scene];
}

bool nb_pending_any(const nb_pending *p, int first, int end)
{
    while (first < end && !p->rows[first]) first++;
    return first < end;
}

nb_status nb_pending_at(const nb_pending *p, int phase, int first, int end)
{
    const char *spoilt = nb_ctx_spoilt(p->ctx);
    if (p->sink->at) p->sink->at(p->sink->self, phase, first, end);
    NB_REQUIRE(p->ctx, !spoilt, NB_EBUG,
               "a component from outside has %s: nothing more can be measured in this process, only in workers",
               spoilt);
    return NB_OK;
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

nb_status nb_pending_fail(const nb_pending *p, nb_status status, const nb_choice *whose, int first, int end)
{
    const char *reason;
    if (status == NB_EHOST && !nb_plugin_of(whose->component)) return status;
    NB_NEED(reason, nb_strdup(p->ctx, nb_error_message(p->ctx)));
    nb_error_clear(p->ctx);
    return nb_pending_put_all(p, first, end, "failed", reason);
}

static nb_status run_instance(const nb_pending *p, nb_instance_run *run, void *self, int first, int end)
{
    const char *refusal = nb_pending_scene(p)->refusal;
    NB_TRY(p->ctx, p->sink->begin(p->sink->self, p->ctx));
    NB_TRY(p->ctx, refusal ? nb_pending_put_all(p, first, end, "skipped", refusal) : run(self, first, end));
    return p->sink->end(p->sink->self, p->ctx);
}

nb_status nb_pending_run(const nb_pending *p, nb_instance_run *run, void *self)
{
    const nb_planned_row *rows = p->plan->rows;
    int count = p->plan->row_count;
    for (int i = 0, next; i < count && rows[i].scene <= p->scene; i = next) {
        for (next = i + 1; next < count && rows[next].scene == rows[i].scene && rows[next].trial == rows[i].trial;)
            next++;
        if (rows[i].scene != p->scene || !nb_pending_any(p, i, next)) continue;
        if (p->sink->stop(p->sink->self)) break;
        NB_TRY(p->ctx, run_instance(p, run, self, i, next));
    }
    return NB_OK;
}
