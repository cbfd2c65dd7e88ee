/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare_print.c - see compare_print.h */
#include "report/compare_print.h"

#include "report/draws.h"
#include "report/labels.h"
#include "report/scopes.h"

#include <math.h>
#include <string.h>

typedef struct {
    const nb_frame *frame;
    const nb_compare_terms *terms;
    const nb_comparison *comparison;
    nb_ctx *ctx;
} printer;

/* From the additive scale to the one that is shown. */
static double shown(const printer *p, double x)
{
    return p->terms->contrast.difference ? x : exp(x);
}

static const char *stratum_of(const nb_compared *x)
{
    return x->stratum == NB_OVER_STRATA ? "all" : x->contrasts->replicates.names[x->stratum];
}

/* What a line has besides the texts of its setting; NaN: not known. */
typedef struct {
    const char *name;
    double value;
    bool integer;
} field;
enum { MOST_FIELDS = 48 };

static int fields_of(const printer *p, const nb_compared *x, field *fields)
{
    const nb_estimate *e = &x->estimate;
    const nb_pair_counts *k = x->pairs;
    bool difference = p->terms->contrast.difference, more = nb_compare_wants_more(p->frame, p->terms);
    const field all[] = {
        {difference ? "difference" : "ratio", shown(p, e->mean), false},
        {"low", shown(p, e->low), false},
        {"high", shown(p, e->high), false},
        {"bootstrap_low", shown(p, e->boot_low), false},
        {"bootstrap_high", shown(p, e->boot_high), false},
        {"median", shown(p, e->median), false},
        {"hodges_lehmann", shown(p, e->shift), false},
        {"hodges_lehmann_low", shown(p, e->shift_low), false},
        {"hodges_lehmann_high", shown(p, e->shift_high), false},
        {"wins", more ? 1 - e->below_share : e->below_share, false},
        {"wins_low", more ? 1 - e->below_high : e->below_low, false},
        {"wins_high", more ? 1 - e->below_low : e->below_high, false},
        {"sources_below", e->below, true},
        {"sources_above", e->above, true},
        {"sources_equal", e->ties, true},
        {"sources", e->sources, true},
        {"heads", e->units, true},
        {"pairs", k->pairs, true},
        {"ties", k->ties, true},
        {"noise", k->noise, true},
        {"missing", k->missing, true},
        {"missing_baseline", k->missing_baseline, true},
        {"skipped", k->skipped, true},
        {"skipped_baseline", k->skipped_baseline, true},
        {"neither", k->neither, true},
        {"infinite", e->infinite, true},
        {"icc", e->icc, false},
        {"design_effect", e->design_effect, false},
        {"effective", e->effective, false},
        {"sd", e->sd, false},
        {"se", e->se, false},
        {"se_trials", e->common_se, false},
        {"trials", x->trials, true},
        {"df", e->df, false},
        {"t_p", e->t_p, false},
        {"t_holm_p", x->t_holm, false},
        {"wilcoxon_w", e->wilcoxon_w, false},
        {"wilcoxon_p", e->wilcoxon_p, false},
        {"holm_p", x->wilcoxon_holm, false},
        {"sign_p", e->sign_p, false},
        {"equivalence_p", e->same_p, false},
        {"more_sources", x->more, true},
    };
    memcpy(fields, all, sizeof all);
    return sizeof all / sizeof *all;
}

static nb_status add_field(nb_grid *g, const field *f)
{
    return f->integer ? nb_grid_whole(g, f->value) : nb_grid_real(g, "%g", isfinite(f->value) ? f->value : NAN);
}

/* A row's value in a column as it stands in the row. */
static nb_status add_value(nb_grid *g, const printer *p, const char *name, int row)
{
    const nb_column *c = nb_column_find(p->frame->columns, name);
    const char *at = (const char *)nb_frame_row(p->frame, row) + c->offset;
    if (c->type == NB_COLUMN_REAL) return nb_grid_real(g, "%g", *(const double *)at);
    return c->type == NB_COLUMN_INT ? nb_grid_int(g, *(const int *)at) : nb_grid_text(g, *(const char *const *)at);
}

