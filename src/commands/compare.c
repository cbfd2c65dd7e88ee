/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare.c - nysbench compare RUN: methods against a baseline, with intervals and verdicts. It compares rows of one
 * run; 'nysbench merge' makes one run of several, and 'nysbench sql' alone asks several at once. */
#include "commands/command.h"

#include "base/fields.h"
#include "components/study.h"
#include "show/compare_print.h"
#include "rows/columns.h"
#include "rows/open.h"
#include "rows/where.h"
#include "rows/run_facts.h"
#include "run/run_folder.h"

#include <math.h>
#include <string.h>

typedef struct { /* the command line's; NULL: not given */
    char *baseline, *by, *margin;
    nb_word_value failures, scale;
    nb_output_format format;
    nb_real_value confidence;
    nb_whole_value resamples;
    const char **where;
    int full, by_model;
} given;

/* Returns the column that the study compares by, as a row names it. */
static const char *usual_column(const nb_study *study)
{
    return study->baseline >= 0 ? study->axes[study->baseline].column : NULL;
}

typedef enum { HINT_MEASURED, HINT_IDENTITY, HINT_METHOD } hinted;

static nb_status hint_column(const nb_column *columns, const char *text, hinted what, const char **hint, nb_ctx *ctx)
{
    const char **names;
    int count = 0;
    NB_NEED(names, nb_alloc(ctx, (size_t)nb_column_count(columns) + 1, sizeof *names));
    for (const nb_column *c = columns; c->name; c++)
        if (what == HINT_MEASURED ? c->type == NB_COLUMN_REAL
            : what == HINT_METHOD ? nb_is_of_method(c)
                                  : c->identity && c->type != NB_COLUMN_SEED)
            names[count++] = c->name;
    NB_NEED(*hint, nb_hint(text, names, ctx));
    return NB_OK;
}

static nb_status check_columns(const nb_column *columns, const nb_contrast_terms *terms, nb_ctx *ctx)
{
    const nb_column *by = nb_column_find(columns, terms->by);
    const nb_column *metric = terms->metric ? nb_column_find(columns, terms->metric) : NULL;
    const char *hint = "";
    if (!by || !by->identity) NB_TRY(ctx, hint_column(columns, terms->by, HINT_METHOD, &hint, ctx));
    NB_REQUIRE(ctx, by && by->identity, NB_EINVAL, "compare: %s is not a column that tells rows apart%s",
               nb_spell_option(ctx, "by", terms->by), hint);
    if (terms->metric && (!metric || metric->type != NB_COLUMN_REAL)) {
        NB_TRY(ctx, hint_column(columns, terms->metric, HINT_MEASURED, &hint, ctx));
        NB_FAIL(ctx, NB_EINVAL, "compare: %s is not a measured column%s", nb_spell_option(ctx, "metric", terms->metric),
                hint);
    }
    for (const char *const *c = terms->confounded; c && *c; c++) {
        const nb_column *column = nb_column_find(columns, *c);
        bool known = strcmp(*c, NB_ROWS_SEEN) == 0 || strcmp(*c, NB_BUILD) == 0 || (column && column->identity);
        if (!known) NB_TRY(ctx, hint_column(columns, *c, HINT_IDENTITY, &hint, ctx));
        NB_REQUIRE(ctx, known, NB_EINVAL, "compare: %s is unknown%s; also allowed: %s, %s",
                   nb_spell_option(ctx, "confounded", *c), hint, NB_ROWS_SEEN, NB_BUILD);
    }
    const nb_column *pool = terms->pool ? nb_column_find(columns, terms->pool) : NULL;
    if (terms->pool && !pool) NB_TRY(ctx, hint_column(columns, terms->pool, HINT_IDENTITY, &hint, ctx));
    NB_REQUIRE(ctx, !terms->pool || (pool && pool->identity && pool != by), NB_EINVAL,
               "compare: %s: expected a column that tells rows apart, other than that of %s%s",
               nb_spell_option(ctx, "pool", terms->pool), nb_spell_option(ctx, "by", NULL), pool ? "" : hint);
    return NB_OK;
}

static nb_status check_several(const nb_relation *relation, const given *g, const char *by, nb_ctx *ctx)
{
    nb_grid values;
    NB_TRY(ctx, nb_relation_values(relation, by, NULL, &values, ctx));
    NB_REQUIRE(ctx, values.count > 1, NB_EINVAL,
               "compare: the rows have only one %s: there is nothing to compare%s%s%s", by, g->where ? "; " : "",
               g->where ? nb_spell_option(ctx, "where", NULL) : "",
               g->where ? " must leave the baseline as well, as strategy=[A, B] does" : "");
    return NB_OK;
}

static nb_status print_comparison(const given *g, const nb_comparison *c, nb_ctx *ctx)
{
    const nb_compare_view view = {g->full, g->by_model};
    nb_page page;
    nb_grid grid;
    if (nb_format_is_page(g->format)) {
        nb_page_make(&page, ctx);
        page.name = "compare";
        NB_TRY(ctx, nb_compare_show(&page, c, &view, ctx));
        return nb_format_page(&page, g->format);
    }
    NB_TRY(ctx, nb_compare_fill(&grid, c, ctx));
    return nb_format_grid(&grid, g->format);
}

