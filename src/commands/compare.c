/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare.c - nysbench compare RUN: methods against a baseline, with intervals and verdicts. */
#include "cli/format.h"

#include "components/study.h"
#include "report/compare_print.h"
#include "report/where.h"
#include "run/run_folder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { /* the command line's; NULL: not given */
    char *baseline, *by, *metric, *pool, *failures, *format, *margin, *confidence, *resamples, *scale;
    const char **where, **confounded;
    nb_output_format output;
    int full, by_model;
} given;

/* Returns the column that the study compares by, as a row names it. */
static const char *usual_column(const nb_study *study)
{
    return study->baseline >= 0 ? study->axes[study->baseline].column : NULL;
}

/* True for columns that identify a row's data rather than its method. */
static bool is_of_data(const char *name)
{
    return strcmp(name, "problem") == 0 || strcmp(name, "head") == 0 || strcmp(name, "trial") == 0;
}

typedef enum { HINT_MEASURED, HINT_IDENTITY, HINT_METHOD } hinted;

static nb_status hint_column(const nb_column *columns, const char *text, hinted what, const char **hint, nb_ctx *ctx)
{
    const char **names;
    int count = 0;
    NB_NEED(names, nb_alloc(ctx, (size_t)nb_column_count(columns) + 1, sizeof *names));
    for (const nb_column *c = columns; c->name; c++)
        if (what == HINT_MEASURED
                ? c->type == NB_COLUMN_REAL
                : c->identity && c->type != NB_COLUMN_SEED && !(what == HINT_METHOD && is_of_data(c->name)))
            names[count++] = c->name;
    NB_NEED(*hint, nb_hint(text, names, ctx));
    return NB_OK;
}

static nb_status check_columns(const nb_column *columns, const given *g, const nb_contrast_terms *terms, nb_ctx *ctx)
{
    const nb_column *by = nb_column_find(columns, terms->by), *metric = nb_column_find(columns, terms->metric);
    const char *hint = "";
    if (!by || !by->identity) NB_TRY(ctx, hint_column(columns, terms->by, HINT_METHOD, &hint, ctx));
    NB_REQUIRE(ctx, by && by->identity, NB_EINVAL, "compare: --by %s is not a column that tells rows apart%s",
               terms->by, hint);
    if (!metric || metric->type != NB_COLUMN_REAL)
        NB_TRY(ctx, hint_column(columns, terms->metric, HINT_MEASURED, &hint, ctx));
    NB_REQUIRE(ctx, metric && metric->type == NB_COLUMN_REAL, NB_EINVAL,
               "compare: --metric %s is not a measured column%s", terms->metric, hint);
    for (const char *const *c = terms->confounded; c && *c; c++) {
        const nb_column *column = nb_column_find(columns, *c);
        bool known = strcmp(*c, NB_ROWS_SEEN) == 0 || strcmp(*c, NB_BUILD) == 0 || (column && column->identity);
        if (!known) NB_TRY(ctx, hint_column(columns, *c, HINT_IDENTITY, &hint, ctx));
        NB_REQUIRE(ctx, known, NB_EINVAL, "compare: --confounded %s is unknown%s; also allowed: %s, %s", *c, hint,
                   NB_ROWS_SEEN, NB_BUILD);
    }
    const nb_column *pool = terms->pool ? nb_column_find(columns, terms->pool) : NULL;
    NB_REQUIRE(ctx, !terms->pool || (pool && pool->identity && pool != by), NB_EINVAL,
               "compare: --pool %s: expected a column that tells rows apart, other than that of --by", g->pool);
    return NB_OK;
}

/* Applies the options that name values of columns: which rows, and the baseline. */
static nb_status select_rows(nb_relation *relation, const given *g, const char *by, int *baseline, nb_ctx *ctx)
{
    const char *sql;
    nb_value_found found = {.place = -1};
    if (g->where && g->where[0]) {
        NB_TRY(ctx, nb_where(relation, NULL, g->where, &sql, ctx));
        NB_TRY(ctx, nb_relation_keep(relation, sql, ctx));
    }
    if (g->baseline && strcmp(g->baseline, "all") != 0)
        NB_TRY(ctx, nb_where_values(relation, NULL, by, 1, (const char *const *)&g->baseline, &found, ctx));
    *baseline = found.place;
    return NB_OK;
}