/* A setting's name; with a word before it where a number of the comparison has the same one. */
static nb_status name_setting(const printer *p, const nb_compared *x, const char *column, const char **name)
{
    field fields[MOST_FIELDS];
    int count = fields_of(p, x, fields);
    *name = column;
    for (int i = 0; i < count; i++)
        if (strcmp(fields[i].name, column) == 0) NB_NEED(*name, nb_format(p->ctx, "setting_%s", column));
    return NB_OK;
}

enum { FIXED = 5 }; /* columns before the setting's */

static nb_status find_heads(const printer *p, const char *const **heads)
{
    static const char *const first[FIXED] = {"method", "baseline", "by", "metric", "model"};
    const nb_compared *x = &p->comparison->items[0];
    const char **all;
    field fields[MOST_FIELDS];
    int count = 0, settings = 0, field_count = fields_of(p, x, fields);
    while (x->contrasts->setting_columns[settings]) settings++;
    NB_NEED(all, nb_alloc(p->ctx, (size_t)(FIXED + settings + field_count) + 5, sizeof *all));
    for (int i = 0; i < FIXED; i++) all[count++] = first[i];
    for (int i = 0; i < settings; i++)
        NB_TRY(p->ctx, name_setting(p, x, x->contrasts->setting_columns[i], &all[count++]));
    if (p->terms->contrast.pool) all[count++] = p->terms->contrast.pool;
    for (int i = 0; i < field_count; i++) NB_NEED(all[count++], nb_strdup(p->ctx, fields[i].name));
    all[count++] = "verdict";
    all[count++] = "why";
    all[count++] = "heads_differ";
    *heads = all;
    return NB_OK;
}

static nb_status add_exact_line(nb_grid *g, const printer *p, const nb_compared *x)
{
    const nb_contrast_terms *t = &p->terms->contrast;
    const int *first = x->contrasts->values.first;
    field fields[MOST_FIELDS];
    int count = fields_of(p, x, fields);
    NB_TRY(p->ctx, add_value(g, p, t->by, first[x->contrast->value]));
    NB_TRY(p->ctx, add_value(g, p, t->by, first[x->baseline]));
    NB_TRY(p->ctx, nb_grid_text(g, t->by));
    NB_TRY(p->ctx, nb_grid_text(g, t->metric));
    NB_TRY(p->ctx, nb_grid_text(g, stratum_of(x)));
    for (const char *const *c = x->contrasts->setting_columns; *c; c++)
        NB_TRY(p->ctx, add_value(g, p, *c, nb_compared_row(x)));
    if (t->pool) NB_TRY(p->ctx, nb_grid_text(g, "all"));
    for (int i = 0; i < count; i++) NB_TRY(p->ctx, add_field(g, &fields[i]));
    NB_TRY(p->ctx, nb_grid_text(g, nb_verdict_names[x->verdict]));
    NB_TRY(p->ctx, nb_grid_text(g, x->why));
    return nb_grid_text(g, x->turn);
}

nb_status nb_compare_fill(nb_grid *grid, const nb_frame *frame, const nb_compare_terms *terms,
                          const nb_comparison *comparison, nb_ctx *ctx)
{
    const printer p = {frame, terms, comparison, ctx};
    const char *const *heads = (const char *const[]){NULL};
    if (comparison->count > 0) NB_TRY(ctx, find_heads(&p, &heads));
    NB_TRY(ctx, nb_grid_make(grid, heads, true, ctx));
    for (int i = 0; i < comparison->count; i++) NB_TRY(ctx, add_exact_line(grid, &p, &comparison->items[i]));
    return NB_OK;
}

