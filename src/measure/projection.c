/* projection.c - m x m algebra. */
#include "measure/projection.h"

#include "linalg/linalg.h"

#include <float.h>

void nb_projection_core(const nb_projection *p, const double *x, double *scratch, double *c)
{
    int m = p->m;
    nb_gemm(NB_PLAIN, NB_PLAIN, m, m, m, 1, p->r_f, m, x, m, 0, scratch, m);
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, m, m, 1, scratch, m, p->r_b, m, 0, c, m);
}

nb_status nb_projection_core_residual(const nb_projection *p, const double *x, double *norm, nb_ctx *ctx)
{
    int m = p->m;
    double *residual;
    NB_NEED(residual, nb_alloc_reals(ctx, (size_t)m, (size_t)m));
    nb_gemm(NB_PLAIN, NB_PLAIN, m, m, m, -1, p->factors->a, m, x, m, 0, residual, m);
    for (int i = 0; i < m; i++) residual[i + i * m] += 1;
    *norm = nb_frobenius((size_t)m * (size_t)m, residual);
    return NB_OK;
}

double nb_projection_noise(const nb_projection *p, const double *x, double norm)
{
    size_t square = (size_t)p->m * (size_t)p->m;
    return p->rounding + DBL_EPSILON * nb_frobenius(square, p->r_f) * nb_frobenius(square, x) * nb_frobenius(square, p->r_b) / norm;
}

nb_status nb_projection_landmarks(nb_projection *p, nb_ctx *ctx)
{
    const nb_factors_spectrum *s;
    int m = p->m, rank = 0;
    NB_TRY(ctx, nb_factors_svd(p->factors, &s, ctx));
    p->factors->svd_used = false;
    while (rank < m && s->values[rank] > DBL_EPSILON * m * s->values[0]) rank++;
    p->landmark_rank = rank;
    p->landmark_condition = s->values[0] / s->values[m - 1];
    return NB_OK;
}
