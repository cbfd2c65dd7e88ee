/* SPDX-License-Identifier: GPL-3.0-or-later */
/* streamed.c - measures all factor pairs of an instance from one pass over S:
 *
 * 1. One pass gives M and the subspace part of every pair (project.c).
 * 2. m x m algebra gives the measures of each core.
 * 3. Measures that need entries of F X B are computed by stripes (entries.c), norms of differences by Lanczos
 *    (spectral.c). */
#include "nystrom/streamed.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "nystrom/deviations.h"
#include "nystrom/factor_batch.h"
#include "nystrom/mixed.h"
#include "nystrom/scene_record.h"
#include "nystrom/spectral.h"
#include "nystrom/unseen.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double rounding = 16 * DBL_EPSILON; /* of |S|^2 in a difference of squares, and of sums over all entries */

/* Projects the outputs: computes what S V and F X B V need. */
static nb_status project_output(nb_projection *p, nb_ctx *ctx)
{
    const nb_head *h = p->scene->head;
    size_t size = (size_t)p->m * (size_t)h->dv, all = (size_t)h->dv * (size_t)h->n;
    const double *output;
    double *outside;
    NB_TRY(ctx, nb_scene_output(p->scene, &output, ctx));
    NB_NEED(p->exact_output, nb_alloc_reals(ctx, size, 2));
    p->output_b = p->exact_output + size;
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, p->m, h->dv, h->n, 1, p->q_f, p->m, output, h->dv, 0, p->exact_output, p->m);
    nb_gemm(NB_TRANSPOSED, NB_TRANSPOSED, p->m, h->dv, h->n, 1, p->q_b, h->n, h->v, h->dv, 0, p->output_b, p->m);
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(outside, nb_alloc_raw(ctx, all));
    memcpy(outside, output, all * sizeof *outside);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, h->dv, h->n, p->m, -1, p->exact_output, p->m, p->q_f, p->m, 1, outside, h->dv);
    p->output_norm = nb_frobenius(all, output);
    p->output_outside = nb_frobenius(all, outside);
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

/* What rounding in the factors does to the subspace parts. */
static nb_status find_turned(nb_batch *b, nb_ctx *ctx)
{
    double norm;
    NB_TRY(ctx, nb_scene_norm(b->scene, &norm, ctx));
    for (int i = 0; i < b->count; i++) {
        nb_projection *p = &b->views[i].p;
        if (b->pairs[i].failure) continue;
        if (nb_subspace_noise(p->factors, p->n, &b->views[i].offer.ranges, norm, &p->turned, ctx) != NB_OK)
            NB_TRY(ctx, nb_record_failure(&b->pairs[i].failure, ctx));
    }
    return NB_OK;
}

nb_status nb_streamed_prepare(nb_scene *scene, const nb_how *how, int count, nb_pair *pairs, nb_engine_times *times,
                              nb_ctx *ctx)
{
    nb_batch *b;
    NB_TRY(ctx, nb_batch_new(scene, how, count, pairs, &b, ctx));
    NB_TRY(ctx, nb_batch_project(b, how->precision, ctx));
    for (int i = 0; i < count; i++)
        if (!pairs[i].failure && (how->wanted & NB_WANT_OUTPUT) && scene->head->v)
            NB_TRY(ctx, project_output(&b->views[i].p, ctx));
    NB_TRY(ctx, find_turned(b, ctx));
    *times = b->times;
    return NB_OK;
}

/* |(S - F X B) V|: outside of range(F), and inside. */
static nb_status output_error(const nb_projection *p, const double *c, double *error, nb_ctx *ctx)
{
    size_t size = (size_t)p->m * (size_t)p->scene->head->dv;
    double *inside;
    NB_NEED(inside, nb_alloc_raw(ctx, size));
    memcpy(inside, p->exact_output, size * sizeof *inside);
    nb_gemm(NB_PLAIN, NB_PLAIN, p->m, p->scene->head->dv, p->m, -1, c, p->m, p->output_b, p->m, 1, inside, p->m);
    *error = nb_hypotenuse(p->output_outside, nb_frobenius(size, inside)) / p->output_norm;
    return NB_OK;
}

