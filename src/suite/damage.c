/* SPDX-License-Identifier: GPL-3.0-or-later */
/* damage.c - what a method does to the output of a whole model, by the study effect: all layers have its attention, on
 * the sources that the list names. A value is the mean over trials. */
#include "suite/suite.h"

#include "base/builder.h"
#include "base/default_seed.h"
#include "base/files.h"
#include "base/text.h"
#include "config/yaml.h"
#include "problems/live_model.h"
#include "problems/problem.h"
#include "rows/statement.h"
#include "studies/effect/study.h"

#include <math.h>
#include <string.h>

enum { TRIALS = 3 };

typedef struct {
    const char *problem, *attention, *column;
} experiment;

static nb_status find_source(const nb_model_part *part, const char *name, int *at, nb_ctx *ctx)
{
    for (*at = 0; *at < part->model.source_count; ++*at)
        if (strcmp(part->model.sources[*at], name) == 0) return NB_OK;
    NB_FAIL(ctx, NB_EINVAL, "%s: it has no source '%s', on which the suite measures damage", part->program.run, name);
}

/* Asks the program for its sources, of which the problem has those of the list. */
static nb_status name_problem(const nb_suite_track *track, const char *program, double limit_s, const char **problem,
                              nb_ctx *ctx)
{
    const nb_suite_damaged *d = track->damaged;
    const char *run, *start;
    nb_string numbers = NB_NO_TEXT;
    nb_choice choice;
    nb_model_part part;
    int at;
    NB_NEED(run, nb_format(ctx, "%s %s", program, d->served));
    NB_NEED(run, nb_quoted(run, ctx));
    NB_NEED(start, nb_format(ctx, NB_PROBLEM_MODEL "(run=%s, layers=all, timeout=%.17g", run, limit_s));
    NB_NEED(*problem, nb_format(ctx, "%s)", start));
    NB_TRY(ctx, nb_choice_parse(&nb_problems, *problem, &choice, ctx));
    NB_TRY(ctx, nb_model_part_find(choice.options, &part, ctx));
    NB_REQUIRE(ctx, part.model.causal == track->causal, NB_EINVAL, "%s: it is %scausal, and the %s are not",
               part.program.run, part.model.causal ? "" : "not ", track->name);
    for (int i = 0; i < d->count; i++) {
        NB_TRY(ctx, find_source(&part, d->sources[i], &at, ctx));
        NB_TRY(ctx, nb_append_item(&numbers, ", ", ctx, "%d", at));
    }
    NB_NEED(*problem, nb_format(ctx, "%s, source=[%s])", start, numbers.text));
    return NB_OK;
}

static nb_status print_experiment(FILE *out, const void *what, nb_ctx *ctx)
{
    const experiment *e = what;
    (void)ctx;
    fprintf(out,
            "# What a method of the suite does to a model; nysbench suite has chosen its size and reads the rows.\n"
            "question: What is left of a model's output when all layers have another attention?\n"
            "study: effect\nseed: %d\ntrials: %d\nplots: []\nmetrics: [%s]\nproblems:\n  - ",
            NB_DEFAULT_SEED, TRIALS, e->column);
    nb_yaml_print_quoted(out, e->problem);
    fputs("\nattentions:\n  - ", out);
    nb_yaml_print_quoted(out, e->attention);
    putc('\n', out);
    return NB_OK;
}

static const nb_suite_setting *setting_of(const nb_suite_result *r, int track)
{
    const nb_suite_damaged *d = r->suite->tracks[track].damaged;
    return &r->settings[d->model][d->share];
}

