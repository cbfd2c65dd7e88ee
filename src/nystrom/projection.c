/* SPDX-License-Identifier: GPL-3.0-or-later */
/* projection.c - m x m algebra. */
#include "nystrom/projection.h"

#include "linalg/linalg.h"
#include "nystrom/factors_record.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* R_F and R_B triangles. */
static void core_of_triangles(const nb_projection *p, const double *x, double *scratch, double *c, nb_sizes *sizes)
{
    int m = p->m;
    size_t square = (size_t)m * (size_t)m;
    memcpy(scratch, x, square * sizeof *c);
    nb_multiply_by_upper(m, NULL, scratch, p->r_b);
    sizes->xb = nb_frobenius(square, scratch);
    memcpy(c, x, square * sizeof *c);
    nb_multiply_by_upper(m, p->r_f, c, NULL);
    sizes->fx = nb_frobenius(square, c);
    nb_multiply_by_upper(m, NULL, c, p->r_b);
}

void nb_projection_core(const nb_projection *p, const double *x, double *scratch, double *c, nb_sizes *sizes)
{
    int m = p->m;
    size_t square = (size_t)m * (size_t)m;
    *sizes = (nb_sizes){.f = p->f, .b = p->b, .x = nb_frobenius(square, x)};
    if (p->upper) {
        core_of_triangles(p, x, scratch, c, sizes);
        return;
    }
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, m, m, 1, x, m, p->r_b, m, 0, scratch, m);
    sizes->xb = nb_frobenius(square, scratch);
    nb_gemm(NB_PLAIN, NB_PLAIN, m, m, m, 1, p->r_f, m, x, m, 0, scratch, m);
    sizes->fx = nb_frobenius(square, scratch);
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, m, m, 1, scratch, m, p->r_b, m, 0, c, m);
}

nb_status nb_core_residual(const nb_factors *factors, const double *x, double *norm, nb_ctx *ctx)
{
    int m = factors->m;
    double *residual;
    *norm = NAN;
    if (factors->no_middle) return NB_OK;
    NB_NEED(residual, nb_alloc_raw(ctx, (size_t)m * (size_t)m));
    nb_gemm(NB_PLAIN, NB_PLAIN, m, m, m, -1, factors->a, m, x, m, 0, residual, m);
    for (int i = 0; i < m; i++) residual[i + i * m] += 1;
    *norm = nb_frobenius((size_t)m * (size_t)m, residual);
    return NB_OK;
}

double nb_rounding_noise(const nb_factors *factors, const nb_sizes *sizes, double norm)
{
    double a =
        factors->no_middle ? 0 : nb_frobenius((size_t)factors->m * (size_t)factors->m, factors->a); /* X = I is exact */
    return (DBL_EPSILON * (sizes->f * sizes->x * sizes->b + sizes->fx * a * sizes->xb) +
            sizes->fx * factors->interpolation.noise) /
           norm;
}

/* out (m) <- the lengths of the columns of op(a) v, with v m x m. */
static nb_status lengths(nb_op op, int rows, int m, const double *a, nb_op op_v, const double *v, double *out,
                         nb_ctx *ctx)
{
    double *product;
    NB_NEED(product, nb_alloc_raw(ctx, (size_t)rows * (size_t)m));
    nb_gemm(op, op_v, rows, m, m, 1, a, op == NB_PLAIN ? rows : m, v, m, 0, product, rows);
    for (size_t j = 0; j < (size_t)m; j++) out[j] = nb_frobenius((size_t)rows, product + j * (size_t)rows);
    return NB_OK;
}

/* Returns the noise of a cut behind `kept` singular values, where `a` = eps |A|; f and b are |F v_j| and |u_j'B|. */
static double cut_noise(int m, int kept, const double *s, const double *f, const double *b, double a)
{
    double sum = 0;
    for (int i = 0; i < kept; i++)
        for (int j = kept; j < m && s[j] > s[i] / 2; j++) {
            double turn = fmin(1, a / (s[i] - s[j])) / s[i];
            sum += turn * turn * (pow(f[i] * b[j], 2) + pow(f[j] * b[i], 2));
        }
    return sqrt(sum);
}

/* |F dX B| of the cut, by the singular vectors of A. */
static nb_status noise_by_vectors(const nb_factors *factors, const nb_rounding *r, const nb_sides *sides, double a,
                                  double *noise, nb_ctx *ctx)
{
    const nb_factors_spectrum *s = &factors->spectrum;
    int m = factors->m;
    double *f, *b;
    *noise = 0;
    if (r->kept == 0 || s->values[r->kept] <= s->values[r->kept - 1] / 2) return NB_OK;
    NB_NEED(f, nb_alloc_raw(ctx, 2 * (size_t)m));
    b = f + m;
    NB_TRY(ctx, lengths(sides->op, sides->rows_f, m, sides->f, NB_TRANSPOSED, s->vt, f, ctx));
    NB_TRY(ctx, lengths(NB_PLAIN, sides->rows_b, m, sides->r_b, NB_PLAIN, s->u, b, ctx));
    *noise = sides->scale * cut_noise(m, r->kept, s->values, f, b, a);
    return NB_OK;
}