/* All but rowsum_deviation and what the entries or the spectrum of S give. */
static nb_status measure(const nb_view *v, nb_request *r, double *c, nb_ctx *ctx)
{
    const nb_projection *p = &v->p;
    nb_measures *out = &r->measures;
    const double *x = r->x;
    size_t square = (size_t)p->m * (size_t)p->m;
    double norm, noise, *scratch;
    nb_sizes sizes;
    nb_measures_clear(out);
    NB_NEED(scratch, nb_alloc_raw(ctx, square));
    NB_TRY(ctx, nb_scene_norm(p->scene, &norm, ctx));
    /* C = R_F X R_B' */
    nb_projection_core(p, x, scratch, c, &sizes);
    /* error^2 = subspace^2 + |C - M|^2/|S|^2 */
    out->error_subspace = p->subspace;
    for (size_t i = 0; i < square; i++) scratch[i] = p->mid[i] - c[i];
    out->error_core = nb_frobenius(square, scratch) / norm;
    out->error = nb_hypotenuse(out->error_subspace, out->error_core);
    if (!isfinite(out->error)) return NB_OK;
    /* |S - F X B|^2/n^2, and <S, F X B> = <M, C> over the norms */
    out->mse = pow(out->error * norm / p->n, 2);
    out->cosine = nb_dot(square, p->mid, c) / (norm * nb_frobenius(square, c));
    out->landmark_rank = p->landmark_rank;
    out->landmark_condition = p->landmark_condition;
    /* Rounding: of X, of the sums, and of single precision */
    r->entry_noise = nb_rounding_noise(p->factors, &sizes, 1);
    NB_TRY(ctx, nb_x_noise(p->factors, &r->rounding, &sizes, &(nb_sides){NB_PLAIN, p->m, p->m, p->r_f, p->r_b, 1}, norm,
                           &noise, ctx));
    out->error_noise = (v->differenced ? rounding * fmax(1, 1 / out->error) : rounding) + noise +
                       (v->single ? nb_mixed_promise * out->error : 0);
    out->error_subspace_noise = (v->differenced ? rounding * fmax(1, 1 / p->subspace) : rounding) + p->turned +
                                (v->single ? nb_mixed_promise * p->subspace : 0);
    NB_TRY(ctx, nb_core_residual(p->factors, x, &out->core_residual, ctx));
    NB_TRY(ctx, nb_scene_baseline_mean(p->scene, &out->baseline_mean, ctx));
    return p->exact_output ? output_error(p, c, &out->output_error, ctx) : NB_OK;
}

/* Measures again in double the requests whose core part may be off by more than is promised, and those whose
 * rows seen are to be subtracted, whatever stands beside them. */
static nb_status refine(nb_batch *b, int count, nb_request *requests, bool *again, nb_ctx *ctx)
{
    bool any = false;
    for (int i = 0; i < b->count; i++) b->views[i].todo = false;
    for (int i = 0; i < count; i++) {
        nb_view *v = nb_view_of(&requests[i]);
        again[i] = !requests[i].failure && v->single &&
                   (nb_mixed_misses_core(v, requests[i].measures.error_core) || requests[i].seen > 0);
        if (again[i]) any = v->todo = true;
    }
    return any ? nb_batch_project_again(b, ctx) : NB_OK;
}

static bool are_alike(size_t m, const nb_request *a, const nb_request *b)
{
    const nb_rounding *x = &a->rounding, *y = &b->rounding;
    return a->seen == b->seen && a->order == b->order && a->keep_rows == b->keep_rows && x->epsilon == y->epsilon &&
           x->kept == y->kept && x->iterated == y->iterated && memcmp(a->x, b->x, m * m * sizeof *a->x) == 0;
}

/* Returns the first request with the same X, rounding and rows seen, which is measured again whenever that one is:
 * settings of a core often end alike. */
static int first_alike(size_t m, const nb_request *requests, int i)
{
    int k = 0;
    while (k < i && !are_alike(m, &requests[k], &requests[i])) k++;
    return k;
}

typedef struct { /* requests that are measured in one go */
    int count;
    nb_request *requests;
    const bool *which; /* of them; NULL: all */
    double *const *c;  /* where the C of each is kept; NULL: nowhere */
    double *scratch;   /* m x m for the largest m */
    int *alike;        /* count: the first with the same X */
    nb_deviations sums;
} measuring;

static nb_status measure_one(measuring *all, int i, nb_ctx *ctx)
{
    nb_request *r = &all->requests[i];
    const nb_view *v = nb_view_of(r);
    double *c = all->c ? all->c[i] : all->scratch;
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = measure(v, r, c, ctx);
    nb_ctx_release(ctx, mark);
    if (status != NB_OK) return nb_record_failure(&r->failure, ctx);
    if (isfinite(r->measures.error)) nb_deviations_add(&all->sums, &v->p, c, &r->measures);
    return NB_OK;
}

static void copy_measures(const measuring *all, size_t square, int i)
{
    nb_request *r = &all->requests[i];
    const nb_request *from = &all->requests[all->alike[i]];
    r->measures = from->measures;
    r->entry_noise = from->entry_noise;
    r->failure = from->failure;
    if (all->c) memcpy(all->c[i], all->c[all->alike[i]], square * sizeof **all->c);
}

/* Requests first ... end - 1, which are on one pair. */
static nb_status measure_pair(measuring *all, int first, int end, nb_ctx *ctx)
{
    const nb_projection *p = &nb_view_of(&all->requests[first])->p;
    size_t square = (size_t)p->m * (size_t)p->m;
    for (int i = first; i < end; i++) {
        all->alike[i] = i;
        if (all->which && !all->which[i]) continue;
        all->alike[i] = first + first_alike((size_t)p->m, all->requests + first, i - first);
        if (all->alike[i] == i) NB_TRY(ctx, measure_one(all, i, ctx));
    }
    nb_deviations_end(&all->sums, p);
    for (int i = first; i < end; i++)
        if (all->alike[i] < i) copy_measures(all, square, i);
    return NB_OK;
}

