/* SPDX-License-Identifier: GPL-3.0-or-later */
/* truncated_qr.c - A P = Q R with column pivoting; of R the leading r x r block is
 * kept, r the rows with |R_jj| > rcond |R_11|: X = P [R_r^-1 Q_r'; 0], a basic
 * solution, which uses r of the columns of A alone. Cheaper than the SVD by a
 * factor of about 10, and not a pseudo-inverse where r < m. O(m^3). */
#include "cores/core.h"

#include "linalg/linalg.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

typedef struct {
    double rcond;
} truncated_qr_options;

static const nb_option options[] = {NB_RCOND(truncated_qr_options, "0.1", "diagonal entries of R"), NB_OPTION_END};

static nb_status compute(nb_factors *factors, const void *opts, double *x, nb_ctx *ctx)
{
    const truncated_qr_options *o = opts;
    int m = nb_factors_m(factors), rank = 0;
    size_t square = (size_t)m * (size_t)m;
    const double *a = nb_factors_a(factors);
    double *q, *tau, *solved, rcond = nb_core_rcond(o->rcond, m);
    lapack_int *pivots;
    NB_TRY(ctx, nb_require_finite(m, m, a, ctx));
    NB_NEED(q, nb_alloc_raw(ctx, square));
    NB_NEED(solved, nb_alloc_raw(ctx, square));
    NB_NEED(tau, nb_alloc_reals(ctx, (size_t)m, 1));
    NB_NEED(pivots, nb_alloc(ctx, (size_t)m, sizeof *pivots));
    memcpy(q, a, square * sizeof *q);
    /* A P = Q R */
    lapack_int info = LAPACKE_dgeqp3(LAPACK_COL_MAJOR, m, m, q, m, pivots, tau);
    NB_REQUIRE(ctx, info != LAPACK_WORK_MEMORY_ERROR && info != LAPACK_TRANSPOSE_MEMORY_ERROR, NB_ENOMEM,
               "out of memory in dgeqp3");
    NB_REQUIRE(ctx, info == 0, NB_EBUG, "dgeqp3: info = %d", (int)info);
    /* r, the rows with |R_jj| > rcond |R_11| */
    while (rank < m && fabs(q[rank + rank * m]) > rcond * fabs(q[0])) rank++;
    /* Q' */
    memset(solved, 0, square * sizeof *solved);
    for (int i = 0; i < m; i++) solved[i + i * m] = 1;
    info = LAPACKE_dormqr(LAPACK_COL_MAJOR, 'L', 'T', m, m, m, q, m, tau, solved, m);
    NB_REQUIRE(ctx, info != LAPACK_WORK_MEMORY_ERROR, NB_ENOMEM, "out of memory in dormqr");
    NB_REQUIRE(ctx, info == 0, NB_EBUG, "dormqr: info = %d", (int)info);
    /* R_r^-1 Q_r' */
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, rank, m, 1, q, m, solved, m);
    /* X = P [R_r^-1 Q_r'; 0] */
    memset(x, 0, square * sizeof *x);
    for (int i = 0; i < rank; i++)
        for (int j = 0; j < m; j++) x[pivots[i] - 1 + j * m] = solved[i + j * m];
    return NB_OK;
}

static const char *const references[] = {
    "Golub & Van Loan, Matrix Computations, 4th ed. 2013, sec. 5.5.7 (basic solutions by QR with column pivoting)",
    "Businger & Golub, Linear least squares solutions by Householder transformations, Numer. Math. 7, 1965", NULL};

const nb_core nb_core_truncated_qr = {
    .component = {"truncated_qr", "a basic solution from QR of A with column pivoting", references, options,
                  sizeof(truncated_qr_options)},
    .compute = compute,
};
