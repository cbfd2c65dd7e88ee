/* SPDX-License-Identifier: GPL-3.0-or-later */
/* runner.c - an instance at a time: first all picks, then the factors of as many
 * methods as fit, which the engine measures together. */
#include "studies/error/runner.h"

#include "calls/called.h"
#include "calls/compute.h"
#include "calls/picking.h"
#include "cores/core.h"
#include "kernels/kernel.h"
#include "linalg/vector.h"
#include "nystrom/engine.h"
#include "nystrom/exact_time.h"
#include "nystrom/factors_record.h"
#include "nystrom/forward_time.h"
#include "nystrom/make_scene.h"
#include "nystrom/row_sample.h"
#include "statistics/noise.h"
#include "studies/error/study.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

typedef struct {
    const nb_pending *pending;
    const nb_plan *plan;
    gsl_rng *rng;
    nb_head head;
    nb_scene *scene; /* NULL: there is none yet; else it is behind */
    nb_mark points;  /* this mark */
    nb_ctx *ctx;
    const nb_landmarks *nested; /* of the strategy at hand, its largest m; NULL: it is asked for each m */
} instance;

nb_status nb_run_pick(const nb_plan *plan, int planned, nb_scene *scene, int trial, const nb_error_method *method,
                      gsl_rng *rng, nb_landmarks *landmarks, nb_ctx *ctx)
{
    return nb_landmarks_pick(&(nb_picking){scene, method->strategy, method->m, method->pairing,
                                           nb_plan_stream(plan, planned, trial, method->strategy), rng},
                             landmarks, ctx);
}

nb_status nb_run_make_scene(const nb_plan *plan, int scene, const nb_head *head, nb_scene **out, nb_ctx *ctx)
{
    const nb_error_settings *s = nb_error_settings_of(plan->config);
    unsigned wanted = plan->config->wanted;
    const nb_choice *kernel = nb_error_kernel(plan, &plan->scenes[scene]);
    bool stochastic = ((const nb_kernel *)kernel->component)->stochastic;
    const nb_component *caller;
    NB_TRY(ctx, nb_called_begin(kernel, &caller, ctx));
    nb_status status = nb_scene_new(head, kernel, out, ctx);
    NB_TRY(ctx, nb_called_end(caller, kernel, status, ctx));
    nb_scene_name(*out, plan->scenes[scene].problem->canonical, plan->scenes[scene].head);
    if (s->engine == NB_DIRECT) nb_scene_form_whole(*out);
    if (!s->sample && head->v && (wanted & NB_WANT_OUTPUT)) nb_scene_take_along(*out, NB_SCENE_OUTPUT);
    if (!s->sample && stochastic && (wanted & NB_WANT_ENTROPY)) nb_scene_take_along(*out, NB_SCENE_ENTROPY);
    return NB_OK;
}

static const nb_error_method *method_of(const instance *in, int row)
{
    return nb_error_method_of(in->plan, row);
}

typedef struct { /* rows of the plan that share factors */
    int first, end, m;
    const nb_landmarks *landmarks;
} factor_rows;

/* Adds the factor pairs of one strategy, m and pairing, rows first ... end - 1, to
 * `found`, which has room for them. */
static nb_status pick(const instance *in, int first, int end, factor_rows *found, int *count)
{
    const nb_error_method *method = method_of(in, first);
    nb_landmarks *landmarks;
    nb_status status;
    if (method->m > nb_scene_head(in->scene)->n)
        return nb_pending_put_all(in->pending, first, end, "skipped", "there are more landmarks than tokens");
    NB_NEED(landmarks, nb_alloc(in->ctx, 1, sizeof *landmarks));
    nb_pending_at(in->pending, NB_AT_PICK, first, end);
    if (in->nested)
        *landmarks = *in->nested;
    else if ((status = nb_run_pick(in->plan, in->pending->scene, in->scene, in->plan->rows[first].trial, method,
                                   in->rng, landmarks, in->ctx)) != NB_OK)
        return nb_pending_fail(in->pending, status, first, end);
    *landmarks = nb_landmarks_first(landmarks, method->m);
    if (landmarks->refusal) return nb_pending_put_all(in->pending, first, end, "skipped", landmarks->refusal);
    for (int i = first, next; i < end; i = next) {
        for (next = i + 1; next < end && method_of(in, i)->factors == method_of(in, next)->factors;) next++;
        if (!nb_pending_any(in->pending, i, next)) continue;
        const char *refusal = nb_factors_refusal(method_of(in, i)->factors, landmarks->queries.kind,
                                                 nb_scene_head(in->scene)->causal, nb_scene_kernel_choice(in->scene));
        if (refusal)
            NB_TRY(in->ctx, nb_pending_put_all(in->pending, i, next, "skipped", refusal));
        else
            found[(*count)++] = (factor_rows){i, next, method->m, landmarks};
    }
    return NB_OK;
}

