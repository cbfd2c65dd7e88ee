/* SPDX-License-Identifier: GPL-3.0-or-later */
/* direct.c - with G = X' F' (m x n), row i of F X B is column i of B' G. */
#include "nystrom/direct.h"

#include "base/clock.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "nystrom/exact_rows.h"
#include "nystrom/factors_record.h"
#include "nystrom/projection.h"
#include "nystrom/scene_record.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { TILE = 256 };
static const double rounding = 16 * DBL_EPSILON; /* of the error, in sums over all entries */

double nb_direct_bytes(double n, double m, unsigned wanted, bool unseen)
{
    double bytes = 8 * (4 * n * m + n * TILE);
    if (wanted & NB_WANT_SPECTRAL) bytes += 16 * n * n;
    return unseen ? bytes + 8 * n * (n + 5 * m) : bytes;
}

typedef struct { /* nb_pair.own */
    nb_scene *scene;
    nb_factors *factors;
    int n, m, rank_f, rank_b;
    double *q_f, *q_b; /* n x rank_f, n x rank_b */
    nb_offer offer;
    double *f, *b;   /* F by rows, m x n; B by rows, n x m */
    double *mid;     /* M = Q_F' S Q_B, rank_f x rank_b */
    double *r_f;     /* Q_F' F, rank_f x m */
    double *r_b;     /* Q_B' B', rank_b x m */
    double subspace; /* |S - Q_F M Q_B'|_F / |S|_F */
    double turned;   /* what rounding in F and B does to it */
    double landmark_rank, landmark_condition;
} direct;

/* |S - Q_F M Q_B'|_F, summed entry by entry. */
static nb_status subspace_residual(const double *rows, int n, const direct *d, const double *q_f, const double *q_b,
                                   double *norm, nb_ctx *ctx)
{
    double *g, *tile, sum = 0;
    NB_NEED(g, nb_alloc_reals(ctx, (size_t)d->rank_b, (size_t)n));
    NB_NEED(tile, nb_alloc_reals(ctx, (size_t)n, TILE));
    nb_gemm(NB_TRANSPOSED, NB_TRANSPOSED, d->rank_b, n, d->rank_f, 1, d->mid, d->rank_f, q_f, n, 0, g, d->rank_b);
    for (int i = 0; i < n; i += TILE) {
        int count = n - i < TILE ? n - i : TILE;
        size_t size = (size_t)n * (size_t)count;
        memcpy(tile, rows + (size_t)i * (size_t)n, size * sizeof *tile);
        nb_gemm(NB_PLAIN, NB_PLAIN, n, count, d->rank_b, -1, q_b, n, g + (size_t)i * (size_t)d->rank_b, d->rank_b, 1,
                tile, n);
        double part = 0;
#pragma omp simd reduction(+ : part)
        for (size_t j = 0; j < size; j++) part += tile[j] * tile[j];
        sum += part;
    }
    *norm = sqrt(sum);
    return NB_OK;
}

static nb_status project(direct *d, nb_ctx *ctx)
{
    int n = d->n, m = d->m;
    size_t tall = (size_t)n * (size_t)m;
    const double *rows;
    double *q_f = d->q_f, *q_b = d->q_b, *f_tall, *product, norm, residual;
    NB_TRY(ctx, nb_scene_rows(d->scene, &rows, ctx));
    NB_TRY(ctx, nb_scene_norm(d->scene, &norm, ctx));
    NB_NEED(f_tall, nb_alloc_reals(ctx, tall, 2));
    product = f_tall + tall;
    nb_transpose(m, n, d->f, f_tall);
    NB_TRY(ctx, nb_range_basis(n, m, f_tall, q_f, &d->rank_f, ctx));
    NB_TRY(ctx, nb_range_basis(n, m, d->b, q_b, &d->rank_b, ctx));
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, n, d->rank_b, n, 1, rows, n, q_b, n, 0, product, n);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, d->rank_f, d->rank_b, n, 1, q_f, n, product, n, 0, d->mid, d->rank_f);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, d->rank_f, m, n, 1, q_f, n, f_tall, n, 0, d->r_f, d->rank_f);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, d->rank_b, m, n, 1, q_b, n, d->b, n, 0, d->r_b, d->rank_b);
    NB_TRY(ctx, subspace_residual(rows, n, d, q_f, q_b, &residual, ctx));
    d->subspace = residual / norm;
    const nb_ranges ranges = {d->rank_f, d->rank_b, d->r_f, d->r_b, d->mid};
    NB_TRY(ctx, nb_subspace_noise(d->factors, n, &ranges, norm, &d->turned, ctx));
    return NB_OK;
}

