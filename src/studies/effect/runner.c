/* SPDX-License-Identifier: GPL-3.0-or-later */
/* runner.c - a source's layers in one trial at a time: first what can be measured of the heads of the exact pass, then
 * the model's program is asked, row by row. */
#include "base/clock.h"
#include "base/last_words.h"
#include "base/scratch.h"
#include "base/text.h"
#include "components/plugin.h"
#include "linalg/blas.h"
#include "studies/effect/work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

nb_stream nb_effect_stream(const nb_effect_work *w)
{
    return (nb_stream){.seed = nb_plan_seed(w->plan, w->pending->scene), .trial = w->trial};
}

nb_status nb_effect_end_job(const nb_effect_work *w, nb_effect_job *job, const char *status, const char *reason)
{
    job->status = status;
    NB_NEED(job->reason, nb_strdup(w->texts, reason));
    return NB_OK;
}

nb_status nb_effect_take_failure(const nb_effect_work *w, nb_effect_job *job, nb_status status)
{
    if (status == NB_OK || status == NB_EHOST) return status;
    NB_TRY(w->ctx, nb_effect_end_job(w, job, nb_pending_outcome(status), nb_error_message(w->ctx)));
    nb_error_clear(w->ctx);
    return NB_OK;
}

nb_status nb_effect_fail(const nb_effect_work *w, bool landmarks, nb_status status)
{
    if (status == NB_EHOST) return status;
    for (nb_effect_job *job = w->jobs; job < w->jobs + w->count; job++)
        if (!job->status && (job->landmarks || !landmarks))
            NB_TRY(w->ctx, nb_effect_end_job(w, job, "failed", nb_error_message(w->ctx)));
    nb_error_clear(w->ctx);
    return NB_OK;
}

static nb_status put_row(const nb_effect_work *w, const nb_effect_job *job)
{
    nb_effect_row row;
    nb_plan_row(w->plan, job->row, &row);
    row.status = job->status;
    row.reason = job->reason;
    if (strcmp(job->status, "ok") == 0) row.result = job->result;
    return nb_pending_put(w->pending, job->row, &row.row);
}

/* A job for each pending row; those that cannot be are skipped. */
static nb_status find_jobs(nb_effect_work *w)
{
    nb_layer_shape shape = nb_effect_shape(&w->part->model);
    NB_NEED(w->jobs, nb_alloc(w->ctx, (size_t)(w->end - w->first), sizeof *w->jobs));
    w->count = 0;
    for (int i = w->first; i < w->end; i++) {
        const char *why;
        nb_effect_row planned;
        if (!w->pending->rows[i]) continue;
        nb_effect_job *job = &w->jobs[w->count++];
        nb_plan_row(w->plan, i, &planned);
        *job = (nb_effect_job){
            .row = i, .attention = nb_plan_choice(w->plan, i, NB_EFFECT_ATTENTION), .result = planned.result};
        job->landmarks = nb_effect_has_landmarks(job->attention);
        if (job->landmarks) job->how = nb_landmark_how_of(job->attention->options, shape.n);
        NB_TRY(w->ctx, nb_attention_refusal(job->attention, &shape, &why, w->ctx));
        if (why) NB_TRY(w->ctx, nb_effect_end_job(w, job, "skipped", why));
    }
    return NB_OK;
}

/* Loads the layers through a file in that folder. */
static nb_status load_layers(nb_effect_work *w, const char *folder)
{
    const nb_model_part *part = w->part;
    const char *path;
    NB_NEED(path, nb_format(w->ctx, "%s/heads.safetensors", folder));
    NB_TRY(w->ctx, nb_model_write_heads(&part->program, &part->model, nb_effect_source(w->plan, w->pending->scene),
                                        part->layer_count, part->layers, path, w->ctx));
    for (int l = 0; l < part->layer_count; l++) {
        int heads = part->model.heads;
        NB_TRY(w->ctx, nb_layer_load(path, l * heads, heads, &w->layers[l], w->ctx));
        w->layers[l].first = 0; /* as the program sees it */
        w->layers[l].shape.causal = part->model.causal;
    }
    return NB_OK;
}

static nb_status ask_for_layers(nb_effect_work *w)
{
    const char *folder;
    nb_ctx *ctx = w->ctx, *files;
    NB_NEED(files, nb_ctx_child(ctx));
    nb_status status = nb_temporary_folder(&folder, files);
    if (status == NB_OK) status = nb_error_hide_chance(load_layers(w, folder), folder, ctx);
    nb_ctx_release(files, 0); /* and the file */
    return status;
}

