/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare_print.c - see compare.h. The lines of a comparison become these tables, of which compare_print.sql makes
 * what is printed, given the comparison's terms:
 *   compared   a row each: `columns`, then s0, l0, s1, l1 ...: the settings as in the row, and as labels; those of the
 *              comparison beside it behind its own
 *   beside     the values and strata: kind, code, label, count (of rows that have no row of the baseline; of pairs)
 *   together   the words that say of how many verdicts the intervals hold together; "" of one
 *   shown      the lines that are shown, with along, band (their settings but that), at (their place); where all lines
 *              of a method are refused, the first stands for them (whole) */
#include "show/compare_print.h"

#include "base/builder.h"
#include "base/fields.h"
#include "base/text.h"
#include "rows/columns.h"
#include "rows/made_tables.h"
#include "rows/statement.h"
#include "rows/run_facts.h"
#include "show/query.h"

#include <math.h>
#include <string.h>

static const char columns[] =
    "line, ratio, low, high, joint_low, joint_high, bootstrap_low, bootstrap_high, median, hodges_lehmann, "
    "hodges_lehmann_low, hodges_lehmann_high, below_share, below_low, below_high, icc, design_effect, effective, "
    "sd, se, se_trials, df, t_p, wilcoxon_w, wilcoxon_p, sign_p, more_sources, sources_below, sources_above, "
    "sources_equal, sources, heads, pairs, ties, noise, exact, exact_baseline, missing, missing_baseline, "
    "skipped, skipped_baseline, neither, infinite, trials, value, base, stratum, shares_trials, setting, "
    "disturbed, family, untimed, method_label, baseline_label, model, model_label, verdict, why, heads_differ, change, "
    "far_trial, metric, method, baseline";

typedef struct {
    const nb_relation *relation;
    const nb_compare_terms *terms;
    const nb_comparison *comparison;
    const nb_contrasts *contrasts;
    nb_compare_view view;
    bool two; /* lines of two comparisons, in the brief table one for each method */
    /* Pieces of SQL: settings as in rows; of those that vary labels, their formats, names of a line and a band; those
     * that all lines have, for people without those that configs have by default. */
    nb_string values, labels, formats, name, band, constant;
    const char *along, *along_cell; /* the first of integers that varies, which goes across; "": none */
    int varying;
    nb_ctx *ctx;
} printer;

enum { MOST_LINES = 30 };

/* Returns whether sources have been measured in the same trials, as those of files are; of drawn data each is a trial.
 * */
static bool shares_trials(const nb_compared *x)
{
    bool shares = false;
    for (int s = 0; s < x->contrasts->strata.count; s++)
        if (x->stratum == NB_OVER_STRATA || x->stratum == s)
            shares = shares || (!nb_grid_at(&x->contrasts->strata, s, NB_STRATUM_DRAWN)->integer &&
                                x->contrast->of.counts[s].pairs > 0);
    return shares;
}