static nb_status form_matrices(direct *d, const nb_pair *pair, nb_ctx *ctx)
{
    size_t m = (size_t)d->m, n = (size_t)d->n;
    nb_interpolation own;
    NB_NEED(d->f, nb_alloc_reals(ctx, m, n));
    NB_NEED(d->b, nb_alloc_reals(ctx, n, m));
    NB_TRY(ctx, nb_factor_b(d->scene, pair->landmarks, pair->kind, d->b, &own, ctx));
    NB_TRY(ctx, nb_factor_a(d->scene, pair->landmarks, pair->kind, d->b, &own, &d->factors, ctx));
    if (pair->kind != NB_CUR)
        return nb_factor_f(d->scene, pair->landmarks, d->factors->interpolation.bias, d->n, NULL, d->f, ctx);
    nb_f_columns columns[] = {{&pair->landmarks->keys, d->f}, {NULL, NULL}};
    return nb_factor_columns(d->scene, columns, ctx);
}

static nb_status prepare_pair(nb_scene *scene, const nb_how *how, nb_pair *pair, nb_ctx *ctx)
{
    direct *d;
    NB_NEED(d, nb_alloc(ctx, 1, sizeof *d));
    *d = (direct){.scene = scene, .n = scene->head->n, .m = pair->landmarks->queries.m};
    size_t square = (size_t)d->m * (size_t)d->m;
    NB_NEED(d->mid, nb_alloc_reals(ctx, square, 3));
    d->r_f = d->mid + square;
    d->r_b = d->r_f + square;
    NB_NEED(d->q_f, nb_alloc_reals(ctx, (size_t)d->n, 2 * (size_t)d->m));
    d->q_b = d->q_f + (size_t)d->n * (size_t)d->m;
    NB_TRY(ctx, form_matrices(d, pair, ctx));
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = project(d, ctx);
    nb_ctx_release(ctx, mark);
    NB_TRY(ctx, status);
    NB_TRY(ctx, nb_landmarks_of_a(d->factors, &d->landmark_rank, &d->landmark_condition, ctx));
    d->offer = (nb_offer){scene,  pair->landmarks, pair->kind, {d->rank_f, d->rank_b, d->r_f, d->r_b, d->mid},
                          d->q_b, how->order};
    nb_factors_offer(d->factors, &d->offer);
    pair->factors = d->factors;
    pair->own = d;
    return NB_OK;
}

nb_status nb_direct_prepare(nb_scene *scene, const nb_how *how, int count, nb_pair *pairs, nb_engine_times *times,
                            nb_ctx *ctx)
{
    double start_s = nb_clock_s();
    for (int i = 0; i < count; i++)
        if (prepare_pair(scene, how, &pairs[i], ctx) != NB_OK) NB_TRY(ctx, nb_record_failure(&pairs[i].failure, ctx));
    times->pass_s = nb_clock_s() - start_s;
    return NB_OK;
}

/* |M - R_F X R_B'|_F, and how large all is. */
static nb_status core_part(const direct *d, const double *x, double *norm, nb_sizes *sizes, nb_ctx *ctx)
{
    int m = d->m;
    size_t square = (size_t)m * (size_t)m, of_f = (size_t)d->rank_f * (size_t)m, of_b = (size_t)d->rank_b * (size_t)m;
    double *left, *right, *difference;
    NB_NEED(left, nb_alloc_reals(ctx, square, 3));
    right = left + square;
    difference = right + square;
    size_t count = (size_t)d->rank_f * (size_t)d->rank_b;
    memcpy(difference, d->mid, count * sizeof *difference);
    nb_gemm(NB_PLAIN, NB_PLAIN, d->rank_f, m, m, 1, d->r_f, d->rank_f, x, m, 0, left, d->rank_f);
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, d->rank_b, m, 1, x, m, d->r_b, d->rank_b, 0, right, m);
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, d->rank_f, d->rank_b, m, -1, left, d->rank_f, d->r_b, d->rank_b, 1, difference,
            d->rank_f);
    *norm = nb_frobenius(count, difference);
    *sizes = (nb_sizes){.f = nb_frobenius(of_f, d->r_f),
                        .b = nb_frobenius(of_b, d->r_b),
                        .x = nb_frobenius(square, x),
                        .fx = nb_frobenius(of_f, left),
                        .xb = nb_frobenius(of_b, right)};
    return NB_OK;
}

