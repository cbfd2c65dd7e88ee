/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scalar.c - loops as in vector.c. */
#include "linalg/scalar.h"

#include "linalg/cpu.h"

#include <math.h>
#include <string.h>

#define WIDTHS NB_WIDTHS

#ifdef NB_CLONED
__attribute__((simd("notinbranch"))) extern double exp(double);
__attribute__((simd("notinbranch"))) extern float expf(float);
#endif

#ifdef NB_DOUBLE_SCALAR
#define EXP exp
#else
#define EXP expf
#endif

void nb_scalar_gemm(nb_op op_a, nb_op op_b, int m, int n, int k, double alpha, const nb_scalar *a, int lda,
                    const nb_scalar *b, int ldb, double beta, nb_scalar *c, int ldc)
{
#ifdef NB_DOUBLE_SCALAR
    nb_gemm(op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
#else
    nb_gemm_single(op_a, op_b, m, n, k, (float)alpha, a, lda, b, ldb, (float)beta, c, ldc);
#endif
}

nb_scalar *nb_alloc_scalars(nb_ctx *ctx, size_t count)
{
    return nb_alloc_unset(ctx, count, sizeof(nb_scalar));
}

/* x - x is 0 where x is finite, else NaN. */
WIDTHS bool nb_scalars_finite(size_t count, const nb_scalar *x)
{
    nb_scalar sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t j = 0; j < count; j++) sum += x[j] - x[j];
    return sum == 0;
}

WIDTHS nb_scalar nb_scalar_largest(size_t count, const nb_scalar *x)
{
    nb_scalar largest = -INFINITY;
#pragma omp simd reduction(max : largest)
    for (size_t j = 0; j < count; j++) largest = x[j] > largest ? x[j] : largest;
    return largest;
}

WIDTHS nb_scalar nb_scalar_sum(size_t count, const nb_scalar *x)
{
    nb_scalar sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t j = 0; j < count; j++) sum += x[j];
    return sum;
}

WIDTHS nb_scalar nb_scalar_dot(size_t count, const nb_scalar *x, const nb_scalar *y)
{
    nb_scalar sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t j = 0; j < count; j++) sum += x[j] * y[j];
    return sum;
}

WIDTHS nb_scalar nb_scalar_exp_sum(size_t count, nb_scalar *x, nb_scalar shift)
{
    nb_scalar sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t j = 0; j < count; j++) {
        x[j] = EXP(x[j] - shift);
        sum += x[j];
    }
    return sum;
}

void nb_scalar_largest_indices(size_t count, size_t n, const nb_scalar *x, size_t *indices)
{
    size_t found = 0;
    for (size_t i = 0; i < n && count > 0; i++) {
        if (found == count && !(x[i] > x[indices[count - 1]])) continue;
        size_t at = found < count ? found++ : count - 1;
        for (; at > 0 && x[i] > x[indices[at - 1]]; at--) indices[at] = indices[at - 1];
        indices[at] = i;
    }
}

WIDTHS void nb_scalar_scale(size_t count, nb_scalar factor, nb_scalar *x)
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) x[j] *= factor;
}

WIDTHS void nb_scalar_add(size_t count, nb_scalar factor, const nb_scalar *x, nb_scalar *y)
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) y[j] += factor * x[j];
}

WIDTHS void nb_scalar_multiply(size_t count, const nb_scalar *x, const nb_scalar *y, nb_scalar *out)
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) out[j] = x[j] * y[j];
}

WIDTHS void nb_scalar_add_to_double(size_t count, double factor, const nb_scalar *x, double *y)
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) y[j] += factor * (double)x[j];
}

WIDTHS void nb_scalar_add_moments(size_t count, const nb_scalar *x, double *sum, double *square)
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) {
        sum[j] += (double)x[j];
        square[j] += (double)x[j] * (double)x[j];
    }
}

/* Returns how many indices follow each other, from the first on. */
static int run_length(int count, const int *index)
{
    int run = 1;
    while (run < count && index[run] == index[0] + run) run++;
    return run;
}

void nb_scalar_gather(int d, const nb_scalar *x, int count, const int *from, nb_scalar *out)
{
    for (int i = 0, run; i < count; i += run, out += (size_t)run * (size_t)d) {
        run = run_length(count - i, from + i);
        memcpy(out, x + (size_t)from[i] * (size_t)d, (size_t)run * (size_t)d * sizeof *x);
    }
}

void nb_scalar_gather_to_double(int d, const nb_scalar *x, int count, const int *from, double *out)
{
    for (int i = 0, run; i < count; i += run, out += (size_t)run * (size_t)d) {
        run = run_length(count - i, from + i);
        nb_scalar_to_double((size_t)run * (size_t)d, x + (size_t)from[i] * (size_t)d, out);
    }
}

WIDTHS void nb_scalar_add_columns(int d, int count, const nb_scalar *x, nb_scalar *y)
{
    size_t length = (size_t)d;
    int i = 0;
    for (; i + 4 <= count; i += 4, x += 4 * length) {
#pragma omp simd
        for (size_t l = 0; l < length; l++) y[l] += (x[l] + x[length + l]) + (x[2 * length + l] + x[3 * length + l]);
    }
    for (; i < count; i++, x += length) {
#pragma omp simd
        for (size_t l = 0; l < length; l++) y[l] += x[l];
    }
}

WIDTHS void nb_scalar_convolve(int d, int n, const nb_scalar *v, int width, const nb_scalar *w, int first, int count,
                               nb_scalar *out)
{
    for (int i = first; i < first + count; i++) {
        nb_scalar *to = out + (size_t)i * (size_t)d;
        for (int t = 0; t < width; t++) {
            int from = i + t - width / 2;
            if (from < 0 || from >= n) continue;
            const nb_scalar *x = v + (size_t)from * (size_t)d;
            nb_scalar factor = w[t];
#pragma omp simd
            for (int c = 0; c < d; c++) to[c] += factor * x[c];
        }
    }
}

WIDTHS void nb_scalar_of(size_t count, const double *x, nb_scalar *out)
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) out[j] = (nb_scalar)x[j];
}

WIDTHS void nb_scalar_to_double(size_t count, const nb_scalar *x, double *out)
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) out[j] = x[j];
}
