/* SPDX-License-Identifier: GPL-3.0-or-later */
/* costs.c - what a forward pass of one head takes, in multiplications and against exact attention, and the measured
 * times of X and of exact attention, for each size of heads and m. The strategy's are not among them. */
#include "report/table.h"
#include "studies/error/flops.h"
#include "studies/error/sweeps.h"

typedef struct {
    const nb_summary *summary;
    nb_grid *grid;
    double *seconds; /* room for a value a row */
} table;

static double median(table *t, nb_selection rows, double (*seconds)(const nb_error_row *row))
{
    int count = rows.count;
    for (int i = 0; i < count; i++) t->seconds[i] = seconds(&t->summary->rows[rows.at[i]]);
    return nb_median_of(t->seconds, &count);
}

static double core_s(const nb_error_row *row)
{
    return row->measures.core_s;
}

static double exact_s(const nb_error_row *row)
{
    return row->measures.exact_s;
}

/* The rows of one core, n, d and m. */
static nb_status add_line(table *t, const nb_sweeps *sweeps, nb_selection rows)
{
    const nb_error_row *row = &t->summary->rows[rows.at[0]];
    int core = t->summary->at[rows.at[0]].core;
    const int sizes[] = {row->n, row->d, row->landmarks};
    double count = nb_forward_multiplications(&sweeps->cores[core].choice, row->n, row->d, row->landmarks),
           exact = nb_exact_multiplications(row->n, row->d);
    nb_grid *g = t->grid;
    for (int i = 0; i < 3; i++) NB_TRY(g->ctx, nb_grid_int(g, sizes[i]));
    NB_TRY(g->ctx, nb_grid_text(g, g->exact ? t->summary->cores[core].core : t->summary->cores[core].label));
    NB_TRY(g->ctx, nb_grid_real(g, "%.2g", count));
    NB_TRY(g->ctx, nb_grid_real(g, "%.1f", (g->exact ? 1 : 100) * count / exact));
    NB_TRY(g->ctx, nb_grid_real(g, "%.2g", median(t, rows, core_s)));
    return nb_grid_real(g, "%.2g", median(t, rows, exact_s));
}

/* By size, in the order of the run, and within a size by m. */
static nb_status add_lines(table *t, const nb_sweeps *sweeps, nb_ctx *ctx)
{
    static const char *const sizes[] = {"n", "d", NULL};
    static const char *const cores[] = {NB_OF_LANDMARK, NB_OF_CORE, NULL};
    nb_selection all;
    nb_groups of_size, of_core;
    NB_TRY(ctx, nb_frame_all(&t->summary->frame, &all, ctx));
    NB_TRY(ctx, nb_frame_group(&t->summary->frame, all, sizes, &of_size, ctx));
    for (int s = 0; s < of_size.count; s++) {
        NB_TRY(ctx, nb_frame_group(&t->summary->frame, nb_group_rows(&of_size, s), cores, &of_core, ctx));
        for (int m = 0; m < t->summary->landmark_count; m++)
            for (int g = 0; g < of_core.count; g++) {
                nb_selection rows = nb_group_rows(&of_core, g);
                nb_summary_index at = t->summary->at[rows.at[0]];
                const nb_swept *core = &sweeps->cores[at.core];
                if (at.landmark != m || (core->family >= 0 && !core->standard) || nb_swept_is_oracle(core)) continue;
                NB_TRY(ctx, add_line(t, sweeps, rows));
            }
    }
    return NB_OK;
}

static nb_status make(const nb_frame *frame, const nb_table_form *form, nb_ctx *ctx)
{
    static const char *const heads[] = {"n",          "d",      "m",       "core", "multiplications",
                                        "% of exact", "core_s", "exact_s", NULL};
    static const char *const csv[] = {"n",        "d",      "landmarks", "core", "multiplications",
                                      "of_exact", "core_s", "exact_s",   NULL};
    nb_summary summary;
    nb_sweeps sweeps;
    nb_grid own;
    table t = {.summary = &summary};
    NB_TRY(ctx, nb_summary_make(frame, &summary, ctx));
    NB_TRY(ctx, nb_sweeps_find(&summary, &sweeps, ctx));
    NB_NEED(t.seconds, nb_alloc_reals(ctx, (size_t)frame->count + 1, 1));
    NB_TRY(ctx, nb_table_grid(form, heads, csv, &own, &t.grid, ctx));
    NB_TRY(ctx, add_lines(&t, &sweeps, ctx));
    if (form->grid || own.count == 0) return NB_OK;
    own.labels = 4;
    nb_page_heading(form->page, 2, "The cost of a forward pass of one head");
    nb_page_paragraph(form->page, "Multiplications, %% of those of exact attention, 2 n^2 d; and median seconds on one "
                                  "CPU for X alone and for exact attention");
    nb_grid_show(&own, form->page);
    return NB_OK;
}

static const char *const references[] = {
    "Golub & Van Loan, Matrix Computations, 4th ed. 2013, sec. 8.6 (the SVD's cost)", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_table nb_table_costs = {
    .component = {"costs", "multiplications of a forward pass with each core, against exact attention, and times",
                  references, options, 0},
    .study = NB_ERROR_STUDY,
    .make = make,
};
