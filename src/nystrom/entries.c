/* SPDX-License-Identifier: GPL-3.0-or-later */
/* entries.c - F X B by stripes, one pair after the other. */
#include "nystrom/factor_batch.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "nystrom/scene_record.h"

#include <math.h>

/* The rows of S that are kept, in place of those of F X B in a stripe. */
static nb_status put_exact(const nb_scene *scene, int kept, const int *order, int first, int count, double *rows,
                           nb_ctx *ctx)
{
    for (int i = 0; i < kept; i++)
        if (order[i] >= first && order[i] < first + count)
            NB_TRY(ctx, nb_scene_some_rows(scene, 1, &order[i],
                                           rows + (size_t)(order[i] - first) * (size_t)scene->head->n, ctx));
    return NB_OK;
}

/* Measures the entries of F X B, formed by stripes from F and B themselves, since a zero entry would be rounding of
 * either sign in Q_F C Q_B'. Here too it may be, if it is a sum of terms that cancel, or X has rounding in place of
 * zeros (under a mask): entries within entry_noise, a bound for all entries, do not count as negative. */
static nb_status entries(const nb_projection *p, const double *f, const double *b, nb_request *r, const int *order,
                         unsigned wanted, nb_ctx *ctx)
{
    nb_measures *out = &r->measures;
    size_t n = (size_t)p->n, m = (size_t)p->m;
    double *g, *rows, negative = 0, mass = 0, entropy = 0, of_s = 0;
    NB_NEED(g, nb_alloc_raw(ctx, m * NB_STRIPE));
    NB_NEED(rows, nb_alloc_raw(ctx, n * NB_STRIPE));
    for (int first = 0; first < p->n; first += NB_STRIPE) {
        /* G = X' F' of the stripe's rows of F, then the rows of F X B: B' G. */
        int count = p->n - first < NB_STRIPE ? p->n - first : NB_STRIPE;
        nb_gemm(NB_TRANSPOSED, NB_PLAIN, p->m, count, p->m, 1, r->x, p->m, f + (size_t)first * m, p->m, 0, g, p->m);
        nb_gemm(NB_PLAIN, NB_PLAIN, p->n, count, p->m, 1, b, p->n, g, p->m, 0, rows, p->n);
        if (r->keep_rows) NB_TRY(ctx, put_exact(p->scene, r->seen, order, first, count, rows, ctx));
        /* How many entries are negative and their sum; the entropy. */
        double number, sum;
        nb_negatives(n * (size_t)count, rows, -r->entry_noise, &number, &sum);
        negative += number;
        mass += sum;
        if (wanted & NB_WANT_ENTROPY) entropy += nb_entropy(n * (size_t)count, rows);
    }
    /* The share of the n^2 entries, and mass and entropy of a row in the mean. */
    if (wanted & NB_WANT_ENTRIES) {
        out->negative_fraction = negative / p->n / p->n;
        out->negative_mass = mass / p->n;
    }
    if (wanted & NB_WANT_ENTROPY) {
        NB_TRY(ctx, nb_scene_entropy(p->scene, &of_s, ctx));
        out->entropy_difference = fabs(of_s - entropy / p->n);
    }
    return NB_OK;
}

/* The entries of the requests on one pair. */
static nb_status entries_of_pair(const nb_batch *b, int pair, const double *f, unsigned wanted, int count,
                                 nb_request *requests, nb_ctx *ctx)
{
    const nb_view *v = &b->views[pair];
    double *rows;
    NB_NEED(rows, nb_alloc_raw(ctx, (size_t)v->p.n * (size_t)v->p.m));
    NB_TRY(ctx, nb_factor_b(b->scene, b->pairs[pair].landmarks, b->pairs[pair].kind, rows, NULL, ctx));
    for (int i = 0; i < count; i++) {
        if (nb_view_of(&requests[i]) != v || requests[i].failure || !isfinite(requests[i].measures.error)) continue;
        nb_mark mark = nb_ctx_mark(ctx);
        nb_status status = entries(&v->p, f, rows, &requests[i], b->order, wanted, ctx);
        nb_ctx_release(ctx, mark);
        NB_TRY(ctx, status);
    }
    return NB_OK;
}

static void fail_requests(const nb_view *v, const char *failure, int count, nb_request *requests)
{
    for (int i = 0; i < count; i++)
        if (nb_view_of(&requests[i]) == v && !requests[i].failure) requests[i].failure = failure;
}

nb_status nb_measure_entries(nb_batch *b, unsigned wanted, int count, nb_request *requests, nb_ctx *ctx)
{
    double **f;
    NB_NEED(f, nb_alloc(ctx, (size_t)b->count, sizeof *f));
    for (int i = 0; i < b->count; i++) b->views[i].todo = false;
    for (int i = 0; i < count; i++)
        if (!requests[i].failure) nb_view_of(&requests[i])->todo = true;
    NB_TRY(ctx, nb_batch_form_f(b, f, ctx));
    for (int i = 0; i < b->count; i++) {
        const char *failure = b->pairs[i].failure; /* of F, this time */
        if (!b->views[i].todo) continue;
        if (!failure) {
            nb_mark mark = nb_ctx_mark(ctx);
            nb_status status = entries_of_pair(b, i, f[i], wanted, count, requests, ctx);
            nb_ctx_release(ctx, mark);
            if (status != NB_OK) NB_TRY(ctx, nb_record_failure(&failure, ctx));
        }
        if (failure) fail_requests(&b->views[i], failure, count, requests);
    }
    return NB_OK;
}
