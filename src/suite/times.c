/* SPDX-License-Identifier: GPL-3.0-or-later */
/* times.c - how long a method's passes take, by the study forward: at each share, on the first input of each model,
 * beside exact attention in the same run. */
#include "suite/suite.h"

#include "base/default_seed.h"
#include "base/files.h"
#include "config/yaml.h"
#include "rows/statement.h"
#include "studies/forward/study.h"

#include <math.h>
#include <string.h>

#define EXACT "streamed"
#define SECONDS 0.5 /* of rounds, for each attention */

static bool is_uncounted(const nb_suite_result *r, int track)
{
    return r->absent[track] && strcmp(r->absent[track], NB_SUITE_UNCOUNTED) == 0;
}

/* The attention that is timed for a share, with all options; NULL: there is none. Without a count there is one. */
static const char *attention_of(const nb_suite_result *r, int model, int share)
{
    int track = r->suite->models[model].track;
    if (is_uncounted(r, track)) return share == 0 ? r->method.spec : NULL;
    return r->absent[track] ? NULL : r->settings[model][share].text;
}

static nb_status print_model(FILE *out, const nb_suite_result *r, int model, nb_ctx *ctx)
{
    const nb_suite *s = r->suite;
    const char *path, *problem;
    bool causal = s->tracks[s->models[model].track].causal, any = false;
    for (int k = 0; k < NB_SUITE_SHARES; k++) any = any || attention_of(r, model, k);
    if (!any) return NB_OK;
    NB_TRY(ctx, nb_whole_path(s->inputs[s->models[model].first].path, &path, ctx));
    NB_NEED(path, nb_quoted(path, ctx));
    NB_NEED(problem, nb_format(ctx, "heads(file=%s, causal=%s)", path, causal ? "true" : "false"));
    fputs("  - problems:\n      - ", out);
    nb_yaml_print_quoted(out, problem);
    fputs("\n    attentions:\n      - " EXACT, out);
    for (int k = 0; k < NB_SUITE_SHARES; k++) {
        if (!attention_of(r, model, k)) continue;
        fputs("\n      - ", out);
        nb_yaml_print_quoted(out, attention_of(r, model, k));
    }
    putc('\n', out);
    return NB_OK;
}

static nb_status print_experiment(FILE *out, const void *what, nb_ctx *ctx)
{
    const nb_suite_result *r = what;
    fprintf(out,
            "# Times of a method of the suite; nysbench suite has chosen the sizes and reads the rows.\n"
            "question: How long does a pass take, beside one of exact attention?\n"
            "study: forward\nseed: %d\nseconds: %g\ntrials: 1\nplots: []\nblocks:\n",
            NB_DEFAULT_SEED, SECONDS);
    for (int m = 0; m < r->suite->model_count; m++) NB_TRY(ctx, print_model(out, r, m, ctx));
    return NB_OK;
}

nb_status nb_suite_write_times_experiment(const nb_suite_result *r, const char *path, nb_ctx *ctx)
{
    return nb_write_file(path, print_experiment, r, ctx);
}

enum { PROBLEM, ATTENTION, STATUS, REASON, TIME, ERROR, LOAD, DEVICE };

/* The row of an attention on a model's first input; -1: there is none. */
static nb_status find_row(const nb_suite *s, const nb_grid *g, int model, const char *text, int *row, nb_ctx *ctx)
{
    nb_choice attention;
    const char *file = s->inputs[s->models[model].first].file, *slash = strrchr(file, '/');
    NB_TRY(ctx, nb_choice_parse(&nb_attentions, text, &attention, ctx));
    for (*row = 0; *row < g->count; ++*row)
        if (strstr(nb_grid_at(g, *row, PROBLEM)->text, slash ? slash + 1 : file) &&
            strcmp(nb_grid_at(g, *row, ATTENTION)->text, attention.canonical) == 0)
            return NB_OK;
    *row = -1;
    return NB_OK;
}

static nb_status take_time(const nb_suite_result *r, const nb_grid *g, int model, int share, nb_suite_timing *to,
                           nb_ctx *ctx)
{
    nb_suite_time *t = &to->times[share];
    int row;
    *t = (nb_suite_time){.attention = attention_of(r, model, share), .seconds = NAN, .error = NAN};
    if (!t->attention) t->refused = r->settings[model][share].why;
    if (!t->attention) return NB_OK;
    NB_TRY(ctx, find_row(r->suite, g, model, t->attention, &row, ctx));
    NB_REQUIRE(ctx, row >= 0, NB_EIO, "%s: there is no row of %s", r->suite->models[model].name, t->attention);
    const char *status = nb_grid_at(g, row, STATUS)->text, *reason = nb_grid_at(g, row, REASON)->text;
    const char *device = nb_grid_at(g, row, DEVICE)->text;
    bool ok = strcmp(status, "ok") == 0;
    NB_REQUIRE(ctx, ok || strcmp(status, "skipped") == 0, NB_EINVAL, "%s: %s: %s", r->method.label,
               r->suite->models[model].name, reason && *reason ? reason : status);
    t->seconds = nb_grid_at(g, row, TIME)->real;
    t->error = nb_grid_at(g, row, ERROR)->real;
    if (isnan(t->seconds)) t->refused = ok ? "it says no time" : reason;
    if (device && *device) to->device = device;
    to->load = fmax(to->load, nb_grid_at(g, row, LOAD)->real);
    return NB_OK;
}

nb_status nb_suite_take_times(const nb_suite_result *r, const nb_relation *relation, nb_suite_timing *timing,
                              nb_ctx *ctx)
{
    const nb_suite *s = r->suite;
    nb_grid g;
    NB_TRY(ctx, nb_sql_ask(relation, "suite.times", NULL, &g, ctx));
    for (int m = 0; m < s->model_count; m++) {
        int row;
        timing[m] = (nb_suite_timing){.exact_s = NAN, .load = NAN};
        if (r->absent[s->models[m].track] && !is_uncounted(r, s->models[m].track)) continue;
        NB_TRY(ctx, find_row(s, &g, m, EXACT, &row, ctx));
        if (row >= 0) timing[m].exact_s = nb_grid_at(&g, row, TIME)->real;
        for (int k = 0; k < NB_SUITE_SHARES; k++) NB_TRY(ctx, take_time(r, &g, m, k, &timing[m], ctx));
    }
    return NB_OK;
}

bool nb_suite_is_timed(const nb_suite_result *r, int track)
{
    for (int m = 0; r->timing && m < r->suite->model_count; m++)
        for (int k = 0; r->suite->models[m].track == track && k < NB_SUITE_SHARES; k++)
            if (isfinite(r->timing[m].times[k].seconds) && r->timing[m].times[k].seconds > 0) return true;
    return false;
}

double nb_suite_time_ratio(const nb_suite_result *r, int track, int share)
{
    double logs = 0;
    int count = 0;
    if (is_uncounted(r, track)) share = 0;
    for (int m = 0; r->timing && m < r->suite->model_count; m++) {
        if (r->suite->models[m].track != track) continue;
        logs += log(r->timing[m].times[share].seconds / r->timing[m].exact_s);
        count++;
    }
    return count > 0 && isfinite(logs) ? exp(logs / count) : NAN;
}

bool nb_suite_is_disturbed(const nb_suite_result *r, int track)
{
    for (int m = 0; r->timing && m < r->suite->model_count; m++)
        if (r->suite->models[m].track == track && r->timing[m].load > nb_forward_much_load) return true;
    return false;
}