/* Finds the default baseline: the run's, or the first value. */
static nb_status find_baseline(const nb_relation *relation, const nb_column *by, const given *g, const char *usual,
                               int *baseline, nb_ctx *ctx)
{
    nb_answer values;
    NB_TRY(ctx, nb_relation_values(relation, by->name, NULL, &values, ctx));
    NB_REQUIRE(ctx, values.count > 1, NB_EINVAL, "compare: the rows have only one %s: there is nothing to compare%s",
               by->name, g->where ? "; --where must leave the baseline as well" : "");
    if (*baseline < 0) *baseline = nb_compare_baseline(&values, usual);
    return NB_OK;
}

static nb_status print(const given *g, const nb_relation *relation, const nb_compare_terms *terms,
                       const nb_comparison *c, nb_ctx *ctx)
{
    const nb_compare_view view = {g->full, g->by_model};
    nb_output_format format = g->output;
    nb_page page;
    nb_grid grid;
    if (nb_format_is_page(format)) {
        nb_page_make(&page, ctx);
        NB_TRY(ctx, nb_compare_show(&page, relation, terms, c, &view, ctx));
        return nb_format_page(&page, format, ctx);
    }
    NB_TRY(ctx, nb_compare_fill(&grid, relation, terms, c, ctx));
    return nb_format_grid(&grid, format, ctx);
}

static nb_status compare(const char *folder, const given *g, nb_compare_terms *terms, nb_ctx *ctx)
{
    nb_store store;
    const nb_given_labels *labels;
    nb_relation *relation;
    nb_comparison comparison;
    nb_answer seed;
    const char *usual = NULL;
    NB_TRY(ctx, nb_run_open(folder, &store, &labels, ctx));
    NB_TRY(ctx, nb_relation_open(&relation, &store, labels, ctx));
    const nb_study *study = relation->study;
    NB_TRY(ctx, nb_relation_ask(relation, "SELECT seed FROM run WHERE number = 0", NULL, &seed, NULL, ctx));
    NB_REQUIRE(ctx, seed.count > 0, NB_EIO, "%s: the run has no rows", folder);
    terms->contrast.by = g->by ? g->by : usual_column(study);
    NB_REQUIRE(ctx, terms->contrast.by, NB_EINVAL, "compare: --by is missing: the study %s has no usual one",
               study->component.name);
    const nb_column *metric = nb_study_metric(study);
    NB_REQUIRE(ctx, metric || terms->contrast.metric, NB_EINVAL, "compare: the study %s measures no number",
               study->component.name);
    if (!terms->contrast.metric) terms->contrast.metric = metric->name;
    NB_TRY(ctx, check_columns(study->columns, g, &terms->contrast, ctx));
    if (usual_column(study) && strcmp(usual_column(study), terms->contrast.by) == 0)
        NB_TRY(ctx, nb_run_baseline(folder, &usual, ctx));
    terms->all_pairs = g->baseline && strcmp(g->baseline, "all") == 0;
    terms->contrast.builds = true;
    NB_TRY(ctx, select_rows(relation, g, terms->contrast.by, &terms->contrast.baseline, ctx));
    NB_TRY(ctx, find_baseline(relation, nb_column_find(study->columns, terms->contrast.by), g, usual,
                              &terms->contrast.baseline, ctx));
    terms->seed = nb_answer_at(&seed, 0, 0)->integer;
    NB_TRY(ctx, nb_compare(relation, terms, &comparison, ctx));
    return print(g, relation, terms, &comparison, ctx);
}

static int check_word(const char *option, const char *text, const char *const *words)
{
    const char *const *w = words;
    if (!text) return NB_GO_ON;
    while (*w && strcmp(*w, text) != 0) w++;
    if (*w) return NB_GO_ON;
    fprintf(stderr, "nysbench: error: compare: --%s %s is unknown; allowed:", option, text);
    for (w = words; *w; w++) fprintf(stderr, "%s %s", w == words ? "" : ",", *w);
    fputc('\n', stderr);
    return NB_EXIT_USAGE;
}

static int read_terms(const nb_command *command, const given *g, nb_compare_terms *terms, nb_ctx *ctx)
{
    static const char *const scales[] = {"ratio", "difference", NULL}, *const failures[] = {"drop", "worst", NULL};
    (void)ctx;
    int code = check_word("scale", g->scale, scales);
    if (code == NB_GO_ON) code = check_word("failures", g->failures, failures);
    *terms = (nb_compare_terms){.contrast = {.metric = g->metric, .pool = g->pool, .confounded = g->confounded},
                                .confidence = 0.95,
                                .resamples = NB_BOOTSTRAPS};
    terms->contrast.difference = g->scale && strcmp(g->scale, "difference") == 0;
    terms->contrast.failures = g->failures && strcmp(g->failures, "worst") == 0 ? NB_FAILURES_WORST : NB_FAILURES_DROP;
    double margin = terms->contrast.difference ? 0 : 1.02;
    if (code == NB_GO_ON)
        code = nb_command_real(command, "--margin", g->margin, terms->contrast.difference ? 0 : 1, 1e9, &margin);
    terms->margin = terms->contrast.difference ? margin : log(margin);
    if (code == NB_GO_ON)
        code = nb_command_real(command, "--confidence", g->confidence, 0.5, 0.9999, &terms->confidence);
    if (code == NB_GO_ON) code = nb_command_number(command, "--resamples", g->resamples, 0, 1000000, &terms->resamples);
    return code;
}

