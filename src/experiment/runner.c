/* runner.c - cells that share picks, and then factors, stand together in the
 * plan, so each is made once and dropped when the next differs. */
#include "experiment/runner.h"

#include "base/clock.h"
#include "cores/core.h"
#include "linalg/linalg.h"
#include "measure/direct.h"

#include <math.h>
#include <string.h>

typedef struct {
    const nb_plan *plan;
    const nb_sink *sink;
    gsl_rng *rng;
    nb_scene *scene;
    nb_ctx *ctx;
} instance;

static nb_stream stream_of(const nb_plan *plan, int trial, const nb_choice *component)
{
    return (nb_stream){.seed = (uint64_t)plan->config->seed, .trial = trial, .component = component->canonical};
}

nb_status nb_run_make_head(const nb_plan *plan, int scene, int trial, gsl_rng *rng, nb_head *head, nb_ctx *ctx)
{
    const nb_planned_scene *s = &plan->scenes[scene];
    const nb_problem *problem = (const nb_problem *)s->problem->component;
    nb_stream stream = stream_of(plan, trial, s->problem);
    stream.role = "problem";
    nb_random_seed(rng, &stream);
    nb_ctx_set_rng(ctx, rng);
    nb_status status = problem->make(s->problem->options, s->head, head, ctx);
    nb_ctx_set_rng(ctx, NULL);
    return status;
}

nb_status nb_run_pick(const nb_plan *plan, nb_scene *scene, int trial, const nb_cell *cell, gsl_rng *rng,
                      nb_landmarks *landmarks, nb_ctx *ctx)
{
    return nb_landmarks_pick(scene, cell->strategy, cell->m, cell->pairing, stream_of(plan, trial, cell->strategy), rng,
                             landmarks, ctx);
}

