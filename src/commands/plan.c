/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan.c - nysbench plan EXP.yaml */
#include "commands/experiment.h"

#include "base/files.h"
#include "base/machine.h"
#include "base/text.h"
#include "base/texts.h"
#include "answers/compare.h"
#include "config/config_study.h"
#include "problems/problem.h"
#include "config/labels.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Prints the values of the scene's axes, except the problem. */
static void print_values(FILE *out, const nb_config *c, const nb_planned_scene *s)
{
    for (int axis = NB_AXIS_PROBLEM + 1; c->study->axes[axis].key; axis++) {
        const nb_axis *a = &c->study->axes[axis];
        int value = s->value[axis];
        if (!a->scene) continue;
        if (a->type == NB_AXIS_INTEGER)
            fprintf(out, ", %s %d", a->column, value);
        else if (a->type == NB_AXIS_REAL)
            fprintf(out, ", %s %g", a->column, c->lists[axis].reals[value]);
        else
            fprintf(out, ", %s", a->type == NB_AXIS_WORD ? a->words[value] : nb_config_choice(c, axis, value)->label);
    }
}

/* How many values of each axis the methods are made of. */
static void print_methods(FILE *out, const nb_plan *plan)
{
    const nb_config *c = plan->config;
    const char *between = " (";
    fprintf(out, "methods: %d", plan->method_count);
    for (int axis = 0; c->study->axes[axis].key; axis++) {
        if (c->study->axes[axis].scene) continue;
        fprintf(out, "%s%s %d", between, c->study->axes[axis].key, c->lists[axis].count);
        between = ", ";
    }
    fputs(")\n", out);
}

typedef struct {
    nb_texts strata, sources; /* see rows/relation.h */
    const char **labels;      /* by stratum */
    bool *drawn;
    int *counts; /* of sources */
    int room, counts_room;
} replicates;

/* Notes the source that the first row of a scene and trial comes from. */
static nb_status add_source(const nb_plan *plan, int i, const nb_row *row, replicates *r, nb_ctx *ctx)
{
    const nb_choice *problem = plan->scenes[plan->rows[i].scene].problem;
    bool drawn = ((const nb_problem *)problem->component)->random,
         told = nb_column_find(plan->config->study->columns, "source");
    const char *stratum = drawn ? problem->given ? problem->given : problem->label : told ? row->model : NULL, *source;
    int of, number, known = r->sources.count;
    NB_TRY(ctx, nb_texts_number(&r->strata, stratum ? stratum : NB_NO_MODEL, &of));
    NB_GROW(ctx, r->drawn, of, r->room);
    NB_GROW(ctx, r->counts, of, r->counts_room);
    r->drawn[of] = drawn;
    NB_NEED(source, drawn ? nb_format(ctx, "%d %s %d", of, row->problem, row->trial)
                          : nb_format(ctx, "%d %s", of, told && row->source ? row->source : row->problem));
    NB_TRY(ctx, nb_texts_number(&r->sources, source, &number));
    r->counts[of] += r->sources.count > known;
    return NB_OK;
}

/* Finds the sources, over which the results may be generalised (docs/comparing.md), by stratum: none where nothing is
 * compared. */
static nb_status find_sources(const nb_plan *plan, replicates *r, nb_ctx *ctx)
{
    nb_row *row;
    *r = (replicates){.room = 0};
    nb_texts_init(&r->strata, ctx);
    nb_texts_init(&r->sources, ctx);
    if (plan->config->study->baseline < 0) return NB_OK;
    NB_NEED(row, nb_alloc(ctx, 1, plan->config->study->row_size));
    for (int i = 0; i < plan->row_count; i++) {
        const nb_planned_row *at = &plan->rows[i];
        if (i > 0 && at[-1].scene == at->scene && at[-1].trial == at->trial) continue;
        nb_plan_row(plan, i, row);
        NB_TRY(ctx, add_source(plan, i, row, r, ctx));
    }
    NB_NEED(r->labels, nb_alloc(ctx, (size_t)r->strata.count + 1, sizeof *r->labels));
    return nb_label_strata(r->strata.count, r->strata.items, r->drawn, r->labels, ctx);
}

static nb_status print_sources(FILE *out, const nb_plan *plan, nb_ctx *ctx)
{
    replicates r;
    NB_TRY(ctx, find_sources(plan, &r, ctx));
    if (r.strata.count == 0) return NB_OK;
    fprintf(out, "sources: ");
    for (int s = 0; s < r.strata.count; s++) fprintf(out, "%s%d of %s", s ? ", " : "", r.counts[s], r.labels[s]);
    if (plan->config->split) fprintf(out, " ('%s' of %s)", plan->config->sources, plan->config->split_file);
    for (int s = 0, few = 0; s < r.strata.count; s++)
        if (r.counts[s] < NB_LEAST_SOURCES)
            fprintf(out, "%s%s", few++ ? ", " : "\ntoo few for a verdict: ", r.labels[s]);
    fputc('\n', out);
    return NB_OK;
}

