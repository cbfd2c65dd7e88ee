/* SPDX-License-Identifier: GPL-3.0-or-later */
/* projection.c - m x m algebra. */
#include "nystrom/projection.h"

#include "linalg/linalg.h"
#include "nystrom/factors_private.h"

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
    return DBL_EPSILON * (sizes->f * sizes->x * sizes->b + sizes->fx * a * sizes->xb) / norm;
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