/* Setting columns that are not the same in all lines; the others are told once, above. */
static nb_status find_varying(const printer *p, const char **varying, const char **constant)
{
    const nb_comparison *c = p->comparison;
    int count = 0;
    *constant = "";
    for (const char *const *name = c->contrasts->setting_columns; *name; name++) {
        nb_codes codes;
        const char *label;
        bool varies = false;
        NB_TRY(p->ctx, nb_frame_codes(p->frame, *name, &codes, p->ctx));
        for (int i = 1; i < c->count; i++)
            varies = varies || codes.of[nb_compared_row(&c->items[i])] != codes.of[nb_compared_row(&c->items[0])];
        if (varies) {
            varying[count++] = *name;
            continue;
        }
        NB_TRY(p->ctx, nb_label_of(p->frame, *name, nb_compared_row(&c->items[0]), &label, p->ctx));
        NB_NEED(*constant, nb_format(p->ctx, "%s%s%s %s", *constant, **constant ? ", " : "", *name, label));
    }
    varying[count] = NULL;
    return NB_OK;
}

static nb_status add_real(nb_grid *g, const char *format, double x)
{
    char text[32];
    const char *copy;
    if (!isinf(x)) return nb_grid_real(g, format, x);
    snprintf(text, sizeof text, "%s", x > 0 ? "infinite" : "-infinite");
    NB_NEED(copy, nb_strdup(g->ctx, text));
    return nb_grid_text(g, copy);
}

/* [low, high], `-` where there is none. */
static nb_status add_interval(nb_grid *g, const printer *p, double low, double high)
{
    const char *text;
    NB_NEED(text, isnan(low) || isnan(high) ? nb_strdup(g->ctx, "-")
                                            : nb_format(g->ctx, "[%.3g, %.3g]", shown(p, low), shown(p, high)));
    return nb_grid_text(g, text);
}

static nb_status verdict_text(const nb_compared *x, const char **text, nb_ctx *ctx)
{
    if (x->verdict == NB_REFUSED)
        *text = "refused, see below";
    else if (x->why)
        NB_NEED(*text, nb_format(ctx, "%s: %s", nb_verdict_names[x->verdict], x->why));
    else if (x->verdict == NB_UNDECIDED && isfinite(x->more))
        NB_NEED(*text, nb_format(ctx, "undecided, about %.0f more source%s", x->more, x->more == 1 ? "" : "s"));
    else
        *text = nb_verdict_names[x->verdict];
    if (x->turn) NB_NEED(*text, nb_format(ctx, "%s; heads differ", *text));
    return NB_OK;
}

/* What a line is about. */
static nb_status add_labels(nb_grid *g, const printer *p, const char *const *varying, const nb_compared *x)
{
    const char *text;
    for (; *varying; varying++) {
        NB_TRY(g->ctx, nb_label_of(p->frame, *varying, nb_compared_row(x), &text, g->ctx));
        NB_TRY(g->ctx, nb_grid_text(g, text));
    }
    NB_TRY(g->ctx,
           nb_label_of(p->frame, p->terms->contrast.by, x->contrasts->values.first[x->contrast->value], &text, g->ctx));
    NB_TRY(g->ctx, nb_grid_text(g, text));
    if (p->terms->all_pairs) {
        NB_TRY(g->ctx,
               nb_label_of(p->frame, p->terms->contrast.by, x->contrasts->values.first[x->baseline], &text, g->ctx));
        NB_TRY(g->ctx, nb_grid_text(g, text));
    }
    text = "all";
    if (x->stratum != NB_OVER_STRATA) NB_TRY(g->ctx, nb_scopes_stratum(x->contrasts, x->stratum, &text, g->ctx));
    return nb_grid_text(g, text);
}