/* True if the scenes differ in the head alone, which is the next one. */
static bool continues(const nb_config *c, const nb_planned_scene *before, const nb_planned_scene *s)
{
    for (int axis = NB_AXIS_PROBLEM + 1; c->study->axes[axis].key; axis++)
        if (c->study->axes[axis].scene && before->value[axis] != s->value[axis]) return false;
    return strcmp(before->problem->label, s->problem->label) == 0 && s->head == before->head + 1 && s->n == before->n &&
           s->d == before->d && s->causal == before->causal && s->random == before->random && !before->refusal &&
           !s->refusal;
}

/* The scene behind the last that goes on with scene `first`. */
static int end_of_heads(const nb_plan *plan, int first)
{
    int next = first + 1;
    while (next < plan->scene_count && continues(plan->config, &plan->scenes[next - 1], &plan->scenes[next])) next++;
    return next;
}

/* Prints a line for each problem and its heads, of many problems the first. */
static void print_scenes(FILE *out, const nb_plan *plan)
{
    enum { MOST_LINES = 10 };
    for (int i = 0, next, lines = 0; i < plan->scene_count; i = next, lines++) {
        const nb_planned_scene *s = &plan->scenes[i];
        next = end_of_heads(plan, i);
        if (lines == MOST_LINES && next < plan->scene_count) {
            fprintf(out, "  and %d scenes more\n", plan->scene_count - i);
            return;
        }
        fprintf(out, "  %s head%s %d", s->problem->label, next > i + 1 ? "s" : "", s->head);
        if (next > i + 1) fprintf(out, " ... %d", plan->scenes[next - 1].head);
        print_values(out, plan->config, s);
        fprintf(out, ": n = %d, d = %d%s%s%s%s\n", s->n, s->d, s->causal ? ", causal" : "",
                s->random ? ", new data in each trial" : "", s->refusal ? "; skipped: " : "",
                s->refusal ? s->refusal : "");
    }
}

static void print_excluded(FILE *out, const nb_plan *plan)
{
    if (plan->config->rule_count == 0) return;
    fprintf(out, "excluded: %d rows\n", plan->excluded_count);
    for (int r = 0; r < plan->config->rule_count; r++) {
        nb_place at = plan->config->rules[r].place;
        if (at.line > 0)
            fprintf(out, "  %d by the rule at %s:%d\n", plan->excluded_by[r], at.source, at.line);
        else
            fprintf(out, "  %d by a rule of %s\n", plan->excluded_by[r], at.source);
    }
}

/* Rows that went wrong before count as done; --retry runs them again. */
static void print_rows(FILE *out, const nb_plan *plan, const nb_standing *s, int to_run)
{
    int wrong = s->failed + s->diverged + s->crashed + s->timed_out;
    fprintf(out, "rows: %d, of which %d are done and %d are to run\n", plan->row_count, s->done, to_run);
    if (wrong > 0)
        fprintf(out, "failed before: %d of those that are done (%d failed, %d diverged, %d crashed, %d timeout)\n",
                wrong, s->failed, s->diverged, s->crashed, s->timed_out);
}

/* Nothing where all rows are done. */
static void print_cost(FILE *out, const nb_preview *o)
{
    char time[NB_TIME_RANGE], bytes[NB_QUANTITY];
    const nb_predicted *f = &o->times;
    if (f->unit_count == 0) return;
    if (o->standing.done > 0 && o->others > 0)
        fprintf(
            out,
            "another build or other arithmetic: %d rows of the last run come from it; a run continues beside them only "
            "with --mixed\n",
            o->others);
    fprintf(out, "time: about %s with %d worker%s, by %s\n", nb_preview_time(f, 1, time), f->workers,
            f->workers == 1 ? "" : "s", o->machine.kept ? "the rows measured before" : "a product timed just now");
    if (nb_study_alone(o->e->config.study, &o->e->config))
        fprintf(out,
                "exclusive: times are measured, so one worker runs, whatever --jobs says; let nothing else run beside "
                "it\n");
    fprintf(out, "memory: up to %s for a worker", nb_bytes_text(f->bytes, bytes));
    if (f->workers > 1) fprintf(out, ", %s for %d", nb_bytes_text(f->all_bytes, bytes), f->workers);
    fputc('\n', out);
    double available = nb_available_memory();
    if (f->all_bytes > available)
        fprintf(out, "%s of memory is available here: %s\n", nb_bytes_text(available, bytes),
                f->bytes > available ? "a run would be refused" : "fewer workers will run");
}

