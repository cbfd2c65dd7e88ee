/* SPDX-License-Identifier: GPL-3.0-or-later */
/* forests.c - lines of strategies, from the comparison with the baseline and from that of cores. */
#include "studies/error/forests.h"

#include "studies/error/shares.h"

#include <math.h>

static nb_status seconds_text(double s, const char **text, nb_ctx *ctx)
{
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}};
    int u = s >= 1 ? 0 : s >= 1e-3 ? 1 : 2;
    double x = s / units[u].unit;
    if (isnan(s))
        NB_NEED(*text, nb_strdup(ctx, ""));
    else
        NB_NEED(*text, nb_format(ctx, "%.*f %s", x >= 9.95 ? 0 : 1, x, units[u].name));
    return NB_OK;
}

/* The median over m of a panel's numbers. */
static nb_status by_panel(const nb_summary *s, double (*number)(const void *of, int cell), const void *of, int variant,
                          int core, nb_forest_line *l, nb_ctx *ctx)
{
    double *values;
    NB_NEED(l->by_panel, nb_alloc_reals(ctx, (size_t)s->panel_count, 1));
    NB_NEED(values, nb_alloc_reals(ctx, (size_t)(s->landmark_count + 1), 1));
    for (int p = 0; p < s->panel_count; p++) {
        int count = 0;
        for (int m = 0; m < s->landmark_count; m++) {
            double x = number(of, nb_summary_cell(s, p, variant, core, m));
            if (!isnan(x)) values[count++] = x;
        }
        l->by_panel[p] = nb_statistic_of(count, values).median;
    }
    return NB_OK;
}

/* A figure for each core, without lines yet. */
static nb_status start(const nb_summary *s, const char *kind, nb_forest **figures, nb_ctx *ctx)
{
    const char **panels;
    NB_NEED(*figures, nb_alloc(ctx, (size_t)s->core_count + 1, sizeof **figures));
    NB_NEED(panels, nb_alloc(ctx, (size_t)s->panel_count + 1, sizeof *panels));
    for (int p = 0; p < s->panel_count; p++) panels[p] = s->panels[p].label;
    for (int c = 0; c < s->core_count; c++) {
        nb_forest *f = &(*figures)[c];
        *f = (nb_forest){.kind = kind, .name = s->cores[c].brief, .panels = panels, .panel_count = s->panel_count};
        NB_NEED(f->lines, nb_alloc(ctx, (size_t)s->variant_count + 1, sizeof *f->lines));
    }
    return NB_OK;
}

/* What of the pairing no label says. */
static nb_status pairing_words(const nb_summary *s, const char **words, nb_ctx *ctx)
{
    NB_NEED(*words,
            s->pairing ? nb_format(ctx, "; pairing %s unless another is named", s->pairing) : nb_strdup(ctx, ""));
    return NB_OK;
}

typedef struct {
    const nb_shares *shares;
    bool fixed;
} ratios;

static double ratio_of(const void *of, int cell)
{
    const ratios *r = of;
    const nb_comparison *c = &r->shares->cells[cell];
    return c->fixed == r->fixed ? c->whole.relative : NAN;
}

static nb_status add_line(nb_forest *f, const nb_summary *s, const nb_shares *shares, int variant, int core,
                          nb_ctx *ctx)
{
    const nb_comparison *c = &shares->pooled[variant * s->core_count + core];
    const nb_variant *v = &s->variants[variant];
    nb_forest_line *l = &f->lines[f->count];
    if (c->cells == 0) return NB_OK;
    *l = (nb_forest_line){.label = v->label,
                          .oracle = v->oracle,
                          .fixed = c->fixed,
                          .pooled = c->whole.relative,
                          .subspace = c->subspace.relative};
    if (!c->fixed) NB_NEED(l->label, nb_format(ctx, "%s against %s", v->label, s->variants[c->base].pairing));
    NB_TRY(ctx, by_panel(s, ratio_of, &(ratios){shares, c->fixed}, variant, core, l, ctx));
    NB_NEED(l->texts[0], isnan(c->whole.share) ? nb_strdup(ctx, "") : nb_format(ctx, "%.2f", c->whole.share));
    NB_TRY(ctx, seconds_text(c->select_s, &l->texts[1], ctx));
    f->count++;
    return NB_OK;
}

nb_status nb_plot_forest(const char *name, const nb_summary *s, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    nb_shares shares;
    nb_forest *all;
    const char *words;
    NB_TRY(ctx, nb_shares_make(s, d->baseline, &shares, ctx));
    NB_TRY(ctx, start(s, name, &all, ctx));
    NB_TRY(ctx, pairing_words(s, &words, ctx));
    for (int c = 0; c < s->core_count; c++) {
        nb_forest *f = &all[c];
        NB_NEED(f->title,
                nb_format(ctx, "%s: error relative to %s, %s", d->experiment, shares.baseline, s->cores[c].label));
        NB_NEED(f->subtitle,
                nb_format(ctx, "medians over m, heads and trials of the ratio in the same trial%s", words));
        f->x_name = "error / the baseline's";
        f->headings[0] = "share of gap";
        f->headings[1] = "to select";
        for (int v = 0; v < s->variant_count; v++) NB_TRY(ctx, add_line(f, s, &shares, v, c, ctx));
    }
    return nb_forest_draw(d, name, all, figures, ctx);
}

static double core_ratio_of(const void *of, int cell)
{
    const nb_summary *s = of;
    return s->ratios[cell].median;
}

static nb_status add_core_line(nb_forest *f, const nb_summary *s, int variant, int core, nb_ctx *ctx)
{
    nb_forest_line *l = &f->lines[f->count];
    double *values;
    int count = 0;
    *l = (nb_forest_line){
        .label = s->variants[variant].label, .oracle = s->variants[variant].oracle, .fixed = true, .subspace = NAN};
    NB_NEED(values, nb_alloc_reals(ctx, (size_t)s->panel_count * (size_t)s->landmark_count + 1, 1));
    for (int p = 0; p < s->panel_count; p++)
        for (int m = 0; m < s->landmark_count; m++) {
            double x = core_ratio_of(s, nb_summary_cell(s, p, variant, core, m));
            if (!isnan(x)) values[count++] = x;
        }
    if (count == 0) return NB_OK;
    l->pooled = nb_statistic_of(count, values).median;
    NB_TRY(ctx, by_panel(s, core_ratio_of, s, variant, core, l, ctx));
    f->count++;
    return NB_OK;
}

nb_status nb_plot_core_forest(const nb_figure *figure, const nb_summary *s, const nb_drawing *d, int *figures,
                              nb_ctx *ctx)
{
    nb_forest *all;
    const char *words;
    NB_TRY(ctx, start(s, figure->component.name, &all, ctx));
    NB_TRY(ctx, pairing_words(s, &words, ctx));
    for (int c = 1; c < s->core_count; c++) {
        nb_forest *f = &all[c];
        NB_NEED(f->title, nb_format(ctx, "%s: error with %s / error with %s", d->experiment, s->cores[c].label,
                                    s->cores[0].label));
        NB_NEED(f->subtitle,
                nb_format(ctx, "medians over m, heads and trials of the ratio on the same landmarks%s", words));
        f->x_name = "ratio of errors, same landmarks";
        for (int v = 0; v < s->variant_count; v++) NB_TRY(ctx, add_core_line(f, s, v, c, ctx));
    }
    return nb_forest_draw(d, figure->component.name, all, figures, ctx); /* the first core's has no lines */
}
