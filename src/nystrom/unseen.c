/* SPDX-License-Identifier: GPL-3.0-or-later */
/* unseen.c - with T = S - F X B, I the rows seen and q_i the rows of Q_F,
 *     |T_U|^2 = |T|^2 - |T_I|^2,   |T_I|^2 = sum over I of |s_i|^2 - |s_i Q_B|^2 + |s_i Q_B - q_i C|^2.
 * Of all C the one with the least |T_U| solves G C = Q_U' S_U Q_B = M - Q_I' S_I Q_B,
 * G = Q_U' Q_U = 1 - Q_I' Q_I, and any other C misses |G^1/2 (C - that)|^2 more.
 * Where G is nearly singular, rounding of 1e-16 in it is more than the rows U have of some direction. Then an
 * orthonormal basis W of range(F_U) is found from F_U itself, and
 *     |T_U|^2 = |S_U|^2 - |H|^2 + |H - W' F_U X R_B'|^2,   H = W' S_U Q_B,
 * for which the rows U are formed.
 *
 * |T|^2 is right to 1e-14 of |S|^2. Where |T_U|^2 is below 1e-6 of that the rows U are
 * therefore formed and summed: above, |T_U| is right to 5e-9 relative. */
#include "nystrom/unseen.h"

#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "nystrom/exact_rows.h"
#include "nystrom/scene_record.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double small = 1e-6;                /* of squares */
static const double thin = 1e-12;                /* the least eigenvalue of G that is known well enough */
static const double poor = 1e-6;                 /* its eigenvalues are right to 1e-16 */
static const double rounding = 16 * DBL_EPSILON; /* of |S|^2, or of |T|^2 if that is more, in a difference of squares */

typedef struct {
    const nb_projection *p;
    const nb_seen *seen;
    nb_exact_rows rows;
    double *q;                       /* m x seen: q_i of the rows seen */
    double *c;                       /* m x m */
    double *scratch;                 /* m x seen */
    double of_s, of_seen, of_unseen; /* |S|^2, |S_I|^2, |S_U|^2 */
    double outside;                  /* sum over I of |s_i|^2 - |s_i Q_B|^2 */
    bool subtracted;                 /* the last |T_U|^2 is a difference */
    double *vectors, *values;        /* of G: m x m, m */
} unseen;

/* Columns of Q_F (by rows) of some tokens. */
static void gather_rows(const nb_projection *p, int count, const int *tokens, double *q)
{
    size_t m = (size_t)p->m;
    for (size_t i = 0; i < (size_t)count; i++) memcpy(q + i * m, p->q_f + (size_t)tokens[i] * m, m * sizeof *q);
}

/* Calls `each` for the rows U, a stripe at a time. */
typedef nb_status stripe_fn(const unseen *u, int count, const int *tokens, const double *q, void *self, nb_ctx *ctx);

static nb_status each_stripe(const unseen *u, stripe_fn *each, void *self, nb_ctx *ctx)
{
    double *q;
    nb_status status = NB_OK;
    nb_mark all = nb_ctx_mark(ctx);
    NB_NEED(q, nb_alloc_raw(ctx, (size_t)u->p->m * NB_STRIPE));
    for (int i = u->seen->seen; i < u->p->n && status == NB_OK; i += NB_STRIPE) {
        int count = u->p->n - i < NB_STRIPE ? u->p->n - i : NB_STRIPE;
        nb_mark mark = nb_ctx_mark(ctx);
        gather_rows(u->p, count, u->seen->order + i, q);
        status = each(u, count, u->seen->order + i, q, self, ctx);
        nb_ctx_release(ctx, mark);
    }
    nb_ctx_release(ctx, all);
    return status;
}

typedef struct {
    const double *c;
    double difference, of_s; /* sums of squares */
} direct_sums;