static nb_status print_all(FILE *out, const void *what, nb_ctx *ctx)
{
    const nb_preview *o = what;
    const nb_experiment *e = o->e;
    fprintf(out, "experiment %s, seed %lld, results in %s\n", e->config.name, e->config.seed, e->folder);
    if (e->shard.count)
        fprintf(out, "shard %d of %d (without --shard, plan shows the methods and the data)\n", e->shard.index,
                e->shard.count);
    print_rows(out, &e->plan, &o->standing, o->to_run);
    print_excluded(out, &e->plan);
    print_cost(out, o);
    if (e->shard.count) return NB_OK; /* whose methods, sources and scenes are parts */
    print_methods(out, &e->plan);
    fprintf(out, "trials: %d, where anything is random, else 1\n", e->config.trials);
    NB_TRY(ctx, print_sources(out, &e->plan, ctx));
    fprintf(out, "scenes: %d, each a head with its trials\n", e->plan.scene_count);
    print_scenes(out, &e->plan);
    return NB_OK;
}

/* Wraps each line. */
static nb_status print_plan(const nb_preview *o, nb_ctx *ctx)
{
    enum { WIDTH = 80 };
    const char *text, *line;
    NB_TRY(ctx, nb_print_text(print_all, o, &text, ctx));
    for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
        int indent = *text == ' ' ? 2 : 0;
        NB_NEED(line, nb_format(ctx, "%.*s", (int)(end - text) - indent, text + indent));
        nb_text_print_lines(stdout, indent ? "  " : "", 4, WIDTH, line);
    }
    return NB_OK;
}

/* Adds a value of JSON, which this call frees; NULL: out of memory. */
static nb_status add_json(nb_grid *g, json_t *value, nb_ctx *ctx)
{
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    const char *kept = text ? nb_strdup(ctx, text) : NULL;
    json_decref(value);
    free(text);
    if (!kept) return NB_ENOMEM;
    return nb_grid_json(g, kept);
}

/* How many values each axis of the methods has, by its key. */
static json_t *axes_json(const nb_config *c)
{
    json_t *axes = json_object();
    for (int axis = 0; axes && c->study->axes[axis].key; axis++)
        if (!c->study->axes[axis].scene)
            json_object_set_new(axes, c->study->axes[axis].key, json_integer(c->lists[axis].count));
    return axes;
}

static json_t *sources_json(const replicates *r)
{
    json_t *all = json_array();
    for (int s = 0; all && s < r->strata.count; s++)
        json_array_append_new(all, json_pack("{s:s, s:i, s:b}", "model", r->labels[s], "sources", r->counts[s],
                                             "enough", r->counts[s] >= NB_LEAST_SOURCES));
    return all;
}

static json_t *value_json(const nb_config *c, int axis, int value)
{
    switch (c->study->axes[axis].type) {
    case NB_AXIS_INTEGER: return json_integer(value);
    case NB_AXIS_REAL: return json_real(c->lists[axis].reals[value]);
    case NB_AXIS_WORD: return json_string(c->study->axes[axis].words[value]);
    default: return json_string(nb_config_choice(c, axis, value)->label);
    }
}

/* Each problem and its heads, the first and the last, with the values of the scene's axes. */
static json_t *scenes_json(const nb_plan *plan)
{
    const nb_config *c = plan->config;
    json_t *all = json_array();
    for (int i = 0, next; all && i < plan->scene_count; i = next) {
        const nb_planned_scene *s = &plan->scenes[i];
        next = end_of_heads(plan, i);
        json_t *scene = json_pack("{s:s, s:[i, i], s:i, s:i, s:b, s:b, s:s?}", "problem", s->problem->label, "heads",
                                  s->head, plan->scenes[next - 1].head, "n", s->n, "d", s->d, "causal", s->causal,
                                  "random", s->random, "skipped", s->refusal);
        for (int axis = NB_AXIS_PROBLEM + 1; c->study->axes[axis].key; axis++)
            if (c->study->axes[axis].scene)
                json_object_set_new(scene, c->study->axes[axis].column, value_json(c, axis, s->value[axis]));
        json_array_append_new(all, scene);
    }
    return all;
}

/* The rules in the order of the experiment; of one that --set gives, the line is null. */
static json_t *rules_json(const nb_plan *plan)
{
    json_t *all = json_array();
    for (int r = 0; all && r < plan->config->rule_count; r++) {
        nb_place at = plan->config->rules[r].place;
        json_t *line = at.line > 0 ? json_integer(at.line) : json_null();
        json_array_append_new(
            all, json_pack("{s:s, s:o, s:i}", "at", at.source, "line", line, "rows", plan->excluded_by[r]));
    }
    return all;
}

