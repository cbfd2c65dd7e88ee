/* SPDX-License-Identifier: GPL-3.0-or-later */
/* engine.c - calls the engine that is asked for, and computes what all engines share. */
#include "nystrom/engine.h"

#include "nystrom/blocks.h"
#include "nystrom/direct.h"
#include "nystrom/factors_record.h"
#include "nystrom/make_scene.h"
#include "nystrom/sampled.h"
#include "nystrom/scene_record.h"
#include "nystrom/spectrum.h"
#include "nystrom/streamed.h"

#include <math.h>

const char *const nb_engine_names[] = {[NB_STREAMED] = "streamed", [NB_DIRECT] = "direct", [NB_ENGINE_COUNT] = NULL};
const char *const nb_precision_names[] = {[NB_DOUBLE] = "double", [NB_MIXED] = "mixed", [NB_PRECISION_COUNT] = NULL};

size_t nb_engine_pair_bytes(int n, int m)
{
    enum { SQUARES = 12 }; /* of order m: A, triangles, and their singular vectors */
    return (2 * (size_t)n * (size_t)nb_block_width(m) + SQUARES * (size_t)m * (size_t)m) * sizeof(double);
}

size_t nb_engine_batch_bytes(int n)
{
    return nb_scene_is_kept(n) ? 1 << 26 : 1 << 30;
}

int nb_engine_batch(int n, int count, const int *m)
{
    size_t bytes = nb_engine_pair_bytes(n, m[0]);
    int used = 1;
    while (used < count && (bytes += nb_engine_pair_bytes(n, m[used])) <= nb_engine_batch_bytes(n)) used++;
    return used;
}

nb_status nb_engine_prepare(nb_scene *scene, const nb_how *how, int count, nb_pair *pairs, nb_engine_times *times,
                            nb_ctx *ctx)
{
    *times = (nb_engine_times){.pass_s = 0};
    if (how->tokens) return nb_sampled_prepare(scene, how, count, pairs, times, ctx);
    return (how->engine == NB_DIRECT ? nb_direct_prepare : nb_streamed_prepare)(scene, how, count, pairs, times, ctx);
}

static bool streams(const nb_how *how)
{
    return how->engine == NB_STREAMED && how->sample == 0;
}

size_t nb_engine_request_bytes(const nb_how *how, int m)
{
    size_t x = (size_t)m * (size_t)m * sizeof(double);
    return streams(how) && (how->wanted & NB_WANT_SPECTRAL) ? 2 * x : x;
}

size_t nb_engine_together(const nb_how *how)
{
    const unsigned look_again = NB_WANT_SPECTRAL | NB_WANT_ENTRIES | NB_WANT_ENTROPY;
    return streams(how) && (how->precision == NB_MIXED || (how->wanted & look_again)) ? 1 << 28 : 0;
}

/* Measures that need S alone: floor_rank, and spectral_error, which so far is the norm of the difference, made
 * relative to that of S. */
static nb_status compare_with_spectrum(nb_scene *scene, nb_request *r, nb_ctx *ctx)
{
    nb_measures *out = &r->measures;
    const nb_spectrum *of_s;
    NB_TRY(ctx, nb_scene_floor_rank(scene, r->pair->factors->m, &out->floor_rank, &out->floor_accuracy, ctx));
    if (isnan(out->spectral_error)) return NB_OK;
    NB_TRY(ctx, nb_scene_singular_values(scene, 1, &of_s, ctx));
    out->spectral_error /= of_s->values[0];
    return NB_OK;
}

/* The spectrum of S is the scene's: if it does not converge the rows lack what needs it, and nothing else. */
static nb_status compare_all(nb_scene *scene, int count, nb_request *requests, nb_ctx *ctx)
{
    for (int i = 0; i < count; i++) {
        nb_request *r = &requests[i];
        if (r->failure || !isfinite(r->measures.error)) continue;
        nb_mark mark = nb_ctx_mark(ctx);
        nb_status status = compare_with_spectrum(scene, r, ctx);
        nb_ctx_release(ctx, mark);
        if (status == NB_OK) continue;
        if (status == NB_ENUMERIC) {
            r->measures.floor_rank = r->measures.floor_accuracy = r->measures.spectral_error =
                r->measures.spectral_accuracy = NAN;
            NB_NEED(r->note, nb_format(ctx, "what needs singular values of S is missing: %s", nb_error_message(ctx)));
            nb_error_clear(ctx);
        } else {
            NB_TRY(ctx, nb_record_failure(&r->failure, ctx));
        }
    }
    return NB_OK;
}

nb_status nb_engine_measure(nb_scene *scene, const nb_how *how, int count, nb_request *requests, nb_ctx *ctx)
{
    nb_how possible = *how;
    bool stochastic = ((const nb_kernel *)scene->kernel->component)->stochastic;
    if (!stochastic) possible.wanted &= ~(unsigned)NB_WANT_ENTROPY;
    for (int i = 0; i < count; i++)
        NB_REQUIRE(ctx, requests[i].seen == 0 || how->order, NB_EBUG,
                   "a core has looked at rows of S, and there is no order of them");
    NB_TRY(ctx, (how->tokens                ? nb_sampled_measure
                 : how->engine == NB_DIRECT ? nb_direct_measure
                                            : nb_streamed_measure)(scene, &possible, count, requests, ctx));
    if (!how->tokens) NB_TRY(ctx, compare_all(scene, count, requests, ctx));
    for (int i = 0; i < count; i++) {
        nb_measures *m = &requests[i].measures;
        if (requests[i].seen == 0) { /* all rows are unseen by a core that has read none */
            m->error_unseen = m->error;
            m->error_unseen_subspace = m->error_subspace;
            m->error_unseen_core = m->error_core;
        }
        if (!stochastic) m->rowsum_deviation = NAN;
    }
    return NB_OK;
}
