/* SPDX-License-Identifier: GPL-3.0-or-later */
/* norms.c - a study out of the tree: the mean of |x_i|^p over the n points of a head, p the exponent,
 * x its queries or its keys. It has nothing to do with landmarks: what runs, resumes, shards, merges,
 * excludes, exports and draws it has been written without it. For tests, it does the harm NORMS_HARM at NORMS_AT: in
 * its constructor, if NORMS_SPARED, which this makes, is there, or in its cost. */
#include "base/clock.h"
#include "components/plugin.h"
#include "components/registry.h"
#include "show/figure.h"
#include "show/results.h"
#include "run/prediction.h"
#include "run/run_folder.h"
#include "run/sink.h"
#include "show/full_study.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void harm(const char *place)
{
    const char *at = getenv("NORMS_AT"), *way = getenv("NORMS_HARM");
    if (!at || !way || strcmp(at, place) != 0) return;
    if (strcmp(way, "abort") == 0) abort();
    if (strcmp(way, "exit 0") == 0) exit(0);
    if (strcmp(way, "_exit 0") == 0) _exit(0);
    while (strcmp(way, "hang") == 0) pause();
}

__attribute__((constructor)) static void begin(void)
{
    const char *loads = getenv("NORMS_LOADS"), *spared = getenv("NORMS_SPARED");
    FILE *told = loads ? fopen(loads, "a") : NULL;
    if (told) fprintf(told, "%d\n", (int)getpid());
    if (told) fclose(told);
    int first = spared ? open(spared, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    if (first < 0) harm("constructors");
    if (first >= 0) close(first);
}

typedef struct {
    double norm_mean, norm_most, norm_s;
} norms;

typedef struct {
    NB_ROW_FIRST
    const char *side, *scale;
    int exponent;
    norms result;
} norms_row;

typedef struct {
    int scale; /* index of scales */
} norms_settings;

static const char *const scales[] = {"one", "root", NULL};
static const char *const sides[] = {"queries", "keys", NULL};
enum { EXPONENT = NB_AXIS_PROBLEM + 1, SIDE };

static const nb_option options[] = {
    NB_ENUM(norms_settings, scale, "one", scales, "points as they are, or over the root of d"), NB_OPTION_END};

static const nb_axis axes[] = {
    NB_AXIS_PROBLEMS,
    [EXPONENT] = {.key = "exponents", .column = "exponent", .type = NB_AXIS_INTEGER, .lo = 1, .hi = 64},
    [SIDE] = {.key = "sides", .column = "side", .type = NB_AXIS_WORD, .words = sides, .initial = "[queries, keys]"},
    {.key = NULL}};

#define REAL(field, ...) \
    { \
        .name = #field, .type = NB_COLUMN_REAL, .offset = offsetof(norms_row, result.field), .measure = true, \
        __VA_ARGS__ \
    }

static const nb_column columns[] = {
    NB_COLUMN_EXPERIMENT(norms_row),
    NB_COLUMN_PROBLEM(norms_row),
    NB_COLUMN_HEAD(norms_row),
    NB_COLUMN_TRIAL(norms_row),
    NB_COLUMN_N(norms_row),
    NB_COLUMN_D(norms_row),
    NB_COLUMN_TEXT_OF(norms_row, side, .identity = true, .help = "whose points"),
    NB_COLUMN_INT_OF(norms_row, exponent, .identity = true, .help = "p"),
    NB_COLUMN_TEXT_OF(norms_row, scale, .identity = true, .help = "points as they are, or over the root of d"),
    NB_COLUMN_STATUS(norms_row),
    NB_COLUMN_REASON(norms_row),
    REAL(norm_mean, .help = "mean of |x|^p over the points"),
    REAL(norm_most, .help = "largest |x|^p"),
    REAL(norm_s, .time = true, .help = "seconds for all points"),
    NB_COLUMN_SEED_OF(norms_row),
    {.name = NULL}};

enum { AT_DATA = NB_AT_START + 1, AT_NORM };
static const nb_phase phases[] = {[AT_DATA - 1] = {"the problem's data", NB_AXIS_PROBLEM, 0, false},
                                  [AT_NORM - 1] = {"the norm", -1, 2, false},
                                  {NULL, 0, 0, false}};
static const unsigned levels[] = {1u << EXPONENT, 0};

static void measure(int d, int n, const double *x, double scale, int exponent, norms *out)
{
    double start_s = nb_clock_s();
    out->norm_mean = out->norm_most = 0;
    for (int i = 0; i < n; i++) {
        double square = 0;
        for (int k = 0; k < d; k++) square += pow(scale * x[(size_t)i * (size_t)d + (size_t)k], 2);
        double power = pow(square, exponent / 2.0);
        out->norm_mean += power / n;
        out->norm_most = fmax(out->norm_most, power);
    }
    out->norm_s = nb_clock_s() - start_s;
}

/* Rows first ... end - 1 are of one scene and trial. For tests, an exponent that is asked for in the
 * environment ends the process, as a crash would. */
static nb_status run_trial(const nb_plan *plan, int first, int end, const bool *pending, const nb_sink *sink,
                           gsl_rng *rng, nb_ctx *ctx)
{
    nb_head head;
    const char *fatal = getenv("NORMS_CRASH");
    const norms_settings *settings = plan->config->settings;
    NB_TRY(ctx, sink->begin(sink->self, ctx));
    if (sink->at) sink->at(sink->self, AT_DATA, first, end);
    NB_TRY(ctx, nb_plan_head(plan, plan->rows[first].scene, plan->rows[first].trial, rng, &head, ctx));
    for (int i = first; i < end; i++) {
        norms_row row;
        if (!pending[i]) continue;
        if (sink->at) sink->at(sink->self, AT_NORM, i, i + 1);
        nb_plan_row(plan, i, &row);
        if (fatal && row.exponent == atoi(fatal)) abort();
        const double *x = strcmp(row.side, "keys") == 0 ? head.k : head.q;
        measure(head.d, head.n, x, settings->scale ? 1 / sqrt(head.d) : 1, row.exponent, &row.result);
        row.status = "ok";
        NB_TRY(ctx, sink->row(sink->self, i, &row.row, ctx));
    }
    return sink->end(sink->self, ctx);
}

static nb_status run(const nb_plan *plan, int scene, const bool *pending, const nb_sink *sink, nb_ctx *ctx)
{
    gsl_rng *rng;
    nb_status status = NB_OK;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_TRY(ctx, nb_random_new(&rng, ctx));
    for (int i = 0, next; i < plan->row_count && status == NB_OK; i = next) {
        bool any = false;
        for (next = i; next < plan->row_count && plan->rows[next].scene == plan->rows[i].scene &&
                       plan->rows[next].trial == plan->rows[i].trial;
             next++)
            any = any || pending[next];
        if (plan->rows[i].scene == scene && any) status = run_trial(plan, i, next, pending, sink, rng, ctx);
    }
    nb_ctx_release(ctx, mark);
    return status;
}

static nb_cost cost(const nb_plan *plan, const nb_unit *unit, const bool *pending)
{
    const nb_planned_scene *s = &plan->scenes[plan->rows[unit->first].scene];
    harm("cost");
    double size = (double)s->n * s->d, rows = 0;
    for (int i = unit->first; i < unit->end; i++) rows += !pending || pending[i];
    return (nb_cost){.multiplications = rows * size, .bytes = 32e6 + 24 * size};
}

static const char picture[] = "-- script: curves.gp\n"
                              "-- title: norms, {figure}\n"
                              "-- data: count x median p10 p90\n"
                              "-- set: x_name p\n"
                              "-- set: y_name mean of |x|^p\n"
                              "SELECT 'all' AS figure, problem AS panel, side AS series, count(*) AS count,"
                              " 1.0 * exponent AS x, median(norm_mean) AS median, quantile(norm_mean, 0.1) AS p10,"
                              " quantile(norm_mean, 0.9) AS p90, 'curve' AS _style, side_id AS _look "
                              "FROM run WHERE norm_mean < 9e999 GROUP BY problem_id, side_id, exponent "
                              "ORDER BY problem_id, side_id, exponent";

static nb_status draw(const nb_results *results, nb_ctx *ctx)
{
    static const nb_figure figure = {.component = {.name = "norms"}, .sql = picture};
    nb_drawing drawing = {
        .relation = results->relation, .experiment = results->plan->config->name, .gnuplots = results->gnuplots};
    int figures;
    NB_TRY(ctx, nb_run_path(results->folder, NB_PLOTS_FOLDER, &drawing.folder, ctx));
    return nb_graph_draw(&figure, &drawing, &figures, ctx);
}

static const char *const figures[] = {"norms", NULL};
static const char *const references[] = {"a test of nysbench", NULL};

const nb_full_study nb_study_norms = {
    .run.config.study =
        {
            .component = {"norms", "how long points are", references, options, sizeof(norms_settings)},
            .axes = axes,
            .baseline = -1,
            .columns = columns,
            .row_size = sizeof(norms_row),
            .result_offset = offsetof(norms_row, result),
            .result_size = sizeof(norms),
            .phases = phases,
            .levels = levels,
        },
    .run.config.figures = figures,
    .run.run = run,
    .run.cost = cost,
    .draw = draw,
};

NB_PLUGIN({"study", &nb_study_norms.run.config.study.component});