/* Picks of a nested strategy, whose rows are first ... end - 1: once, for the largest m. If that fails each m is
 * tried alone. */
static nb_status pick_nested(instance *in, int first, int end)
{
    const nb_error_method *largest = NULL;
    nb_landmarks *landmarks;
    in->nested = NULL;
    if (!(nb_strategy_traits(method_of(in, first)->strategy) & NB_NESTED)) return NB_OK;
    for (int i = first; i < end; i++)
        if (in->pending->rows[i] && method_of(in, i)->m <= nb_scene_head(in->scene)->n &&
            (!largest || method_of(in, i)->m > largest->m))
            largest = method_of(in, i);
    if (!largest) return NB_OK;
    NB_NEED(landmarks, nb_alloc(in->ctx, 1, sizeof *landmarks));
    nb_pending_at(in->pending, NB_AT_PICK, first, end);
    if (nb_run_pick(in->plan, in->pending->scene, in->scene, in->plan->rows[first].trial, largest, in->rng, landmarks,
                    in->ctx) != NB_OK)
        nb_error_clear(in->ctx);
    else if (!landmarks->refusal)
        in->nested = landmarks;
    return NB_OK;
}

typedef struct { /* one row on its way */
    int index;
    nb_error_row row;
    int request; /* its number among the requests, or -1: its outcome is known */
    const nb_landmarks *landmarks;
    bool oracle;    /* the core has looked at all of S: no row is unseen */
    bool seen_more; /* the strategy has looked at other rows than those that are kept */
    double core_s, flops;
    nb_notes notes;
} job;

static bool is_linear(const instance *in, const nb_error_method *method)
{
    return nb_forward_is_linear(method->factors, nb_scene_kernel_choice(in->scene));
}

/* Returns the flops of selecting landmarks and of one forward pass; NaN if not linear in n or not counted. */
static double flops(const instance *in, const nb_error_method *method, const nb_landmarks *landmarks)
{
    const nb_head *head = nb_scene_head(in->scene);
    double forward = nb_forward_multiplications(method->factors, method->core, head->n, head->d, method->m);
    return is_linear(in, method) ? 2 * (landmarks->multiplications + forward) : NAN;
}

/* X of one row: a request to measure it, or an outcome. */
static nb_status request(const instance *in, const nb_how *how, nb_pair *pair, job *j, nb_request *requests, int *count)
{
    const nb_error_method *method = method_of(in, j->index);
    size_t square = (size_t)method->m * (size_t)method->m;
    nb_stream stream = nb_plan_stream(in->plan, in->pending->scene, in->plan->rows[j->index].trial, method->core);
    double *x;
    nb_computed computed;
    NB_NEED(x, nb_alloc_reals(in->ctx, square, 1));
    j->request = -1;
    nb_pending_at(in->pending, NB_AT_CORE, j->index, j->index + 1);
    nb_mark mark = nb_ctx_mark(in->ctx);
    nb_status status = nb_core_compute(method->core, pair->factors, in->scene, stream, x, &computed, in->ctx);
    nb_ctx_release(in->ctx, mark);
    if (status == NB_EHOST) return status;
    if (status != NB_OK) {
        j->row.status = nb_pending_outcome(status);
        return nb_record_failure(&j->row.reason, in->ctx);
    }
    j->row.status = computed.refusal ? "skipped" : "diverged";
    if ((j->row.reason = computed.refusal)) return NB_OK;
    j->core_s = computed.seconds;
    j->notes = pair->factors->notes;
    j->flops = flops(in, method, j->landmarks);
    j->row.reason = j->notes.diverged ? j->notes.diverged : "the core is not finite";
    if (!nb_all_finite(square, x)) return NB_OK;
    j->request = (*count)++;
    requests[j->request] = (nb_request){.pair = pair, .x = x, .rounding = j->notes.rounding};
    return nb_request_find_seen(&requests[j->request], how->order, &j->seen_more, in->ctx);
}