typedef struct { /* sums over the entries s of S and t of F X B, or of S itself in rows that are kept */
    double difference, unseen, unseen_of_s, s_t, t_t, negative, negative_mass, entropy_s, entropy_t, rowsum_deviation;
} sums;

static double row_entropy(int n, const double *p)
{
    double sum = 0;
    for (int j = 0; j < n; j++)
        if (p[j] > 0) sum -= p[j] * log(p[j] + 1e-9);
    return sum;
}

/* Entries of t below `limit` are negative. */
static void add_row(int n, const double *s, const double *t, double limit, unsigned wanted, sums *total)
{
    double difference = 0, row_sum = 0, s_t = 0, t_t = 0;
/* |s - t|^2, t'1, s't and |t|^2 of a row s of S and t of F X B */
#pragma omp simd reduction(+ : difference, row_sum, s_t, t_t)
    for (int j = 0; j < n; j++) {
        difference += (s[j] - t[j]) * (s[j] - t[j]);
        row_sum += t[j];
        s_t += s[j] * t[j];
        t_t += t[j] * t[j];
    }
    total->difference += difference;
    total->rowsum_deviation = fmax(total->rowsum_deviation, fabs(row_sum - 1));
    total->s_t += s_t;
    total->t_t += t_t;
    if (wanted & NB_WANT_ENTRIES) {
        /* Entries that are negative by more than rounding, and their mass */
        double negative = 0, mass = 0;
#pragma omp simd reduction(+ : negative, mass)
        for (int j = 0; j < n; j++) {
            negative += t[j] < limit ? 1.0 : 0.0;
            mass += t[j] < limit ? -t[j] : 0.0;
        }
        total->negative += negative;
        total->negative_mass += mass;
    }
    if (wanted & NB_WANT_ENTROPY) {
        total->entropy_s += row_entropy(n, s);
        total->entropy_t += row_entropy(n, t);
    }
}

static void add_unseen(int n, const double *s, const double *t, sums *total)
{
    for (int j = 0; j < n; j++) {
        total->unseen += (s[j] - t[j]) * (s[j] - t[j]);
        total->unseen_of_s += s[j] * s[j];
    }
}

typedef struct {
    double *g;        /* m x n: X' F' */
    double *tile;     /* n x TILE */
    double *residual; /* n x n, S - F X B by rows; NULL: not asked for */
    bool *seen;       /* n: whether the core has looked at the row */
    bool keep;        /* those rows are S's own */
} buffers;

static nb_status buffers_init(buffers *b, const direct *d, const nb_request *r, const int *order, unsigned wanted,
                              nb_ctx *ctx)
{
    *b = (buffers){.keep = r->keep_rows};
    NB_NEED(b->seen, nb_alloc(ctx, (size_t)d->n, sizeof *b->seen));
    for (int i = 0; i < r->seen; i++) b->seen[order[i]] = true;
    NB_NEED(b->g, nb_alloc_reals(ctx, (size_t)d->m, (size_t)d->n));
    NB_NEED(b->tile, nb_alloc_reals(ctx, (size_t)d->n, TILE));
    if (wanted & NB_WANT_SPECTRAL) NB_NEED(b->residual, nb_alloc_reals(ctx, (size_t)d->n, (size_t)d->n));
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, d->m, d->n, d->m, 1, r->x, d->m, d->f, d->m, 0, b->g, d->m);
    return NB_OK;
}

static void pass(const direct *d, const double *rows, double limit, unsigned wanted, const buffers *b, sums *total)
{
    size_t n = (size_t)d->n;
    for (int first = 0; first < d->n; first += TILE) {
        int count = d->n - first < TILE ? d->n - first : TILE;
        nb_gemm(NB_PLAIN, NB_PLAIN, d->n, count, d->m, 1, d->b, d->n, b->g + (size_t)first * (size_t)d->m, d->m, 0,
                b->tile, d->n);
        for (int i = 0; i < count; i++) {
            const double *s = rows + (size_t)(first + i) * n, *t = b->tile + (size_t)i * n;
            if (b->seen[first + i] && b->keep) t = s;
            add_row(d->n, s, t, limit, wanted, total);
            if (!b->seen[first + i]) add_unseen(d->n, s, t, total);
            for (size_t j = 0; b->residual && j < n; j++) b->residual[(size_t)(first + i) * n + j] = s[j] - t[j];
        }
    }
}

