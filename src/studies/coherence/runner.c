/* SPDX-License-Identifier: GPL-3.0-or-later */
/* runner.c - a side of a head at a time: its spectrum once, then partition by partition, whose clusters serve every
 * tau. */
#include "calls/heads.h"
#include "components/plugin.h"
#include "run/sink.h"
#include "studies/coherence/study.h"

#include <gsl/gsl_randist.h>
#include <math.h>

typedef struct {
    const nb_plan *plan;
    int index; /* of the scene in the plan */
    const bool *pending;
    const nb_sink *sink;
    gsl_rng *rng;
    nb_ctx *ctx;

    /* Of the points at hand. */
    nb_point_spectrum spectrum;
    int k; /* what follows is for that many singular vectors; 0: none yet */
    const double *scores;
    double uniform2;
} instance;

static const nb_planned_scene *scene_of(const instance *in)
{
    return &in->plan->scenes[in->index];
}

static nb_status now_at(const instance *in, nb_coherence_phase phase, int first, int end)
{
    if (in->sink->at) in->sink->at(in->sink->self, (int)phase, first, end);
    NB_REQUIRE(in->ctx, !nb_ctx_spoilt(in->ctx), NB_EBUG,
               "a component from outside has %s: nothing more can be measured in this process, only in workers",
               nb_ctx_spoilt(in->ctx));
    return NB_OK;
}

static bool any(const bool *pending, int first, int end)
{
    while (first < end && !pending[first]) first++;
    return first < end;
}

static nb_status put(const instance *in, int row, const nb_coherence *measures, const char *status, const char *reason)
{
    nb_coherence_row out;
    nb_plan_row(in->plan, row, &out);
    out.status = status;
    if (reason) NB_NEED(out.reason, nb_clean(in->ctx, reason, ""));
    if (measures) out.measures = *measures;
    return in->sink->row(in->sink->self, row, &out.row, in->ctx);
}

/* The same outcome for rows first ... end - 1 that are pending. */
static nb_status put_all(const instance *in, int first, int end, const char *status, const char *reason)
{
    for (int i = first; i < end; i++)
        if (in->pending[i]) NB_TRY(in->ctx, put(in, i, NULL, status, reason));
    return NB_OK;
}

/* A failure of the machine ends the run instead; a plug-in cannot report one. */
static nb_status put_failure(const instance *in, nb_status status, const nb_choice *whose, int first, int end)
{
    const char *reason;
    if (status == NB_EHOST && !nb_plugin_of(whose->component)) return status;
    NB_NEED(reason, nb_strdup(in->ctx, nb_error_message(in->ctx)));
    nb_error_clear(in->ctx);
    return put_all(in, first, end, "failed", reason);
}

/* Draws depend on the head and the side too, so that their luck averages out over heads. */
static nb_status stream_of(const instance *in, int trial, const char *what, nb_stream *stream)
{
    const nb_planned_scene *s = scene_of(in);
    *stream = nb_plan_stream(in->plan, trial, s->problem);
    stream->component = s->problem->drawn;
    NB_NEED(stream->role, nb_format(in->ctx, "%s: %s of head %d of %s", what,
                                    nb_coherence_sides[s->value[NB_COHERENCE_SIDE]], s->head, s->problem->drawn));
    return NB_OK;
}

/* The mean squared error from k tokens drawn uniformly. */
static nb_status find_uniform(instance *in, int trial, int k, double *mean)
{
    int n = in->spectrum.n, *all, *tokens;
    nb_stream stream;
    NB_TRY(in->ctx, stream_of(in, trial, "uniform tokens", &stream));
    stream.m = k;
    nb_random_seed(in->rng, &stream);
    NB_NEED(all, nb_alloc(in->ctx, (size_t)n, sizeof *all));
    NB_NEED(tokens, nb_alloc(in->ctx, (size_t)k, sizeof *tokens));
    for (int i = 0; i < n; i++) all[i] = i;
    *mean = 0;
    for (int draw = 0; draw < NB_COHERENCE_DRAWS; draw++) {
        double error2;
        gsl_ran_choose(in->rng, tokens, (size_t)k, all, (size_t)n, sizeof *all);
        NB_TRY(in->ctx, nb_gram_error2(&in->spectrum, k, tokens, &error2, in->ctx));
        *mean += error2 / NB_COHERENCE_DRAWS;
    }
    return NB_OK;
}

/* What depends on k alone. */
static nb_status prepare(instance *in, int trial, int k)
{
    if (in->k == k) return NB_OK;
    in->k = 0;
    NB_TRY(in->ctx, nb_leverage_scores(&in->spectrum, k, &in->scores, in->ctx));
    NB_TRY(in->ctx, find_uniform(in, trial, k, &in->uniform2));
    in->k = k;
    return NB_OK;
}

/* Why there are no k singular vectors; *reason is NULL if there are. */
static nb_status find_refusal(const instance *in, int k, const char **reason)
{
    const nb_point_spectrum *p = &in->spectrum;
    *reason = NULL;
    if (k > p->n)
        *reason = "there are more clusters than tokens";
    else if (k > p->d)
        *reason = "there are more clusters, and so singular vectors, than the dimension d";
    else if (k > p->rank)
        NB_NEED(*reason,
                nb_format(in->ctx, "the points have rank %d, so %d singular vectors are not determined", p->rank, k));
    return NB_OK;
}

