/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cholesky.c - left-looking: a pivot's column is formed when its turn comes. */
#include "linalg/cholesky.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "linalg/work.h"

#include <float.h>
#include <math.h>

nb_status nb_cholesky_init(nb_cholesky *c, int n, int most, const double *diagonal, nb_column_fn *column,
                           const void *self, nb_ctx *ctx)
{
    *c = (nb_cholesky){.n = n, .column = column, .self = self};
    NB_NEED(c->residual, nb_alloc_reals(ctx, (size_t)n, 1));
    NB_NEED(c->rounding, nb_alloc_reals(ctx, (size_t)n, 1));
    NB_NEED(c->factor, nb_alloc_raw(ctx, (size_t)n * (size_t)most));
    NB_NEED(c->row, nb_alloc_reals(ctx, (size_t)most, 1));
    for (int i = 0; i < n; i++) {
        NB_REQUIRE(ctx, isfinite(diagonal[i]), NB_ENUMERIC, "entry (%d, %d) of a kernel is %g", i, i, diagonal[i]);
        c->residual[i] = fmax(0, diagonal[i]);
        c->rounding[i] = 10 * DBL_EPSILON * n * c->residual[i];
    }
    return NB_OK;
}

void nb_cholesky_eliminate(nb_cholesky *c, int pivot)
{
    size_t n = (size_t)c->n;
    double *l = c->factor + n * (size_t)c->rank;
    c->column(c->self, pivot, l);
    for (int j = 0; j < c->rank; j++) c->row[j] = c->factor[n * (size_t)j + (size_t)pivot];
    nb_gemv(NB_PLAIN, c->n, c->rank, -1, c->factor, c->n, c->row, 1, l);
    nb_count_multiplications(2.0 * c->n);
    nb_scale(n, 1 / sqrt(c->residual[pivot]), l);
    for (size_t i = 0; i < n; i++) {
        c->residual[i] -= l[i] * l[i];
        if (c->residual[i] <= c->rounding[i]) c->residual[i] = 0;
    }
    c->residual[pivot] = 0;
    c->rank++;
}