static int run(const nb_command *command, int argc, const char **argv, nb_ctx *ctx)
{
    given g = {0};
    const char **plugins = NULL, **arguments;
    nb_compare_terms terms;
    struct poptOption options[] = {
        NB_HELP_OPTION,
        {"baseline", 'b', POPT_ARG_STRING, &g.baseline, 0,
         "What to compare with, by its name, a spec or its label (default: the run's baseline); all: compare each pair",
         "SPEC"},
        {"by", '\0', POPT_ARG_STRING, &g.by, 0, "Column whose values are compared (default: strategy)", "COLUMN"},
        {"metric", 'm', POPT_ARG_STRING, &g.metric, 0, "Measure to compare (default: the study's first, such as error)",
         "COLUMN"},
        {"where", 'w', POPT_ARG_ARGV, &g.where, 0,
         "Only rows with this value in a column; of a component its name, a spec or its label; may be repeated",
         "COLUMN=VALUE"},
        {"pool", '\0', POPT_ARG_STRING, &g.pool, 0, "Average over the values of a column, such as landmarks", "COLUMN"},
        {"scale", '\0', POPT_ARG_STRING, &g.scale, 0, "Compare by ratio (default) or difference", "ratio|difference"},
        {"confounded", '\0', POPT_ARG_ARGV, &g.confounded, 0,
         "Compare even what differs in this column too, or in " NB_ROWS_SEEN " or " NB_BUILD "; may be repeated",
         "COLUMN"},
        {"failures", '\0', POPT_ARG_STRING, &g.failures, 0,
         "Pairs of which one has no result: drop (default) them, or count them as worst", "drop|worst"},
        {"margin", '\0', POPT_ARG_STRING, &g.margin, 0, "Largest ratio (or difference) that does not matter (1.02; 0)",
         "RATIO"},
        {"confidence", '\0', POPT_ARG_STRING, &g.confidence, 0, "Confidence of the intervals (0.95)", "SHARE"},
        {"resamples", '\0', POPT_ARG_STRING, &g.resamples, 0, "Resamples of the bootstrap (2000); 0: no bootstrap",
         "N"},
        {"by-model", '\0', POPT_ARG_NONE, &g.by_model, 0, "Lines of each model too, not only over all of them", NULL},
        {"full", '\0', POPT_ARG_NONE, &g.full, 0,
         "All that is known of each line: tests, bootstrap, heads, trials, and what they mean", NULL},
        NB_FORMAT_OPTION(g.format),
        NB_PLUGIN_OPTION(plugins),
        POPT_TABLEEND};
    int code = nb_command_parse(command, argc, argv, options, (nb_arguments){1, 1, &arguments}, ctx);
    nb_status status = nb_command_plugins(plugins, ctx);
    if (status == NB_OK) status = nb_command_own(g.where, ctx);
    if (status == NB_OK) status = nb_command_own(g.confounded, ctx);
    char *const texts[] = {g.baseline, g.by,         g.metric,    g.pool, g.failures,
                           g.margin,   g.confidence, g.resamples, g.scale};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i] && status == NB_OK) status = nb_defer(ctx, free, texts[i]);
    code = nb_command_format(command, code, g.format, &g.output, ctx);
    if (code == NB_GO_ON) code = read_terms(command, &g, &terms, ctx);
    if (code == NB_GO_ON) code = nb_command_check_run(arguments[0], ctx);
    if (code != NB_GO_ON) return code;
    if (status == NB_OK) status = compare(arguments[0], &g, &terms, ctx);
    return status == NB_OK ? NB_EXIT_OK : nb_print_failure(ctx, status == NB_EINVAL ? NB_EXIT_USAGE : NB_EXIT_FAILED);
}

const nb_command nb_command_compare = {"compare", "RUN", "Say which method is better, and how surely",
                                       run,       false, NB_BEGIN_HERE + 50};