static nb_status add_line(const printer *p, sqlite3_stmt *s, int line, const nb_compared *x)
{
    const nb_contrasts *c = x->contrasts;
    const nb_estimate *e = &x->estimate;
    const nb_pair_counts *k = x->pairs;
    const nb_contrast *of = x->contrast;
    bool over = x->stratum == NB_OVER_STRATA;
    const double shown[] = {e->mean,      e->low,    e->high,  x->joint.low, x->joint.high, e->boot_low,
                            e->boot_high, e->median, e->shift, e->shift_low, e->shift_high};
    const double reals[] = {e->below_share, e->below_low,  e->below_high, e->icc,       e->design_effect,
                            e->effective,   e->sd,         e->se,         e->common_se, e->df,
                            e->t_p,         e->wilcoxon_w, e->wilcoxon_p, e->sign_p,    x->more};
    const int integers[] = {e->below,
                            e->above,
                            e->ties,
                            e->sources,
                            e->units,
                            k->pairs,
                            k->ties,
                            k->noise,
                            k->exact,
                            k->exact_baseline,
                            k->missing,
                            k->missing_baseline,
                            k->skipped,
                            k->skipped_baseline,
                            k->neither,
                            e->infinite,
                            x->trials,
                            of->value,
                            of->baseline,
                            x->stratum,
                            shares_trials(x),
                            of->setting,
                            k->disturbed,
                            x->family,
                            k->untimed + k->untimed_baseline};
    const char *model = over ? "all" : nb_grid_at(&c->strata, x->stratum, NB_STRATUM_NAME)->text;
    const char *label = over ? "all" : nb_grid_at(&c->strata, x->stratum, NB_STRATUM_LABEL)->text;
    const char *method = nb_value_label(c, of->value), *baseline = nb_value_label(c, of->baseline);
    const char *const texts[] = {method, baseline,    model,     label,        nb_verdict_names[x->verdict],
                                 x->why, x->conflict, x->change, x->far_trial, c->metric->name};
    int at = 0;
    sqlite3_bind_int(s, ++at, line);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        sqlite3_bind_double(s, ++at, p->terms->contrast.difference ? shown[i] : exp(shown[i]));
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) sqlite3_bind_double(s, ++at, reals[i]);
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) sqlite3_bind_int(s, ++at, integers[i]);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) sqlite3_bind_text(s, ++at, texts[i], -1, SQLITE_STATIC);
    nb_cell_bind(s, ++at, nb_grid_at(&c->values, of->value, NB_OF_ROW));
    nb_cell_bind(s, ++at, nb_grid_at(&c->values, of->baseline, NB_OF_ROW));
    for (int i = 0; c->setting_columns[i]; i++) {
        nb_cell_bind(s, ++at, nb_setting_cell(c, of->setting, i, NB_OF_ROW));
        nb_cell_bind(s, ++at, nb_setting_cell(c, of->setting, i, NB_OF_LABEL));
    }
    return nb_relation_add(p->relation, s, "");
}

static nb_status add_lines(const printer *p)
{
    nb_string all = NB_NO_TEXT;
    sqlite3_stmt *s;
    NB_TRY(p->ctx, nb_append(&all, p->ctx, "%s", columns));
    for (int i = 0; p->contrasts->setting_columns[i]; i++) NB_TRY(p->ctx, nb_append(&all, p->ctx, ", s%d, l%d", i, i));
    NB_TRY(p->ctx, nb_relation_table(p->relation, "compared", all.text, &s, p->ctx));
    int line = 0;
    for (const nb_comparison *c = p->comparison; c; c = p->two ? c->beside : NULL)
        for (int i = 0; i < c->count; i++, line++) NB_TRY(p->ctx, add_line(p, s, line, &c->items[i]));
    return NB_OK;
}

/* Pairs of which both rows have a result. */
static int tested(const nb_pair_counts *k)
{
    return k->pairs + k->exact + k->exact_baseline;
}

static nb_status add_beside(const printer *p)
{
    const nb_contrasts *c = p->contrasts;
    sqlite3_stmt *s;
    NB_TRY(p->ctx, nb_relation_table(p->relation, "beside", "kind, code, label, count", &s, p->ctx));
    for (int i = 0; i < c->values.count; i++)
        NB_TRY(p->ctx, nb_relation_add(p->relation, s, "titi", "value", i, nb_value_label(c, i), c->unpaired[i]));
    for (int i = 0; i < c->strata.count; i++) {
        const char *label = nb_grid_at(&c->strata, i, NB_STRATUM_LABEL)->text;
        int pairs = 0;
        for (int k = 0; k < p->comparison->count; k++) pairs += tested(&p->comparison->items[k].contrast->of.counts[i]);
        NB_TRY(p->ctx, nb_relation_add(p->relation, s, "titi", "stratum", c->values.count + i, label, pairs));
    }
    return NB_OK;
}

/* The columns of a setting: its value and its label. */
typedef struct {
    const char *value, *label;
} setting_names;

static nb_status name_columns(const printer *p, int place, setting_names *names)
{
    NB_NEED(names->value, nb_format(p->ctx, "s%d", place));
    NB_NEED(names->label, nb_format(p->ctx, "l%d", place));
    return NB_OK;
}

enum { VARIES, IS_INTEGER, LABEL, FACTS }; /* whether it varies, whether it is an integer, and its greatest label */

/* Finds the facts of each setting, in one row. */
static nb_status find_settings(const printer *p, nb_grid *facts)
{
    nb_string of_each = NB_NO_TEXT;
    for (int i = 0; p->contrasts->setting_columns[i]; i++) {
        setting_names names;
        NB_TRY(p->ctx, name_columns(p, i, &names));
        NB_TRY(p->ctx,
               nb_sql_append(&of_each, "compare_print.facts",
                             NB_GIVEN(NB_GIVE_NAME("value", names.value), NB_GIVE_NAME("label", names.label)), p->ctx));
    }
    return nb_sql_ask(p->relation, "compare_print.setting_facts", NB_GIVEN(NB_GIVE_PIECE("facts", of_each.text)), facts,
                      p->ctx);
}

