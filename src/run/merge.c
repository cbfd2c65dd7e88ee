/* SPDX-License-Identifier: GPL-3.0-or-later */
/* merge.c - a run holds a part of the plan in the plan's order, so one walk along both
 * finds the rows' places. */
#include "run/merge.h"

#include <string.h>

nb_status nb_merge_init(const nb_plan *plan, int run_count, nb_merge *merge, nb_ctx *ctx)
{
    *merge = (nb_merge){.plan = plan};
    NB_NEED(merge->from, nb_alloc(ctx, (size_t)plan->row_count, sizeof *merge->from));
    NB_NEED(merge->rows, nb_alloc(ctx, (size_t)plan->row_count, sizeof *merge->rows));
    NB_NEED(merge->by, nb_alloc(ctx, (size_t)plan->row_count, sizeof *merge->by));
    NB_NEED(merge->names, nb_alloc(ctx, (size_t)run_count, sizeof *merge->names));
    return NB_OK;
}

/* Returns the first column in which two results of a row differ, times aside; NULL: none. What only describes the row
 * is no result, and a store of an older program may lack it. */
static const nb_column *difference(const nb_column *columns, const nb_row *a, const nb_row *b)
{
    for (const nb_column *c = columns; c->name; c++) {
        bool result = (nb_column_is_measured(c) && !c->told) || strcmp(c->name, "status") == 0;
        if (result && !c->time && !nb_column_same(c, a, b)) return c;
    }
    return NULL;
}

static nb_status note_conflict(nb_merge *merge, const nb_column *c, int index, const char *name, const nb_row *row,
                               nb_ctx *ctx)
{
    const char *there, *here, *what, *text;
    if (merge->conflict_count++ >= NB_CONFLICTS_SHOWN) return NB_OK;
    NB_NEED(there, nb_column_text(c, merge->rows[index], ctx));
    NB_NEED(here, nb_column_text(c, row, ctx));
    NB_TRY(ctx, nb_row_text(merge->plan->config->study, row, &what, ctx));
    NB_NEED(text, nb_format(ctx, "%s: %s is %s in %s and %s in %s", what, c->name, there,
                            merge->names[merge->from[index] - 1], here, name));
    merge->conflicts[merge->conflict_count - 1] = text;
    return NB_OK;
}

/* A failure, not a result: another attempt may succeed. */
static bool is_failure(const nb_row *row)
{
    return !nb_row_is_well(row) && strcmp(row->status, "diverged") != 0;
}

static void choose_row(nb_merge *merge, int index, const nb_row *row, const nb_manifest *by)
{
    merge->from[index] = merge->count + 1;
    merge->rows[index] = row;
    merge->by[index] = by;
}

static nb_status add_row(nb_merge *merge, int index, const char *name, bool yields, const nb_row *row,
                         const nb_manifest *by, nb_ctx *ctx)
{
    if (!merge->from[index]) {
        choose_row(merge, index, row, by);
        return NB_OK;
    }
    const nb_column *c = difference(merge->plan->config->study->columns, merge->rows[index], row);
    if (!c) return NB_OK;
    if (yields && is_failure(row)) {
        merge->replaced++;
    } else if (yields && is_failure(merge->rows[index])) {
        choose_row(merge, index, row, by);
        merge->kept++;
    } else {
        return note_conflict(merge, c, index, name, row, ctx);
    }
    return NB_OK;
}

/* Returns the index of a row in the plan, searching from `from`; row_count: it is not there. */
static int find_row(const nb_plan *plan, int from, const nb_row *row)
{
    for (; from < plan->row_count; from++) {
        nb_any_row planned;
        nb_plan_row(plan, from, &planned);
        if (nb_row_same(plan->config->study->columns, &planned, row)) break;
    }
    return from;
}

nb_status nb_merge_add(nb_merge *merge, const char *name, bool yields, const nb_row_list *rows,
                       const nb_manifest *const *by, nb_ctx *ctx)
{
    const char *what;
    merge->names[merge->count] = name;
    for (int i = 0, at = 0; i < rows->count; i++, at++) {
        const nb_row *row = nb_row_at(rows, i);
        at = find_row(merge->plan, at, row);
        if (at == merge->plan->row_count) {
            NB_TRY(ctx, nb_row_text(merge->plan->config->study, row, &what, ctx));
            NB_FAIL(ctx, NB_EIO, "%s: its rows are not those of its config (%s): run it again", name, what);
        }
        if (strcmp(row->status, "planned") != 0)
            NB_TRY(ctx, add_row(merge, at, name, yields, row, by ? by[i] : NULL, ctx));
    }
    merge->count++;
    return NB_OK;
}