static nb_status find_clustering(instance *in, int first, int end, nb_clustering *clustering)
{
    const nb_choice *partition = nb_plan_choice(in->plan, first, NB_COHERENCE_PARTITION);
    int trial = in->plan->rows[first].trial;
    nb_stream stream;
    nb_division *division;
    NB_NEED(division, nb_alloc(in->ctx, 1, sizeof *division));
    NB_TRY(in->ctx, stream_of(in, trial, "partition", &stream));
    NB_TRY(in->ctx, now_at(in, NB_COHERENCE_AT_PARTITION, first, end));
    NB_TRY(in->ctx, nb_divide(partition, in->spectrum.d, in->spectrum.n, in->spectrum.x, in->k, stream, in->rng,
                              division, in->ctx));
    NB_TRY(in->ctx, now_at(in, NB_COHERENCE_AT_MEASURE, first, end));
    NB_TRY(in->ctx, nb_clustering_make(&in->spectrum, in->k, in->scores, division, clustering, in->ctx));
    clustering->uniform2 = in->uniform2;
    return NB_OK;
}

/* The rows of one partition in one trial; what is common to all with the same k stays. */
static nb_status run_partition(instance *in, int first, int end)
{
    const nb_choice *partition = nb_plan_choice(in->plan, first, NB_COHERENCE_PARTITION);
    int trial = in->plan->rows[first].trial, k = nb_plan_value(in->plan, first, NB_COHERENCE_CLUSTERS);
    const char *reason;
    nb_clustering clustering;
    NB_TRY(in->ctx, find_refusal(in, k, &reason));
    if (reason) return put_all(in, first, end, "skipped", reason);
    nb_status status = prepare(in, trial, k);
    nb_mark mark = nb_ctx_mark(in->ctx);
    if (status == NB_OK) status = find_clustering(in, first, end, &clustering);
    if (status != NB_OK) return put_failure(in, status, partition, first, end);
    for (int i = first; i < end; i++) {
        nb_coherence_row row;
        if (!in->pending[i]) continue;
        nb_plan_row(in->plan, i, &row);
        row.measures = nb_coherence_of(&clustering, row.tau);
        NB_TRY(in->ctx, put(in, i, &row.measures, "ok", NULL));
    }
    nb_ctx_release(in->ctx, mark);
    return NB_OK;
}

static bool same_partition(const nb_plan *plan, int a, int b)
{
    return nb_plan_value(plan, a, NB_COHERENCE_CLUSTERS) == nb_plan_value(plan, b, NB_COHERENCE_CLUSTERS) &&
           nb_plan_value(plan, a, NB_COHERENCE_PARTITION) == nb_plan_value(plan, b, NB_COHERENCE_PARTITION);
}

/* The side's points and their spectrum. */
static nb_status find_points(instance *in, int trial)
{
    nb_head head;
    NB_TRY(in->ctx, nb_plan_head(in->plan, in->index, trial, in->rng, &head, in->ctx));
    const double *x = scene_of(in)->value[NB_COHERENCE_SIDE] == NB_OF_KEYS ? head.k : head.q;
    NB_REQUIRE(in->ctx, x, NB_EINVAL, "the head has no keys");
    return nb_point_spectrum_make(head.d, head.n, x, &in->spectrum, in->ctx);
}

/* Rows first ... end - 1 are of one trial; `fresh`: its points are not at hand. */
static nb_status run_trial(instance *in, int first, int end, bool fresh)
{
    nb_status status = NB_OK;
    NB_TRY(in->ctx, in->sink->begin(in->sink->self, in->ctx));
    NB_TRY(in->ctx, now_at(in, NB_COHERENCE_AT_DATA, first, end));
    if (fresh) status = find_points(in, in->plan->rows[first].trial);
    nb_mark mark = nb_ctx_mark(in->ctx);
    if (status != NB_OK) NB_TRY(in->ctx, put_failure(in, status, scene_of(in)->problem, first, end));
    in->k = 0;
    for (int i = first, next; i < end && status == NB_OK; i = next) {
        for (next = i + 1; next < end && same_partition(in->plan, i, next);) next++;
        if (any(in->pending, i, next)) NB_TRY(in->ctx, run_partition(in, i, next));
    }
    nb_ctx_release(in->ctx, mark);
    return in->sink->end(in->sink->self, in->ctx);
}

nb_status nb_coherence_run(const nb_plan *plan, int scene, const bool *pending, const nb_sink *sink, nb_ctx *ctx)
{
    instance in = {.plan = plan, .index = scene, .pending = pending, .sink = sink, .ctx = ctx};
    bool fresh = true;
    nb_status status = NB_OK;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_TRY(ctx, nb_random_new(&in.rng, ctx));
    nb_mark points = nb_ctx_mark(ctx);
    for (int i = 0, next; i < plan->row_count && plan->rows[i].scene <= scene && status == NB_OK; i = next) {
        const nb_planned_row *row = &plan->rows[i];
        for (next = i + 1;
             next < plan->row_count && plan->rows[next].scene == row->scene && plan->rows[next].trial == row->trial;)
            next++;
        if (row->scene != scene || !any(pending, i, next)) continue;
        if (sink->stop(sink->self)) break;
        if (fresh) nb_ctx_release(ctx, points);
        status = run_trial(&in, i, next, fresh);
        fresh = plan->scenes[scene].random;
    }
    nb_ctx_release(ctx, mark);
    return status;
}