/* Turns the ctx's error into the row's outcome. */
static nb_status failed(nb_row *row, nb_ctx *ctx)
{
    row->status = "failed";
    NB_NEED(row->reason, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    nb_measures_clear(&row->measures);
    return NB_OK;
}

static nb_status compute_core(const nb_cell *cell, nb_factors *factors, double *x, double *core_s, nb_ctx *ctx)
{
    const nb_core *core = (const nb_core *)cell->core->component;
    bool had_svd = factors->spectrum.values;
    factors->svd_used = false;
    double start_s = nb_clock_s();
    NB_TRY(ctx, core->compute(factors, cell->core->options, x, ctx));
    *core_s = nb_clock_s() - start_s + (had_svd && factors->svd_used ? factors->svd_s : 0);
    return NB_OK;
}

static nb_status measure_cell(const instance *in, const nb_cell *cell, const nb_direct *direct, nb_row *row, nb_ctx *ctx)
{
    size_t square = (size_t)cell->m * (size_t)cell->m;
    double *x;
    NB_NEED(x, nb_alloc_reals(ctx, square, 1));
    NB_TRY(ctx, compute_core(cell, direct->factors, x, &row->measures.core_s, ctx));
    row->status = "ok";
    if (nb_all_finite(square, x)) NB_TRY(ctx, nb_direct_measure(direct, x, in->plan->config->wanted, &row->measures, ctx));
    if (!isfinite(row->measures.error)) {
        row->status = "diverged";
        row->reason = "the core, or the error, is not finite";
        nb_measures_clear(&row->measures);
    } else if (row->measures.error <= row->measures.error_noise) {
        row->reason = "the error is not above its rounding noise";
    }
    return NB_OK;
}

/* One cell on factors that are there. */
static nb_status run_cell(const instance *in, int index, const nb_direct *direct, double select_s, nb_ctx *ctx)
{
    nb_row row;
    nb_mark mark = nb_ctx_mark(ctx);
    nb_plan_row(in->plan, index, &row);
    const nb_cell *cell = &in->plan->cells[in->plan->rows[index].cell];
    nb_status status = measure_cell(in, cell, direct, &row, ctx);
    row.measures.select_s = select_s;
    status = status == NB_OK ? NB_OK : failed(&row, ctx);
    if (status == NB_OK) status = in->sink->row(in->sink->self, index, &row, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}

/* The same outcome for rows first ... end - 1 that are pending. */
static nb_status outcome(const instance *in, int first, int end, const bool *pending, const char *status_,
                         const char *reason)
{
    for (int i = first; i < end; i++) {
        nb_row row;
        if (!pending[i]) continue;
        nb_plan_row(in->plan, i, &row);
        row.status = status_;
        row.reason = reason;
        NB_TRY(in->ctx, in->sink->row(in->sink->self, i, &row, in->ctx));
    }
    return NB_OK;
}

static nb_status all_failed(const instance *in, int first, int end, const bool *pending)
{
    const char *reason;
    NB_NEED(reason, nb_strdup(in->ctx, nb_error_message(in->ctx)));
    nb_error_clear(in->ctx);
    return outcome(in, first, end, pending, "failed", reason);
}

/* The cells of one factor pair. */
static nb_status run_factors(const instance *in, int first, int end, const bool *pending, const nb_landmarks *landmarks)
{
    const nb_cell *cell = &in->plan->cells[in->plan->rows[first].cell];
    const char *refusal = nb_factors_refusal(cell->factors, landmarks->queries.kind, in->scene->head->causal);
    if (refusal) return outcome(in, first, end, pending, "skipped", refusal);
    nb_factors *factors;
    nb_direct direct;
    nb_status status = nb_factors_build(in->scene, landmarks, cell->factors, &factors, in->ctx);
    if (status == NB_OK) status = nb_direct_prepare(in->scene, factors, &direct, in->ctx);
    if (status != NB_OK) return all_failed(in, first, end, pending);
    for (int i = first; i < end; i++)
        if (pending[i]) NB_TRY(in->ctx, run_cell(in, i, &direct, landmarks->select_s, in->ctx));
    return NB_OK;
}

static bool same_picks(const nb_plan *plan, int a, int b)
{
    const nb_planned_row *ra = &plan->rows[a], *rb = &plan->rows[b];
    const nb_cell *ca = &plan->cells[ra->cell], *cb = &plan->cells[rb->cell];
    return ra->scene == rb->scene && ra->trial == rb->trial && ca->strategy == cb->strategy && ca->m == cb->m &&
           ca->pairing == cb->pairing;
}

static bool same_factors(const nb_plan *plan, int a, int b)
{
    return same_picks(plan, a, b) && plan->cells[plan->rows[a].cell].factors == plan->cells[plan->rows[b].cell].factors;
}

static bool any(const bool *pending, int first, int end)
{
    while (first < end && !pending[first]) first++;
    return first < end;
}

/* The cells of one strategy, m and pairing. */
static nb_status run_picks(const instance *in, int first, int end, const bool *pending)
{
    const nb_cell *cell = &in->plan->cells[in->plan->rows[first].cell];
    int trial = in->plan->rows[first].trial;
    nb_landmarks landmarks;
    if (cell->m > in->scene->head->n)
        return outcome(in, first, end, pending, "skipped", "there are more landmarks than tokens");
    if (nb_run_pick(in->plan, in->scene, trial, cell, in->rng, &landmarks, in->ctx) != NB_OK)
        return all_failed(in, first, end, pending);
    for (int i = first, next; i < end; i = next) {
        for (next = i + 1; next < end && same_factors(in->plan, i, next);) next++;
        nb_mark mark = nb_ctx_mark(in->ctx);
        nb_status status = any(pending, i, next) ? run_factors(in, i, next, pending, &landmarks) : NB_OK;
        nb_ctx_release(in->ctx, mark);
        NB_TRY(in->ctx, status);
    }
    return NB_OK;
}

/* All pending rows of one scene and trial, rows first ... end - 1 of the plan. */
static nb_status run_instance(const instance *in, int first, int end, const bool *pending)
{
    for (int i = first, next; i < end; i = next) {
        for (next = i + 1; next < end && same_picks(in->plan, i, next);) next++;
        nb_mark mark = nb_ctx_mark(in->ctx);
        nb_status status = any(pending, i, next) ? run_picks(in, i, next, pending) : NB_OK;
        nb_ctx_release(in->ctx, mark);
        NB_TRY(in->ctx, status);
    }
    return NB_OK;
}

/* One instance; the scene is made where there is none yet or the data are new. */
static nb_status run_trial(instance *in, int scene, int first, int end, const bool *pending, nb_head *head,
                           nb_mark scene_mark)
{
    const nb_planned_scene *planned = &in->plan->scenes[scene];
    NB_TRY(in->ctx, in->sink->begin(in->sink->self, in->ctx));
    nb_status status = NB_OK;
    if (!in->scene || planned->random) {
        nb_ctx_release(in->ctx, scene_mark);
        in->scene = NULL;
        status = nb_run_make_head(in->plan, scene, in->plan->rows[first].trial, in->rng, head, in->ctx);
        if (status == NB_OK) status = nb_scene_new(head, planned->kernel, in->plan->oracle, &in->scene, in->ctx);
    }
    NB_TRY(in->ctx, status == NB_OK ? run_instance(in, first, end, pending) : all_failed(in, first, end, pending));
    return in->sink->end(in->sink->self, in->ctx);
}

nb_status nb_run_scene(const nb_plan *plan, int scene, const bool *pending, const nb_sink *sink, nb_ctx *ctx)
{
    instance in = {.plan = plan, .sink = sink, .ctx = ctx};
    nb_head head;
    nb_status status = NB_OK;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_TRY(ctx, nb_random_new(&in.rng, ctx));
    nb_mark scene_mark = nb_ctx_mark(ctx);
    for (int i = 0, next; i < plan->row_count && status == NB_OK; i = next) {
        const nb_planned_row *row = &plan->rows[i];
        for (next = i + 1; next < plan->row_count && plan->rows[next].scene == row->scene &&
                           plan->rows[next].trial == row->trial;)
            next++;
        if (row->scene > scene) break;
        if (row->scene != scene || !any(pending, i, next)) continue;
        if (sink->stop(sink->self)) break;
        status = run_trial(&in, scene, i, next, pending, &head, scene_mark);
    }
    nb_ctx_release(ctx, mark);
    return status;
}