static nb_status compare(const char *folder, const given *g, nb_compare_terms *terms, nb_ctx *ctx)
{
    nb_store store;
    const nb_given_labels *labels;
    nb_relation *relation;
    nb_comparison comparison;
    int baseline = -1;
    const char *usual;
    NB_TRY(ctx, nb_run_open(folder, &store, &labels, ctx));
    NB_TRY(ctx, nb_relation_open(&relation, &store, labels, ctx));
    const nb_study *study = relation->study;
    NB_TRY(ctx, nb_relation_seed(relation, &terms->seed, ctx));
    terms->contrast.by = g->by ? g->by : usual_column(study);
    NB_REQUIRE(ctx, terms->contrast.by, NB_EINVAL, "compare: %s is missing: the study %s has no usual one",
               nb_spell_option(ctx, "by", NULL), study->component.name);
    const nb_column *metric = nb_study_metric(study);
    NB_REQUIRE(ctx, metric || terms->contrast.metric, NB_EINVAL, "compare: the study %s measures no number",
               study->component.name);
    NB_TRY(ctx, check_columns(study->columns, &terms->contrast, ctx));
    NB_TRY(ctx, nb_run_baseline(folder, &usual, ctx));
    NB_TRY(ctx, nb_relation_take_baseline(relation, usual, ctx));
    terms->contrast.all_pairs = g->baseline && strcmp(g->baseline, "all") == 0;
    NB_TRY(ctx, nb_command_keep(relation, g->where, ctx));
    if (g->baseline && !terms->contrast.all_pairs)
        NB_TRY(ctx, nb_where_values(relation, NULL, terms->contrast.by, 1, (const char *const *)&g->baseline, &baseline,
                                    NULL, ctx));
    terms->contrast.baseline = baseline;
    NB_TRY(ctx, check_several(relation, g, terms->contrast.by, ctx));
    NB_TRY(ctx, nb_compare(relation, terms, &comparison, ctx));
    return print_comparison(g, &comparison, ctx);
}

static nb_status read_terms(nb_command_line *line, const given *g, nb_compare_terms *terms, nb_ctx *ctx)
{
    bool difference = g->scale.value == 1;
    nb_real_value margin = {
        .text = g->margin, .min = difference ? 0 : 1, .max = 1e9, .value = difference ? 0 : NB_USUAL_MARGIN};
    NB_TRY(ctx, nb_command_real(line, "margin", &margin, ctx));
    terms->contrast.difference = difference;
    terms->contrast.failures = g->failures.value ? NB_FAILURES_WORST : NB_FAILURES_DROP;
    terms->confidence = g->confidence.value;
    terms->resamples = g->full || !nb_format_is_page(g->format) ? (int)g->resamples.value : 0;
    const char *pool = terms->contrast.pool;
    if (g->where || pool)
        NB_NEED(terms->by_hand,
                nb_format(ctx, "%s%s%s", g->where ? nb_spell_option(ctx, "where", NULL) : "",
                          g->where && pool ? " and " : "", pool ? nb_spell_option(ctx, "pool", NULL) : ""));
    terms->margin = difference ? margin.value : log(margin.value);
    return NB_OK;
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    static const char *const scales[] = {"ratio", "difference", NULL}, *const failures[] = {"drop", "worst", NULL};
    given g = {.failures = {.words = failures},
               .scale = {.words = scales},
               .confidence = {.min = 0.5, .max = 0.9999, .value = 0.95},
               .resamples = {.max = 1000000, .value = NB_BOOTSTRAPS}};
    nb_compare_terms terms = {.seed = 0}; /* the metric, what is pooled and what may be confounded are read into it */
    const struct poptOption options[] = {
        NB_TEXT_OPTION(
            "baseline", 'b', g.baseline,
            "What to compare with, by its name, a spec or its label (default: the run's baseline); all: compare each "
            "pair",
            "SPEC"),
        NB_TEXT_OPTION("by", '\0', g.by, "Column whose values are compared (default: strategy)", "COLUMN"),
        NB_TEXT_OPTION("metric", 'm', terms.contrast.metric,
                       "Measure to compare (default: the study's first, such as error)", "COLUMN"),
        NB_WHERE_OPTION(g.where),
        NB_TEXT_OPTION("pool", '\0', terms.contrast.pool, "Average over the values of a column, such as landmarks",
                       "COLUMN"),
        NB_WORD_OPTION("scale", '\0', g.scale, "Compare by ratio (default) or difference", "ratio|difference"),
        NB_LIST_OPTION("confounded", '\0', terms.contrast.confounded,
                       "Compare even what differs in this column too, or in " NB_ROWS_SEEN " or " NB_BUILD
                       "; may be repeated",
                       "COLUMN"),
        NB_WORD_OPTION("failures", '\0', g.failures,
                       "Pairs of which one has no result: drop (default) them, or count them as worst", "drop|worst"),
        NB_TEXT_OPTION("margin", '\0', g.margin, "Largest ratio (or difference) that does not matter (1.02; 0)",
                       "RATIO"),
        NB_REAL_OPTION("confidence", '\0', g.confidence, "Confidence of the intervals (0.95)", "SHARE"),
        NB_WHOLE_OPTION("resamples", '\0', g.resamples, "Resamples of the bootstrap (2000); 0: no bootstrap", "N"),
        NB_FLAG_OPTION("by-model", '\0', g.by_model, "Lines of each model too, not only over all of them"),
        NB_FLAG_OPTION("full", '\0', g.full,
                       "All that is known of each line: tests, bootstrap, heads, trials, and what they mean"),
        NB_FORMAT_OPTION(line),
        NB_PLUGIN_OPTION(line),
        POPT_TABLEEND};
    NB_TRY(ctx, nb_parse_command(line, options, 1, ctx));
    g.format = (nb_output_format)line->format.value;
    NB_TRY(ctx, read_terms(line, &g, &terms, ctx));
    line->stage = NB_ASKS;
    return compare(line->arguments[0], &g, &terms, ctx);
}

NB_COMMAND(compare, "RUN", "Say which method is better, and how surely", false, NB_BEGIN_HERE + 50);
