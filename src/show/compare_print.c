/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare_print.c - see compare.h. The lines of a comparison become these tables, of which compare.sql makes what
 * is printed, with words of the comparison's terms in the place of its {NAME}s:
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

enum { VARIES, IS_INTEGER, LABEL, FACTS }; /* whether it varies, whether it is an integer, and its greatest label */

/* Finds the facts of each setting, in one row. */
static nb_status find_settings(const printer *p, nb_grid *facts)
{
    nb_string sql = NB_NO_TEXT;
    NB_TRY(p->ctx, nb_append(&sql, p->ctx, "SELECT"));
    for (int i = 0; p->contrasts->setting_columns[i]; i++)
        NB_TRY(p->ctx, nb_append(&sql, p->ctx,
                                 " count(DISTINCT quote(s%d)) > 1, max(typeof(s%d)) = 'integer', coalesce(max(l%d) || "
                                 "'', ''),",
                                 i, i, i));
    NB_TRY(p->ctx, nb_append(&sql, p->ctx, " NULL FROM compared"));
    return nb_relation_ask(p->relation, sql.text, facts, p->ctx);
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
    const char *name = p->contrasts->setting_columns[place], *head = name, *piece;
    const nb_cell *fact = nb_grid_at(facts, 0, FACTS * place);
    bool varies = fact[VARIES].integer, integer = fact[IS_INTEGER].integer;
    if (is_of_compared(p, name)) NB_NEED(head, nb_format(p->ctx, "setting_%s", name));
    NB_NEED(piece, nb_format(p->ctx, "'%s ' || l%d || ', ' || ", name, place));
    NB_TRY(p->ctx, nb_append(&p->values, p->ctx, " s%d AS \"%s\",", place, head));
    if (!varies) {
        bool told = p->view.full || !nb_study_defaults(p->relation->study, name, fact[LABEL].text);
        if (told) NB_TRY(p->ctx, nb_append(&p->constant, p->ctx, "%s", piece));
        return NB_OK;
    }
    p->varying++;
    NB_TRY(p->ctx, nb_append(&p->labels, p->ctx, " l%d AS \"%s\",", place, head));
    NB_TRY(p->ctx, nb_append(&p->formats, p->ctx, "-- format: %s: %%s\n", head));
    NB_TRY(p->ctx, nb_append(&p->name, p->ctx, "%s", piece));
    if (integer && !*p->along) {
        p->along = name;
        NB_NEED(p->along_cell, nb_format(p->ctx, "s%d", place));
    } else {
        NB_TRY(p->ctx, nb_append(&p->band, p->ctx, "%s", piece));
    }
    return NB_OK;
}

