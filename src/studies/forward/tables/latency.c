/* SPDX-License-Identifier: GPL-3.0-or-later */
/* latency.c - what each attention takes at each n, and what its outputs are worth; over which exact one. */
#include "report/table.h"
#include "studies/forward/summary.h"

#include <math.h>

enum { MOST_HEADS = 32 };

/* Faster or slower than some exact attention: one column for each, with the name that it has in the other lines. */
static nb_status head_texts(const nb_forward_summary *s, bool exact, const char **heads, nb_ctx *ctx)
{
    static const char *const text[] = {NB_FORWARD_KEYS, "ms",   "interval", "fresh ms",    "first ms",
                                       "workspace",     "peak", "error",    "on the front"};
    static const char *const columns[] = {NB_FORWARD_KEYS,   "rows",       "latency_s",    "latency_low_s",
                                          "latency_high_s",  "first_s",    "fresh_s",      "amortized_s",
                                          "workspace_bytes", "peak_bytes", "output_error", "front"};
    int count = 0;
    size_t fixed = exact ? sizeof columns / sizeof *columns : sizeof text / sizeof *text;
    for (size_t i = 0; i < fixed; i++) heads[count++] = exact ? columns[i] : text[i];
    for (int b = 0; b < s->baseline_count; b++)
        NB_NEED(heads[count++],
                nb_format(ctx, "%s%s", exact ? "speedup_over_" : "x ", nb_forward_name(s, s->baselines[b], false)));
    heads[count] = NULL;
    return NB_OK;
}

/* Bytes in the largest unit that keeps them at 1 or more. */
static nb_status add_bytes(nb_grid *g, double bytes, nb_ctx *ctx)
{
    const char *text;
    bool mega = bytes >= 1e6;
    if (isnan(bytes)) return nb_grid_text(g, "-");
    NB_NEED(text, nb_format(ctx, "%.3g %s", bytes / (mega ? 1e6 : 1e3), mega ? "MB" : "kB"));
    return nb_grid_text(g, text);
}

static nb_status add_line(nb_grid *g, const nb_forward_summary *s, const nb_forward_cell *c, bool front, nb_ctx *ctx)
{
    const char *interval;
    NB_TRY(ctx, nb_forward_add_keys(s, c, g, ctx));
    NB_TRY(ctx, nb_grid_real(g, "%.4g", 1e3 * c->latency_s));
    NB_NEED(interval, isnan(c->low_s) ? "-" : nb_format(ctx, "%.3g to %.3g", 1e3 * c->low_s, 1e3 * c->high_s));
    NB_TRY(ctx, nb_grid_text(g, interval));
    NB_TRY(ctx, nb_grid_real(g, "%.3g", c->fresh_s > c->latency_s ? 1e3 * c->fresh_s : NAN));
    NB_TRY(ctx, nb_grid_real(g, "%.3g", 1e3 * c->first_s));
    NB_TRY(ctx, add_bytes(g, c->workspace, ctx));
    NB_TRY(ctx, add_bytes(g, c->peak, ctx));
    if (c->error >= c->baseline_mean)
        NB_TRY(ctx, nb_grid_text(g, nb_format(ctx, "(%.2g)", c->error)));
    else
        NB_TRY(ctx, nb_grid_real(g, "%.2g", c->error));
    NB_TRY(ctx, nb_grid_text(g, front ? "yes" : "no"));
    for (int b = 0; b < s->baseline_count; b++) NB_TRY(ctx, nb_grid_real(g, "%.3g", c->speedup[b]));
    return NB_OK;
}

static nb_status add_exact_line(nb_grid *g, const nb_forward_summary *s, const nb_forward_cell *c, bool front,
                                nb_ctx *ctx)
{
    const double values[] = {c->latency_s, c->low_s,     c->high_s, c->first_s, c->fresh_s,
                             c->time_s,    c->workspace, c->peak,   c->error};
    NB_TRY(ctx, nb_forward_add_keys(s, c, g, ctx));
    NB_TRY(ctx, nb_grid_int(g, c->rows.count));
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) NB_TRY(ctx, nb_grid_real(g, "%g", values[i]));
    NB_TRY(ctx, nb_grid_int(g, front));
    for (int b = 0; b < s->baseline_count; b++) NB_TRY(ctx, nb_grid_real(g, "%g", c->speedup[b]));
    return NB_OK;
}

static void add_notes(nb_page *page)
{
    nb_page_paragraph(page, "In the table:");
    nb_page_note(page, "ms:", "median over rounds, then over layers and trials");
    nb_page_note(page, "interval:",
                 "the ends of all their 95 %% intervals, or of the times where there are fewer than 6 rounds");
    nb_page_note(page, "fresh:", "a pass that chooses the landmarks that others keep");
    nb_page_note(page, "first:", "the first pass, with cold caches");
    nb_page_note(page, "error:",
                 "of the outputs, against double precision; in brackets where it is not below that of the mean of V");
    nb_page_note(page, "on the front:", "nothing of the same layers and threads is both as fast and as good");
    nb_page_note(page, "x NAME:", "times faster than that attention beside it in the same rounds");
    nb_page_paragraph(page, "Front and x take amortized_s, which has its share of fresh passes.");
}

static nb_status make(const nb_frame *frame, const nb_table_form *form, nb_ctx *ctx)
{
    const char **heads;
    bool exact = form->grid != NULL;
    nb_forward_summary s;
    nb_grid own, *grid;
    NB_TRY(ctx, nb_forward_summary_make(frame, &s, ctx));
    if (s.cell_count == 0) return NB_OK;
    NB_NEED(heads, nb_alloc(ctx, MOST_HEADS, sizeof *heads));
    NB_TRY(ctx, head_texts(&s, exact, heads, ctx));
    NB_TRY(ctx, nb_table_grid(form, heads, heads, &own, &grid, ctx));
    for (int i = 0; i < s.cell_count; i++) {
        bool front = nb_forward_is_on_front(&s, i);
        NB_TRY(ctx, (exact ? add_exact_line : add_line)(grid, &s, &s.cells[i], front, ctx));
    }
    if (exact) return NB_OK;
    own.labels = NB_FORWARD_KEY_COUNT;
    nb_page_heading(form->page, 2, "Time and memory of a pass over all heads");
    nb_grid_show(&own, form->page);
    add_notes(form->page);
    return NB_OK;
}

static const char *const references[] = {"none: medians over rounds, layers and trials", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_table nb_table_latency = {
    .component = {"latency", "time, memory and output error by layers, threads, n and attention", references, options,
                  0},
    .study = NB_FORWARD_STUDY,
    .place = 1,
    .file = "latency.csv",
    .make = make,
};
