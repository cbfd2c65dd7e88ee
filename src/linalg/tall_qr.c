/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tall_qr.c - tall_qr.h for AVX2 with FMA, for AVX-512, and by BLAS.
 *
 * Rows are worked on by tiles that stay in the first cache, padded with zeros to whole blocks. R = U D, U with ones on
 * its diagonal: a block of columns after the other is multiplied by D^-1 and divided by U. */
#include "linalg/tall_qr.h"

#include "linalg/cpu.h"

#include <cblas.h>
#include <string.h>

enum {
    TILE = 48,    /* rows */
    BLOCK = 8,    /* columns */
    NARROW = 128, /* columns for which a row of tiles and a triangle are in a cache */
};

static size_t padded(int m)
{
    return ((size_t)m + BLOCK - 1) / BLOCK * BLOCK;
}

size_t nb_tall_scratch(int m)
{
    size_t width = padded(m);
    return (TILE + width + 1) * width;
}

#if defined __x86_64__

#include <immintrin.h>

/* True if rows of a may be worked on where they are: a whole tile of whole blocks. */
static bool is_tile(int left, int m)
{
    return left >= TILE && m % BLOCK == 0;
}

/* The first `left` rows of a, or all of a tile, and zeros around them. */
static void fill_tile(int left, size_t columns, const double *a, double *tile)
{
    size_t width = padded((int)columns);
    for (size_t t = 0; t < TILE; t++) {
        size_t count = (int)t < left ? columns : 0;
        memcpy(tile + t * width, a + t * columns, count * sizeof *tile);
        memset(tile + t * width + count, 0, (width - count) * sizeof *tile);
    }
}

static void empty_tile(int left, size_t columns, const double *tile, double *a)
{
    size_t width = padded((int)columns);
    for (size_t t = 0; t < TILE && (int)t < left; t++) memcpy(a + t * columns, tile + t * width, columns * sizeof *a);
}

/* R = U D: U by rows without its diagonal, zero below it, and D^-1. */
static void unit_triangle(size_t columns, const double *r, double *u, double *inverse)
{
    size_t width = padded((int)columns);
    memset(u, 0, width * width * sizeof *u);
    memset(inverse, 0, width * sizeof *inverse);
    for (size_t j = 0; j < columns; j++) {
        inverse[j] = 1 / r[j + j * columns];
        for (size_t i = 0; i < j; i++) u[i * width + j] = r[i + j * columns] * inverse[j];
    }
}

#define UNROLLED _Pragma("GCC unroll 16") /* so that sums stay in registers */

#define NAMED(f) f##_avx2_tall
#define TARGET __attribute__((target("avx2,fma")))
#define VECTOR __m256d
#define WIDTH 4
#define ROWS 6
#define SUMS 4
#define SPREAD(x) _mm256_set1_pd(x)
#define LOAD(p) _mm256_loadu_pd(p)
#define STORE(p, v) _mm256_storeu_pd(p, v)
#define FUSED(a, b, c) _mm256_fmadd_pd(a, b, c)
#define LESS(a, b, c) _mm256_fnmadd_pd(a, b, c)
#include "linalg/tall_qr_template.h"

#define NAMED(f) f##_avx512_tall
#define TARGET __attribute__((target("avx512f")))
#define VECTOR __m512d
#define WIDTH 8
#define ROWS 12
#define SUMS 8
#define SPREAD(x) _mm512_set1_pd(x)
#define LOAD(p) _mm512_loadu_pd(p)
#define STORE(p, v) _mm512_storeu_pd(p, v)
#define FUSED(a, b, c) _mm512_fmadd_pd(a, b, c)
#define LESS(a, b, c) _mm512_fnmadd_pd(a, b, c)
#include "linalg/tall_qr_template.h"

#endif

static void gram_by_blas(int n, int m, const double *a, double *g, double *scratch)
{
    (void)scratch;
    cblas_dsyrk(CblasColMajor, CblasUpper, CblasNoTrans, m, n, 1.0, a, m, 0.0, g, m);
}

static void divide_by_blas(int n, int m, double *a, const double *r, double *scratch)
{
    (void)scratch;
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, m, n, 1.0, r, m, a, m);
}

static const nb_tall by_blas = {gram_by_blas, divide_by_blas};

const nb_tall *nb_tall_at(int index)
{
#if defined __x86_64__
    if (nb_cpu_has_avx512() && index-- == 0) return &functions_avx512_tall;
    if (nb_cpu_has_avx2() && index-- == 0) return &functions_avx2_tall;
#endif
    return index == 0 ? &by_blas : NULL;
}

const nb_tall *nb_tall_for(int m)
{
    return m <= NARROW ? nb_tall_at(0) : &by_blas;
}