static nb_status word(const printer *p, const char **sql)
{
    const nb_compare_terms *t = p->terms;
    const nb_contrast_terms *of = &t->contrast;
    bool more = p->contrasts->metric->more, difference = of->difference;
    bool full = p->view.full;
    nb_string confounded = NB_NO_TEXT;
    nb_grid counts;
    for (const char *const *c = of->confounded; c && *c; c++)
        NB_TRY(p->ctx, nb_append_item(&confounded, ", ", p->ctx, "%s", *c));
    NB_TRY(p->ctx,
           nb_relation_ask(p->relation, "SELECT count(*), count(low), count(nullif(verdict, 'none')) FROM shown",
                           &counts, p->ctx));
    bool across = !full && !p->two && *p->along && nb_grid_at(&counts, 0, 0)->integer > MOST_LINES;
    bool intervals = nb_grid_at(&counts, 0, 1)->integer, verdicts = nb_grid_at(&counts, 0, 2)->integer;
    int settings = full ? p->varying : *p->along && !across,
        labels = 1 + of->all_pairs + (full || p->view.by_model) + settings;
    const nb_column *metric = p->contrasts->metric, *error = p->two ? p->comparison->beside->contrasts->metric : metric;
    const nb_disturbance disturbance = nb_disturbance_of(p->relation->study, metric, p->ctx);
    const char *trivial = error->trivial;
    const nb_axis *axis = nb_axis_of_column(p->relation->study, of->by);
    bool judged = trivial && axis && axis->type == NB_AXIS_COMPONENT;
    const char *const words[][2] = {
        {"judged", judged ? "1" : "0"},
        {"trivial", trivial ? trivial : "NULL"},
        {"by_id", judged ? nb_format(p->ctx, "%s_id", of->by) : "0"},
        {"where", of->where ? of->where : "1"},
        {"by", of->by},
        {"metric", of->metric},
        {"error", error->name},
        {"exact_row", error->exact ? error->exact : "0"},
        {"two", p->two ? "1" : "0"},
        {"timed", metric->time || metric->disturbed ? "1" : "0"},
        {"disturbed", disturbance.condition},
        {"disturber", disturbance.who},
        {"disturber_hint", disturbance.hint},
        {"joined", of->pool && !of->apart ? "scope" : "setting"},
        {"scale", difference ? "difference" : "ratio"},
        {"over", difference ? "minus" : "divided by"},
        {"none", difference ? "0" : "1"},
        {"geometric", difference ? "" : "geometric "},
        {"margin",
         nb_format(p->ctx, difference ? "+-%.3g" : "a factor of %.3g", difference ? t->margin : exp(t->margin))},
        {"percent", nb_format(p->ctx, "%.0f %%", 100 * t->confidence)},
        {"least", nb_format(p->ctx,
                            "rows that have not been run yet, fewer than %d sources, a model with only one, fewer than "
                            "%d trials of what is drawn, more than %.0f %% of the pairs missing",
                            NB_LEAST_SOURCES, NB_LEAST_TRIALS, 100 * NB_MOST_MISSING)},
        {"missing", of->failures == NB_FAILURES_WORST ? "count as the largest difference seen" : "do not count"},
        {"better", more ? "above" : "below"},
        {"worse", more ? "below" : "above"},
        {"Below", more ? "Above" : "Below"},
        {"less", more ? "more" : "less"},
        {"wins_columns", more ? "1 - below_share AS wins, 1 - below_high AS wins_low, 1 - below_low AS wins_high"
                              : "below_share AS wins, below_low AS wins_low, below_high AS wins_high"},
        {"wins", more ? "sources_above" : "sources_below"},
        {"more", more ? "; more is better" : ""},
        {"pooled", of->pool ? nb_format(p->ctx, "; mean over %s", of->pool) : ""},
        {"pool", of->pool ? of->pool : ""},
        {"pool_value", of->pool ? nb_format(p->ctx, "'all' AS \"%s\",", of->pool) : ""},
        {"confounded", confounded.text},
        {"models", p->contrasts->strata.count > 1 ? ", where models count the same" : ""},
        {"by_model", p->contrasts->strata.count > 1 && !p->view.by_model
                         ? nb_format(p->ctx, ", %s each model alone", nb_field(p->ctx, "by_model", NB_IS_SET))
                         : ""},
        {"all_pairs", of->all_pairs ? "1" : "0"},
        {"full", full ? "1" : "0"},
        {"by_hand", t->by_hand ? t->by_hand : ""},
        {"across", across ? "1" : "0"},
        {"intervals", intervals ? "1" : "0"},
        {"verdicts", verdicts ? "1" : "0"},
        {"interval_column", intervals ? "coalesce(interval, '-') AS interval," : ""},
        {"verdict_column", verdicts ? "found AS verdict," : ""},
        {"time_verdict", verdicts ? "CASE WHEN of_time THEN 'baseline' ELSE coalesce(found, '-') END AS verdict," : ""},
        {"error_verdict",
         verdicts ? "CASE WHEN of_error THEN 'baseline' ELSE coalesce(error_found, '-') END AS verdict," : ""},
        {"of_metric", p->two ? "metric || ' of ' ||" : ""},
        {"baseline", of->all_pairs ? "baseline_label AS baseline," : ""},
        {"model", p->view.by_model ? "model_label AS model," : ""},
        {"along", p->along},
        {"along_column", *p->along ? nb_format(p->ctx, "along AS \"%s\",", p->along) : ""},
        {"label_count", nb_format(p->ctx, "%d", labels)},
        {"two_labels", nb_format(p->ctx, "%d", 1 + p->view.by_model)},
        {"labels", p->labels.text},
        {"formats", p->formats.text},
        {"values", p->values.text},
        {"name", p->name.text},
        {"constant", p->constant.text}};
    enum { WORDS = sizeof words / sizeof *words };
    const char *names[WORDS];
    nb_cell cells[WORDS];
    for (int i = 0; i < WORDS; i++) {
        NB_NEED(cells[i].text, words[i][1]);
        cells[i].type = NB_CELL_TEXT;
        names[i] = words[i][0];
    }
    return nb_grid_fill_in(&(nb_grid){.columns = WORDS, .count = 1, .names = names, .cells = cells}, 0,
                           nb_sql_text("compare"), sql, p->ctx);
}

