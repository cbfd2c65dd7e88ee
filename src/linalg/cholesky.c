/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cholesky.c - left-looking: a pivot's column is formed when its turn comes. */
#include "linalg/cholesky.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "linalg/work.h"

#include <float.h>
#include <math.h>
#include <string.h>

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

/* Column `rank` of L holds K(:, pivot), from which columns before `from` are subtracted already: it becomes L's. */
static void finish_column(nb_cholesky *c, int pivot, int from)
{
    size_t n = (size_t)c->n;
    double *l = c->factor + n * (size_t)c->rank;
    for (int j = from; j < c->rank; j++) c->row[j] = c->factor[n * (size_t)j + (size_t)pivot];
    nb_gemv(NB_PLAIN, c->n, c->rank - from, -1, c->factor + n * (size_t)from, c->n, c->row + from, 1, l);
    nb_count_multiplications(2.0 * c->n);
    nb_scale(n, 1 / sqrt(c->residual[pivot]), l);
    for (size_t i = 0; i < n; i++) {
        c->residual[i] -= l[i] * l[i];
        if (c->residual[i] <= c->rounding[i]) c->residual[i] = 0;
    }
    c->residual[pivot] = 0;
    c->rank++;
}

void nb_cholesky_eliminate(nb_cholesky *c, int pivot)
{
    c->column(c->self, pivot, c->factor + (size_t)c->n * (size_t)c->rank);
    finish_column(c, pivot, 0);
}

void nb_cholesky_rows(const nb_cholesky *c, int count, const int *tokens, double *rows)
{
    for (size_t i = 0; i < (size_t)count; i++)
        for (size_t j = 0; j < (size_t)c->rank; j++)
            rows[i * (size_t)c->rank + j] = c->factor[j * (size_t)c->n + (size_t)tokens[i]];
}

void nb_cholesky_eliminate_block(nb_cholesky *c, int count, const int *pivots, double *rows)
{
    if (count == 1) {
        nb_cholesky_eliminate(c, pivots[0]);
        return;
    }
    size_t n = (size_t)c->n;
    int before = c->rank;
    double *formed = c->factor + n * (size_t)before;
    /* K(:, pivots) - L L(pivots, :)' of the columns of L before the block */
    for (int i = 0; i < count; i++) c->column(c->self, pivots[i], formed + n * (size_t)i);
    nb_cholesky_rows(c, count, pivots, rows);
    nb_gemm(NB_PLAIN, NB_PLAIN, c->n, count, before, -1, c->factor, c->n, rows, before > 0 ? before : 1, 1, formed,
            c->n);
    /* Within the block one by one; columns move up into the place of a pivot that is left out */
    for (int i = 0; i < count; i++) {
        if (!(c->residual[pivots[i]] > 0)) continue;
        if (c->rank < before + i) memcpy(c->factor + n * (size_t)c->rank, formed + n * (size_t)i, n * sizeof *formed);
        finish_column(c, pivots[i], before);
    }
}
