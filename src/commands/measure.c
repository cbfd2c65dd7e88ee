/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measure.c - nysbench measure: the rows that a run would have for one head and one
 * choice of landmarks, a strategy's or anybody's from files. */
#include "cli/one_head.h"

#include "base/text.h"
#include "studies/error/runner.h"
#include "nystrom/picks_file.h"
#include "report/csv.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    nb_picks queries, keys;
} given;

/* The strategy that has the landmarks already. */
static nb_status give(const nb_points *queries, const nb_points *keys, int m, const void *options, nb_picks *of_queries,
                      nb_picks *of_keys, nb_ctx *ctx)
{
    const given *g = options;
    (void)queries, (void)keys, (void)m, (void)ctx;
    *of_queries = g->queries;
    *of_keys = g->keys;
    return NB_OK;
}

static const nb_strategy given_landmarks = {
    .component = {.name = "given"}, .traits = NB_ELSEWHERE, .pairing = NB_BOTH, .pick_both = give};

/* One file of tokens serves both sides. */
static nb_status read_files(const char *query_file, const char *key_file, const nb_problem_shape *shape, given *g,
                            nb_ctx *ctx)
{
    const char *first = query_file ? query_file : key_file, *second = query_file ? key_file : NULL;
    g->queries.ctx = g->keys.ctx = ctx;
    NB_REQUIRE(ctx, !query_file || !key_file || strcmp(query_file, "-") != 0 || strcmp(key_file, "-") != 0, NB_EINVAL,
               "--query-landmarks and --key-landmarks cannot both be standard input");
    return nb_picks_load_sides(first, second, 0, shape->d, shape->n, &g->queries, &g->keys, ctx);
}

static nb_status plan_files(const char *query_file, const char *key_file, nb_one_head_plan *one, nb_ctx *ctx)
{
    given *g;
    const char *name;
    NB_NEED(g, nb_alloc(ctx, 1, sizeof *g));
    NB_TRY(ctx, read_files(query_file, key_file, &one->shape, g, ctx));
    NB_NEED(name, nb_format(ctx, "given(queries=%s, keys=%s)", query_file ? query_file : key_file,
                            key_file ? key_file : query_file));
    nb_choice choice = {.component = &given_landmarks.component,
                        .options = g,
                        .canonical = name,
                        .drawn = name,
                        .label = name,
                        .full = name,
                        .resolved = name};
    return nb_one_head_finish(NULL, &choice, g->queries.m, one, ctx);
}

typedef struct {
    bool json;
    int count, failures;
} output;

static nb_status nothing(void *self, nb_ctx *ctx)
{
    (void)self, (void)ctx;
    return NB_OK;
}

static bool never(void *self)
{
    (void)self;
    return false;
}

static void print_line(const nb_error_row *r, bool first)
{
    static const char *const shown[] = {"error",         "error_subspace", "error_core",  "floor_rank",
                                        "baseline_mean", "output_error",   "core_cutoff", "error_noise"};
    if (first) {
        nb_text_print(stdout, r->problem, SIZE_MAX, ""); /* with the name of a file */
        printf(" head %d, n = %d, d = %d, %s\n%s, m = %d, pairing %s, factors %s\n\n%-9s", r->head, r->n, r->d,
               r->kernel, r->strategy, r->landmarks, r->pairing, r->factors, "status");
        for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) printf(" %14s", shown[i]);
        puts("  core");
    }
    printf("%-9s", r->status);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        double value = *(const double *)((const char *)r + nb_column_find(nb_error_columns, shown[i])->offset);
        if (isnan(value))
            printf(" %14s", "-");
        else
            printf(" %14.6g", value);
    }
    printf("  %s%s%s\n", r->core, r->reason ? ": " : "", r->reason ? r->reason : "");
}

