/* SPDX-License-Identifier: GPL-3.0-or-later */
/* runner.c - a side of a head at a time: its spectrum once, then partition by partition, whose clusters serve every
 * tau. */
#include "run/pending.h"
#include "studies/coherence/study.h"

#include <gsl/gsl_randist.h>

typedef struct {
    const nb_pending *pending;
    const nb_plan *plan;
    gsl_rng *rng;
    nb_ctx *ctx;
    bool fresh;     /* the points are not at hand; if they are, they are behind */
    nb_mark points; /* this mark */

    /* Results for the points at hand. */
    nb_point_spectrum spectrum;
    int k; /* what follows is for that many singular vectors; 0: none yet */
    const double *scores;
    double uniform2;
} instance;

/* Draws depend on the head and the side too, so that their luck averages out over heads. */
static nb_status stream_of(const instance *in, int trial, const char *what, nb_stream *stream)
{
    const nb_planned_scene *s = nb_pending_scene(in->pending);
    *stream = nb_plan_stream(in->plan, in->pending->scene, trial, s->problem);
    stream->component = s->drawn;
    NB_NEED(stream->role, nb_format(in->ctx, "%s: %s of head %d of %s", what,
                                    nb_coherence_sides[s->value[NB_COHERENCE_SIDE]], s->head, s->drawn));
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

/* Computes what depends on k alone. */
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
    nb_pending_at(in->pending, NB_COHERENCE_AT_PARTITION, first, end);
    NB_TRY(in->ctx, nb_divide(partition, in->spectrum.d, in->spectrum.n, in->spectrum.x, in->k, stream, in->rng,
                              division, in->ctx));
    nb_pending_at(in->pending, NB_COHERENCE_AT_MEASURE, first, end);
    NB_TRY(in->ctx, nb_clustering_make(&in->spectrum, in->k, in->scores, division, clustering, in->ctx));
    clustering->uniform2 = in->uniform2;
    return NB_OK;
}

/* The rows of one partition in one trial; what is common to all with the same k stays. */
static nb_status run_partition(instance *in, int first, int end)
{
    int trial = in->plan->rows[first].trial, k = nb_plan_value(in->plan, first, NB_COHERENCE_CLUSTERS);
    const char *reason;
    nb_clustering clustering;
    NB_TRY(in->ctx, find_refusal(in, k, &reason));
    if (reason) return nb_pending_put_all(in->pending, first, end, "skipped", reason);
    nb_status status = prepare(in, trial, k);
    nb_mark mark = nb_ctx_mark(in->ctx);
    if (status == NB_OK) status = find_clustering(in, first, end, &clustering);
    if (status != NB_OK) return nb_pending_fail(in->pending, status, first, end);
    for (int i = first; i < end; i++) {
        nb_coherence_row row;
        if (!in->pending->rows[i]) continue;
        nb_plan_row(in->plan, i, &row);
        row.status = "ok";
        row.measures = nb_coherence_of(&clustering, row.tau);
        NB_TRY(in->ctx, nb_pending_put(in->pending, i, &row.row));
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
    NB_TRY(in->ctx, nb_plan_head(in->plan, in->pending->scene, trial, in->rng, &head, in->ctx));
    const double *x = nb_pending_scene(in->pending)->value[NB_COHERENCE_SIDE] == NB_OF_KEYS ? head.k : head.q;
    NB_REQUIRE(in->ctx, x, NB_EINVAL, "the head has no keys");
    return nb_point_spectrum_make(head.d, head.n, x, &in->spectrum, in->ctx);
}

static nb_status run_trial(void *self, int first, int end)
{
    instance *in = self;
    nb_status status = NB_OK;
    if (in->fresh) nb_ctx_release(in->ctx, in->points);
    nb_pending_at(in->pending, NB_COHERENCE_AT_DATA, first, end);
    if (in->fresh) status = find_points(in, in->plan->rows[first].trial);
    in->fresh = nb_pending_scene(in->pending)->random;
    nb_mark mark = nb_ctx_mark(in->ctx);
    if (status != NB_OK) NB_TRY(in->ctx, nb_pending_fail(in->pending, status, first, end));
    in->k = 0;
    for (int i = first, next; i < end && status == NB_OK; i = next) {
        for (next = i + 1; next < end && same_partition(in->plan, i, next);) next++;
        if (nb_pending_any(in->pending, i, next)) NB_TRY(in->ctx, run_partition(in, i, next));
    }
    nb_ctx_release(in->ctx, mark);
    return NB_OK;
}

nb_status nb_coherence_run(const nb_plan *plan, int scene, const bool *pending, const nb_sink *sink, nb_ctx *ctx)
{
    nb_pending p = {plan, scene, pending, sink, ctx};
    instance in = {.pending = &p, .plan = plan, .ctx = ctx, .fresh = true};
    nb_mark mark = nb_ctx_mark(ctx);
    NB_TRY(ctx, nb_random_new(&in.rng, ctx));
    in.points = nb_ctx_mark(ctx);
    nb_status status = nb_pending_run(&p, run_trial, &in);
    nb_ctx_release(ctx, mark);
    return status;
}
