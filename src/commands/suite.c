/* SPDX-License-Identifier: GPL-3.0-or-later */
/* suite.c - nysbench suite METHOD...: what methods (attentions, strategies) are worth on a frozen list of heads. */
#include "commands/command.h"

#include "base/builder.h"
#include "base/files.h"
#include "base/scratch.h"
#include "base/text.h"
#include "commands/program.h"
#include "commands/python_file.h"
#include "commands/suite_measure.h"
#include "show/page.h"
#include "suite/suite.h"

#include <math.h>
#include <string.h>

enum { NOT_SAID = -1 };
#define AGAIN 0.01 /* relative difference of errors that another CPU may make */

typedef struct {
    char *list, *out, *check, *jobs, *sizes, *damage;
    char **declared, **references;
    int small, timed;
    nb_real_value timeout, rerun;
    nb_word_value tuned;
} choices;

static nb_status find_list(const choices *c, const char **path, nb_ctx *ctx)
{
    *path = c->list;
    if (c->list) return NB_OK;
    NB_REQUIRE(ctx, c->small, NB_EINVAL,
               "suite: no list of heads: --small takes the one that comes with the program, --list FILE another");
    return nb_suite_small_list(path, ctx);
}

/* Letters and digits of the method, as a name of files. */
static nb_status name_of(const char *method, const char **name, nb_ctx *ctx)
{
    char *text;
    int length = 0;
    NB_NEED(text, nb_alloc(ctx, strlen(method) + 1, 1));
    for (const char *at = method; *at; at++) {
        bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9');
        if (plain || *at == '.')
            text[length++] = *at;
        else if (length > 0 && text[length - 1] != '_')
            text[length++] = '_';
    }
    while (length > 0 && text[length - 1] == '_') text[--length] = 0;
    *name = text;
    return NB_OK;
}

/* `written`: the files of results, or "". */
static nb_status print_results(int count, const nb_suite_result *results, const char *written, nb_output_format format,
                               nb_ctx *ctx)
{
    nb_page page;
    nb_grid grid;
    if (!nb_format_is_page(format)) {
        NB_TRY(ctx, nb_suite_results_grid(count, results, &grid, ctx));
        return nb_format_grid(&grid, format);
    }
    nb_page_make(&page, ctx);
    NB_TRY(ctx, nb_suite_results_page(count, results, &page, ctx));
    if (*written) nb_page_paragraph(&page, "Written: %s", written);
    return nb_format_page(&page, format);
}

static nb_status print_list(const nb_suite *suite, nb_output_format format, nb_ctx *ctx)
{
    nb_grid grid;
    NB_TRY(ctx, nb_suite_list_grid(suite, &grid, ctx));
    return nb_format_table(&grid, false, format);
}

static bool is_in_a_track(const nb_suite_result *r)
{
    for (int t = 0; t < r->suite->track_count; t++)
        if (!r->absent[t]) return true;
    return false;
}

/* Runs what is missing of a result's experiment in a folder, and takes its outcomes. */
static nb_status measure(const char *jobs, const char *folder, nb_suite_result *r, int *exit, nb_ctx *ctx)
{
    const char *experiment, *rows;
    nb_relation *relation;
    NB_NEED(experiment, nb_format(ctx, "%s/suite.yaml", folder));
    NB_NEED(rows, nb_format(ctx, "%s/rows", folder));
    NB_TRY(ctx, nb_make_folder(folder, ctx));
    NB_TRY(ctx, nb_suite_write_experiment(r, experiment, ctx));
    NB_TRY(ctx, nb_measure_experiment(experiment, rows, jobs, &relation, exit, ctx));
    return *exit == NB_EXIT_OK ? nb_suite_take(r, relation, ctx) : NB_OK;
}

/* Measures a method, and writes *path, OUT/NAME.json; NULL: it is in no track. */
static nb_status judge(const choices *c, nb_suite_result *r, const char **path, int *exit, nb_ctx *ctx)
{
    const char *out = c->out ? c->out : "results/suite", *name, *folder, *rows;
    if (!is_in_a_track(r) && !r->method.uncounted) return NB_OK;
    NB_TRY(ctx, name_of(r->method.name, &name, ctx));
    NB_NEED(folder, nb_format(ctx, "%s/%s", out, name));
    NB_NEED(rows, nb_format(ctx, "%s/rows", folder));
    NB_NEED(*path, nb_format(ctx, "%s.json", folder));
    NB_TRY(ctx, nb_make_folder(folder, ctx));
    if (r->method.uncounted) return nb_suite_write(r, NULL, *path, ctx);
    NB_TRY(ctx, measure(c->jobs, folder, r, exit, ctx));
    return *exit == NB_EXIT_OK ? nb_suite_write(r, rows, *path, ctx) : NB_OK;
}

