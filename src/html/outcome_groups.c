/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outcome_groups.c - see outcome_groups.h */
#include "html/outcome_groups.h"

#include "report/labels.h"
#include "run/plan.h"

#include <string.h>

static bool is_told(const void *row, const void *what)
{
    const nb_row *r = row;
    (void)what;
    return strcmp(r->status, "ok") != 0 && strcmp(r->status, "planned") != 0;
}

static void add_columns(nb_page *page)
{
    nb_page_table(page);
    nb_page_column(page, NB_PAGE_WORD | NB_PAGE_LABEL, "status");
    nb_page_column(page, NB_PAGE_NUMBER, "rows");
    nb_page_column(page, NB_PAGE_PROSE, "reason");
    nb_page_column(page, NB_PAGE_PROSE, "the first");
}

/* Says what a row is of, its components by their labels. */
static nb_status name_row(const nb_frame *frame, const nb_study *study, int row, const char **text, nb_ctx *ctx)
{
    nb_any_row copy;
    memcpy(&copy, nb_frame_row(frame, row), study->row_size);
    for (const nb_axis *axis = study->axes; axis->key; axis++) {
        const nb_column *column = nb_column_find(study->columns, axis->column);
        if (axis->type == NB_AXIS_COMPONENT)
            NB_TRY(ctx,
                   nb_label_of(frame, axis->column, row, (const char **)(void *)(copy.bytes + column->offset), ctx));
    }
    return nb_row_text(study, &copy, text, ctx);
}

nb_status nb_outcome_groups_show(nb_page *page, const nb_frame *frame, const nb_study *study, int *count, nb_ctx *ctx)
{
    static const char *const by[] = {"status", "reason", NULL};
    nb_selection all, rows;
    nb_groups groups;
    NB_TRY(ctx, nb_frame_all(frame, &all, ctx));
    NB_TRY(ctx, nb_frame_select(frame, all, is_told, NULL, &rows, ctx));
    NB_TRY(ctx, nb_frame_group(frame, rows, by, &groups, ctx));
    *count = rows.count > 0 ? groups.count : 0;
    if (*count > 0) add_columns(page);
    for (int g = 0; g < *count; g++) {
        nb_selection of = nb_group_rows(&groups, g);
        const nb_row *row = nb_frame_row(frame, of.at[0]);
        const char *first;
        NB_TRY(ctx, name_row(frame, study, of.at[0], &first, ctx));
        nb_page_row(page);
        nb_page_cell(page, "%s", row->status);
        nb_page_cell(page, "%d", of.count);
        nb_page_cell(page, "%s", row->reason && *row->reason ? row->reason : "no reason is known");
        nb_page_cell(page, "%s", first);
    }
    return NB_OK;
}
