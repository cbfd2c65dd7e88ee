/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tables.c - results and lists as people and programs read them. */
#include "suite/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static nb_status add_track(nb_page *page, const nb_suite_result *r, int track, nb_ctx *ctx)
{
    nb_estimate e;
    double nine;
    if (r->absent[track]) return NB_OK;
    nb_page_row(page);
    nb_page_cell(page, "%s", r->method.label);
    nb_page_cell(page, "%s", r->suite->tracks[track].name);
    NB_TRY(ctx, nb_suite_estimate(r, track, -1, &e, ctx));
    NB_TRY(ctx, nb_suite_nine_in_ten(r, track, &nine, ctx));
    nb_page_number(page, "%.2f", e.mean);
    nb_page_cell(page, "[%.2f, %.2f]", e.low, e.high);
    nb_page_number(page, "%.2f", nine);
    nb_page_number(page, "%.0f", e.sources);
    for (int k = 0; k < NB_SUITE_SHARES; k++) {
        NB_TRY(ctx, nb_suite_estimate(r, track, k, &e, ctx));
        nb_page_number(page, "%.2f", e.mean);
    }
    return NB_OK;
}

/* On how many inputs of a track a method has no output at a share, and why on the last of them. */
typedef struct {
    int refused, all;
    const char *why;
} tally;

static tally tally_refusals(const nb_suite_result *r, int track, int share)
{
    const nb_suite *s = r->suite;
    tally t = {0, 0, ""};
    for (int i = 0; i < s->count; i++) {
        if (s->models[s->inputs[i].model].track != track) continue;
        const char *why = r->outcomes[i][share].refused;
        t.all++;
        t.refused += why != NULL;
        if (why) t.why = why;
    }
    return t;
}

static bool is_like(tally a, tally b)
{
    return a.refused == b.refused && strcmp(a.why, b.why) == 0;
}

void nb_suite_add_refusals(nb_page *page, const nb_suite_result *r, int track)
{
    tally t[NB_SUITE_SHARES];
    for (int k = 0; k < NB_SUITE_SHARES; k++) t[k] = tally_refusals(r, track, k);
    for (int k = 0; k < NB_SUITE_SHARES; k++) {
        char shares[64] = "";
        bool said = false;
        for (int l = 0; l < NB_SUITE_SHARES; l++) {
            size_t length = strlen(shares);
            if (!is_like(t[k], t[l])) continue;
            said = said || l < k;
            snprintf(shares + length, sizeof shares - length, "%s1/%d", *shares ? ", " : "", nb_suite_parts[l]);
        }
        if (t[k].refused == 0 || said) continue;
        nb_page_prose(page, NB_PAGE_REMARK, "%s, %s at %s: the mean of V stands for its output on %d of %d inputs: %s",
                      r->method.label, r->suite->tracks[track].name, shares, t[k].refused, t[k].all, t[k].why);
    }
}

static void add_reasons(nb_page *page, const nb_suite_result *r)
{
    for (int t = 0; t < r->suite->track_count; t++) {
        const char *absent = r->absent[t], *track = r->suite->tracks[t].name;
        if (absent)
            nb_page_prose(page, NB_PAGE_REMARK, "%s is not among the %s: %s", r->method.label, track, absent);
        else
            nb_suite_add_refusals(page, r, t);
    }
    if (r->method.tuned)
        nb_page_prose(page, NB_PAGE_REMARK, "%s: its options were tuned on %s sources, its author says",
                      r->method.label, strcmp(r->method.tuned, "none") == 0 ? "no" : r->method.tuned);
}

static bool has_block(const nb_suite_result *r, int track)
{
    return (r->damage && (r->damage[track].attention || r->damage[track].refused)) || nb_suite_is_timed(r, track);
}

