/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ridge.c - triangles of parts (tall skinny QR: Demmel et al., SIAM J. Sci. Comput.
 * 34, 2012), and least squares on them. */
#include "linalg/ridge.h"

#include "linalg/vector.h"
#include "linalg/work.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* r (cols x cols, zeroed) <- the triangle of a (rows x cols, rows >= cols), which is
 * overwritten. 2 cols^2 (rows - cols / 3) flops (Golub & Van Loan, sec. 5.2.2). */
static nb_status triangle(int rows, int cols, double *a, double *r, nb_ctx *ctx)
{
    double *tau, size, *work;
    nb_count_multiplications((rows - cols / 3.0) * cols * cols);
    NB_REQUIRE(ctx, nb_all_finite((size_t)rows * (size_t)cols, a), NB_ENUMERIC, "NaN or Inf in a regression");
    NB_NEED(tau, nb_alloc_reals(ctx, (size_t)cols, 1));
    LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, rows, cols, a, rows, tau, &size, -1);
    NB_NEED(work, nb_alloc_reals(ctx, (size_t)size, 1));
    lapack_int info = LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, rows, cols, a, rows, tau, work, (lapack_int)size);
    NB_REQUIRE(ctx, info == 0, NB_EBUG, "dgeqrf: argument %d is illegal", -info);
    for (int j = 0; j < cols; j++)
        memcpy(r + (size_t)j * (size_t)cols, a + (size_t)j * (size_t)rows, (size_t)(j + 1) * sizeof *r);
    return NB_OK;
}

/* A part whose [1 X y] has room for `rows` rows, and at least for a square. */
static nb_status open_part(int p, int rows, nb_ridge_part *part, double **a, int *ld, nb_ctx *ctx)
{
    *part = (nb_ridge_part){.p = p};
    *ld = rows > p + 2 ? rows : p + 2;
    NB_NEED(part->r, nb_alloc_reals(ctx, (size_t)p + 2, (size_t)p + 2));
    NB_NEED(*a, nb_alloc_reals(ctx, (size_t)*ld, (size_t)p + 2));
    return NB_OK;
}

nb_status nb_ridge_part_new(int p, int rows, const double *x, const double *y, nb_ridge_part *part, nb_ctx *ctx)
{
    double *a;
    int ld;
    NB_TRY(ctx, open_part(p, rows, part, &a, &ld, ctx));
    part->rows = rows;
    for (size_t i = 0, step = (size_t)ld, d = (size_t)p; i < (size_t)rows; i++) {
        a[i] = 1;
        for (size_t l = 0; l < d; l++) a[i + (l + 1) * step] = x[i * d + l];
        a[i + (d + 1) * step] = y[i];
    }
    return triangle(ld, p + 2, a, part->r, ctx);
}

nb_status nb_ridge_part_join(int count, const nb_ridge_part *parts, int without, nb_ridge_part *joined, nb_ctx *ctx)
{
    double *a;
    int ld, size = parts[0].p + 2;
    NB_TRY(ctx, open_part(parts[0].p, count * size, joined, &a, &ld, ctx));
    for (int h = 0; h < count; h++) {
        if (h == without) continue;
        joined->rows += parts[h].rows;
        for (size_t j = 0; j < (size_t)size; j++)
            memcpy(a + (size_t)h * (size_t)size + j * (size_t)ld, parts[h].r + j * (size_t)size, (j + 1) * sizeof *a);
    }
    return triangle(ld, size, a, joined->r, ctx);
}

/* min |g w - rhs|, g rows x cols; rhs begins with w after it. Counts as its QR. */
static nb_status least_squares(int rows, int cols, double *g, double *rhs, nb_ctx *ctx)
{
    double size, *work, rcond = DBL_EPSILON * rows;
    lapack_int *pivots, rank;
    nb_count_multiplications((rows - cols / 3.0) * cols * cols);
    NB_NEED(pivots, nb_alloc(ctx, (size_t)cols, sizeof *pivots));
    LAPACKE_dgelsy_work(LAPACK_COL_MAJOR, rows, cols, 1, g, rows, rhs, rows, pivots, rcond, &rank, &size, -1);
    NB_NEED(work, nb_alloc_reals(ctx, (size_t)size, 1));
    lapack_int info = LAPACKE_dgelsy_work(LAPACK_COL_MAJOR, rows, cols, 1, g, rows, rhs, rows, pivots, rcond, &rank,
                                          work, (lapack_int)size);
    NB_REQUIRE(ctx, info == 0, NB_EBUG, "dgelsy: argument %d is illegal", -info);
    return NB_OK;
}

nb_status nb_ridge_fit(const nb_ridge_part *part, double ridge, double *w, nb_ctx *ctx)
{
    int p = part->p, rows = 2 * p + 1;
    size_t ld = (size_t)rows, size = (size_t)p + 2;
    double *g, *rhs;
    NB_NEED(g, nb_alloc_reals(ctx, ld, (size_t)p + 1));
    NB_NEED(rhs, nb_alloc_reals(ctx, ld, 1));
    memcpy(rhs, part->r + (size - 1) * size, (size - 1) * sizeof *rhs);
    for (size_t j = 0; j < size - 1; j++) {
        memcpy(g + j * ld, part->r + j * size, (j + 1) * sizeof *g);
        if (j > 0) g[j * ld + (size_t)p + j] = sqrt(ridge * part->rows);
    }
    NB_TRY(ctx, least_squares(rows, p + 1, g, rhs, ctx));
    memcpy(w, rhs + 1, (size_t)p * sizeof *w);
    w[p] = rhs[0];
    return NB_OK;
}

double nb_r_squared(const nb_ridge_part *part, const double *w)
{
    size_t p = (size_t)part->p, size = p + 2;
    const double *r = part->r, *y = r + (p + 1) * size;
    double error = 0, spread = 0, all = 0;
    for (size_t i = 0; i < size; i++) {
        double rest = y[i] - r[i] * w[p];
        for (size_t j = 1; j <= p; j++) rest -= r[i + j * size] * w[j - 1];
        error += rest * rest;
        spread += i > 0 ? y[i] * y[i] : 0; /* the first row of R belongs to the mean */
        all += y[i] * y[i];
    }
    return spread > DBL_EPSILON * DBL_EPSILON * part->rows * all ? 1 - error / spread : NAN;
}