/* A shard does not tell its methods, sources and data, which are parts of the whole. */
static nb_status fill_parts(nb_grid *g, const nb_experiment *e, nb_ctx *ctx)
{
    replicates sources;
    for (int i = 0; i < 3 && e->shard.count; i++) NB_TRY(ctx, nb_grid_json(g, NULL));
    if (e->shard.count) return NB_OK;
    NB_TRY(ctx, add_json(g, axes_json(&e->config), ctx));
    NB_TRY(ctx, find_sources(&e->plan, &sources, ctx));
    NB_TRY(ctx, add_json(g, sources_json(&sources), ctx));
    return add_json(g, scenes_json(&e->plan), ctx);
}

/* Fills one row with what is printed for people. */
static nb_status fill_grid(nb_grid *g, const nb_preview *o, nb_ctx *ctx)
{
    static const char *const heads[] = {
        "experiment", "seed",        "results",       "scenes",   "trials",      "methods", "rows",   "done",
        "to_run",     "other_build", "failed_before", "excluded", "workers",     "low_s",   "high_s", "worker_bytes",
        "bytes",      "axes",        "sources",       "data",     "excluded_by", NULL};
    const nb_experiment *e = o->e;
    const nb_standing *s = &o->standing;
    const nb_predicted *f = &o->times;
    const int counts[] = {e->plan.scene_count,
                          e->config.trials,
                          e->plan.method_count,
                          e->plan.row_count,
                          s->done,
                          o->to_run,
                          s->done > 0 ? o->others : 0,
                          s->failed + s->diverged + s->crashed + s->timed_out,
                          e->plan.excluded_count,
                          f->workers};
    NB_TRY(ctx, nb_grid_make(g, heads, ctx));
    NB_TRY(ctx, nb_grid_text(g, e->config.name));
    NB_TRY(ctx, nb_grid_int(g, e->config.seed));
    NB_TRY(ctx, nb_grid_text(g, e->folder));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) NB_TRY(ctx, nb_grid_int(g, counts[i]));
    NB_TRY(ctx, nb_grid_real(g, f->low_s));
    NB_TRY(ctx, nb_grid_real(g, f->high_s));
    NB_TRY(ctx, nb_grid_whole(g, f->bytes));
    NB_TRY(ctx, nb_grid_whole(g, f->all_bytes));
    NB_TRY(ctx, fill_parts(g, e, ctx));
    return add_json(g, rules_json(&e->plan), ctx);
}

nb_status nb_plan_tell(nb_start *start, double max_hours, nb_output_format format, nb_ctx *ctx)
{
    nb_preview preview;
    nb_grid grid;
    NB_TRY(ctx, nb_preview_make(start, true, &preview, ctx));
    if (format == NB_FORMAT_TABLE) {
        NB_TRY(ctx, print_plan(&preview, ctx));
    } else {
        NB_TRY(ctx, fill_grid(&grid, &preview, ctx));
        NB_TRY(ctx, nb_format_table(&grid, false, format));
    }
    fflush(stdout);
    return nb_preview_check(start->line->command, &preview, max_hours, ctx);
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    nb_experiment e = {.only_plan = true};
    nb_start start = {.e = &e, .choices = &(nb_start_choices){.fresh = 0}, .line = line};
    const char *text;
    int origins = 0;
    nb_whole_value jobs = {.min = 1, .max = NB_MOST_JOBS, .value = nb_usable_cpus()};
    nb_real_value hours = NB_MAX_HOURS_VALUE;
    const struct poptOption options[] = {
        NB_EXPERIMENT_OPTIONS(e, line),
        NB_SHARD_OPTION(e),
        NB_WHOLE_OPTION(
            "jobs", 'j', jobs,
            "Predict for this many worker processes, 1 to 1024 (default: one for each CPU that may be used)", "N"),
        NB_MAX_HOURS_OPTION(hours),
        NB_FLAG_OPTION("origins", '\0', origins, "Only print every value of the experiment and where it comes from"),
        NB_FORMAT_OPTION(line),
        POPT_TABLEEND};
    NB_TRY(ctx, nb_experiment_parse(line, options, &e, ctx));
    start.workers = (nb_workers){.jobs = (int)jobs.value, .blas_threads = 1}; /* memory is predicted, not limited */
    if (!origins) return nb_plan_tell(&start, hours.value, (nb_output_format)line->format.value, ctx);
    NB_TRY(ctx, nb_config_text(&e.config, true, &text, ctx));
    fputs(text, stdout);
    return NB_OK;
}

NB_COMMAND(plan, "EXPERIMENT.yaml", "Check an experiment, and predict what it takes", true, NB_BEGIN_HERE + 30);