static nb_status add_block(nb_page *page, const nb_suite_result *r, int track, nb_ctx *ctx)
{
    nb_estimate e;
    double ratio = nb_suite_time_ratio(r, track, NB_SUITE_TIMED);
    if (!has_block(r, track)) return NB_OK;
    NB_TRY(ctx, nb_suite_damage_estimate(r, track, &e, ctx));
    nb_page_row(page);
    nb_page_cell(page, "%s", r->method.label);
    nb_page_cell(page, "%s", r->suite->tracks[track].name);
    nb_page_number(page, "%.3g", e.mean);
    nb_page_cell(page, isfinite(e.low) ? "[%.3g, %.3g]" : "-", e.low, e.high);
    nb_page_number(page, "%.2f", ratio);
    nb_page_cell(page, "%s", nb_suite_is_timed(r, track) ? r->device : "-");
    if (nb_suite_is_disturbed(r, track)) nb_page_mark(page, "*");
    return NB_OK;
}

/* Adds damage and times, if a result has them. */
static nb_status add_blocks(nb_page *page, int count, const nb_suite_result *results, nb_ctx *ctx)
{
    const nb_suite *s = results[0].suite;
    bool any = false, disturbed = false;
    for (int i = 0; i < count; i++)
        for (int t = 0; t < s->track_count; t++) {
            any = any || has_block(&results[i], t);
            disturbed = disturbed || nb_suite_is_disturbed(&results[i], t);
        }
    if (!any) return NB_OK;
    nb_page_table(page);
    nb_page_column(page, NB_PAGE_WORD | NB_PAGE_LABEL, "method");
    nb_page_column(page, NB_PAGE_WORD | NB_PAGE_LABEL, "track");
    nb_page_column(page, NB_PAGE_NUMBER, "damage");
    nb_page_column(page, NB_PAGE_WORD, "interval");
    nb_page_column(page, NB_PAGE_NUMBER, "time");
    nb_page_column(page, NB_PAGE_WORD, "on");
    for (int i = 0; i < count; i++)
        for (int t = 0; t < s->track_count; t++) NB_TRY(ctx, add_block(page, &results[i], t, ctx));
    for (int t = 0; t < s->track_count; t++) {
        const nb_suite_damaged *d = s->tracks[t].damaged;
        if (d)
            nb_page_note(page, "damage", "%s: %s%s of %s with the method at 1/%d in all layers, on %d sources; 0: none",
                         s->tracks[t].name, d->logarithm ? "ln " : "", d->column, s->models[d->model].name,
                         nb_suite_parts[d->share], d->count);
    }
    nb_page_note(page, "time", "seconds of a pass at 1/%d over those of exact attention, one thread",
                 nb_suite_parts[NB_SUITE_TIMED]);
    if (disturbed) nb_page_note(page, "*", "other programs used the CPU");
    return NB_OK;
}

nb_status nb_suite_results_page(int count, const nb_suite_result *results, nb_page *page, nb_ctx *ctx)
{
    const nb_suite *s = results[0].suite;
    nb_page_prose(page, NB_PAGE_SHARED, "suite %s, %s form", s->version, s->form);
    nb_page_table(page);
    nb_page_column(page, NB_PAGE_WORD | NB_PAGE_LABEL, "method");
    nb_page_column(page, NB_PAGE_WORD | NB_PAGE_LABEL, "track");
    nb_page_column(page, NB_PAGE_NUMBER, "number");
    nb_page_column(page, NB_PAGE_WORD, "interval");
    nb_page_column(page, NB_PAGE_NUMBER, "9 in 10");
    nb_page_column(page, NB_PAGE_NUMBER, "sources");
    for (int k = 0; k < NB_SUITE_SHARES; k++) nb_page_column(page, NB_PAGE_NUMBER, "at 1/%d", nb_suite_parts[k]);
    for (int i = 0; i < count; i++)
        for (int t = 0; t < s->track_count; t++) NB_TRY(ctx, add_track(page, &results[i], t, ctx));
    for (int i = 0; i < count; i++) add_reasons(page, &results[i]);
    nb_page_note(page, "number",
                 "mean of log2(the baseline's error / the method's) at 1/4, 1/8, 1/16 and 1/32 of "
                 "exact attention's multiplications; models count the same; 1: half the error");
    nb_page_note(page, "interval", "95 %%, over sources");
    nb_page_note(page, "9 in 10", "nine in ten heads have at least that");
    for (int t = 0; t < s->track_count; t++)
        nb_page_note(page, s->tracks[t].name, "the baseline is %s", s->tracks[t].baseline);
    NB_TRY(ctx, add_blocks(page, count, results, ctx));
    return page->status;
}