/* Adds the warnings of a row that is ok to its reason. */
static nb_status remark(nb_error_row *row, const char *text, nb_ctx *ctx)
{
    if (!text) return NB_OK;
    if (!row->reason) {
        row->reason = text;
        return NB_OK;
    }
    NB_NEED(row->reason, nb_format(ctx, "%s; %s", row->reason, text));
    return NB_OK;
}

static nb_status finish(job *j, const nb_request *requests, nb_ctx *ctx)
{
    if (j->request < 0) return NB_OK;
    const nb_request *r = &requests[j->request];
    j->row.status = "ok";
    j->row.reason = r->failure;
    if (r->failure) {
        j->row.status = "failed";
    } else if (!isfinite(r->measures.error)) {
        j->row.status = "diverged";
        j->row.reason = "the error is not finite";
    } else if (r->measures.core_residual > j->notes.residual_limit) {
        j->row.status = "diverged";
        j->row.reason = nb_diverged_by_rounding;
    } else {
        j->row.measures = r->measures;
        if (j->oracle || j->seen_more)
            j->row.measures.error_unseen = j->row.measures.error_unseen_subspace = j->row.measures.error_unseen_core =
                NAN;
        j->row.measures.core_s = j->core_s;
        j->row.measures.flops = j->flops;
        j->row.measures.core_cutoff = j->notes.cutoff;
        j->row.reason = NULL;
        if (nb_is_noise(r->measures.error, r->measures.error_noise))
            NB_TRY(ctx, remark(&j->row, "the error is not above its rounding noise", ctx));
        NB_TRY(ctx, remark(&j->row, r->note, ctx));
        NB_TRY(ctx, remark(&j->row, j->landmarks->note, ctx));
    }
    return NB_OK;
}

/* Times the rest of the head's forward pass, for rows that are ok. */
static nb_status find_times(const instance *in, job *j, double exact_s)
{
    const nb_error_method *method = method_of(in, j->index);
    nb_measures *out = &j->row.measures;
    if (strcmp(j->row.status, "ok") != 0) return NB_OK;
    out->exact_s = exact_s;
    if (!is_linear(in, method) || nb_scene_head(in->scene)->causal) return NB_OK;
    return nb_scene_forward_s(in->scene, method->m, &out->forward_s, in->ctx);
}

/* The cores of `count` factor pairs, their measurement, and their rows. */
static nb_status run_cores(const instance *in, const nb_how *how, int count, const factor_rows *of, nb_pair *pairs)
{
    nb_request *requests;
    job *jobs;
    int rows = 0, requested = 0, job_count = 0;
    double exact_s;
    for (int p = 0; p < count; p++) rows += of[p].end - of[p].first;
    NB_NEED(requests, nb_alloc(in->ctx, (size_t)rows, sizeof *requests));
    NB_NEED(jobs, nb_alloc(in->ctx, (size_t)rows, sizeof *jobs));
    for (int p = 0; p < count; p++) {
        if (pairs[p].failure)
            NB_TRY(in->ctx, nb_pending_put_all(in->pending, of[p].first, of[p].end, "failed", pairs[p].failure));
        for (int i = of[p].first; i < of[p].end && !pairs[p].failure; i++) {
            if (!in->pending->rows[i]) continue;
            job *j = &jobs[job_count++];
            *j = (job){.index = i,
                       .landmarks = of[p].landmarks,
                       .oracle = nb_core_traits(method_of(in, i)->core) & NB_CORE_ORACLE};
            nb_plan_row(in->plan, i, &j->row);
            NB_TRY(in->ctx, request(in, how, &pairs[p], j, requests, &requested));
        }
    }
    nb_pending_at(in->pending, NB_AT_MEASURE, of[0].first, of[count - 1].end);
    if (requested > 0) NB_TRY(in->ctx, nb_engine_measure(in->scene, how, requested, requests, in->ctx));
    NB_TRY(in->ctx, nb_scene_exact_s(in->scene, &exact_s, in->ctx));
    for (int i = 0; i < job_count; i++) {
        NB_TRY(in->ctx, finish(&jobs[i], requests, in->ctx));
        NB_TRY(in->ctx, find_times(in, &jobs[i], exact_s));
        jobs[i].row.measures.select_s = jobs[i].landmarks->select_s;
        NB_TRY(in->ctx, nb_pending_put(in->pending, jobs[i].index, &jobs[i].row.row));
    }
    return NB_OK;
}

