/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thin_products.c - thin_products.h for AVX2 with FMA, for AVX-512, and by BLAS. */
#include "linalg/thin_products.h"

#include "linalg/cpu.h"
#include "linalg/work.h"

#include <cblas.h>

#if defined __x86_64__

#include <immintrin.h>

enum {
    TOGETHER = 12, /* rows of S, which the second product still finds in a cache */
    NEAR = 16384,  /* numbers of v, which stay in the second cache */
};

#define UNROLLED _Pragma("GCC unroll 16") /* so that sums stay in registers */

#define NAMED(f) f##_avx2_thin
#define TARGET __attribute__((target("avx2,fma")))
#define VECTOR __m256d
#define WIDTH 4
#define ROWS 6
#define SPREAD(x) _mm256_set1_pd(x)
#define LOAD(p) _mm256_loadu_pd(p)
#define STORE(p, v) _mm256_storeu_pd(p, v)
#define FUSED(a, b, c) _mm256_fmadd_pd(a, b, c)
#include "linalg/thin_products_template.h"

#define NAMED(f) f##_avx512_thin
#define TARGET __attribute__((target("avx512f")))
#define VECTOR __m512d
#define WIDTH 8
#define ROWS 12
#define SPREAD(x) _mm512_set1_pd(x)
#define LOAD(p) _mm512_loadu_pd(p)
#define STORE(p, v) _mm512_storeu_pd(p, v)
#define FUSED(a, b, c) _mm512_fmadd_pd(a, b, c)
#include "linalg/thin_products_template.h"

#endif

static void by_blas(int rows, int columns, const double *s, int ld, int b, const double *v, double *z, double *w)
{
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, b, rows, columns, 1, v, b, s, ld, 0, z, b);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, b, columns, rows, 1, z, b, s, ld, 1, w, b);
}

nb_thin_products *nb_thin_at(int index)
{
#if defined __x86_64__
    if (nb_cpu_has_avx512() && index-- == 0) return products_avx512_thin;
    if (nb_cpu_has_avx2() && index-- == 0) return products_avx2_thin;
#endif
    return index == 0 ? by_blas : NULL;
}

void nb_multiply_thin(int rows, int columns, const double *s, int ld, int b, const double *v, double *z, double *w)
{
    nb_count_multiplications(2.0 * rows * columns * b);
    nb_thin_at(0)(rows, columns, s, ld, b, v, z, w);
}