/* Finds *sql: compare.sql in the words of the comparison, from which the tables are made. */
static nb_status prepare(printer *p, const char **sql)
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
    NB_NEED(*sql,
            nb_format(
                p->ctx,
                "DROP TABLE IF EXISTS temp.shown; CREATE TEMP TABLE shown AS "
                "WITH known AS (SELECT *, NOT %d AND line IN (SELECT min(line) FROM compared GROUP BY metric, "
                "value, base HAVING min(verdict = 'refused')) AS whole FROM compared), "
                "placed AS (SELECT *, CASE WHEN whole THEN '' ELSE rtrim(%s '', ', ') END AS band, CASE WHEN NOT "
                "whole THEN %s END AS along FROM known WHERE (stratum < 0 OR %d) AND (%d OR verdict <> 'refused' "
                "OR whole)) "
                "SELECT *, rtrim(CASE WHEN verdict = 'refused' THEN 'refused, see below' WHEN why = '" NB_NOT_TIMED
                "' THEN why "
                "ELSE verdict END || ' ' || mark) AS found FROM ("
                "SELECT *, CASE WHEN heads_differ IS NOT NULL OR (disturbed AND verdict NOT IN ('none', 'refused', "
                "'exact')) THEN '!' ELSE '' END AS mark, row_number() OVER (ORDER BY whole, place, along, line) AS at, "
                "CASE WHEN narrow THEN shown('%%.4f', ratio) ELSE numeral(ratio) END AS value_text, "
                "'[' || CASE WHEN narrow THEN bound('%%.4f', joint_low) || ', ' || bound('%%.4f', joint_high) "
                "ELSE bound('%%.3g', joint_low) || ', ' || bound('%%.3g', joint_high) END || ']' AS interval "
                "FROM (SELECT *, min(line) OVER (PARTITION BY whole, band) AS place, "
                "NOT %d AND abs(ratio - 1) < 0.01 AND joint_high - joint_low < 0.01 AS narrow FROM placed)); "
                "DROP TABLE IF EXISTS temp.together; CREATE TEMP TABLE together AS "
                "SELECT CASE WHEN max(family) > 1 THEN ' for all ' || CASE WHEN min(family) < max(family) THEN "
                "min(family) || ' to ' ELSE '' END || max(family) || ' verdicts' || CASE WHEN count(DISTINCT stratum) "
                "> 1 THEN ' of a model' ELSE '' END || ' together' ELSE '' END AS text FROM shown WHERE family > 0",
                p->view.full, p->band.text, p->along_cell, p->view.by_model, p->view.full,
                p->terms->contrast.difference));
    NB_TRY(p->ctx, nb_relation_run(p->relation, *sql));
    return word(p, sql);
}

nb_status nb_compare_show(nb_page *page, const nb_comparison *c, const nb_compare_view *view, nb_ctx *ctx)
{
    printer p = {c->relation, c->terms, c, c->contrasts, *view, .two = c->beside && !view->full, .ctx = ctx};
    const char *sql;
    if (c->count == 0) return NB_OK;
    NB_TRY(ctx, prepare(&p, &sql));
    NB_TRY(ctx, nb_query_tell(c->relation, strstr(sql, ";\n\n") + 3, page, ctx)); /* behind the one for programs */
    return c->beside && view->full ? nb_compare_show(page, c->beside, view, ctx) : NB_OK;
}

nb_status nb_compare_fill(nb_grid *grid, const nb_comparison *c, nb_ctx *ctx)
{
    printer p = {c->relation, c->terms, c, c->contrasts, {true, true}, .two = c->beside, .ctx = ctx};
    const char *sql;
    if (c->count == 0) return nb_grid_make(grid, (const char *const[]){NULL}, ctx);
    NB_TRY(ctx, prepare(&p, &sql));
    NB_TRY(ctx, nb_relation_ask_next(c->relation, &sql, grid, ctx));
    for (int i = 0; i < grid->count * grid->columns; i++)
        if (grid->cells[i].type == NB_CELL_REAL && isinf(grid->cells[i].real)) grid->cells[i].type = NB_CELL_NONE;
    return NB_OK;
}