/* Adds the blocks that are asked for to a result's file, and reads it again. */
static nb_status add_blocks(const choices *c, const char *path, nb_suite_result *r, int *exit, nb_ctx *ctx)
{
    const nb_block_terms terms = {.jobs = c->jobs, .limit_s = c->timeout.value};
    if (!c->damage && !c->timed) return NB_OK;
    NB_TRY(ctx, nb_suite_check(r->suite, path, r, ctx));
    if (c->damage) NB_TRY(ctx, nb_measure_damage(r, c->damage, &terms, path, exit, ctx));
    if (c->timed && *exit == NB_EXIT_OK) NB_TRY(ctx, nb_measure_times(r, &terms, path, exit, ctx));
    return *exit == NB_EXIT_OK ? nb_suite_check(r->suite, path, r, ctx) : NB_OK;
}

/* Measures a share of a result's inputs again, in a folder of its own, and compares. */
static nb_status rerun(const choices *c, const nb_suite_result *says, int *exit, nb_ctx *ctx)
{
    nb_suite_result again;
    nb_suite_method method;
    const char *folder;
    NB_TRY(ctx, nb_suite_method_find(says->method.text, &method, ctx));
    method.sizes = says->method.sizes;
    NB_TRY(ctx, nb_suite_begin(says->suite, &method, c->timeout.value, &again, ctx));
    NB_TRY(ctx, nb_suite_choose(says->suite, c->check, c->rerun.value, &again.chosen, ctx));
    NB_TRY(ctx, nb_temporary_folder(&folder, ctx));
    if (is_in_a_track(&again)) NB_TRY(ctx, measure(c->jobs, folder, &again, exit, ctx));
    return *exit == NB_EXIT_OK ? nb_suite_agree(says, &again, AGAIN, c->check, ctx) : NB_OK;
}

static nb_status check(nb_command_line *line, const choices *c, const nb_suite *suite, nb_ctx *ctx)
{
    nb_suite_result says;
    NB_TRY(ctx, nb_suite_check(suite, c->check, &says, ctx));
    if (c->rerun.text) NB_TRY(ctx, rerun(c, &says, &line->exit, ctx));
    return line->exit == NB_EXIT_OK ? print_results(1, &says, "", (nb_output_format)line->format.value, ctx) : NB_OK;
}

static nb_status begin(const choices *c, const nb_suite *suite, const char *text, nb_suite_result *r, nb_ctx *ctx)
{
    nb_suite_method method;
    NB_TRY(ctx, nb_suite_method_find(text, &method, ctx));
    method.sizes = c->sizes;
    method.uncounted = c->timed && !c->sizes && method.traits & NB_ATTENTION_ELSEWHERE;
    method.tuned = c->tuned.value == NOT_SAID ? NULL : nb_suite_tunings[c->tuned.value];
    if (c->references) { /* where a program's method is published; a component's record says so itself */
        NB_REQUIRE(ctx, method.traits & NB_ATTENTION_ELSEWHERE, NB_EINVAL,
                   "suite: --reference %s: %s has references of its own: leave it out", c->references[0], method.label);
        method.references = (const char *const *)c->references;
    }
    for (int k = 0; c->declared && c->declared[k]; k++) NB_TRY(ctx, nb_suite_declare(&method, c->declared[k], ctx));
    return nb_suite_begin(suite, &method, c->timeout.value, r, ctx);
}

/* A result to which blocks are added. */
static bool is_result(const char *text)
{
    return nb_text_ends(text, ".json");
}

static nb_status run_methods(nb_command_line *line, const choices *c, const nb_suite *suite, int count, nb_ctx *ctx)
{
    nb_suite_result *results;
    nb_string written = NB_NO_TEXT;
    NB_NEED(results, nb_alloc(ctx, (size_t)count, sizeof *results));
    for (int i = 0; i < count; i++) {
        const char *text = line->arguments[i];
        NB_REQUIRE(ctx, !is_result(text) || c->damage || c->timed, NB_EINVAL,
                   "suite: %s: expected a method; to a result, --damage PROGRAM and --timed add what they measure",
                   text);
        NB_TRY(ctx, is_result(text) ? nb_suite_check(suite, text, &results[i], ctx)
                                    : begin(c, suite, text, &results[i], ctx));
    }
    line->stage = NB_ASKS;
    for (int i = 0; i < count && line->exit == NB_EXIT_OK; i++) {
        const char *path = is_result(line->arguments[i]) ? line->arguments[i] : NULL;
        if (!path) NB_TRY(ctx, judge(c, &results[i], &path, &line->exit, ctx));
        if (!path || line->exit != NB_EXIT_OK) continue;
        NB_TRY(ctx, add_blocks(c, path, &results[i], &line->exit, ctx));
        NB_TRY(ctx, nb_append_item(&written, ", ", ctx, "%s", path));
    }
    return line->exit == NB_EXIT_OK
               ? print_results(count, results, written.text, (nb_output_format)line->format.value, ctx)
               : NB_OK;
}