/* The heads of the exact pass, and their outputs, as far as they are wanted. */
static nb_status find_layers(nb_effect_work *w)
{
    unsigned wanted = w->plan->config->wanted;
    if (wanted == 0) return NB_OK;
    size_t count = (size_t)w->part->layer_count;
    NB_NEED(w->layers, nb_alloc(w->ctx, count, sizeof *w->layers));
    NB_NEED(w->exact, nb_alloc(w->ctx, count, sizeof *w->exact));
    NB_TRY(w->ctx, ask_for_layers(w));
    for (int l = 0; l < w->part->layer_count && (wanted & NB_EFFECT_WANT_OUTPUT); l++)
        NB_TRY(w->ctx, nb_exact_make(&w->layers[l], w->part->model.n, w->rng, w->team, &w->exact[l], w->ctx));
    return NB_OK;
}

/* Finds the plug-ins that the program of the model needs for an attention: all, where it needs one. */
static nb_status find_plugins(const nb_choice *attention, const char *const **plugins, nb_ctx *ctx)
{
    const char *const *loaded = nb_plugins_loaded();
    const char **paths;
    int count = nb_plugin_within(attention) ? nb_text_count(loaded) : 0;
    NB_NEED(paths, nb_alloc(ctx, (size_t)count + 1, sizeof *paths));
    for (int i = 0; i < count; i++) {
        char *path = realpath(loaded[i], NULL); /* the program runs in another folder */
        NB_REQUIRE(ctx, path, NB_EIO, "%s: %s", loaded[i], strerror(errno));
        NB_TRY(ctx, nb_defer(ctx, free, path));
        paths[i] = path;
    }
    *plugins = paths;
    return NB_OK;
}

static nb_status ask(const nb_effect_work *w, nb_effect_job *job)
{
    nb_model_question question = {.source = nb_effect_source(w->plan, w->pending->scene),
                                  .layer_count = w->part->layer_count,
                                  .layers = w->part->layers,
                                  .attention = job->attention->canonical,
                                  .seed = (long long)nb_effect_stream(w).seed,
                                  .trial = w->trial};
    nb_model_outcome outcome;
    NB_TRY(w->ctx, find_plugins(job->attention, &question.plugins, w->ctx));
    double start_s = nb_clock_s();
    nb_pending_at(w->pending, NB_EFFECT_AT_MODEL, job->row, job->row + 1);
    NB_TRY(w->ctx, nb_model_ask_effect(&w->part->program, &question, nb_effect_names, (double *)&job->result.told,
                                       &outcome, w->ctx));
    job->result.effect_s = nb_clock_s() - start_s;
    job->status = outcome.status;
    job->reason = outcome.reason ? outcome.reason : job->why_not;
    return NB_OK;
}

static nb_status ask_and_put(const nb_effect_work *w)
{
    for (nb_effect_job *job = w->jobs; job < w->jobs + w->count; job++) {
        nb_mark mark = nb_ctx_mark(w->ctx);
        if (!job->status) NB_TRY(w->ctx, ask(w, job));
        NB_TRY(w->ctx, put_row(w, job));
        nb_ctx_release(w->ctx, mark);
    }
    return NB_OK;
}

/* The heads are kept. */
static nb_status run_trial(void *self, int first, int end)
{
    nb_effect_work *w = self;
    nb_status status = NB_OK;
    unsigned wanted = w->plan->config->wanted;
    w->first = first;
    w->end = end;
    w->count = 0;
    w->trial = w->plan->rows[first].trial;
    nb_pending_at(w->pending, NB_EFFECT_AT_HEADS, first, end);
    nb_mark mark = nb_ctx_mark(w->ctx);
    if (w->fresh) status = find_layers(w);
    if (status == NB_OK)
        mark = nb_ctx_mark(w->ctx);
    else
        nb_ctx_release(w->ctx, mark);
    w->fresh = status != NB_OK;
    NB_NEED(w->texts, nb_ctx_child(w->ctx));
    NB_TRY(w->ctx, find_jobs(w));
    if (status != NB_OK) NB_TRY(w->ctx, nb_effect_fail(w, false, status)); /* without heads all rows fail */
    if (status == NB_OK && wanted & NB_EFFECT_WANT_OUTPUT) NB_TRY(w->ctx, nb_effect_find_outputs(w));
    if (status == NB_OK && wanted & NB_EFFECT_WANT_ERROR) NB_TRY(w->ctx, nb_effect_find_errors(w));
    NB_TRY(w->ctx, ask_and_put(w));
    nb_ctx_release(w->ctx, mark);
    return NB_OK;
}

nb_status nb_effect_run(const nb_plan *plan, int scene, const bool *pending, const nb_sink *sink, nb_ctx *ctx)
{
    nb_pending p = {plan, scene, pending, sink, ctx};
    nb_effect_work w = {.pending = &p, .plan = plan, .ctx = ctx, .part = nb_effect_part(plan, scene), .fresh = true};
    nb_mark mark = nb_ctx_mark(ctx);
    NB_TRY(ctx, nb_blas_set_threads(1, ctx));
    NB_TRY(ctx, nb_random_new(&w.rng, ctx));
    NB_TRY(ctx, nb_team_new(1, &w.team, ctx));
    nb_status status = nb_pending_run(&p, run_trial, &w);
    nb_ctx_release(ctx, mark);
    return status;
}
