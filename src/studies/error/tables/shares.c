/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shares.c - each strategy against the baseline: the pooled medians as text, every cell as CSV. */
#include "studies/error/shares.h"

#include "report/csv.h"
#include "report/table.h"

#include <math.h>
#include <string.h>

/* `noise`: there is nothing else. */
static void print_number(FILE *out, const char *format, int width, double x, bool noise)
{
    char text[32];
    snprintf(text, sizeof text, format, x);
    fprintf(out, "%*s", width, !isnan(x) ? text : noise ? "~" : "-");
}

/* Whether a line of the table has anything to say. */
static bool is_compared(const nb_comparison *c)
{
    return c->cells > 0 || c->whole.noise > 0;
}

static void print_core(FILE *out, const nb_summary *s, const nb_shares *shares, int core, int width)
{
    bool any = false;
    for (int v = 0; v < s->variant_count; v++) {
        const nb_comparison *c = &shares->pooled[v * s->core_count + core];
        if (!is_compared(c)) continue;
        if (!any) fprintf(out, "  %s\n", s->cores[core].label);
        any = true;
        fprintf(out, "    %-*.*s", width, width, s->variants[v].label);
        print_number(out, "%.3g", 10, c->whole.relative, c->whole.noise > 0);
        print_number(out, "%.2f", 9, c->whole.share, false);
        print_number(out, "%.3g", 12, c->subspace.relative, c->subspace.noise > 0);
        print_number(out, "%.2f", 9, c->subspace.share, false);
        print_number(out, "%.1e", 12, c->select_s, false);
        if (c->whole.noise > 0) fputs(" ~", out);
        if (c->cells + c->whole.noise < c->planned) fputs(" !", out);
        if (!c->fixed) fprintf(out, "  pairing %s against %s", s->variants[v].pairing, s->variants[c->base].pairing);
        fputc('\n', out);
    }
}

static void print_text(FILE *out, const nb_summary *s, const nb_shares *shares)
{
    enum { LONGEST = 64 };
    int width = 0, compared = 0;
    bool fixed = true;
    for (int v = 0; v < s->variant_count; v++) {
        int length = (int)strlen(s->variants[v].label);
        width = length > width ? length : width;
        bool any = false;
        for (int c = 0; c < s->core_count; c++) {
            const nb_comparison *of = &shares->pooled[v * s->core_count + c];
            any |= is_compared(of);
            fixed &= !is_compared(of) || of->fixed;
        }
        compared += any;
    }
    if (compared < 2) return;
    width = width < LONGEST ? width : LONGEST;
    fprintf(out, "\nRelative to %s\n    %-*s%10s%9s%12s%9s%12s\n", shares->baseline, width, "", "error", "share",
            "subspace", "share", "select_s");
    for (int c = 0; c < s->core_count; c++) print_core(out, s, shares, c, width);
    fputs("error: ratio to the baseline's error in the same trial, with the same pairing, factors, core and m;\n"
          "subspace: the same for the least error that any core reaches; both are medians, over problems and m, of\n"
          "the medians over heads and trials.\n"
          "share: of the gap between the baseline (0) and the best strategy of each problem and m (1),\n"
          "log(error) / log(best's); below 0: worse than the baseline;\n"
          "- the best is less than 1 % below the baseline;\n"
          "~ rounding noise on both sides, at the end of a line: for some problems and m;\n"
          "! some are missing, or have the baseline only with another pairing.\n"
          "select_s: seconds.\n",
          out);
    if (!fixed)
        fputs("Where a line names two pairings, the baseline was not run with the first: the ratio is the effect\n"
              "of strategy and pairing together, and there is no share.\n",
              out);
}

static void print_csv_real(FILE *out, double x)
{
    fputc(',', out);
    nb_csv_print_real(out, isfinite(x) ? x : NAN);
}

static void print_csv_share(FILE *out, const nb_share *s)
{
    print_csv_real(out, s->error);
    print_csv_real(out, s->relative);
    print_csv_real(out, s->share);
}

/* One line; panel NULL: pooled. */
static void print_csv_line(FILE *out, const nb_summary *s, const nb_panel *panel, int variant, int core, int landmark,
                           const nb_comparison *c)
{
    const nb_variant *v = &s->variants[variant];
    const char *texts[] = {panel ? panel->label : "all",
                           panel ? panel->problem : NULL,
                           panel ? panel->kernel : NULL,
                           v->label,
                           v->strategy,
                           v->pairing,
                           c->base < 0 ? NULL
                           : c->fixed  ? v->pairing
                                       : s->variants[c->base].pairing,
                           v->factors,
                           s->cores[core].core};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        nb_csv_print_text(out, texts[i]);
        fputc(',', out);
    }
    if (panel)
        fprintf(out, "%d,%d,%d", s->landmarks[landmark], c->whole.pairs, c->whole.noise);
    else
        fprintf(out, ",%d,%d", c->cells, c->whole.noise);
    print_csv_share(out, &c->whole);
    print_csv_share(out, &c->subspace);
    print_csv_real(out, c->select_s);
    fputc('\n', out);
}

static void print_table_csv(FILE *out, const nb_summary *s, const nb_shares *shares)
{
    fputs("panel,problem,kernel,label,strategy,pairing,baseline_pairing,factors,core,landmarks,count,noise,error,"
          "error_relative,error_share,"
          "subspace,subspace_relative,subspace_share,select_s\n",
          out);
    for (int v = 0; v < s->variant_count; v++)
        for (int c = 0; c < s->core_count; c++) {
            for (int p = 0; p < s->panel_count; p++)
                for (int l = 0; l < s->landmark_count; l++)
                    print_csv_line(out, s, &s->panels[p], v, c, l, &shares->cells[nb_summary_cell(s, p, v, c, l)]);
            print_csv_line(out, s, NULL, v, c, 0, &shares->pooled[v * s->core_count + c]);
        }
}

static nb_status print(FILE *out, const nb_frame *frame, const nb_table_form *form, nb_ctx *ctx)
{
    nb_summary s;
    nb_shares shares;
    NB_TRY(ctx, nb_summary_make(frame, &s, ctx));
    NB_TRY(ctx, nb_shares_make(&s, form->baseline, &shares, ctx));
    if (form->csv)
        print_table_csv(out, &s, &shares);
    else
        print_text(out, &s, &shares);
    return NB_OK;
}

static const char *const references[] = {
    "none: ratios of errors in the same trial, and shares of the gap on their scale", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_table nb_table_shares = {
    .component = {"shares", "each strategy against the baseline, by problem and pooled", references, options, 0},
    .study = NB_ERROR_STUDY,
    .place = 2,
    .file = "shares.csv",
    .print = print,
};