static nb_status add_directly(const unseen *u, int count, const int *tokens, const double *q, void *self, nb_ctx *ctx)
{
    direct_sums *sums = self;
    int n = u->p->n, m = u->p->m;
    size_t size = (size_t)n * (size_t)count;
    double *rows, *g;
    NB_NEED(rows, nb_alloc_raw(ctx, size));
    NB_NEED(g, nb_alloc_raw(ctx, (size_t)m * (size_t)count));
    NB_TRY(ctx, nb_scene_some_rows(u->p->scene, count, tokens, rows, ctx));
    sums->of_s += nb_sum_of_squares(size, rows);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, count, m, 1, sums->c, m, q, m, 0, g, m);
    nb_gemm(NB_PLAIN, NB_PLAIN, n, count, m, -1, u->p->q_b, n, g, m, 1, rows, n);
    sums->difference += nb_sum_of_squares(size, rows);
    return NB_OK;
}

/* |T_U|^2 of Q_F C Q_B'. */
static nb_status squares(unseen *u, const double *c, double *out, nb_ctx *ctx)
{
    const nb_projection *p = u->p;
    int m = p->m, k = u->seen->seen;
    size_t square = (size_t)m * (size_t)m, count = (size_t)m * (size_t)k;
    /* |T|^2 = |S|^2 subspace^2 + |C - M|^2 */
    double all = u->of_s * p->subspace * p->subspace + nb_squared_distance(square, p->mid, c);
    /* |T_I|^2: u->outside and |S_I Q_B - Q_I C|^2 */
    memcpy(u->scratch, u->rows.target, count * sizeof *u->scratch);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, k, m, -1, c, m, u->q, m, 1, u->scratch, m);
    *out = all - u->outside - nb_sum_of_squares(count, u->scratch);
    u->subtracted = *out >= small * fmax(all, u->of_s) && u->of_unseen >= small * u->of_s;
    if (u->subtracted) return NB_OK;
    /* Where that cancels, squares are summed row by row */
    direct_sums sums = {.c = c};
    NB_TRY(ctx, each_stripe(u, add_directly, &sums, ctx));
    *out = sums.difference;
    u->of_unseen = sums.of_s;
    return NB_OK;
}

static nb_status unseen_init(unseen *u, const nb_projection *p, const nb_seen *seen, const double *x, nb_ctx *ctx)
{
    size_t m = (size_t)p->m, k = (size_t)seen->seen;
    double norm;
    *u = (unseen){.p = p, .seen = seen};
    NB_TRY(ctx, nb_scene_norm(p->scene, &norm, ctx));
    NB_TRY(ctx, seen->own ? nb_factors_rows_in(p->factors, seen->seen, seen->order, &u->rows, ctx)
                          : nb_factors_rows(p->factors, seen->seen, &u->rows, ctx));
    NB_NEED(u->q, nb_alloc_raw(ctx, m * k));
    NB_NEED(u->scratch, nb_alloc_raw(ctx, m * (k > m ? k : m)));
    NB_NEED(u->c, nb_alloc_raw(ctx, m * m));
    NB_NEED(u->vectors, nb_alloc_raw(ctx, m * m));
    NB_NEED(u->values, nb_alloc_raw(ctx, m));
    gather_rows(p, seen->seen, seen->order, u->q);
    nb_projection_core(p, x, u->scratch, u->c, &(nb_sizes){.x = 0});
    u->of_s = norm * norm;
    u->of_seen = nb_sum(k, u->rows.squares);
    u->of_unseen = u->of_s - u->of_seen;
    for (size_t i = 0; i < k; i++)
        u->outside += fmax(0, u->rows.squares[i] - nb_sum_of_squares(m, u->rows.target + i * m));
    return NB_OK;
}

/* The eigenvectors of G. */
static nb_status decompose(unseen *u, nb_ctx *ctx)
{
    int m = u->p->m, k = u->seen->seen;
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, m, k, -1, u->q, m, u->q, m, 0, u->vectors, m);
    for (int i = 0; i < m; i++) u->vectors[i + i * m] += 1;
    NB_TRY(ctx, nb_symmetric_eigen(m, u->vectors, u->values, ctx));
    for (int i = 0; i < m; i++) u->values[i] = fmax(0, u->values[i]);
    return NB_OK;
}