static bool is_of_compared(const printer *p, const char *name)
{
    sqlite3 *db = p->relation->store->db;
    return sqlite3_table_column_metadata(db, "temp", "compared", name, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

/* One more setting in the pieces. In a table its name has a word before it where a column of the comparison has the
 * same one. */
static nb_status name_setting(printer *p, int place, const nb_grid *facts)
{
    const char *name = p->contrasts->setting_columns[place], *head = name, *piece, *text;
    const nb_cell *fact = nb_grid_at(facts, 0, FACTS * place);
    bool varies = fact[VARIES].integer, integer = fact[IS_INTEGER].integer;
    setting_names names;
    NB_TRY(p->ctx, name_columns(p, place, &names));
    if (is_of_compared(p, name)) NB_NEED(head, nb_format(p->ctx, "setting_%s", name));
    NB_NEED(text, nb_format(p->ctx, "%s ", name));
    NB_TRY(p->ctx,
           nb_sql_fill("compare_print.named", NB_GIVEN(NB_GIVE_TEXT("text", text), NB_GIVE_NAME("label", names.label)),
                       &piece, p->ctx));
    NB_TRY(p->ctx, nb_sql_append(&p->values, "compare_print.column",
                                 NB_GIVEN(NB_GIVE_NAME("value", names.value), NB_GIVE_NAME("head", head)), p->ctx));
    if (!varies) {
        bool told = p->view.full || !nb_study_defaults(p->relation->study, name, fact[LABEL].text);
        if (told) NB_TRY(p->ctx, nb_append(&p->constant, p->ctx, "%s", piece));
        return NB_OK;
    }
    p->varying++;
    NB_TRY(p->ctx, nb_sql_append(&p->labels, "compare_print.column",
                                 NB_GIVEN(NB_GIVE_NAME("value", names.label), NB_GIVE_NAME("head", head)), p->ctx));
    NB_TRY(p->ctx, nb_append(&p->formats, p->ctx, "-- format: %s: %%s\n", head));
    NB_TRY(p->ctx, nb_append(&p->name, p->ctx, "%s", piece));
    if (!integer || *p->along) return nb_append(&p->band, p->ctx, "%s", piece);
    p->along = name;
    NB_NEED(p->along_cell, nb_format(p->ctx, "\"%s\"", names.value));
    return NB_OK;
}

/* What the statements of the page and the rows are given. */
static nb_status find_terms(const printer *p, const nb_sql_given **given)
{
    static const char *const interval[] = {"interval", NULL}, *const verdict[] = {"verdict", NULL},
                             *const baseline[] = {"baseline", NULL}, *const model[] = {"model", NULL},
                             *const none[] = {NULL};
    const nb_compare_terms *t = p->terms;
    const nb_contrast_terms *of = &t->contrast;
    bool more = p->contrasts->metric->more, difference = of->difference, full = p->view.full,
         by_model = p->view.by_model;
    const char **along, **pool, *by_id;
    nb_string confounded = NB_NO_TEXT;
    nb_sql_given *kept;
    nb_grid counts;
    NB_NEED(along, nb_alloc(p->ctx, 2, sizeof *along));
    NB_NEED(pool, nb_alloc(p->ctx, 2, sizeof *pool));
    for (const char *const *c = of->confounded; c && *c; c++)
        NB_TRY(p->ctx, nb_append_item(&confounded, ", ", p->ctx, "%s", *c));
    NB_TRY(p->ctx, nb_sql_ask(p->relation, "compare_print.counts", NULL, &counts, p->ctx));
    bool across = !full && !p->two && *p->along && nb_grid_at(&counts, 0, 0)->integer > MOST_LINES;
    bool intervals = nb_grid_at(&counts, 0, 1)->integer, verdicts = nb_grid_at(&counts, 0, 2)->integer;
    int settings = full ? p->varying : *p->along && !across, labels = 1 + of->all_pairs + (full || by_model) + settings;
    const nb_study *study = p->relation->study;
    const nb_column *metric = p->contrasts->metric, *error = p->two ? p->comparison->beside->contrasts->metric : metric;
    const nb_disturbance disturbance = nb_disturbance_of(study, metric, p->ctx);
    const nb_axis *axis = nb_axis_of_column(study, of->by);
    bool judged = error->trivial && axis && axis->type == NB_AXIS_COMPONENT;
    bool models = p->contrasts->strata.count > 1;
    along[0] = *p->along ? p->along : NULL;
    pool[0] = of->pool;
    NB_TRY(p->ctx, nb_key_name(nb_column_find(study->columns, of->by), &by_id, p->ctx));
    const nb_sql_given all[] = {
        /* columns */
        NB_GIVE_NAME("by", of->by), NB_GIVE_NAME("by_id", by_id), NB_GIVE_NAME("metric", of->metric),
        NB_GIVE_NAME("error", error->name), NB_GIVE_NAME("trivial", judged ? error->trivial : error->name),
        NB_GIVE_NAME("joined", of->pool && !of->apart ? "scope" : "setting"),
        NB_GIVE_NAME("scale", difference ? "difference" : "ratio"),
        NB_GIVE_NAME("along", *p->along ? p->along : of->by), NB_GIVE_NAMES("along_column", along),
        NB_GIVE_NAMES("pool_column", pool), NB_GIVE_NAMES("interval", intervals ? interval : none),
        NB_GIVE_NAMES("verdict", verdicts ? verdict : none), NB_GIVE_NAMES("baseline", of->all_pairs ? baseline : none),
        NB_GIVE_NAMES("model", by_model ? model : none),
        /* conditions, and lists of columns */
        NB_GIVE_PIECE("where", of->where ? of->where : "1"),
        NB_GIVE_PIECE("exact_row", error->exact ? error->exact : "0"),
        NB_GIVE_PIECE("disturbed", disturbance.condition), NB_GIVE_PIECE("labels", p->labels.text),
        NB_GIVE_PIECE("values", p->values.text), NB_GIVE_PIECE("name", p->name.text),
        NB_GIVE_PIECE("constant", p->constant.text),
        /* directives */
        NB_GIVE_PIECE("label_count", nb_format(p->ctx, "%d", labels)),
        NB_GIVE_PIECE("two_labels", nb_format(p->ctx, "%d", 1 + by_model)), NB_GIVE_PIECE("formats", p->formats.text),
        NB_GIVE_PIECE("column", of->by), NB_GIVE_PIECE("along_directive", p->along),
        /* what is shown */
        NB_GIVE_INT("two", p->two), NB_GIVE_INT("full", full), NB_GIVE_INT("across", across),
        NB_GIVE_INT("intervals", intervals), NB_GIVE_INT("verdicts", verdicts), NB_GIVE_INT("judged", judged),
        NB_GIVE_INT("all_pairs", of->all_pairs), NB_GIVE_INT("is_more", more),
        NB_GIVE_INT("timed", metric->time || metric->disturbed),
        /* texts */
        NB_GIVE_VALUE("by", of->by), NB_GIVE_VALUE("metric", of->metric), NB_GIVE_VALUE("error", error->name),
        NB_GIVE_VALUE("trivial", judged ? error->trivial : ""), NB_GIVE_VALUE("disturber", disturbance.who),
        NB_GIVE_VALUE("disturber_hint", disturbance.hint), NB_GIVE_VALUE("scale", difference ? "difference" : "ratio"),
        NB_GIVE_VALUE("over", difference ? "minus" : "divided by"), NB_GIVE_VALUE("none", difference ? "0" : "1"),
        NB_GIVE_VALUE("geometric", difference ? "" : "geometric "),
        NB_GIVE_VALUE("margin", nb_format(p->ctx, difference ? "+-%.3g" : "a factor of %.3g",
                                          difference ? t->margin : exp(t->margin))),
        NB_GIVE_VALUE("percent", nb_format(p->ctx, "%.0f %%", 100 * t->confidence)),
        NB_GIVE_VALUE("least",
                      nb_format(p->ctx,
                                "rows that have not been run yet, fewer than %d sources, a model with only one, fewer "
                                "than %d trials of what is drawn, more than %.0f %% of the pairs missing",
                                NB_LEAST_SOURCES, NB_LEAST_TRIALS, 100 * NB_MOST_MISSING)),
        NB_GIVE_VALUE("missing",
                      of->failures == NB_FAILURES_WORST ? "count as the largest difference seen" : "do not count"),
        NB_GIVE_VALUE("better", more ? "above" : "below"), NB_GIVE_VALUE("worse", more ? "below" : "above"),
        NB_GIVE_VALUE("Below", more ? "Above" : "Below"), NB_GIVE_VALUE("less", more ? "more" : "less"),
        NB_GIVE_VALUE("more", more ? "; more is better" : ""),
        NB_GIVE_VALUE("pooled", of->pool ? nb_format(p->ctx, "; mean over %s", of->pool) : ""),
        NB_GIVE_VALUE("pool", of->pool ? of->pool : ""), NB_GIVE_VALUE("confounded", confounded.text),
        NB_GIVE_VALUE("models", models ? ", where models count the same" : ""),
        NB_GIVE_VALUE("by_model", models && !by_model ? nb_format(p->ctx, ", %s each model alone",
                                                                  nb_field(p->ctx, "by_model", NB_IS_SET))
                                                      : ""),
        NB_GIVE_VALUE("by_hand", t->by_hand ? t->by_hand : ""), NB_GIVE_END};
    for (const nb_sql_given *g = all; g->word; g++)
        if (g->value.type == NB_CELL_TEXT && !g->value.text) return NB_ENOMEM;
    NB_NEED(kept, nb_alloc(p->ctx, sizeof all / sizeof *all, sizeof *kept));
    memcpy(kept, all, sizeof all);
    *given = kept;
    return NB_OK;
}

/* Makes the tables, and what is asked of them: a statement by name. */
static nb_status prepare(printer *p, const nb_sql_given **given)
{
    nb_grid facts;
    p->values = p->labels = p->formats = p->name = p->band = p->constant = (nb_string)NB_NO_TEXT;
    p->along = "";
    p->along_cell = "0";
    NB_TRY(p->ctx, add_lines(p));
    NB_TRY(p->ctx, add_beside(p));
    NB_TRY(p->ctx, find_settings(p, &facts));
    for (int i = 0; p->contrasts->setting_columns[i]; i++) NB_TRY(p->ctx, name_setting(p, i, &facts));
    if (!nb_text_among(NB_INPUT, p->contrasts->setting_columns))
        NB_TRY(p->ctx, nb_append(&p->values, p->ctx, " NULL AS " NB_INPUT ","));
    NB_TRY(p->ctx, nb_sql_run(p->relation, "compare_print.shown",
                              NB_GIVEN(NB_GIVE_PIECE("band", p->band.text), NB_GIVE_PIECE("along", p->along_cell),
                                       NB_GIVE_INT("full", p->view.full), NB_GIVE_INT("by_model", p->view.by_model),
                                       NB_GIVE_INT("difference", p->terms->contrast.difference),
                                       NB_GIVE_VALUE("not_timed", NB_NOT_TIMED)),
                              p->ctx));
    return find_terms(p, given);
}

nb_status nb_compare_show(nb_page *page, const nb_comparison *c, const nb_compare_view *view, nb_ctx *ctx)
{
    printer p = {c->relation, c->terms, c, c->contrasts, *view, .two = c->beside && !view->full, .ctx = ctx};
    nb_relation own = *c->relation;
    const char *sql;
    if (c->count == 0) return NB_OK;
    NB_TRY(ctx, prepare(&p, &own.given));
    NB_TRY(ctx, nb_sql_fill("compare_print.page", own.given, &sql, ctx));
    NB_TRY(ctx, nb_query_tell(&own, sql, page, ctx));
    return c->beside && view->full ? nb_compare_show(page, c->beside, view, ctx) : NB_OK;
}

nb_status nb_compare_fill(nb_grid *grid, const nb_comparison *c, nb_ctx *ctx)
{
    printer p = {c->relation, c->terms, c, c->contrasts, {true, true}, .two = c->beside, .ctx = ctx};
    const nb_sql_given *given;
    if (c->count == 0) return nb_grid_make(grid, (const char *const[]){NULL}, ctx);
    NB_TRY(ctx, prepare(&p, &given));
    NB_TRY(ctx, nb_sql_ask(c->relation, "compare_print.rows", given, grid, ctx));
    for (int i = 0; i < grid->count * grid->columns; i++)
        if (grid->cells[i].type == NB_CELL_REAL && isinf(grid->cells[i].real)) grid->cells[i].type = NB_CELL_NONE;
    return NB_OK;
}
