/* SPDX-License-Identifier: GPL-3.0-or-later */
/* coherence.c - coherence and block-coherence as the paper's Table 1 has them, and the same of partitions that know
 * nothing of the points. For programs: every measure. */
#include "report/table.h"
#include "studies/coherence/summary.h"

#include <math.h>

static void print_number(char *out, size_t size, int digits, double x)
{
    bool large = fabs(x) >= 1000 && isfinite(x);
    snprintf(out, size, large ? "%.*f" : "%.*g", large ? 0 : digits, x);
}

/* Two numbers, with a few words between them; "-" without them. A spread that is rounding is 0. */
static nb_status add_two(nb_grid *g, double a, const char *between, double b, nb_ctx *ctx)
{
    char first[32], second[32];
    const char *text;
    print_number(first, sizeof first, 3, a);
    print_number(second, sizeof second, 2, fabs(b) < 1e-9 * fabs(a) ? 0 : b);
    NB_NEED(text, isnan(a) ? "-" : isnan(b) ? nb_strdup(ctx, first) : nb_format(ctx, "%s%s%s", first, between, second));
    return nb_grid_text(g, text);
}

static nb_status add_line(nb_grid *g, const nb_coherence_summary *s, int group, nb_ctx *ctx)
{
    nb_spread mu, block, finite, ratio, reduction;
    NB_TRY(ctx, nb_coherence_spread(s, group, "mu", false, &mu, ctx));
    NB_TRY(ctx, nb_coherence_spread(s, group, "mu_block", false, &block, ctx));
    NB_TRY(ctx, nb_coherence_spread(s, group, "mu_block_finite", false, &finite, ctx));
    NB_TRY(ctx, nb_coherence_spread(s, group, "alpha_over_mu", false, &ratio, ctx));
    NB_TRY(ctx, nb_coherence_spread(s, group, "reduction", true, &reduction, ctx));
    NB_TRY(ctx, nb_coherence_add_keys(s, group, g, ctx));
    NB_TRY(ctx, add_two(g, mu.mean, " +- ", mu.sd, ctx));
    NB_TRY(ctx, nb_grid_real(g, "%.3g", mu.median));
    NB_TRY(ctx, add_two(g, finite.mean, " +- ", finite.sd, ctx));
    NB_TRY(ctx, nb_grid_real(g, "%.3g", block.median));
    NB_TRY(ctx, add_two(g, block.p10, " to ", block.p90, ctx));
    NB_TRY(ctx, nb_grid_real(g, "%.3g", 100.0 * block.infinite / block.count));
    NB_TRY(ctx, nb_grid_real(g, "%.3g", ratio.median));
    return add_two(g, 100 * reduction.mean, " +- ", 100 * reduction.sd, ctx);
}

static nb_status show(nb_page *page, const nb_coherence_summary *s, nb_ctx *ctx)
{
    static const char *const heads[] = {NB_COHERENCE_KEYS, "mu",         "median",   "mu_block, finite", "median",
                                        "10 to 90 %",      "% infinite", "alpha/mu", "reduction %",      NULL};
    nb_grid grid;
    if (s->groups.count == 0) return NB_OK;
    NB_TRY(ctx, nb_grid_make(&grid, heads, false, ctx));
    for (int g = 0; g < s->groups.count; g++) NB_TRY(ctx, add_line(&grid, s, g, ctx));
    grid.labels = NB_COHERENCE_LABELS;
    nb_page_heading(
        page, 2,
        "Coherence and block-coherence: mean +- standard deviation, medians and quantiles over heads and trials");
    nb_grid_show(&grid, page);
    nb_page_paragraph(page,
                      "mu is at most n/k. mu_block, finite: without clusters of local rank 0. Its median, its "
                      "quantiles and alpha/mu, the median of mu_block / mu, count such rows as infinite; "
                      "reduction, 1 - mu_block / mu, leaves them out. What clusters have that know nothing of the "
                      "points is no sign of clusters in them.");
    return NB_OK;
}

static nb_status add_measure(nb_grid *g, const nb_coherence_summary *s, int group, const char *measure, nb_ctx *ctx)
{
    nb_spread of;
    NB_TRY(ctx, nb_coherence_spread(s, group, measure, false, &of, ctx));
    const double values[] = {of.mean, of.sd, of.low, of.high, of.median, of.p10, of.p90};
    NB_TRY(ctx, nb_coherence_add_keys(s, group, g, ctx));
    NB_TRY(ctx, nb_grid_text(g, measure));
    NB_TRY(ctx, nb_grid_int(g, of.count));
    NB_TRY(ctx, nb_grid_int(g, of.infinite));
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) NB_TRY(ctx, nb_grid_real(g, "%g", values[i]));
    return NB_OK;
}

static nb_status fill(nb_grid *grid, const nb_coherence_summary *s, nb_ctx *ctx)
{
    static const char *const heads[] = {NB_COHERENCE_KEYS, "measure", "values", "infinite", "mean", "sd", "low", "high",
                                        "median",          "p10",     "p90",    NULL};
    NB_TRY(ctx, nb_grid_make(grid, heads, true, ctx));
    for (int g = 0; g < s->groups.count; g++)
        for (const nb_column *c = nb_coherence_columns; c->name; c++)
            if (c->measure && !c->time) NB_TRY(ctx, add_measure(grid, s, g, c->name, ctx));
    return NB_OK;
}

static nb_status make(const nb_frame *frame, const nb_table_form *form, nb_ctx *ctx)
{
    nb_coherence_summary s;
    NB_TRY(ctx, nb_coherence_summary_make(frame, &s, ctx));
    return form->grid ? fill(form->grid, &s, ctx) : show(form->page, &s, ctx);
}

static const char *const references[] = {
    "On the geometric selection of landmarks for low-rank self-attention approximation, 2025, OpenReview OdKBFAmCYX "
    "(Table 1)",
    NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_table nb_table_coherence = {
    .component = {"coherence", "coherence and block-coherence by model, layer, k, tau and partition", references,
                  options, 0},
    .study = NB_COHERENCE_STUDY,
    .place = 1,
    .file = "coherence.csv",
    .make = make,
};