/* |G^1/2 a|^2, a m x m. */
static double weighted(const unseen *u, const double *a, double *scratch)
{
    int m = u->p->m;
    double sum = 0;
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, m, m, 1, u->vectors, m, a, m, 0, scratch, m);
    for (int j = 0; j < m; j++)
        for (int i = 0; i < m; i++) sum += u->values[i] * scratch[i + j * m] * scratch[i + j * m];
    return sum;
}

typedef struct {
    int rank, at; /* at: rows of U that are done */
    double *w;    /* W, (n - seen) x rank */
    double *h;    /* rank x m */
    double of_s, missed;
} basis_sums;

static nb_status add_to_h(const unseen *u, int count, const int *tokens, const double *q, void *self, nb_ctx *ctx)
{
    basis_sums *b = self;
    int n = u->p->n, m = u->p->m, left = n - u->seen->seen;
    double *rows, *product;
    (void)q;
    NB_NEED(rows, nb_alloc_raw(ctx, (size_t)n * (size_t)count));
    NB_NEED(product, nb_alloc_raw(ctx, (size_t)m * (size_t)count));
    NB_TRY(ctx, nb_scene_some_rows(u->p->scene, count, tokens, rows, ctx));
    b->of_s += nb_sum_of_squares((size_t)n * (size_t)count, rows);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, count, m, n, 1, rows, n, u->p->q_b, n, 0, product, count);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, b->rank, m, count, 1, b->w + b->at, left, product, count, 1, b->h, b->rank);
    b->at += count;
    return NB_OK;
}

/* |S_U - W H Q_B'|^2 by entries. */
static nb_status add_missed(const unseen *u, int count, const int *tokens, const double *q, void *self, nb_ctx *ctx)
{
    basis_sums *b = self;
    int n = u->p->n, m = u->p->m, left = n - u->seen->seen;
    double *rows, *g;
    (void)q;
    NB_NEED(rows, nb_alloc_raw(ctx, (size_t)n * (size_t)count));
    NB_NEED(g, nb_alloc_raw(ctx, (size_t)m * (size_t)count));
    NB_TRY(ctx, nb_scene_some_rows(u->p->scene, count, tokens, rows, ctx));
    nb_gemm(NB_TRANSPOSED, NB_TRANSPOSED, m, count, b->rank, 1, b->h, b->rank, b->w + b->at, left, 0, g, m);
    nb_gemm(NB_PLAIN, NB_PLAIN, n, count, m, -1, u->p->q_b, n, g, m, 1, rows, n);
    b->missed += nb_sum_of_squares((size_t)n * (size_t)count, rows);
    b->at += count;
    return NB_OK;
}

