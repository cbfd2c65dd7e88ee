/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds.c - what Lemma 1 and Theorems 1 and 2 say of the points at hand, beside what is measured. */
#include "report/table.h"
#include "studies/coherence/summary.h"

typedef struct {
    const nb_coherence_summary *s;
    nb_grid *grid;
    int group;
    nb_ctx *ctx;
} line;

/* The mean of 0 and 1: a share, in % for people. */
static nb_status add_share(const line *l, const char *column)
{
    nb_spread of;
    NB_TRY(l->ctx, nb_coherence_spread(l->s, l->group, column, false, &of, l->ctx));
    return nb_grid_real(l->grid, "%.3g", (l->grid->exact ? 1 : 100) * of.mean);
}

static nb_status add_median(const line *l, const char *column)
{
    nb_spread of;
    NB_TRY(l->ctx, nb_coherence_spread(l->s, l->group, column, false, &of, l->ctx));
    return nb_grid_real(l->grid, "%.2g", of.median);
}

/* The share of the rows in which one column is below another, or (NULL) below 1. */
static nb_status add_below(const line *l, const char *column, const char *other)
{
    nb_selection rows = nb_group_rows(&l->s->groups, l->group);
    const double *values, *limits = NULL;
    int below = 0;
    NB_TRY(l->ctx, nb_frame_reals(&l->s->frame, column, &values, l->ctx));
    if (other) NB_TRY(l->ctx, nb_frame_reals(&l->s->frame, other, &limits, l->ctx));
    for (int i = 0; i < rows.count; i++) below += values[rows.at[i]] < (limits ? limits[rows.at[i]] : 1);
    return nb_grid_real(l->grid, "%.3g", (l->grid->exact ? 1.0 : 100.0) * below / rows.count);
}

static nb_status add_leverage(const line *l)
{
    static const char *const lemma[] = {"lemma1_sizes", "lemma1_mean_rank", "lemma1_least_rank", "lemma1",
                                        "lemma1_proof"};
    static const char *const medians[] = {"leverage_at_centroids", "leverage_at_random", "leverage_of_maxima",
                                          "bound_leverage"};
    for (size_t i = 0; i < sizeof lemma / sizeof *lemma; i++) NB_TRY(l->ctx, add_share(l, lemma[i]));
    for (size_t i = 0; i < sizeof medians / sizeof *medians; i++) NB_TRY(l->ctx, add_median(l, medians[i]));
    return add_below(l, "leverage_at_centroids", "bound_leverage");
}

static nb_status add_errors(const line *l)
{
    static const char *const errors[] = {"error_geometric2", "error_uniform2"}, *const bounds[] = {"bound_geometric",
                                                                                                   "bound_uniform"};
    NB_TRY(l->ctx, add_median(l, "best_rank2"));
    for (int i = 0; i < 2; i++) {
        NB_TRY(l->ctx, add_median(l, errors[i]));
        NB_TRY(l->ctx, add_median(l, bounds[i]));
        NB_TRY(l->ctx, add_below(l, bounds[i], NULL));
        NB_TRY(l->ctx, add_below(l, bounds[i], errors[i]));
    }
    return NB_OK;
}

/* All lines with either part, or both. */
static nb_status add_lines(nb_grid *grid, const nb_coherence_summary *s, bool leverage, bool errors, nb_ctx *ctx)
{
    for (int g = 0; g < s->groups.count; g++) {
        const line l = {s, grid, g, ctx};
        NB_TRY(ctx, nb_coherence_add_keys(s, g, grid, ctx));
        if (leverage) NB_TRY(ctx, add_leverage(&l));
        if (errors) NB_TRY(ctx, add_errors(&l));
    }
    return NB_OK;
}

#define LEVERAGE_HEADS \
    "sizes", "mean_rank", "least_rank", "lemma", "proof", "at_centroids", "at_random", "of_maxima", "bound", "broken"

static nb_status show_part(nb_page *page, const nb_coherence_summary *s, const char *const *heads, bool leverage,
                           nb_ctx *ctx)
{
    nb_grid grid;
    NB_TRY(ctx, nb_grid_make(&grid, heads, false, ctx));
    NB_TRY(ctx, add_lines(&grid, s, leverage, !leverage, ctx));
    grid.labels = NB_COHERENCE_LABELS;
    nb_grid_show(&grid, page);
    return NB_OK;
}

static nb_status show(nb_page *page, const nb_coherence_summary *s, nb_ctx *ctx)
{
    static const char *const leverage[] = {NB_COHERENCE_KEYS, LEVERAGE_HEADS, NULL};
    static const char *const errors[] = {
        NB_COHERENCE_KEYS, "best rank k", "at_centroids", "bound",  "below 1", "broken",
        "at_random",       "bound",       "below 1",      "broken", NULL};
    if (s->groups.count == 0) return NB_OK;
    nb_page_heading(page, 2, "Lemma 1 and Theorem 1: leverage");
    nb_page_paragraph(page, "Lemma 1: %% of the rows that meet its conditions on sizes and local ranks (the mean, as "
                            "stated; the least, as the proof has it), and its inequalities (4) and (9). Theorem 1: "
                            "leverage at the centroids, at as many random tokens, of each cluster's largest, and the "
                            "bound from these; %% of the rows that break it. Medians.");
    NB_TRY(ctx, show_part(page, s, leverage, true, ctx));
    nb_page_heading(page, 2, "Theorem 2: squared relative errors of QQ' at rank k");
    nb_page_paragraph(page, "From the tokens at the centroids, and from uniform ones, with "
                            "their bounds; %% of the rows in which a bound is below 1, the error of 0, and that break "
                            "it. Medians.");
    return show_part(page, s, errors, false, ctx);
}

static nb_status make(const nb_frame *frame, const nb_table_form *form, nb_ctx *ctx)
{
    static const char *const heads[] = {NB_COHERENCE_KEYS, LEVERAGE_HEADS,      "best_rank2",       "error_geometric2",
                                        "bound_geometric", "geometric_below_1", "geometric_broken", "error_uniform2",
                                        "bound_uniform",   "uniform_below_1",   "uniform_broken",   NULL};
    nb_coherence_summary s;
    NB_TRY(ctx, nb_coherence_summary_make(frame, &s, ctx));
    if (form->page) return show(form->page, &s, ctx);
    NB_TRY(ctx, nb_grid_make(form->grid, heads, true, ctx));
    return add_lines(form->grid, &s, true, true, ctx);
}

static const char *const references[] = {
    "On the geometric selection of landmarks for low-rank self-attention approximation, 2025, OpenReview OdKBFAmCYX "
    "(Lemma 1, Theorems 1 and 2)",
    NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_table nb_table_bounds = {
    .component = {"bounds", "what Lemma 1 and Theorems 1 and 2 on block-coherence say, beside what is measured",
                  references, options, 0},
    .study = NB_COHERENCE_STUDY,
    .file = "bounds.csv",
    .make = make,
};