/* |S - F X B|_2 */
static nb_status spectral_norm(int n, const double *residual, double *norm, nb_ctx *ctx)
{
    double *values;
    NB_NEED(values, nb_alloc_reals(ctx, (size_t)n, 1));
    NB_TRY(ctx, nb_svd(n, n, residual, NULL, values, NULL, ctx));
    *norm = values[0];
    return NB_OK;
}

/* |(S - F X B) V|_F / |S V|_F, by rows: (S V)' - V B' G. */
static nb_status output_error(const direct *d, const buffers *b, double *error, nb_ctx *ctx)
{
    const nb_head *h = d->scene->head;
    size_t count = (size_t)h->dv * (size_t)h->n;
    const double *exact;
    double *vb, *difference;
    NB_TRY(ctx, nb_scene_output(d->scene, &exact, ctx));
    NB_NEED(vb, nb_alloc_reals(ctx, (size_t)h->dv, (size_t)d->m));
    NB_NEED(difference, nb_alloc_reals(ctx, count, 1));
    memcpy(difference, exact, count * sizeof *difference);
    nb_gemm(NB_PLAIN, NB_PLAIN, h->dv, d->m, d->n, 1, h->v, h->dv, d->b, d->n, 0, vb, h->dv);
    nb_gemm(NB_PLAIN, NB_PLAIN, h->dv, d->n, d->m, -1, vb, h->dv, b->g, d->m, 1, difference, h->dv);
    for (int i = 0; i < d->n; i++)
        if (b->seen[i] && b->keep)
            memset(difference + (size_t)i * (size_t)h->dv, 0, (size_t)h->dv * sizeof *difference);
    *error = nb_frobenius(count, difference) / nb_frobenius(count, exact);
    return NB_OK;
}

static void from_sums(const sums *s, double norm, int n, unsigned wanted, nb_measures *out)
{
    out->error = sqrt(s->difference) / norm;
    out->mse = s->difference / n / n;
    out->rowsum_deviation = s->rowsum_deviation;
    if (s->t_t >= DBL_MIN) out->cosine = s->s_t / (norm * sqrt(s->t_t)); /* else F X B is 0, or its squares vanish */
    if (wanted & NB_WANT_ENTRIES) {
        out->negative_fraction = s->negative / n / n;
        out->negative_mass = s->negative_mass / n;
    }
    if (wanted & NB_WANT_ENTROPY) out->entropy_difference = fabs(s->entropy_s - s->entropy_t) / n;
}

/* The least of |S_U - F_U X B| over all X, entry by entry, and what X adds: U the rows after
 * the first r->seen of the order. */
static nb_status unseen_parts(const direct *d, const nb_request *r, const int *order, double norm, nb_measures *out,
                              nb_ctx *ctx)
{
    int n = d->n, m = d->m, k = n - r->seen, most = k < m ? k : m, rank = 0;
    size_t rows_u = (size_t)k;
    const double *rows;
    double *f, *u, *values, *vt, *s, *product, *mid, *right, *inside;
    NB_TRY(ctx, nb_scene_rows(d->scene, &rows, ctx));
    NB_NEED(f, nb_alloc_reals(ctx, rows_u, (size_t)m)); /* F_U */
    NB_NEED(u, nb_alloc_reals(ctx, rows_u, (size_t)m));
    NB_NEED(product, nb_alloc_reals(ctx, rows_u, (size_t)m));
    NB_NEED(inside, nb_alloc_reals(ctx, rows_u, (size_t)m));
    NB_NEED(s, nb_alloc_reals(ctx, rows_u, (size_t)n)); /* S_U by rows */
    NB_NEED(values, nb_alloc_reals(ctx, (size_t)m, 1));
    NB_NEED(vt, nb_alloc_reals(ctx, (size_t)m, 3 * (size_t)m));
    mid = vt + m * m;
    right = mid + m * m;
    for (int i = 0; i < k; i++) {
        int token = order[r->seen + i];
        for (int j = 0; j < m; j++) f[i + j * k] = d->f[j + token * m];
        memcpy(s + (size_t)i * (size_t)n, rows + (size_t)token * (size_t)n, (size_t)n * sizeof *s);
    }
    /* W: the left singular vectors of F_U that are more than rounding */
    NB_TRY(ctx, nb_svd(k, m, f, u, values, vt, ctx));
    while (rank < most && values[rank] > DBL_EPSILON * n * values[0]) rank++;
    /* H = W' S_U Q_B */
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, k, d->rank_b, n, 1, s, n, d->q_b, n, 0, product, k);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, rank, d->rank_b, k, 1, u, k, product, k, 0, mid, m);
    /* |S_U - W H Q_B'| */
    nb_gemm(NB_TRANSPOSED, NB_TRANSPOSED, d->rank_b, k, rank, 1, mid, m, u, k, 0, inside, d->rank_b);
    nb_gemm(NB_PLAIN, NB_PLAIN, n, k, d->rank_b, -1, d->q_b, n, inside, d->rank_b, 1, s, n);
    out->error_unseen_subspace = nb_frobenius(rows_u * (size_t)n, s) / norm;
    /* |H - W' F_U X R_B'| */
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, d->rank_b, m, 1, r->x, m, d->r_b, d->rank_b, 0, right, m);
    nb_gemm(NB_PLAIN, NB_PLAIN, k, d->rank_b, m, 1, f, k, right, m, 0, product, k);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, rank, d->rank_b, k, -1, u, k, product, k, 1, mid, m);
    double sum = 0;
    for (int j = 0; j < d->rank_b; j++) sum += nb_sum_of_squares((size_t)rank, mid + j * m);
    out->error_unseen_core = sqrt(sum) / norm;
    return NB_OK;
}