/* A function in a Python file: the package asks its cost, and calls this command with --sizes. */
static nb_status judge_python(const nb_command_line *line, const char *what, const choices *c, int count, nb_ctx *ctx)
{
    const char **words;
    int given = 0;
    NB_REQUIRE(ctx, count == 1, NB_EINVAL,
               "suite: %s is a function in Python: expected it alone, and there are %d "
               "methods",
               what, count);
    NB_REQUIRE(ctx, !c->sizes, NB_EINVAL, "suite: --sizes: the function's attribute `cost` tells its multiplications");
    NB_NEED(words, nb_alloc(ctx, (size_t)line->argc + 2, sizeof *words));
    words[given++] = what;
    NB_NEED(words[given++], c->list ? nb_format(ctx, "--list=%s", c->list) : "--small");
    for (int i = 1; i < line->argc; i++)
        if (strcmp(line->argv[i], what) != 0) words[given++] = line->argv[i];
    return nb_become_python("suite_file", words, ctx);
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    choices c = {.timeout = {.min = 1, .max = 86400, .value = 600},
                 .rerun = {.min = 0.001, .max = 1},
                 .tuned = {.words = nb_suite_tunings, .value = NOT_SAID}};
    const char *path;
    nb_suite suite;
    const struct poptOption options[] = {
        NB_FLAG_OPTION("small", '\0', c.small, "The list that comes with the program: a minute or two"),
        NB_TEXT_OPTION("list", '\0', c.list, "Another list of heads", "FILE.json"),
        NB_TEXT_OPTION("out", 'o', c.out, "Folder of the results, one file for each method (default: results/suite)",
                       "DIR"),
        NB_WORD_OPTION("tuned", '\0', c.tuned, "Which sources the options of the methods were tuned on",
                       "none|development|test"),
        NB_LIST_OPTION(
            "declare", '\0', c.declared,
            "What the program cannot know of a method: linear (its cost is, in n) or trained; may be repeated",
            "NAME=true|false"),
        NB_LIST_OPTION("reference", '\0', c.references, "Where the method of a program is published; may be repeated",
                       "TEXT"),
        NB_TEXT_OPTION("sizes", '\0', c.sizes,
                       "What the method is at each share, and its multiplications, where they cannot be counted",
                       "FILE.json"),
        NB_TEXT_OPTION("damage", '\0', c.damage,
                       "Measure what it does to a model of each track, which this program serves", "PROGRAM"),
        NB_FLAG_OPTION("timed", '\0', c.timed, "Time its passes beside those of exact attention, on one thread"),
        NB_TEXT_OPTION("check", '\0', c.check, "Compute the numbers of a result again from its errors", "FILE.json"),
        NB_REAL_OPTION("rerun", '\0', c.rerun, "With --check: measure this share of the heads again, and compare",
                       "SHARE"),
        NB_TEXT_OPTION("jobs", 'j', c.jobs, "Worker processes (default: one for each CPU that may be used)", "N"),
        NB_PATIENCE_OPTION("timeout", 't', c.timeout,
                           "Seconds for counting, and for each check of a method (default: 600)"),
        NB_PLUGIN_OPTION(line),
        NB_FORMAT_OPTION(line),
        POPT_TABLEEND};
    NB_TRY(ctx, nb_parse_command(line, options, 0, ctx));
    int count = nb_text_count(line->arguments);
    NB_REQUIRE(ctx, !count || !c.check, NB_EINVAL, "suite: expected methods, or --check FILE, and not both");
    NB_REQUIRE(ctx, !c.check || !(c.timed || c.damage), NB_EINVAL,
               "suite: --check FILE measures nothing; --damage and --timed take the file as a method: leave --check "
               "out");
    NB_REQUIRE(ctx, !c.rerun.text || c.check, NB_EINVAL, "suite: --rerun measures a result again: --check names it");
    for (int i = 0; i < count; i++)
        if (nb_is_python_file(line->arguments[i])) return judge_python(line, line->arguments[i], &c, count, ctx);
    NB_REQUIRE(ctx, !c.sizes || count == 1, NB_EINVAL, "suite: --sizes FILE is of one method, and there are %d", count);
    NB_TRY(ctx, find_list(&c, &path, ctx));
    NB_TRY(ctx, nb_suite_read(path, !c.check || c.rerun.text, &suite, ctx));
    NB_TRY(ctx, nb_show_package(ctx));
    if (c.check) return check(line, &c, &suite, ctx);
    if (count == 0) return print_list(&suite, (nb_output_format)line->format.value, ctx);
    return run_methods(line, &c, &suite, count, ctx);
}

NB_COMMAND(suite, "[ATTENTION|STRATEGY|FILE.py:NAME|RESULT.json...]",
           "Judge methods by one number on a frozen list of heads", true, NB_YOUR_OWN + 35);
