/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pivoting.c - a column at a time; the matrix is read once a pivot. */
#include "linalg/pivoting.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "linalg/work.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void copy_column(const nb_pivoting *p, int j, double *out)
{
    size_t rows = (size_t)p->rows, columns = (size_t)p->columns;
    if (!p->by_rows)
        memcpy(out, p->a + (size_t)j * rows, rows * sizeof *out);
    else
        for (size_t i = 0; i < rows; i++) out[i] = p->a[i * columns + (size_t)j];
}

nb_status nb_pivoting_init(nb_pivoting *p, int rows, int columns, const double *a, bool by_rows, int m, nb_ctx *ctx)
{
    size_t count = (size_t)columns;
    int longest = rows > columns ? rows : columns;
    *p = (nb_pivoting){.rows = rows, .columns = columns, .a = a, .by_rows = by_rows};
    NB_NEED(p->basis, nb_alloc_reals(ctx, (size_t)rows, (size_t)m));
    NB_NEED(p->residual, nb_alloc_reals(ctx, count, 1));
    NB_NEED(p->computed, nb_alloc_reals(ctx, count, 1));
    NB_NEED(p->rounding, nb_alloc_reals(ctx, count, 1));
    NB_NEED(p->column, nb_alloc_reals(ctx, (size_t)rows, 1));
    NB_NEED(p->products, nb_alloc_reals(ctx, (size_t)m, 1));
    NB_NEED(p->taken, nb_alloc_reals(ctx, count, 1));
    nb_count_multiplications((double)rows * columns);
    for (int j = 0; j < columns; j++) {
        copy_column(p, j, p->column);
        p->residual[j] = p->computed[j] = nb_sum_of_squares((size_t)rows, p->column);
        p->rounding[j] = pow(10 * DBL_EPSILON * longest, 2) * p->residual[j];
    }
    return NB_OK;
}

/* p->column <- what Q leaves of column j; returns its squared norm. */
static double project(nb_pivoting *p, int j)
{
    copy_column(p, j, p->column);
    nb_count_multiplications(p->rows);
    for (int twice = 0; twice < 2; twice++) {
        nb_gemv(NB_TRANSPOSED, p->rows, p->rank, 1, p->basis, p->rows, p->column, 0, p->products);
        nb_gemv(NB_PLAIN, p->rows, p->rank, -1, p->basis, p->rows, p->products, 1, p->column);
    }
    return nb_sum_of_squares((size_t)p->rows, p->column);
}

void nb_pivoting_eliminate(nb_pivoting *p, int pivot)
{
    size_t rows = (size_t)p->rows;
    double *q = p->basis + rows * (size_t)p->rank;
    if (!(p->residual[pivot] > 0)) return;
    double norm = sqrt(project(p, pivot));
    p->residual[pivot] = 0;
    if (!(norm > 0)) return;
    /* The next q: what Q leaves of the pivot, normalised */
    memcpy(q, p->column, rows * sizeof *q);
    nb_scale(rows, 1 / norm, q);
    nb_count_multiplications(p->rows);
    if (++p->rank == p->rows) {
        memset(p->residual, 0, (size_t)p->columns * sizeof *p->residual);
        return;
    }
    nb_count_multiplications(p->columns); /* of the squares below */
    /* The squared residual of each column a loses (q'a)^2 */
    if (p->by_rows)
        nb_gemv(NB_PLAIN, p->columns, p->rows, 1, p->a, p->columns, q, 0, p->taken);
    else
        nb_gemv(NB_TRANSPOSED, p->rows, p->columns, 1, p->a, p->rows, q, 0, p->taken);
    for (int j = 0; j < p->columns; j++) {
        if (p->residual[j] == 0) continue;
        p->residual[j] -= p->taken[j] * p->taken[j];
        if (!(p->residual[j] <= sqrt(DBL_EPSILON) * p->computed[j])) continue;
        p->residual[j] = p->computed[j] = project(p, j);
        if (p->residual[j] <= p->rounding[j]) p->residual[j] = 0;
    }
}

int nb_pivoting_run(nb_pivoting *p, int m, int *pivots)
{
    int count = 0;
    while (count < m) {
        int next = (int)nb_largest_index((size_t)p->columns, p->residual);
        if (!(p->residual[next] > 0)) break;
        pivots[count++] = next;
        if (count < m) nb_pivoting_eliminate(p, next);
    }
    return count;
}