/* Those of `which`; NULL: all. */
static nb_status measure_all(int count, nb_request *requests, const bool *which, double *const *c, nb_ctx *ctx)
{
    measuring all = {.count = count, .requests = requests, .which = which, .c = c};
    int m = 0;
    for (int i = 0; i < count; i++)
        m = requests[i].pair->landmarks->keys.m > m ? requests[i].pair->landmarks->keys.m : m;
    NB_NEED(all.scratch, nb_alloc_raw(ctx, (size_t)m * (size_t)m));
    NB_NEED(all.alike, nb_alloc(ctx, (size_t)count, sizeof *all.alike));
    NB_TRY(ctx, nb_deviations_init(&all.sums, m, count, ctx));
    for (int i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && requests[next].pair == requests[i].pair;) next++;
        NB_TRY(ctx, measure_pair(&all, i, next, ctx));
    }
    return NB_OK;
}

/* Fills the *_unseen measures of requests whose core or strategy has read rows of S. */
static nb_status tell_unseen(const nb_batch *b, int count, nb_request *requests, nb_ctx *ctx)
{
    for (int i = 0; i < count; i++) {
        nb_request *r = &requests[i];
        const nb_view *v = nb_view_of(r);
        if (r->seen == 0 || r->failure || !isfinite(r->measures.error)) continue;
        nb_mark mark = nb_ctx_mark(ctx);
        nb_status status =
            nb_unseen_measure(&v->p, &(nb_seen){r->order ? r->order : b->order, r->order, r->seen, r->keep_rows}, r->x,
                              &r->measures, ctx);
        nb_ctx_release(ctx, mark);
        if (status != NB_OK) NB_TRY(ctx, nb_record_failure(&r->failure, ctx));
    }
    return NB_OK;
}

/* The spectral norms of all differences, together. */
static nb_status spectral(nb_scene *scene, const int *order, int count, nb_request *requests, double *const *c,
                          nb_ctx *ctx)
{
    nb_difference *differences;
    nb_request **of;
    int used = 0;
    NB_NEED(differences, nb_alloc(ctx, (size_t)count, sizeof *differences));
    NB_NEED(of, nb_alloc(ctx, (size_t)count, sizeof *of));
    for (int i = 0; i < count; i++) {
        const nb_projection *p = &nb_view_of(&requests[i])->p;
        if (requests[i].failure || !isfinite(requests[i].measures.error)) continue;
        of[used] = &requests[i];
        differences[used++] = (nb_difference){.m = p->m,
                                              .q_f = p->q_f,
                                              .c = c[i],
                                              .q_b = p->q_b,
                                              .zero = order,
                                              .zeros = requests[i].keep_rows ? requests[i].seen : 0};
    }
    if (used > 0) NB_TRY(ctx, nb_spectral_norms(scene, used, differences, ctx));
    for (int i = 0; i < used; i++) {
        of[i]->measures.spectral_error = differences[i].norm;
        of[i]->measures.spectral_accuracy = differences[i].accuracy;
        of[i]->failure = differences[i].failure;
    }
    return NB_OK;
}

/* Room for the C of each request. */
static nb_status keep_cores(int count, const nb_request *requests, double ***c, nb_ctx *ctx)
{
    NB_NEED(*c, nb_alloc(ctx, (size_t)count, sizeof **c));
    for (int i = 0; i < count; i++) {
        size_t m = (size_t)requests[i].pair->landmarks->keys.m;
        NB_NEED((*c)[i], nb_alloc_raw(ctx, m * m));
    }
    return NB_OK;
}

nb_status nb_streamed_measure(nb_scene *scene, const nb_how *how, int count, nb_request *requests, nb_ctx *ctx)
{
    double **c = NULL;
    bool *again;
    nb_batch *b = nb_view_of(requests)->of;
    for (int i = 0; i < count; i++)
        NB_REQUIRE(ctx, nb_view_of(&requests[i])->of == b, NB_EBUG, "requests of two batches in one measurement");
    if (how->wanted & NB_WANT_SPECTRAL) NB_TRY(ctx, keep_cores(count, requests, &c, ctx));
    NB_NEED(again, nb_alloc(ctx, (size_t)count, sizeof *again));
    NB_TRY(ctx, measure_all(count, requests, NULL, c, ctx));
    if (how->precision == NB_MIXED) {
        NB_TRY(ctx, refine(b, count, requests, again, ctx));
        NB_TRY(ctx, measure_all(count, requests, again, c, ctx));
    }
    NB_TRY(ctx, tell_unseen(b, count, requests, ctx));
    if (how->wanted & (NB_WANT_ENTRIES | NB_WANT_ENTROPY))
        NB_TRY(ctx, nb_measure_entries(b, how->wanted, count, requests, ctx));
    return how->wanted & NB_WANT_SPECTRAL ? spectral(scene, b->order, count, requests, c, ctx) : NB_OK;
}