/* What it found. */
static nb_status add_findings(nb_grid *g, const printer *p, const nb_compared *x)
{
    const nb_estimate *e = &x->estimate;
    const nb_pair_counts *k = x->pairs;
    const char *text;
    NB_TRY(g->ctx, add_real(g, "%.3g", shown(p, e->mean)));
    NB_TRY(g->ctx, add_interval(g, p, e->low, e->high));
    NB_TRY(g->ctx, add_interval(g, p, e->boot_low, e->boot_high));
    NB_TRY(g->ctx, add_real(g, "%.3g", shown(p, e->median)));
    NB_NEED(text, nb_format(g->ctx, "%d/%d", nb_compare_wants_more(p->frame, p->terms) ? e->above : e->below,
                            e->below + e->above));
    NB_TRY(g->ctx, nb_grid_text(g, text));
    NB_TRY(g->ctx, nb_grid_real(g, "%.2g", e->wilcoxon_p));
    NB_TRY(g->ctx, nb_grid_real(g, "%.2g", e->t_p));
    NB_TRY(g->ctx, nb_grid_real(g, "%.2g", x->t_holm));
    NB_TRY(g->ctx, nb_grid_int(g, e->sources));
    NB_TRY(g->ctx, nb_grid_int(g, e->units));
    NB_TRY(g->ctx, nb_grid_real(g, "%.0f", x->trials ? (double)x->trials : NAN));
    NB_TRY(g->ctx, nb_grid_real(g, "%.2f", e->icc));
    NB_TRY(g->ctx, nb_grid_real(g, "%.1f", e->effective));
    NB_NEED(text, k->missing || k->missing_baseline ? nb_format(g->ctx, "%d|%d", k->missing, k->missing_baseline)
                                                    : nb_strdup(g->ctx, "-"));
    NB_TRY(g->ctx, nb_grid_text(g, text));
    NB_TRY(g->ctx, verdict_text(x, &text, g->ctx));
    return nb_grid_text(g, text);
}

static nb_status add_brief_findings(nb_grid *g, const printer *p, const nb_compared *x)
{
    const char *text;
    NB_TRY(g->ctx, add_real(g, "%.3g", shown(p, x->estimate.mean)));
    NB_TRY(g->ctx, add_interval(g, p, x->estimate.low, x->estimate.high));
    NB_TRY(g->ctx, verdict_text(x, &text, g->ctx));
    NB_TRY(g->ctx, nb_grid_text(g, text));
    return nb_grid_int(g, x->estimate.sources);
}

static nb_status add_title(nb_page *page, const printer *p, const char *constant)
{
    const nb_contrast_terms *t = &p->terms->contrast;
    const char *base = "another", *with = t->difference ? "minus" : "over";
    if (!p->terms->all_pairs)
        NB_TRY(p->ctx,
               nb_label_of(p->frame, t->by, p->comparison->contrasts->values.first[t->baseline], &base, p->ctx));
    nb_page_heading(page, 2, "%s by %s, %s that of %s, on the same head in the same trial%s%s%s", t->metric, t->by,
                    with, base, nb_compare_wants_more(p->frame, p->terms) ? "; more is better" : "",
                    t->pool ? "; mean over " : "", t->pool ? t->pool : "");
    if (*constant) nb_page_paragraph(page, "%s", constant);
    for (const char *const *c = t->confounded; c && *c; c++)
        nb_page_paragraph(page, "CONFOUNDED: they may differ in %s too", *c);
    return NB_OK;
}

/* Of each value that is refused, each reason once. */
static nb_status add_refusals(nb_page *page, const printer *p)
{
    for (int i = 0; i < p->comparison->count; i++) {
        const nb_compared *x = &p->comparison->items[i];
        bool told = false;
        const char *label;
        if (x->verdict != NB_REFUSED) continue;
        for (int j = 0; j < i && !told; j++) {
            const nb_compared *y = &p->comparison->items[j];
            told = y->verdict == NB_REFUSED && y->contrast->value == x->contrast->value && y->baseline == x->baseline &&
                   strcmp(x->why, y->why) == 0;
        }
        if (told) continue;
        NB_TRY(p->ctx, nb_label_of(p->frame, p->terms->contrast.by, x->contrasts->values.first[x->contrast->value],
                                   &label, p->ctx));
        nb_page_paragraph(page, "REFUSED: %s: %s.", label, x->why);
    }
    return NB_OK;
}