/* Returns how many pairs from the first one on are measured together; one at least. */
static int count_together(const nb_how *how, int count, const factor_rows *of)
{
    size_t bytes = 0;
    int used = 0;
    while (used < count) {
        bytes += (size_t)(of[used].end - of[used].first) * nb_engine_request_bytes(how, of[used].m);
        if (used > 0 && bytes > nb_engine_together(how)) break;
        used++;
    }
    return used;
}

/* Factor pairs that are prepared together. */
static nb_status run_batch(const instance *in, const nb_how *how, int count, const factor_rows *of)
{
    nb_pair *pairs;
    nb_engine_times times = {.pass_s = 0};
    NB_NEED(pairs, nb_alloc(in->ctx, (size_t)count, sizeof *pairs));
    for (int p = 0; p < count; p++)
        pairs[p] = (nb_pair){.landmarks = of[p].landmarks, .kind = method_of(in, of[p].first)->factors};
    nb_pending_at(in->pending, NB_AT_MEASURE, of[0].first, of[count - 1].end);
    if (nb_engine_prepare(in->scene, how, count, pairs, &times, in->ctx) != NB_OK) {
        const char *reason;
        NB_TRY(in->ctx, nb_record_failure(&reason, in->ctx));
        for (int p = 0; p < count; p++)
            NB_TRY(in->ctx, nb_pending_put_all(in->pending, of[p].first, of[p].end, "failed", reason));
        return NB_OK;
    }
    for (int p = 0, used; p < count; p += used) {
        used = count_together(how, count - p, of + p);
        nb_mark mark = nb_ctx_mark(in->ctx);
        nb_status status = run_cores(in, how, used, of + p, pairs + p);
        nb_ctx_release(in->ctx, mark);
        NB_TRY(in->ctx, status);
    }
    return NB_OK;
}

/* The order in which cores and strategies look at rows of S, the same for all methods of an instance. */
static nb_status draw_order(const instance *in, int trial, int count, const factor_rows *found, nb_how *how)
{
    bool wanted = false;
    const nb_choices *cores = &in->plan->config->lists[NB_ERROR_CORE].choices;
    for (int i = 0; i < cores->count; i++) wanted |= (nb_core_traits(&cores->items[i]) & NB_CORE_RANDOM) != 0;
    for (int i = 0; i < count; i++) wanted |= found[i].landmarks->seen > 0;
    if (!wanted) return NB_OK;
    return nb_scene_order(in->scene, nb_plan_seed(in->plan, in->pending->scene), trial, &how->order, in->ctx);
}

/* The rows of S that are measured, the same for all methods of an instance. */
static nb_status draw_rows(const instance *in, int trial, nb_how *how)
{
    int n = nb_scene_head(in->scene)->n, *all, *tokens;
    const nb_planned_scene *planned = nb_pending_scene(in->pending);
    nb_stream stream = nb_plan_stream(in->plan, in->pending->scene, trial, planned->problem);
    if (how->sample >= n) how->sample = 0;
    if (how->sample == 0) return NB_OK;
    stream.component = planned->drawn;
    stream.role = "rows";
    stream.m = planned->head;
    nb_random_seed(in->rng, &stream);
    NB_NEED(all, nb_alloc(in->ctx, (size_t)n, sizeof *all));
    NB_NEED(tokens, nb_alloc(in->ctx, (size_t)how->sample, sizeof *tokens));
    for (int i = 0; i < n; i++) all[i] = i;
    gsl_ran_choose(in->rng, tokens, (size_t)how->sample, all, (size_t)n, sizeof *all); /* in ascending order */
    how->tokens = tokens;
    return NB_OK;
}

