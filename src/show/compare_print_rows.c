/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare_print_rows.c - a comparison for programs: a row for each line. */
#include "show/compare_print_private.h"

#include "base/text.h"
#include "rows/pairs.h"

static void add_counts(nb_grid *grid, const nb_compared *x)
{
    const nb_pair_counts *k = x->pairs;
    nb_grid_put_int(grid, "sources_below", x->estimate.below);
    nb_grid_put_int(grid, "sources_above", x->estimate.above);
    nb_grid_put_int(grid, "sources_equal", x->estimate.ties);
    nb_grid_put_int(grid, "sources", x->estimate.sources);
    nb_grid_put_int(grid, "heads", x->estimate.units);
    nb_grid_put_int(grid, "pairs", k->pairs);
    nb_grid_put_int(grid, "ties", k->ties);
    nb_grid_put_int(grid, "noise", k->noise);
    nb_grid_put_int(grid, "disturbed", k->disturbed);
    nb_grid_put_int(grid, "exact", k->exact);
    nb_grid_put_int(grid, "exact_baseline", k->exact_baseline);
    nb_grid_put_int(grid, "missing", k->missing);
    nb_grid_put_int(grid, "missing_baseline", k->missing_baseline);
    nb_grid_put_int(grid, "skipped", k->skipped);
    nb_grid_put_int(grid, "skipped_baseline", k->skipped_baseline);
    nb_grid_put_int(grid, "neither", k->neither);
    nb_grid_put_int(grid, "infinite", x->estimate.infinite);
}

static void add_tests(nb_grid *grid, const nb_compared *x)
{
    const nb_estimate *e = &x->estimate;
    nb_grid_put_real(grid, "icc", e->icc);
    nb_grid_put_real(grid, "design_effect", e->design_effect);
    nb_grid_put_real(grid, "effective", e->effective);
    nb_grid_put_real(grid, "sd", e->sd);
    nb_grid_put_real(grid, "se", e->se);
    nb_grid_put_real(grid, "se_trials", e->common_se);
    nb_grid_put_int(grid, "trials", x->trials);
    nb_grid_put_real(grid, "df", e->df);
    nb_grid_put_real(grid, "t_p", e->t_p);
    nb_grid_put_real(grid, "wilcoxon_w", e->wilcoxon_w);
    nb_grid_put_real(grid, "wilcoxon_p", e->wilcoxon_p);
    nb_grid_put_real(grid, "sign_p", e->sign_p);
}

/* Adds two ends of an interval, by this name. */
static void add_ends(const nb_compare_printer *p, nb_grid *grid, const char *name, double low, double high)
{
    nb_grid_put_real(grid, nb_phrase(p->ctx, "%slow", name), nb_compare_scaled(&p->lines, low));
    nb_grid_put_real(grid, nb_phrase(p->ctx, "%shigh", name), nb_compare_scaled(&p->lines, high));
}

static void add_estimates(const nb_compare_printer *p, nb_grid *grid, const nb_compared *x)
{
    const nb_estimate *e = &x->estimate;
    bool more = p->lines.more;
    nb_grid_put_real(grid, p->scale, nb_compare_scaled(&p->lines, e->mean));
    add_ends(p, grid, "", e->low, e->high);
    add_ends(p, grid, "joint_", x->joint.low, x->joint.high);
    nb_grid_put_int(grid, "family", x->family);
    add_ends(p, grid, "bootstrap_", e->boot_low, e->boot_high);
    nb_grid_put_real(grid, "median", nb_compare_scaled(&p->lines, e->median));
    nb_grid_put_real(grid, "hodges_lehmann", nb_compare_scaled(&p->lines, e->shift));
    add_ends(p, grid, "hodges_lehmann_", e->shift_low, e->shift_high);
    nb_grid_put_real(grid, "wins", more ? 1 - e->below_share : e->below_share);
    nb_grid_put_real(grid, "wins_low", more ? 1 - e->below_high : e->below_low);
    nb_grid_put_real(grid, "wins_high", more ? 1 - e->below_low : e->below_high);
}

static void add_row(const nb_compare_printer *p, nb_grid *grid, const nb_compare_line *l)
{
    const nb_compared *x = l->of;
    const nb_contrasts *c = x->contrasts;
    bool over = x->stratum == NB_OVER_STRATA;
    nb_grid_row(grid);
    nb_grid_put(grid, "method", *nb_grid_at(&c->values, l->value, NB_OF_ROW));
    nb_grid_put(grid, "baseline", *nb_grid_at(&c->values, l->base, NB_OF_ROW));
    nb_grid_put_text(grid, "by", p->by);
    nb_grid_put_text(grid, "metric", l->metric);
    nb_grid_put_text(grid, "model", over ? "all" : nb_grid_at(&c->strata, x->stratum, NB_STRATUM_NAME)->text);
    for (int i = 0; i < p->lines.setting_count; i++)
        nb_grid_put(grid, p->lines.settings[i].head, *nb_setting_cell(c, l->setting, i, NB_OF_ROW));
    if (!nb_text_among(NB_INPUT, c->setting_columns)) nb_grid_put_text(grid, NB_INPUT, NULL);
    if (p->lines.terms->pool) nb_grid_put_text(grid, p->lines.terms->pool, "all");
    add_estimates(p, grid, x);
    add_counts(grid, x);
    add_tests(grid, x);
    nb_grid_put(grid, "more_sources", nb_whole_cell(x->more));
    nb_grid_put_text(grid, "verdict", nb_verdict_names[x->verdict]);
    nb_grid_put_text(grid, "why", x->why);
    nb_grid_put_text(grid, "heads_differ", x->conflict);
    nb_grid_put_text(grid, "far_trial", x->far_trial);
}

nb_status nb_compare_fill(nb_grid *grid, const nb_comparison *c, nb_ctx *ctx)
{
    nb_compare_printer p;
    nb_grid_begin(grid, ctx);
    if (c->count == 0) return NB_OK;
    NB_TRY(ctx, nb_compare_printer_make(&p, NULL, c, (nb_compare_view){true, true}, ctx));
    for (int i = 0; i < p.lines.count; i++) add_row(&p, grid, &p.lines.items[i]);
    NB_TRY(ctx, nb_grid_end(grid));
    return nb_phrases_end(ctx);
}