/* The parts by W, of the rank that nb_orthonormalise would give F_U as a part of F. */
static nb_status parts_by_basis(unseen *u, const double *x, nb_measures *out, nb_ctx *ctx)
{
    const nb_projection *p = u->p;
    int m = p->m, left = p->n - u->seen->seen, most = left < m ? left : m;
    size_t square = (size_t)m * (size_t)m, tall = (size_t)left * (size_t)m;
    double *q, *f, *values, *inner, *c;
    basis_sums b = {.rank = 0};
    NB_NEED(q, nb_alloc_raw(ctx, tall));
    NB_NEED(f, nb_alloc_raw(ctx, tall));
    NB_NEED(b.w, nb_alloc_raw(ctx, tall));
    NB_NEED(values, nb_alloc_raw(ctx, (size_t)m));
    NB_NEED(inner, nb_alloc_raw(ctx, 2 * square));
    c = inner + square;
    /* F_U = Q_U R_F, transposed */
    gather_rows(p, left, u->seen->order + u->seen->seen, q);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, left, m, 1, p->r_f, m, q, m, 0, f, m);
    /* W: the left singular vectors of F_U that are more than rounding */
    NB_TRY(ctx, nb_singular_vectors(NB_ROWS, left, m, f, values, b.w, ctx));
    while (b.rank < most && values[b.rank] > DBL_EPSILON * p->n * values[0]) b.rank++;
    NB_NEED(b.h, nb_alloc_reals(ctx, (size_t)b.rank, (size_t)m));
    /* H = W' S_U Q_B */
    NB_TRY(ctx, each_stripe(u, add_to_h, &b, ctx));
    size_t count = (size_t)b.rank * (size_t)m;
    /* |S_U|^2 - |H|^2 or, where that cancels, its sum row by row */
    double least = b.of_s - nb_sum_of_squares(count, b.h);
    if (least < small * b.of_s) {
        b.at = 0;
        NB_TRY(ctx, each_stripe(u, add_missed, &b, ctx));
        least = b.missed;
    }
    out->error_unseen_subspace = sqrt(least / u->of_unseen);
    /* W' F_U X R_B', and its distance from H */
    nb_gemm(NB_TRANSPOSED, NB_TRANSPOSED, b.rank, m, left, 1, b.w, left, f, m, 0, c, b.rank);
    nb_gemm(NB_PLAIN, NB_PLAIN, b.rank, m, m, 1, c, b.rank, x, m, 0, inner, b.rank);
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, b.rank, m, m, 1, inner, b.rank, p->r_b, m, 0, c, b.rank);
    out->error_unseen_core = sqrt(nb_squared_distance(count, b.h, c) / u->of_unseen);
    return NB_OK;
}

/* error_unseen_subspace and error_unseen_core. Where the rows U hardly tell some columns of
 * F apart the latter is what is left of error_unseen: rounding in G would make it up. */
static nb_status parts(unseen *u, double missed, nb_measures *out, nb_ctx *ctx)
{
    const nb_projection *p = u->p;
    int m = p->m, k = u->seen->seen;
    size_t square = (size_t)m * (size_t)m;
    double *best, *turned, least;
    NB_NEED(best, nb_alloc_raw(ctx, 2 * square));
    turned = best + square;
    /* G times the best C: M - Q_I' S_I Q_B */
    memcpy(best, p->mid, square * sizeof *best);
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, m, k, -1, u->q, m, u->rows.target, m, 1, best, m);
    /* The best C, with G = V diag(g) V': V diag(1/g) V' of that */
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, m, m, 1, u->vectors, m, best, m, 0, turned, m);
    for (int j = 0; j < m; j++)
        for (int i = 0; i < m; i++) turned[i + j * m] = turned[i + j * m] / u->values[i];
    nb_gemm(NB_PLAIN, NB_PLAIN, m, m, m, 1, u->vectors, m, turned, m, 0, best, m);
    /* Its |T_U|^2; then |G^1/2 (best - C)|^2, which C misses more */
    NB_TRY(ctx, squares(u, best, &least, ctx));
    out->error_unseen_subspace = sqrt(least / u->of_unseen);
    for (size_t i = 0; i < square; i++) best[i] -= u->c[i];
    double core = u->values[m - 1] > poor ? weighted(u, best, turned) : fmax(0, missed - least);
    out->error_unseen_core = sqrt(core / u->of_unseen);
    return NB_OK;
}

typedef struct {
    double *weights;          /* C Q_B' 1, m */
    double deviation, inside; /* |F_U X B|^2 */
    const double *exact;      /* S V by rows, dv x n; NULL: not asked for */
    double *output;           /* V' Q_B C', dv x m */
    double squares;           /* of the outputs' difference */
} kept_sums;