nb_status nb_x_noise(const nb_factors *factors, const nb_rounding *rounding, const nb_sizes *sizes,
                     const nb_sides *sides, double norm, double *noise, nb_ctx *ctx)
{
    double epsilon = rounding->epsilon > 0 ? rounding->epsilon : DBL_EPSILON, least;
    size_t square = (size_t)factors->m * (size_t)factors->m;
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status =
        noise_by_vectors(factors, rounding, sides, epsilon * nb_frobenius(square, factors->a), &least, ctx);
    nb_ctx_release(ctx, mark);
    if (rounding->iterated)
        least = epsilon * sizes->fx * nb_frobenius(square, factors->a) * sizes->x * sizes->b / factors->m;
    *noise = fmax(nb_rounding_noise(factors, sizes, norm) * (epsilon / DBL_EPSILON), least / norm);
    return status;
}

/* Whether r (rows x m) has rank m: else its last row is zero or missing. */
static bool is_whole(int rows, int m, const double *r)
{
    bool whole = false;
    for (int j = 0; j < m && rows == m; j++) whole = whole || r[m - 1 + j * m] != 0;
    return whole;
}

/* *length <- |r^+ b|_F for r (rows x m) and b (rows x columns). */
static nb_status solve_length(int n, int rows, int m, const double *r, int columns, const double *b, double *length,
                              nb_ctx *ctx)
{
    size_t size = (size_t)m * (size_t)columns;
    double *x, *inverse;
    *length = 0;
    if (rows == 0 || columns == 0) return NB_OK;
    NB_NEED(x, nb_alloc_raw(ctx, size));
    if (is_whole(rows, m, r) && nb_is_upper(m, r)) {
        memcpy(x, b, size * sizeof *x);
        nb_solve_upper(NB_PLAIN, m, columns, r, x);
    } else {
        NB_NEED(inverse, nb_alloc_raw(ctx, (size_t)m * (size_t)rows));
        NB_TRY(ctx, nb_pseudo_inverse(rows, m, r, DBL_EPSILON * n, inverse, ctx));
        nb_gemm(NB_PLAIN, NB_PLAIN, m, columns, rows, 1, inverse, m, b, rows, 0, x, m);
    }
    *length = nb_frobenius(size, x);
    return NB_OK;
}

static nb_status turned_by(const nb_factors *factors, int n, const nb_ranges *r, double *turned, nb_ctx *ctx)
{
    int m = factors->m;
    size_t of_f = (size_t)r->rank_f * (size_t)m, of_b = (size_t)r->rank_b * (size_t)m;
    double *transposed, left, right;
    NB_NEED(transposed, nb_alloc_raw(ctx, (size_t)r->rank_f * (size_t)r->rank_b));
    nb_transpose(r->rank_f, r->rank_b, r->mid, transposed);
    NB_TRY(ctx, solve_length(n, r->rank_f, m, r->r_f, r->rank_b, r->mid, &left, ctx));
    NB_TRY(ctx, solve_length(n, r->rank_b, m, r->r_b, r->rank_f, transposed, &right, ctx));
    double noise_f = DBL_EPSILON * nb_frobenius(of_f, r->r_f) * (is_whole(r->rank_f, m, r->r_f) ? 1 : n);
    double noise_b = DBL_EPSILON * nb_frobenius(of_b, r->r_b) * (is_whole(r->rank_b, m, r->r_b) ? 1 : n);
    *turned = noise_f * left + fmax(noise_b, factors->interpolation.noise) * right;
    return NB_OK;
}

nb_status nb_subspace_noise(const nb_factors *factors, int n, const nb_ranges *ranges, double norm, double *noise,
                            nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = turned_by(factors, n, ranges, noise, ctx);
    nb_ctx_release(ctx, mark);
    *noise /= norm;
    return status;
}

nb_status nb_landmarks_of_a(nb_factors *factors, double *rank, double *condition, nb_ctx *ctx)
{
    const nb_factors_spectrum *s;
    int m = factors->m, above = 0;
    *rank = *condition = NAN;
    if (factors->no_middle) return NB_OK;
    NB_TRY(ctx, nb_factors_svd(factors, &s, ctx));
    while (above < m && s->values[above] > DBL_EPSILON * m * s->values[0]) above++;
    *rank = above;
    *condition = s->values[0] / s->values[m - 1];
    return NB_OK;
}