static bool has_refusal(const printer *p)
{
    bool any = false;
    for (int i = 0; i < p->comparison->count; i++) any = any || p->comparison->items[i].verdict == NB_REFUSED;
    return any;
}

/* Models of which nothing can be said. */
static nb_status add_empty_strata(nb_page *page, const printer *p)
{
    const nb_replicates *r = &p->comparison->contrasts->replicates;
    for (int s = 0; s < r->strata; s++) {
        int pairs = 0;
        const char *label;
        for (int i = 0; i < p->comparison->count; i++) pairs += p->comparison->items[i].contrast->counts[s].pairs;
        if (pairs > 0 || has_refusal(p)) continue;
        NB_TRY(p->ctx, nb_scopes_stratum(p->comparison->contrasts, s, &label, p->ctx));
        nb_page_paragraph(page, "%s: no pair has a result.", label);
    }
    return NB_OK;
}

/* Whether sources have been measured in the same trials, as those of files are; of drawn data each is a trial. */
static bool shares_trials(const nb_compared *x)
{
    const nb_replicates *r = &x->contrasts->replicates;
    bool shares = false;
    for (int s = 0; s < r->strata; s++)
        if (x->stratum == NB_OVER_STRATA || x->stratum == s)
            shares = shares || (!r->generated[s] && x->contrast->counts[s].pairs > 0);
    return shares;
}

/* Of a run that is going on, or was interrupted. */
static void add_unfinished(nb_page *page, const nb_frame *f)
{
    int planned = 0;
    for (int i = 0; i < f->count; i++) planned += strcmp(((const nb_row *)nb_frame_row(f, i))->status, "planned") == 0;
    if (planned > 0) nb_page_paragraph(page, "UNFINISHED: %d of %d rows have not been run yet.", planned, f->count);
}

/* What the columns and the verdicts mean. */
static void add_words(nb_page *page, const printer *p)
{
    double confidence = 100 * p->terms->confidence;
    bool difference = p->terms->contrast.difference;
    nb_page_paragraph(page, "In the table:");
    nb_page_note(page, difference ? "difference:" : "ratio:",
                 "%smean over sources; a source has the mean over its heads of their means over trials. In lines "
                 "\"all\", models count the same",
                 difference ? "" : "geometric ");
    nb_page_note(page, "t:", "%.0f %% t interval over sources and trials", confidence);
    nb_page_note(page, "bootstrap:", "BCa interval over sources");
    nb_page_note(page, "wins:", "sources with %s than the baseline, of those that differ",
                 nb_compare_wants_more(p->frame, p->terms) ? "more" : "less");
    nb_page_note(page, "p:", "of Wilcoxon's signed ranks, and of the t test");
    nb_page_note(page, "Holm:", "p of the t test, corrected over all lines of the model");
    nb_page_note(page, "ICC:", "how alike the heads of a source are (0: not at all; below: sources are more alike)");
    nb_page_note(page, "effective:", "how many independent heads they are worth");
    nb_page_note(page, "missing:", "pairs without a result of the method | of the baseline, which %s",
                 p->terms->contrast.failures == NB_FAILURES_WORST ? "count as the largest difference seen"
                                                                  : "do not count");
    nb_page_paragraph(page, "Verdicts:");
    nb_page_note(page, "better, worse:", "the t interval excludes %d and Holm's p is at most %.2g", difference ? 0 : 1,
                 1 - p->terms->confidence);
    nb_page_note(page, "equivalent:", "neither, and two one-sided t tests show the %s to be within %s%.3g",
                 difference ? "difference" : "ratio", difference ? "+-" : "a factor of ", shown(p, p->terms->margin));
    nb_page_note(page, "undecided:", "none of these");
    nb_page_note(
        page, "none:",
        "fewer than %d sources, a model with only one, fewer than %d trials of what is drawn, more than %.0f %% "
        "of the pairs missing, or infinite ratios",
        NB_LEAST_SOURCES, NB_LEAST_TRIALS, 100 * NB_MOST_MISSING);
    nb_page_note(page, "heads differ:",
                 "on one head of the model it is surely less than the baseline, on another surely more: the verdict is "
                 "of their mean");
}

