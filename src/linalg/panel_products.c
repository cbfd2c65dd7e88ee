/* SPDX-License-Identifier: GPL-3.0-or-later */
/* panel_products.c - panel_products.h for any CPU, with what its compiler makes of vectors, and for AVX-512, whose
 * products are fused with their sums. With AVX2 that would gain nothing: products and sums are made beside each other
 * there. */
#include "linalg/panel_products.h"

#include "linalg/cpu.h"

#include <float.h>
#include <string.h>

#define WIDTHS NB_WIDTHS

/* Vectors of gcc's and clang's: what `omp simd` would keep in memory here stays in registers. */
typedef float lanes __attribute__((vector_size(32), aligned(4), may_alias));
typedef int places __attribute__((vector_size(32)));
enum { NB_LANES = 8, GROUPS = NB_PANEL / NB_LANES };
#define CHOOSE(where, a, b) (((where) & (a)) | (~(where) & (b)))

/* out (GROUPS) <- sums over the rows of x. */
static inline __attribute__((always_inline)) void one_product(size_t d, const lanes *x, const float *z, lanes *out)
{
    lanes a[GROUPS] = {{0}};
    for (size_t l = 0; l < d; l++, x += GROUPS) {
        a[0] += x[0] * z[l];
        a[1] += x[1] * z[l];
        a[2] += x[2] * z[l];
        a[3] += x[3] * z[l];
    }
    for (size_t g = 0; g < GROUPS; g++) out[g] = a[g];
}

static inline __attribute__((always_inline)) void two_products(size_t d, const lanes *x, const float *y, const float *z,
                                                               lanes *out_y, lanes *out_z)
{
    lanes a[GROUPS] = {{0}}, b[GROUPS] = {{0}};
    for (size_t l = 0; l < d; l++, x += GROUPS) {
        a[0] += x[0] * y[l];
        a[1] += x[1] * y[l];
        a[2] += x[2] * y[l];
        a[3] += x[3] * y[l];
        b[0] += x[0] * z[l];
        b[1] += x[1] * z[l];
        b[2] += x[2] * z[l];
        b[3] += x[3] * z[l];
    }
    for (size_t g = 0; g < GROUPS; g++) {
        out_y[g] = a[g];
        out_z[g] = b[g];
    }
}

WIDTHS static void products_of_any(size_t d, const float *x, size_t count, const int *listed, const float *z,
                                   float *out)
{
    lanes *sums = (lanes *)out;
    size_t k = 0;
    for (; k + 2 <= count; k += 2) {
        size_t i = (size_t)listed[k], j = (size_t)listed[k + 1];
        two_products(d, (const lanes *)x, z + i * d, z + j * d, sums + i * GROUPS, sums + j * GROUPS);
    }
    if (k < count) {
        size_t j = (size_t)listed[k];
        one_product(d, (const lanes *)x, z + j * d, sums + j * GROUPS);
    }
}

#if defined __x86_64__

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f")))
#define UNROLLED _Pragma("GCC unroll 16") /* so that sums stay in registers */

TARGET static inline __attribute__((always_inline)) void some_products(int some, size_t d, const float *x,
                                                                       const int *listed, const float *z, float *out)
{
    const float *from[6];
    __m512 a[6], b[6];
    UNROLLED for (int k = 0; k < some; k++)
    {
        from[k] = z + (size_t)listed[k] * d;
        a[k] = b[k] = _mm512_setzero_ps();
    }
    for (size_t l = 0; l < d; l++, x += NB_PANEL) {
        __m512 first = _mm512_loadu_ps(x), second = _mm512_loadu_ps(x + NB_PANEL / 2);
        UNROLLED for (int k = 0; k < some; k++)
        {
            __m512 factor = _mm512_set1_ps(from[k][l]);
            a[k] = _mm512_fmadd_ps(factor, first, a[k]);
            b[k] = _mm512_fmadd_ps(factor, second, b[k]);
        }
    }
    UNROLLED for (int k = 0; k < some; k++)
    {
        _mm512_storeu_ps(out + (size_t)listed[k] * NB_PANEL, a[k]);
        _mm512_storeu_ps(out + (size_t)listed[k] * NB_PANEL + NB_PANEL / 2, b[k]);
    }
}

TARGET static void products_of_avx512(size_t d, const float *x, size_t count, const int *listed, const float *z,
                                      float *out)
{
    size_t k = 0;
    for (; k + 6 <= count; k += 6) some_products(6, d, x, listed + k, z, out);
    for (; k + 3 <= count; k += 3) some_products(3, d, x, listed + k, z, out);
    for (; k < count; k++) some_products(1, d, x, listed + k, z, out);
}

#endif

nb_products_of_panel *nb_panel_products_at(int index)
{
#if defined __x86_64__
    if (nb_cpu_has_avx512() && index-- == 0) return products_of_avx512;
#endif
    return index == 0 ? products_of_any : NULL;
}

void nb_panel_products(size_t d, const float *x, size_t count, const int *listed, const float *z, float *out)
{
    nb_panel_products_at(0)(d, x, count, listed, z, out);
}

/* The groups beside each other, since each comparison waits for the one before. */
WIDTHS void nb_panel_least(size_t m, const float *offset, const float *product, float *least, float *second, int *at)
{
    const lanes *values = (const lanes *)product;
    lanes smallest[GROUPS], next[GROUPS];
    places place[GROUPS] = {{0}};
    for (size_t g = 0; g < GROUPS; g++) smallest[g] = next[g] = (lanes){0} + FLT_MAX;
    for (size_t j = 0; j < m; j++, values += GROUPS) {
        _Pragma("GCC unroll 4") for (size_t g = 0; g < GROUPS; g++)
        {
            lanes value = offset[j] + values[g];
            places closer = value < smallest[g];
            lanes larger = (lanes)CHOOSE(closer, (places)smallest[g], (places)value);
            next[g] = (lanes)CHOOSE(larger < next[g], (places)larger, (places)next[g]);
            place[g] = CHOOSE(closer, (int)j, place[g]);
            smallest[g] = (lanes)CHOOSE(closer, (places)value, (places)smallest[g]);
        }
    }
    memcpy(least, smallest, sizeof smallest);
    memcpy(second, next, sizeof next);
    memcpy(at, place, sizeof place);
}
