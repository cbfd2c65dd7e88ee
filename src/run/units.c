/* SPDX-License-Identifier: GPL-3.0-or-later */
/* units.c - units of work: a scene with all its trials if they share its data, else a single trial. */
#include "run/plan.h"

static bool same_unit(const nb_plan *plan, int a, int b)
{
    const nb_planned_row *x = &plan->rows[a], *y = &plan->rows[b];
    return x->scene == y->scene && (x->trial == y->trial || !plan->scenes[x->scene].random);
}

nb_status nb_units_find(const nb_plan *plan, const bool *pending, nb_unit **units, int *count, nb_ctx *ctx)
{
    *count = 0;
    NB_NEED(*units, nb_alloc(ctx, (size_t)plan->row_count, sizeof **units));
    for (int i = 0, next; i < plan->row_count; i = next) {
        bool any = false;
        for (next = i; next < plan->row_count && same_unit(plan, i, next); next++) any = any || pending[next];
        if (any) (*units)[(*count)++] = (nb_unit){i, next};
    }
    return NB_OK;
}
