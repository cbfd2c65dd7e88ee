/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpqr.c - column-pivoted QR of S for the keys, of S' for the queries, an oracle.
 *
 * The pivot is the column of largest residual a - Q Q' a, the lowest among equals
 * (Businger & Golub; LAPACK's dgeqp3, which goes on to n). Q grows by Gram-Schmidt
 * done twice; a new q takes (q' a)^2 from the squared residual of every other column,
 * and where sqrt(eps) is left of it since it was last computed, it is computed anew
 * (Drmac & Bujanovic 2008). S is read once a pivot: O(n^2). joint: the pivot token has
 * the largest sum of the squared residuals of its row and its column; shared: the
 * largest of all rows and columns is next. A residual of at
 * most 10 eps n |a| is rounding, and 0; when all are, at the numerical rank, the lowest
 * tokens that are left follow, and the row says so. */
#include "strategy.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct { /* one matrix, S or S', and what is left of its columns */
    int n, rank;
    bool keys;                         /* the columns of S; else those of S' */
    const double *s;                   /* n x n: column i is row i of S */
    double *basis;                     /* Q, n x m */
    double *residual;                  /* n: squared norms of the columns of A - Q Q' A */
    double *computed;                  /* n: the same, when last computed from the column itself */
    double *rounding;                  /* n: (10 eps n |a|)^2 */
    double *total;                     /* n: where the residuals are added up */
    double *column, *products, *taken; /* n each: scratch */
} factorization;

static void copy_column(const factorization *f, int j, double *out)
{
    size_t n = (size_t)f->n;
    if (!f->keys)
        memcpy(out, f->s + (size_t)j * n, n * sizeof *out);
    else
        for (size_t i = 0; i < n; i++) out[i] = f->s[i * n + (size_t)j];
}

static nb_status factorization_init(factorization *f, nb_scene *scene, bool keys, int m, double *total, nb_ctx *ctx)
{
    size_t n = (size_t)nb_scene_head(scene)->n;
    *f = (factorization){.n = nb_scene_head(scene)->n, .keys = keys, .total = total};
    NB_NEED(f->basis, nb_alloc_raw(ctx, n * (size_t)m));
    NB_NEED(f->residual, nb_alloc_reals(ctx, n, 1));
    NB_NEED(f->computed, nb_alloc_reals(ctx, n, 1));
    NB_NEED(f->rounding, nb_alloc_reals(ctx, n, 1));
    NB_NEED(f->column, nb_alloc_reals(ctx, n, 1));
    NB_NEED(f->products, nb_alloc_reals(ctx, n, 1));
    NB_NEED(f->taken, nb_alloc_reals(ctx, n, 1));
    NB_TRY(ctx, nb_scene_rows(scene, &f->s, ctx));
    for (int j = 0; j < f->n; j++) {
        copy_column(f, j, f->column);
        f->residual[j] = f->computed[j] = nb_sum_of_squares(n, f->column);
        f->rounding[j] = pow(10 * DBL_EPSILON * f->n, 2) * f->residual[j];
    }
    return NB_OK;
}

/* f->column <- what Q leaves of column j; returns its squared norm. */
static double project(factorization *f, int j)
{
    copy_column(f, j, f->column);
    for (int twice = 0; twice < 2; twice++) {
        nb_gemv(NB_TRANSPOSED, f->n, f->rank, 1, f->basis, f->n, f->column, 0, f->products);
        nb_gemv(NB_PLAIN, f->n, f->rank, -1, f->basis, f->n, f->products, 1, f->column);
    }
    return nb_sum_of_squares((size_t)f->n, f->column);
}

static void recompute(factorization *f, int j)
{
    f->residual[j] = f->computed[j] = project(f, j);
    if (f->residual[j] <= f->rounding[j]) f->residual[j] = 0;
}

static void eliminate(factorization *f, int pivot)
{
    size_t n = (size_t)f->n;
    double *q = f->basis + n * (size_t)f->rank;
    if (pivot < 0 || pivot >= f->n || !(f->residual[pivot] > 0))
        return; /* shared: of the other side; joint: this side has it already */
    double norm = sqrt(project(f, pivot));
    f->residual[pivot] = 0;
    if (!(norm > 0)) return;
    memcpy(q, f->column, n * sizeof *q);
    nb_scale(n, 1 / norm, q);
    f->rank++;
    nb_gemv(f->keys ? NB_PLAIN : NB_TRANSPOSED, f->n, f->n, 1, f->s, f->n, q, 0, f->taken);
    for (int j = 0; j < f->n; j++) {
        if (f->residual[j] == 0) continue;
        f->residual[j] -= f->taken[j] * f->taken[j];
        if (f->residual[j] <= sqrt(DBL_EPSILON) * f->computed[j]) recompute(f, j);
    }
}

static nb_status pick(const nb_points *points, int m, const void *options, nb_picks *picks, nb_ctx *ctx)
{
    factorization f[2];
    int sides = 0, n = points->n;
    double *total;
    (void)options;
    NB_NEED(total, nb_alloc_reals(ctx, (size_t)n, 1));
    nb_scores of = nb_scores_of(points, total);
    if (of.keys) NB_TRY(ctx, factorization_init(&f[sides++], points->scene, true, m, of.keys, ctx));
    if (of.queries) NB_TRY(ctx, factorization_init(&f[sides++], points->scene, false, m, of.queries, ctx));
    NB_TRY(ctx, nb_picks_begin(picks, m));
    while (picks->count < m) {
        memset(total, 0, (size_t)n * sizeof *total);
        for (int i = 0; i < sides; i++) nb_add((size_t)f[i].n, f[i].residual, f[i].total);
        int pivot = (int)nb_largest_index((size_t)n, total);
        if (!(total[pivot] > 0)) break;
        for (int i = 0; i < sides; i++) eliminate(&f[i], pivot - (int)(f[i].total - total));
        nb_picks_add(picks, pivot);
    }
    return nb_picks_rest(picks, n, "S", NULL, ctx);
}

static const char *refusal(const nb_points *points, int m, const void *options)
{
    (void)m;
    (void)options;
    return nb_scene_head(points->scene)->n > NB_DENSE ? "cpqr needs S whole: at most 4096 tokens" : NULL;
}

static const char *const references[] = {
    "Businger & Golub, Linear least squares solutions by Householder transformations, Numer. Math. 7, 1965",
    "Drmac & Bujanovic, On the failure of rank-revealing QR factorization software, ACM TOMS 35, 2008",
    "Cortinovis & Kressner, Low-rank approximation in the Frobenius norm by column and row subset selection, SIMAX 41, "
    "2020, arXiv:1908.06059",
    NULL};

static const nb_option options[] = {NB_OPTION_END};

const nb_strategy nb_strategy_cpqr = {
    .component = {"cpqr", "pivots of column-pivoted QR of S for keys, of S' for queries (oracle)", references, options,
                  0},
    .traits = NB_NESTED | NB_ORACLE | NB_SQUARE,
    .pairing = NB_JOINT,
    .pick = pick,
    .refusal = refusal,
};