nb_how nb_error_how(const nb_config *config)
{
    const nb_error_settings *s = nb_error_settings_of(config);
    return (nb_how){.engine = (nb_engine_kind)s->engine,
                    .precision = (nb_precision)s->precision,
                    .sample = s->sample,
                    .wanted = config->wanted};
}

/* All pending rows of one scene and trial, rows first ... end - 1 of the plan. */
static nb_status run_instance(instance *in, int first, int end)
{
    nb_how how = nb_error_how(in->plan->config);
    factor_rows *found;
    int count = 0, *m;
    NB_NEED(found, nb_alloc(in->ctx, (size_t)(end - first), sizeof *found));
    NB_NEED(m, nb_alloc(in->ctx, (size_t)(end - first), sizeof *m));
    NB_TRY(in->ctx, draw_rows(in, in->plan->rows[first].trial, &how));
    for (int i = first, next; i < end; i = next) {
        for (next = i + 1; next < end && nb_error_same_picks(method_of(in, i), method_of(in, next));) next++;
        if (i == first || !nb_error_same_strategy(method_of(in, i - 1), method_of(in, i))) {
            int last = next;
            while (last < end && nb_error_same_strategy(method_of(in, i), method_of(in, last))) last++;
            NB_TRY(in->ctx, pick_nested(in, i, last));
        }
        if (nb_pending_any(in->pending, i, next)) NB_TRY(in->ctx, pick(in, i, next, found, &count));
    }
    NB_TRY(in->ctx, draw_order(in, in->plan->rows[first].trial, count, found, &how));
    for (int i = 0; i < count; i++) m[i] = found[i].m;
    for (int i = 0, used; i < count; i += used) {
        used = nb_engine_batch(nb_scene_head(in->scene)->n, count - i, m + i);
        nb_mark mark = nb_ctx_mark(in->ctx);
        nb_status status = run_batch(in, &how, used, found + i);
        nb_ctx_release(in->ctx, mark);
        NB_TRY(in->ctx, status);
    }
    return NB_OK;
}

/* The scene is made if there is none yet or the data are new. */
static nb_status run_trial(void *self, int first, int end)
{
    instance *in = self;
    const nb_planned_scene *planned = nb_pending_scene(in->pending);
    nb_status status = NB_OK;
    if (!in->scene || planned->random) {
        nb_ctx_release(in->ctx, in->points);
        in->scene = NULL;
        nb_pending_at(in->pending, NB_AT_SCENE, first, end);
        status = nb_plan_head(in->plan, in->pending->scene, in->plan->rows[first].trial, in->rng, &in->head, in->ctx);
        if (status == NB_OK) status = nb_run_make_scene(in->plan, in->pending->scene, &in->head, &in->scene, in->ctx);
    }
    nb_mark mark = nb_ctx_mark(in->ctx);
    status = status == NB_OK ? run_instance(in, first, end) : nb_pending_fail(in->pending, status, first, end);
    nb_ctx_release(in->ctx, mark);
    return status;
}

nb_status nb_run_scene(const nb_plan *plan, int scene, const bool *pending, const nb_sink *sink, nb_ctx *ctx)
{
    nb_pending p = {plan, scene, pending, sink, ctx};
    instance in = {.pending = &p, .plan = plan, .ctx = ctx};
    nb_mark mark = nb_ctx_mark(ctx);
    NB_TRY(ctx, nb_random_new(&in.rng, ctx));
    in.points = nb_ctx_mark(ctx);
    nb_status status = nb_pending_run(&p, run_trial, &in);
    nb_ctx_release(ctx, mark);
    return status;
}