static void add_caveats(nb_page *page, const printer *p)
{
    int few = 0, one = 0;
    for (int i = 0; i < p->comparison->count; i++) {
        const nb_estimate *e = &p->comparison->items[i].estimate;
        one += e->sources > 0 && p->comparison->items[i].trials < 2 && shares_trials(&p->comparison->items[i]);
        few += isfinite(e->boot_low) && e->sources < 20;
    }
    if (one > 0)
        nb_page_paragraph(
            page, "With one trial, or none that all sources have, the intervals do not cover the luck of the draws.");
    if (few > 0)
        nb_page_paragraph(
            page, "With fewer than 20 sources the bootstrap interval is too short: one of 95 %% covers 84 to 92 %%.");
}

/* "landmarks 32, refined, minilm"; "landmarks 32, refined over uniform, minilm" where there are several baselines */
static nb_status name_line(const printer *p, const nb_compared *x, const char **name)
{
    const char *varying[32], *constant, *label;
    *name = "";
    NB_TRY(p->ctx, find_varying(p, varying, &constant));
    for (const char **column = varying; *column; column++) {
        NB_TRY(p->ctx, nb_label_of(p->frame, *column, nb_compared_row(x), &label, p->ctx));
        NB_NEED(*name, nb_format(p->ctx, "%s%s %s, ", *name, *column, label));
    }
    NB_TRY(p->ctx, nb_label_of(p->frame, p->terms->contrast.by, x->contrasts->values.first[x->contrast->value], &label,
                               p->ctx));
    NB_NEED(*name, nb_format(p->ctx, "%s%s", *name, label));
    if (p->terms->all_pairs) {
        NB_TRY(p->ctx,
               nb_label_of(p->frame, p->terms->contrast.by, x->contrasts->values.first[x->baseline], &label, p->ctx));
        NB_NEED(*name, nb_format(p->ctx, "%s over %s", *name, label));
    }
    if (x->stratum == NB_OVER_STRATA) return NB_OK;
    NB_TRY(p->ctx, nb_scopes_stratum(x->contrasts, x->stratum, &label, p->ctx));
    NB_NEED(*name, nb_format(p->ctx, "%s, %s", *name, label));
    return NB_OK;
}

/* Where the mean over heads hides that they differ. */
static nb_status add_head_turns(nb_page *page, const printer *p)
{
    enum { SHOWN = 6 };
    int count = 0;
    for (int i = 0; i < p->comparison->count; i++) {
        const nb_compared *x = &p->comparison->items[i];
        const char *name;
        if (!x->turn || count++ >= SHOWN) continue;
        NB_TRY(p->ctx, name_line(p, x, &name));
        nb_page_paragraph(page, "WARNING: heads differ: %s: %s.", name, x->turn);
    }
    if (count > SHOWN)
        nb_page_paragraph(page, "WARNING: heads differ in %d more line%s; --where head=0 has one head alone.",
                          count - SHOWN, count == SHOWN + 1 ? "" : "s");
    return NB_OK;
}