nb_status nb_suite_results_grid(int count, const nb_suite_result *results, nb_grid *grid, nb_ctx *ctx)
{
    static const char *const names[] = {"method",  "track",      "number",      "low",   "high",  "nine_in_ten",
                                        "sources", "at_4",       "at_8",        "at_16", "at_32", "absent",
                                        "damage",  "damage_low", "damage_high", "time",  NULL};
    NB_TRY(ctx, nb_grid_make(grid, names, ctx));
    for (int i = 0; i < count; i++)
        for (int t = 0; t < results[i].suite->track_count; t++) {
            nb_estimate e;
            double nine;
            NB_TRY(ctx, nb_suite_estimate(&results[i], t, -1, &e, ctx));
            NB_TRY(ctx, nb_suite_nine_in_ten(&results[i], t, &nine, ctx));
            NB_TRY(ctx, nb_grid_text(grid, results[i].method.label));
            NB_TRY(ctx, nb_grid_text(grid, results[i].suite->tracks[t].name));
            NB_TRY(ctx, nb_grid_real(grid, e.mean));
            NB_TRY(ctx, nb_grid_real(grid, e.low));
            NB_TRY(ctx, nb_grid_real(grid, e.high));
            NB_TRY(ctx, nb_grid_real(grid, nine));
            NB_TRY(ctx, nb_grid_int(grid, e.sources));
            for (int k = 0; k < NB_SUITE_SHARES; k++) {
                NB_TRY(ctx, nb_suite_estimate(&results[i], t, k, &e, ctx));
                NB_TRY(ctx, nb_grid_real(grid, e.mean));
            }
            NB_TRY(ctx, nb_grid_text(grid, results[i].absent[t]));
            NB_TRY(ctx, nb_suite_damage_estimate(&results[i], t, &e, ctx));
            NB_TRY(ctx, nb_grid_real(grid, e.mean));
            NB_TRY(ctx, nb_grid_real(grid, e.low));
            NB_TRY(ctx, nb_grid_real(grid, e.high));
            NB_TRY(ctx, nb_grid_real(grid, nb_suite_time_ratio(&results[i], t, NB_SUITE_TIMED)));
        }
    return NB_OK;
}

nb_status nb_suite_list_grid(const nb_suite *s, nb_grid *grid, nb_ctx *ctx)
{
    static const char *const names[] = {"model", "track", "causal", "files",           "heads",
                                        "n",     "d",     "dv",     "multiplications", NULL};
    NB_TRY(ctx, nb_grid_make(grid, names, ctx));
    for (int m = 0; m < s->model_count; m++) {
        const nb_suite_model *model = &s->models[m];
        const nb_suite_track *track = &s->tracks[model->track];
        nb_layer layer;
        NB_TRY(ctx, nb_suite_layer(s, model->first, &layer, ctx));
        NB_TRY(ctx, nb_grid_text(grid, model->name));
        NB_TRY(ctx, nb_grid_text(grid, track->name));
        NB_TRY(ctx, nb_grid_add(grid, (nb_cell){.type = NB_CELL_FLAG, .integer = track->causal, .real = NAN}));
        NB_TRY(ctx, nb_grid_int(grid, model->count));
        NB_TRY(ctx, nb_grid_int(grid, nb_layer_heads(&layer.shape)));
        NB_TRY(ctx, nb_grid_int(grid, layer.shape.n));
        NB_TRY(ctx, nb_grid_int(grid, layer.shape.d));
        NB_TRY(ctx, nb_grid_int(grid, layer.shape.dv));
        NB_TRY(ctx, nb_grid_whole(grid, nb_suite_exact(&layer.shape)));
    }
    return NB_OK;
}