nb_status nb_suite_write_damage_experiment(const nb_suite_result *r, int track, const char *program, double limit_s,
                                           const char *path, nb_ctx *ctx)
{
    const nb_suite_track *t = &r->suite->tracks[track];
    experiment e = {.attention = setting_of(r, track)->text, .column = t->damaged->column};
    NB_REQUIRE(ctx, nb_text_among(e.column, nb_effect_names), NB_EINVAL,
               "the list of heads: damage: column: a program that serves models tells no '%s'", e.column);
    NB_TRY(ctx, name_problem(t, program, limit_s, &e.problem, ctx));
    return nb_write_file(path, print_experiment, &e, ctx);
}

enum { SOURCE, STATUS, REASON, VALUE };

static nb_status take_row(const nb_suite_damaged *d, const nb_grid *g, int row, double *sums, int *counts,
                          nb_suite_damage *to, nb_ctx *ctx)
{
    const char *source = nb_grid_at(g, row, SOURCE)->text, *status = nb_grid_at(g, row, STATUS)->text;
    const char *reason = nb_grid_at(g, row, REASON)->text;
    double value = nb_grid_at(g, row, VALUE)->real;
    bool ok = strcmp(status, "ok") == 0;
    NB_REQUIRE(ctx, ok || strcmp(status, "skipped") == 0 || strcmp(status, "diverged") == 0, NB_EIO, "%s: %s: %s",
               d->served, source, reason && *reason ? reason : status);
    NB_REQUIRE(ctx, !ok || (isfinite(value) && (value > 0 || !d->logarithm)), NB_EIO, "%s: %s: it tells no %s",
               d->served, source, d->column);
    if (!ok) NB_NEED(to->refused, nb_format(ctx, "%s: %s", source, reason && *reason ? reason : status));
    for (int i = 0; i < d->count && ok; i++) {
        if (strcmp(source, d->sources[i]) != 0) continue;
        sums[i] += d->logarithm ? log(value) : value;
        counts[i]++;
    }
    return NB_OK;
}

nb_status nb_suite_take_damage(const nb_suite_result *r, int track, const nb_relation *relation, nb_suite_damage *to,
                               nb_ctx *ctx)
{
    const nb_suite_damaged *d = r->suite->tracks[track].damaged;
    nb_grid g;
    double *sums;
    int *counts;
    *to = (nb_suite_damage){.attention = setting_of(r, track)->text};
    NB_TRY(ctx, nb_sql_ask(relation, "suite.damage", NB_GIVEN(NB_GIVE_NAME("damage", d->column)), &g, ctx));
    NB_NEED(sums, nb_alloc(ctx, (size_t)d->count, sizeof *sums));
    NB_NEED(counts, nb_alloc(ctx, (size_t)d->count, sizeof *counts));
    for (int row = 0; row < g.count; row++) NB_TRY(ctx, take_row(d, &g, row, sums, counts, to, ctx));
    if (to->refused) return NB_OK;
    for (int i = 0; i < d->count; i++) {
        NB_REQUIRE(ctx, counts[i] > 0, NB_EIO, "%s: there is no row of %s", d->served, d->sources[i]);
        sums[i] /= counts[i];
    }
    to->values = sums;
    return NB_OK;
}

nb_status nb_suite_damage_estimate(const nb_suite_result *r, int track, nb_estimate *estimate, nb_ctx *ctx)
{
    const nb_estimate_terms terms = {.confidence = 0.95, .mean_alone = true};
    const nb_suite_damaged *d = r->suite->tracks[track].damaged;
    nb_unit_value *units;
    nb_estimate both[2];
    *estimate = (nb_estimate){.mean = NAN, .low = NAN, .high = NAN};
    if (!r->damage || !r->damage[track].values) return NB_OK;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(units, nb_alloc(ctx, (size_t)d->count, sizeof *units));
    for (int i = 0; i < d->count; i++)
        units[i] = (nb_unit_value){.stratum = 0, .source = i, .value = r->damage[track].values[i]};
    NB_TRY(ctx, nb_estimate_units(d->count, units, 1, &terms, both, ctx));
    *estimate = both[1];
    nb_ctx_release(ctx, mark);
    return NB_OK;
}