static nb_status put_row(void *self, int index, const nb_row *row, nb_ctx *ctx)
{
    output *o = self;
    (void)index;
    o->failures += strcmp(row->status, "ok") && strcmp(row->status, "skipped");
    if (!o->json) {
        print_line((const nb_error_row *)row, o->count++ == 0);
        return NB_OK;
    }
    NB_TRY(ctx, nb_json_print_row(stdout, nb_error_columns, row, ctx));
    putchar('\n');
    return NB_OK;
}

/* The trial's rows; of what does not depend on the trial, that of trial 0. */
static nb_status measure(const nb_one_head_plan *one, output *o, nb_ctx *ctx)
{
    const nb_plan *plan = &one->plan;
    nb_sink sink = {o, nothing, put_row, nothing, never, NULL, NULL, NULL};
    bool *pending;
    int *last;
    NB_NEED(pending, nb_alloc(ctx, (size_t)plan->row_count, sizeof *pending));
    NB_NEED(last, nb_alloc(ctx, (size_t)plan->method_count, sizeof *last));
    for (int i = 0; i < plan->row_count; i++) last[plan->rows[i].method] = i; /* trials ascend */
    for (int c = 0; c < plan->method_count; c++) pending[last[c]] = true;
    return nb_run_scene(plan, 0, pending, &sink, ctx);
}

static int run(const nb_command *command, int argc, const char **argv, nb_ctx *ctx)
{
    nb_one_head_texts t = {.head = NULL};
    nb_one_head_plan one;
    output o = {.json = false};
    int json = 0;
    char *files[2] = {NULL, NULL};
    struct poptOption options[] = {
        NB_HELP_OPTION,
        NB_ONE_HEAD_OPTIONS(t),
        {"query-landmarks", '\0', POPT_ARG_STRING, &files[0], 0,
         "Instead of a strategy: tokens, integers (m), or points, floats (m, d); '-' is standard input", "FILE.npy"},
        {"key-landmarks", '\0', POPT_ARG_STRING, &files[1], 0,
         "The same for the keys; one file of tokens serves both sides", "FILE.npy"},
        {"factors", '\0', POPT_ARG_STRING, &t.factors, 0, "nystromformer (default), cur or nocore", "F"},
        {"core", 'c', POPT_ARG_ARGV, &t.cores, 0,
         "How X is computed; may be repeated (default: every core that needs no option)", "SPEC"},
        {"metrics", '\0', POPT_ARG_STRING, &t.metrics, 0, "Columns, separated by commas (default: all)", "LIST"},
        {"json", 'j', POPT_ARG_NONE, &json, 0, "One JSON object for each core, a line each", NULL},
        POPT_TABLEEND};
    const char **arguments;
    int code = nb_command_parse(command, argc, argv, options, (nb_arguments){0, 0, &arguments}, ctx);
    nb_status status = nb_command_plugins(t.plugins, ctx), owned = nb_one_head_own(&t, ctx);
    for (int i = 0; i < 2; i++)
        if (files[i] && nb_defer(ctx, free, files[i]) != NB_OK) owned = NB_ENOMEM;
    if (code != NB_GO_ON) return code;
    bool by_files = files[0] || files[1];
    if (by_files && (t.strategy || t.landmarks || t.pairing)) {
        nb_print_error("measure: --strategy, --landmarks and --pairing, or landmark files, not both");
        return NB_EXIT_USAGE;
    }
    o.json = json;
    if (status == NB_OK) status = owned;
    if (status == NB_OK) status = nb_one_head_begin(&t, &one, ctx);
    if (status == NB_OK)
        status = by_files ? plan_files(files[0], files[1], &one, ctx) : nb_one_head_finish(&t, NULL, 0, &one, ctx);
    if (status != NB_OK) return nb_print_failure(ctx, NB_EXIT_USAGE);
    if (measure(&one, &o, ctx) != NB_OK) return nb_print_failure(ctx, NB_EXIT_FAILED);
    return o.failures ? NB_EXIT_FAILED : NB_EXIT_OK;
}

const nb_command nb_command_measure = {
    "measure", "--head FILE ...", "Measure one choice of landmarks on one head", run, true, 120};
