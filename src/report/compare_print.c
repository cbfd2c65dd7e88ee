/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare_print.c - see compare_print.h */
#include "report/compare_print_private.h"

#include "report/draws.h"

#include <math.h>
#include <string.h>

typedef nb_compare_printer printer;

double nb_compare_shown(const nb_compare_printer *p, double x)
{
    return p->terms->contrast.difference ? x : exp(x);
}

static const char *stratum_of(const nb_compared *x)
{
    return x->stratum == NB_OVER_STRATA ? "all" : x->contrasts->names[x->stratum];
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
    bool difference = p->terms->contrast.difference, more = p->comparison->contrasts->metric->more;
    const field all[] = {
        {difference ? "difference" : "ratio", nb_compare_shown(p, e->mean), false},
        {"low", nb_compare_shown(p, e->low), false},
        {"high", nb_compare_shown(p, e->high), false},
        {"bootstrap_low", nb_compare_shown(p, e->boot_low), false},
        {"bootstrap_high", nb_compare_shown(p, e->boot_high), false},
        {"median", nb_compare_shown(p, e->median), false},
        {"hodges_lehmann", nb_compare_shown(p, e->shift), false},
        {"hodges_lehmann_low", nb_compare_shown(p, e->shift_low), false},
        {"hodges_lehmann_high", nb_compare_shown(p, e->shift_high), false},
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

/* As it stands in the row. */
static nb_status add_value(nb_grid *g, const nb_cell *cell)
{
    if (cell->type == NB_CELL_INT) return nb_grid_int(g, (int)cell->integer);
    return cell->type == NB_CELL_REAL ? nb_grid_real(g, "%g", cell->real) : nb_grid_text(g, cell->text);
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
    field fields[MOST_FIELDS];
    int count = fields_of(p, x, fields);
    NB_TRY(p->ctx, add_value(g, nb_answer_at(&x->contrasts->values, x->contrast->value, NB_OF_ROW)));
    NB_TRY(p->ctx, add_value(g, nb_answer_at(&x->contrasts->values, x->baseline, NB_OF_ROW)));
    NB_TRY(p->ctx, nb_grid_text(g, t->by));
    NB_TRY(p->ctx, nb_grid_text(g, t->metric));
    NB_TRY(p->ctx, nb_grid_text(g, stratum_of(x)));
    for (int i = 0; x->contrasts->setting_columns[i]; i++)
        NB_TRY(p->ctx, add_value(g, nb_setting_cell(x->contrasts, x->contrast->setting, i, NB_OF_ROW)));
    if (t->pool) NB_TRY(p->ctx, nb_grid_text(g, "all"));
    for (int i = 0; i < count; i++) NB_TRY(p->ctx, add_field(g, &fields[i]));
    NB_TRY(p->ctx, nb_grid_text(g, nb_verdict_names[x->verdict]));
    NB_TRY(p->ctx, nb_grid_text(g, x->why));
    return nb_grid_text(g, x->turn);
}

nb_status nb_compare_fill(nb_grid *grid, const nb_relation *relation, const nb_compare_terms *terms,
                          const nb_comparison *comparison, nb_ctx *ctx)
{
    const printer p = {relation, terms, comparison, true, ctx};
    const char *const *heads = (const char *const[]){NULL};
    if (comparison->count > 0) NB_TRY(ctx, find_heads(&p, &heads));
    NB_TRY(ctx, nb_grid_make(grid, heads, true, ctx));
    for (int i = 0; i < comparison->count; i++) NB_TRY(ctx, add_exact_line(grid, &p, &comparison->items[i]));
    return NB_OK;
}

nb_status nb_compare_varying(const nb_compare_printer *p, int **varying, const char **constant)
{
    const nb_comparison *c = p->comparison;
    const nb_contrasts *of = c->contrasts;
    int count = 0;
    NB_NEED(*varying, nb_alloc(p->ctx, (size_t)of->settings.columns + 1, sizeof **varying));
    *constant = "";
    for (int k = 0; of->setting_columns[k]; k++) {
        const nb_contrast *first = c->items[0].contrast;
        bool varies = false;
        for (int i = 1; i < c->count; i++)
            varies = varies || !nb_cell_same(nb_setting_cell(of, c->items[i].contrast->setting, k, NB_OF_ROW),
                                             nb_setting_cell(of, first->setting, k, NB_OF_ROW));
        if (varies)
            (*varying)[count++] = k;
        else
            NB_NEED(*constant, nb_format(p->ctx, "%s%s%s %s", *constant, **constant ? ", " : "", of->setting_columns[k],
                                         nb_setting_cell(of, first->setting, k, NB_OF_LABEL)->text));
    }
    (*varying)[count] = -1;
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
    NB_NEED(text, isnan(low) || isnan(high)
                      ? nb_strdup(g->ctx, "-")
                      : nb_format(g->ctx, "[%.3g, %.3g]", nb_compare_shown(p, low), nb_compare_shown(p, high)));
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

const char *nb_compare_setting(const nb_compared *x, int column)
{
    return nb_setting_cell(x->contrasts, x->contrast->setting, column, NB_OF_LABEL)->text;
}

const char *nb_compare_method(const nb_compared *x)
{
    return nb_value_label(x->contrasts, x->contrast->value);
}

const char *nb_compare_model(const nb_compared *x)
{
    return x->stratum == NB_OVER_STRATA ? "all" : x->contrasts->stratum_labels[x->stratum];
}

/* What a line is about. */
static nb_status add_labels(nb_grid *g, const printer *p, const int *varying, const nb_compared *x)
{
    for (; *varying >= 0; varying++) NB_TRY(g->ctx, nb_grid_text(g, nb_compare_setting(x, *varying)));
    NB_TRY(g->ctx, nb_grid_text(g, nb_compare_method(x)));
    if (p->terms->all_pairs) NB_TRY(g->ctx, nb_grid_text(g, nb_value_label(x->contrasts, x->baseline)));
    return nb_grid_text(g, nb_compare_model(x));
}

/* What it found. */
static nb_status add_findings(nb_grid *g, const printer *p, const nb_compared *x)
{
    const nb_estimate *e = &x->estimate;
    const nb_pair_counts *k = x->pairs;
    const char *text;
    NB_TRY(g->ctx, add_real(g, "%.3g", nb_compare_shown(p, e->mean)));
    NB_TRY(g->ctx, add_interval(g, p, e->low, e->high));
    NB_TRY(g->ctx, add_interval(g, p, e->boot_low, e->boot_high));
    NB_TRY(g->ctx, add_real(g, "%.3g", nb_compare_shown(p, e->median)));
    NB_NEED(text, nb_format(g->ctx, "%d/%d", p->comparison->contrasts->metric->more ? e->above : e->below,
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

nb_status nb_compare_title(nb_page *page, const nb_compare_printer *p, const char *constant)
{
    const nb_contrast_terms *t = &p->terms->contrast;
    const char *base = "another", *with = t->difference ? "minus" : "over";
    if (!p->terms->all_pairs) base = nb_value_label(p->comparison->contrasts, t->baseline);
    nb_page_heading(page, 2, "%s by %s, %s that of %s, on the same head in the same trial%s%s%s", t->metric, t->by,
                    with, base, p->comparison->contrasts->metric->more ? "; more is better" : "",
                    t->pool ? "; mean over " : "", t->pool ? t->pool : "");
    if (*constant) nb_page_paragraph(page, "%s", constant);
    for (const char *const *c = t->confounded; c && *c; c++)
        nb_page_paragraph(page, "CONFOUNDED: they may differ in %s too", *c);
    return NB_OK;
}

/* Of each value that is refused, each reason once. */
static bool is_refused(const nb_compared *x, const char *why)
{
    return x->verdict == NB_REFUSED && strcmp(x->why, why) == 0;
}

/* The methods that are refused for a reason: "a, b and 3 more"; *first: the item that has it first. */
static nb_status list_refused(const printer *p, const char *why, const char **list, int *first)
{
    enum { MOST = 4 };
    const nb_comparison *c = p->comparison;
    int count = 0;
    *list = "";
    *first = -1;
    for (int i = 0; i < c->count; i++) {
        bool told = false;
        if (!is_refused(&c->items[i], why)) continue;
        for (int j = 0; j < i && !told; j++)
            told = is_refused(&c->items[j], why) && c->items[j].contrast->value == c->items[i].contrast->value;
        if (told) continue;
        if (count++ == 0) *first = i;
        if (count <= MOST)
            NB_NEED(*list, nb_format(p->ctx, "%s%s%s", *list, count > 1 ? ", " : "", nb_compare_method(&c->items[i])));
    }
    if (count > MOST) NB_NEED(*list, nb_format(p->ctx, "%s and %d more", *list, count - MOST));
    return NB_OK;
}

static nb_status add_refusals(nb_page *page, const printer *p)
{
    for (int i = 0; i < p->comparison->count; i++) {
        const nb_compared *x = &p->comparison->items[i];
        const char *list;
        int first;
        if (x->verdict != NB_REFUSED) continue;
        NB_TRY(p->ctx, list_refused(p, x->why, &list, &first));
        if (first == i) nb_page_paragraph(page, "REFUSED: %s: %s.", list, x->why);
    }
    return NB_OK;
}

/* Whether a method is told to be refused. */
static bool is_told(const printer *p, int value)
{
    for (int i = 0; i < p->comparison->count; i++)
        if (p->comparison->items[i].verdict == NB_REFUSED && p->comparison->items[i].contrast->value == value)
            return true;
    return false;
}

static bool has_refusal(const printer *p)
{
    bool any = false;
    for (int i = 0; i < p->comparison->count; i++) any = any || p->comparison->items[i].verdict == NB_REFUSED;
    return any;
}

/* Models of which nothing can be said. */
static void add_empty_strata(nb_page *page, const printer *p)
{
    const nb_contrasts *c = p->comparison->contrasts;
    for (int s = 0; s < c->strata; s++) {
        int pairs = 0;
        for (int i = 0; i < p->comparison->count; i++) pairs += p->comparison->items[i].contrast->counts[s].pairs;
        if (pairs == 0 && !has_refusal(p)) nb_page_paragraph(page, "%s: no pair has a result.", c->stratum_labels[s]);
    }
}

/* Whether sources have been measured in the same trials, as those of files are; of drawn data each is a trial. */
static bool shares_trials(const nb_compared *x)
{
    bool shares = false;
    for (int s = 0; s < x->contrasts->strata; s++)
        if (x->stratum == NB_OVER_STRATA || x->stratum == s)
            shares = shares || (!x->contrasts->drawn[s] && x->contrast->counts[s].pairs > 0);
    return shares;
}

/* Of a run that is going on, or was interrupted. */
static nb_status add_unfinished(nb_page *page, const printer *p)
{
    nb_answer a;
    NB_TRY(p->ctx,
           nb_relation_ask(p->relation, "SELECT count(CASE WHEN status = 'planned' THEN 1 END), count(*) FROM run",
                           NULL, &a, NULL, p->ctx));
    if (nb_answer_at(&a, 0, 0)->integer > 0)
        nb_page_paragraph(page, "UNFINISHED: %lld of %lld rows have not been run yet.", nb_answer_at(&a, 0, 0)->integer,
                          nb_answer_at(&a, 0, 1)->integer);
    return NB_OK;
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
                 p->comparison->contrasts->metric->more ? "more" : "less");
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
                 difference ? "difference" : "ratio", difference ? "+-" : "a factor of ",
                 nb_compare_shown(p, p->terms->margin));
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
    const char *constant;
    int *varying;
    *name = "";
    NB_TRY(p->ctx, nb_compare_varying(p, &varying, &constant));
    for (; *varying >= 0; varying++)
        NB_NEED(*name, nb_format(p->ctx, "%s%s %s, ", *name, x->contrasts->setting_columns[*varying],
                                 nb_compare_setting(x, *varying)));
    NB_NEED(*name, nb_format(p->ctx, "%s%s", *name, nb_compare_method(x)));
    if (p->terms->all_pairs)
        NB_NEED(*name, nb_format(p->ctx, "%s over %s", *name, nb_value_label(x->contrasts, x->baseline)));
    if (x->stratum != NB_OVER_STRATA)
        NB_NEED(*name, nb_format(p->ctx, "%s, %s", *name, x->contrasts->stratum_labels[x->stratum]));
    return NB_OK;
}

/* Where the mean over heads hides that they differ. */
static nb_status add_head_turns(nb_page *page, const printer *p)
{
    int count = 0, most = p->full ? 6 : 1;
    for (int i = 0; i < p->comparison->count; i++) {
        const nb_compared *x = &p->comparison->items[i];
        const char *name;
        if (!x->turn || count++ >= most) continue;
        NB_TRY(p->ctx, name_line(p, x, &name));
        nb_page_paragraph(page, "WARNING: heads differ: %s: %s.", name, x->turn);
    }
    if (count > most)
        nb_page_paragraph(page, "WARNING: heads differ in %d more line%s; --where head=0 has one head alone.",
                          count - most, count == most + 1 ? "" : "s");
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

nb_status nb_compare_warnings(nb_page *page, const nb_compare_printer *p)
{
    const nb_contrasts *c = p->comparison->contrasts;
    NB_TRY(p->ctx, add_unfinished(page, p));
    NB_TRY(p->ctx, add_refusals(page, p));
    for (int v = 0; v < c->values.count && !p->terms->all_pairs; v++)
        if (c->unpaired[v] && !is_told(p, v))
            nb_page_paragraph(page, "%s: %d rows have no row of the baseline to be compared with.",
                              nb_value_label(c, v), c->unpaired[v]);
    add_empty_strata(page, p);
    NB_TRY(p->ctx, add_head_turns(page, p));
    return add_changes(page, p);
}

const char *nb_compare_scale(const nb_compare_terms *terms)
{
    return terms->contrast.difference ? "difference" : "ratio";
}

static nb_status add_table(nb_page *page, const printer *p, bool by_model)
{
    static const char *const findings[] = {"t",       "bootstrap", "median", "wins", "p, ranks",  "p, t",    "Holm",
                                           "sources", "heads",     "trials", "ICC",  "effective", "missing", "verdict"};
    enum { FINDINGS = sizeof findings / sizeof *findings };
    const nb_comparison *c = p->comparison;
    const char *constant, **heads;
    int count = 0, *varying;
    nb_grid grid;
    NB_TRY(p->ctx, nb_compare_varying(p, &varying, &constant));
    NB_NEED(heads, nb_alloc(p->ctx, (size_t)c->contrasts->settings.columns + FINDINGS + 5, sizeof *heads));
    for (; varying[count] >= 0; count++)
        NB_TRY(p->ctx, name_setting(p, &c->items[0], c->contrasts->setting_columns[varying[count]], &heads[count]));
    heads[count++] = p->terms->contrast.by;
    if (p->terms->all_pairs) heads[count++] = "baseline";
    heads[count++] = "model";
    heads[count] = nb_compare_scale(p->terms);
    for (int i = 0; i < FINDINGS; i++) heads[count + 1 + i] = findings[i];
    NB_TRY(p->ctx, nb_compare_title(page, p, constant));
    NB_TRY(p->ctx, nb_grid_make(&grid, heads, false, p->ctx));
    grid.labels = count;
    for (int i = 0; i < c->count; i++) {
        if (c->items[i].stratum != NB_OVER_STRATA && !by_model) continue;
        NB_TRY(p->ctx, add_labels(&grid, p, varying, &c->items[i]));
        NB_TRY(p->ctx, add_findings(&grid, p, &c->items[i]));
    }
    nb_grid_show(&grid, page);
    return NB_OK;
}

static nb_status show_full(nb_page *page, const printer *p, bool by_model)
{
    NB_TRY(p->ctx, add_table(page, p, by_model));
    NB_TRY(p->ctx, nb_compare_warnings(page, p));
    add_caveats(page, p);
    add_words(page, p);
    return NB_OK;
}

nb_status nb_compare_show(nb_page *page, const nb_relation *relation, const nb_compare_terms *terms,
                          const nb_comparison *comparison, const nb_compare_view *view, nb_ctx *ctx)
{
    const printer p = {relation, terms, comparison, view->full, ctx};
    if (comparison->count == 0) return NB_OK;
    return view->full ? show_full(page, &p, view->by_model) : nb_compare_show_brief(page, &p, view->by_model);
}