/* Where the mean over the values of a column hides that they differ. */
static nb_status add_changes(nb_page *page, const printer *p)
{
    for (int i = 0; i < p->comparison->count; i++) {
        const nb_compared *x = &p->comparison->items[i];
        const char *name;
        if (!x->change) continue;
        NB_TRY(p->ctx, name_line(p, x, &name));
        nb_page_paragraph(page, "WARNING: %s: the effect changes sign with %s, over which it is pooled: %s.", name,
                          p->terms->contrast.pool, x->change);
    }
    return NB_OK;
}

static nb_status add_warnings(nb_page *page, const printer *p)
{
    const nb_contrasts *c = p->comparison->contrasts;
    add_unfinished(page, p->frame);
    NB_TRY(p->ctx, add_refusals(page, p));
    for (int v = 0; v < c->values.count && !p->terms->all_pairs; v++) {
        const char *label;
        if (!c->unpaired[v]) continue;
        NB_TRY(p->ctx, nb_label_of(p->frame, p->terms->contrast.by, c->values.first[v], &label, p->ctx));
        nb_page_paragraph(page, "%s: %d rows have no row of the baseline to be compared with.", label, c->unpaired[v]);
    }
    NB_TRY(p->ctx, add_empty_strata(page, p));
    NB_TRY(p->ctx, add_head_turns(page, p));
    return add_changes(page, p);
}

typedef struct { /* what a table shows of each line */
    const char *const *heads;
    nb_status (*add)(nb_grid *g, const printer *p, const nb_compared *x);
} showing;

static nb_status add_table(nb_page *page, const printer *p, const showing *what)
{
    const char *varying[32], *constant, *heads[64] = {NULL};
    int count = 0;
    nb_grid grid;
    NB_TRY(p->ctx, find_varying(p, varying, &constant));
    for (; varying[count]; count++)
        NB_TRY(p->ctx, name_setting(p, &p->comparison->items[0], varying[count], &heads[count]));
    heads[count++] = p->terms->contrast.by;
    if (p->terms->all_pairs) heads[count++] = "baseline";
    heads[count++] = "model";
    for (int i = 0; what->heads[i]; i++) heads[count + i] = what->heads[i];
    NB_TRY(p->ctx, add_title(page, p, constant));
    NB_TRY(p->ctx, nb_grid_make(&grid, heads, false, p->ctx));
    grid.labels = count;
    for (int i = 0; i < p->comparison->count; i++) {
        NB_TRY(p->ctx, add_labels(&grid, p, varying, &p->comparison->items[i]));
        NB_TRY(p->ctx, what->add(&grid, p, &p->comparison->items[i]));
    }
    nb_grid_show(&grid, page);
    return NB_OK;
}

static const char *scale_of(const nb_compare_terms *terms)
{
    return terms->contrast.difference ? "difference" : "ratio";
}

nb_status nb_compare_show(nb_page *page, const nb_frame *frame, const nb_compare_terms *terms,
                          const nb_comparison *comparison, nb_ctx *ctx)
{
    const printer p = {frame, terms, comparison, ctx};
    const char *const heads[] = {scale_of(terms), "t",       "bootstrap", "median", "wins",   "p, ranks",
                                 "p, t",          "Holm",    "sources",   "heads",  "trials", "ICC",
                                 "effective",     "missing", "verdict",   NULL};
    if (comparison->count == 0) return NB_OK;
    NB_TRY(ctx, add_table(page, &p, &(showing){heads, add_findings}));
    NB_TRY(ctx, add_warnings(page, &p));
    add_caveats(page, &p);
    add_words(page, &p);
    return NB_OK;
}

nb_status nb_compare_show_brief(nb_page *page, const nb_frame *frame, const nb_compare_terms *terms,
                                const nb_comparison *comparison, nb_ctx *ctx)
{
    const printer p = {frame, terms, comparison, ctx};
    const char *const heads[] = {scale_of(terms), "t interval", "verdict", "sources", NULL};
    if (comparison->count == 0) return NB_OK;
    NB_TRY(ctx, add_table(page, &p, &(showing){heads, add_brief_findings}));
    return add_warnings(page, &p);
}