static nb_status measure(const direct *d, nb_request *r, const int *order, unsigned wanted, nb_ctx *ctx)
{
    const double *rows, *x = r->x;
    nb_measures *out = &r->measures;
    double norm, core, noise;
    nb_sizes sizes;
    buffers b;
    sums total = {.difference = 0};
    nb_measures_clear(out);
    NB_TRY(ctx, nb_scene_rows(d->scene, &rows, ctx));
    NB_TRY(ctx, nb_scene_norm(d->scene, &norm, ctx));
    NB_TRY(ctx, buffers_init(&b, d, r, order, wanted, ctx));
    /* |C - M|, and the sums over the rows of S and F X B */
    NB_TRY(ctx, core_part(d, x, &core, &sizes, ctx));
    r->entry_noise = nb_rounding_noise(d->factors, &sizes, 1);
    pass(d, rows, -r->entry_noise, wanted, &b, &total);
    from_sums(&total, norm, d->n, wanted, out);
    NB_TRY(ctx, nb_core_residual(d->factors, x, &out->core_residual, ctx));
    out->error_subspace = d->subspace;
    if (!r->keep_rows) out->error_core = core / norm;
    out->landmark_rank = d->landmark_rank;
    out->landmark_condition = d->landmark_condition;
    /* Rounding: of X, and of the sums */
    NB_TRY(ctx, nb_x_noise(d->factors, &r->rounding, &sizes,
                           &(nb_sides){NB_PLAIN, d->rank_f, d->rank_b, d->r_f, d->r_b, 1}, norm, &noise, ctx));
    out->error_noise = rounding + noise;
    out->error_subspace_noise = rounding + d->turned;
    NB_TRY(ctx, nb_scene_baseline_mean(d->scene, &out->baseline_mean, ctx));
    if ((wanted & NB_WANT_OUTPUT) && d->scene->head->v) NB_TRY(ctx, output_error(d, &b, &out->output_error, ctx));
    /* |T_U|/|S_U| over the rows that nobody has looked at */
    if (r->seen > 0 && total.unseen_of_s > 0) {
        out->error_unseen = sqrt(total.unseen / total.unseen_of_s);
        NB_TRY(ctx, unseen_parts(d, r, order, sqrt(total.unseen_of_s), out, ctx));
    }
    if (b.residual && isfinite(out->error)) NB_TRY(ctx, spectral_norm(d->n, b.residual, &out->spectral_error, ctx));
    return NB_OK;
}

nb_status nb_direct_measure(nb_scene *scene, const nb_how *how, int count, nb_request *requests, nb_ctx *ctx)
{
    (void)scene;
    for (int i = 0; i < count; i++) {
        nb_mark mark = nb_ctx_mark(ctx);
        const int *order = requests[i].order ? requests[i].order : how->order;
        nb_status status = measure(requests[i].pair->own, &requests[i], order, how->wanted, ctx);
        nb_ctx_release(ctx, mark);
        if (status != NB_OK) NB_TRY(ctx, nb_record_failure(&requests[i].failure, ctx));
    }
    return NB_OK;
}