static nb_status add_kept(const unseen *u, int count, const int *tokens, const double *q, void *self, nb_ctx *ctx)
{
    kept_sums *sums = self;
    int m = u->p->m;
    size_t dv = (size_t)u->p->scene->head->dv;
    double *difference, *product;
    NB_NEED(product, nb_alloc_raw(ctx, (size_t)m * (size_t)count));
    /* |F_U X B|^2 = |Q_U C|^2, and row sums q_i C Q_B' 1 */
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, count, m, 1, u->c, m, q, m, 0, product, m);
    sums->inside += nb_sum_of_squares((size_t)m * (size_t)count, product);
    for (int i = 0; i < count; i++)
        sums->deviation = fmax(sums->deviation, fabs(nb_dot((size_t)m, q + i * m, sums->weights) - 1));
    if (!sums->exact) return NB_OK;
    /* (S V - Q_F C Q_B' V)' of the rows U */
    NB_NEED(difference, nb_alloc_raw(ctx, dv * (size_t)count));
    for (size_t i = 0; i < (size_t)count; i++)
        memcpy(difference + i * dv, sums->exact + (size_t)tokens[i] * dv, dv * sizeof *difference);
    nb_gemm(NB_PLAIN, NB_PLAIN, (int)dv, count, m, -1, sums->output, (int)dv, q, m, 1, difference, (int)dv);
    sums->squares += nb_sum_of_squares(dv * (size_t)count, difference);
    return NB_OK;
}

/* Computes row sums and outputs with the seen rows of S returned exactly, and *inside = |F_U X B|^2. */
static nb_status keep_sums(const unseen *u, nb_measures *out, double *inside, nb_ctx *ctx)
{
    const nb_projection *p = u->p;
    int m = p->m, dv = p->scene->head->dv;
    kept_sums sums = {.deviation = 0};
    NB_NEED(sums.weights, nb_alloc_raw(ctx, (size_t)m));
    nb_gemv(NB_PLAIN, m, m, 1, u->c, m, p->ones, 0, sums.weights);
    if (p->exact_output) {
        NB_TRY(ctx, nb_scene_output(p->scene, &sums.exact, ctx));
        NB_NEED(sums.output, nb_alloc_raw(ctx, (size_t)dv * (size_t)m));
        nb_gemm(NB_TRANSPOSED, NB_TRANSPOSED, dv, m, m, 1, p->output_b, m, u->c, m, 0, sums.output, dv);
    }
    NB_TRY(ctx, each_stripe(u, add_kept, &sums, ctx));
    *inside = sums.inside;
    out->rowsum_deviation = nb_all_finite((size_t)m, sums.weights) ? sums.deviation : NAN;
    if (sums.exact) out->output_error = sqrt(sums.squares) / p->output_norm;
    return NB_OK;
}

/* 2 <S_U, T'> = |S_U|^2 + |T'|^2 - |S_U - T'|^2, T' = F_U X B. */
static nb_status keep_rows(const unseen *u, double missed, bool subtracted, nb_measures *out, nb_ctx *ctx)
{
    double of_s = u->of_seen + u->of_unseen, inside, whole = fmax(1, out->error);
    NB_TRY(ctx, keep_sums(u, out, &inside, ctx));
    double norm2 = u->of_seen + inside;
    out->error = sqrt(missed / of_s);
    if (subtracted) out->error_noise = fmax(out->error_noise, rounding * whole * whole / out->error);
    out->error_core = NAN;
    out->mse = missed / u->p->n / u->p->n;
    out->cosine = norm2 >= DBL_MIN ? (u->of_seen + (u->of_unseen + inside - missed) / 2) / sqrt(of_s * norm2) : NAN;
    return NB_OK;
}

nb_status nb_unseen_measure(const nb_projection *p, const nb_seen *seen, const double *x, nb_measures *out, nb_ctx *ctx)
{
    unseen u;
    double missed = 0;
    NB_TRY(ctx, unseen_init(&u, p, seen, x, ctx));
    if (seen->seen < p->n) NB_TRY(ctx, squares(&u, u.c, &missed, ctx));
    bool subtracted = u.subtracted;
    if (seen->seen == p->n) u.of_unseen = 0;
    if (u.of_unseen > 0) {
        out->error_unseen = sqrt(missed / u.of_unseen);
        NB_TRY(ctx, decompose(&u, ctx));
        NB_TRY(ctx, u.values[p->m - 1] > thin ? parts(&u, missed, out, ctx) : parts_by_basis(&u, x, out, ctx));
    }
    return seen->keep ? keep_rows(&u, missed, subtracted, out, ctx) : NB_OK;
}
