/* SPDX-License-Identifier: GPL-3.0-or-later */
/* softmax_simd.c - softmax_simd.h for AVX2 with FMA, for AVX-512 and in plain C. SIMD has 2^y = 2^k 2^f with k the
 * nearest integer and |f| <= 1/2, where a polynomial of degree 6 is within 2 eps (Cephes, S. Moshier 1992). */
#include "layers/softmax_simd.h"

#include <math.h>

#define UNROLLED _Pragma("GCC unroll 16") /* so that sums stay in registers */
#define LEAST -126.0f                     /* a power of 2 below that is not normal */

#if defined __x86_64__ && !defined NB_DOUBLE_SCALAR

#include "linalg/cpu.h"
#include "linalg/lanes.h"

#include <immintrin.h>

static const float power[] = {1.535336188319500e-4f,
                              1.339887440266574e-3f,
                              9.618437357674640e-3f,
                              5.550332471162809e-2f,
                              2.402264791363012e-1f,
                              6.931472028550421e-1f,
                              1};

__attribute__((target("avx2,fma"))) static inline __m256 power_avx2(__m256 y)
{
    __m256 k = _mm256_round_ps(y, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), f = _mm256_sub_ps(y, k);
    __m256 p = _mm256_set1_ps(power[0]);
    for (int i = 1; i < 7; i++) p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(power[i]));
    __m256i exponent = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(k), _mm256_set1_epi32(127)), 23);
    __m256 value = _mm256_mul_ps(p, _mm256_castsi256_ps(exponent));
    return _mm256_and_ps(value, _mm256_cmp_ps(y, _mm256_set1_ps(LEAST), _CMP_GE_OQ));
}

#define NAME "avx2"
#define NAMED(f) f##_avx2_stripe
#define PACK nb_pack_lanes
#define UNPACK nb_unpack_lanes
#define TARGET __attribute__((target("avx2,fma")))
#define VECTOR __m256
#define WIDTH 8
#define ROWS 6
#define SPREAD(x) _mm256_set1_ps(x)
#define LOAD(p) _mm256_loadu_ps(p)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define ADD(a, b) _mm256_add_ps(a, b)
#define SUBTRACT(a, b) _mm256_sub_ps(a, b)
#define MULTIPLY(a, b) _mm256_mul_ps(a, b)
#define FUSED(a, b, c) _mm256_fmadd_ps(a, b, c)
#define LARGER(a, b) _mm256_max_ps(a, b)
#define POWER(y) power_avx2(y)
#include "layers/softmax_simd_template.h"

__attribute__((target("avx512f"))) static inline __m512 power_avx512(__m512 y)
{
    __m512 k = _mm512_roundscale_ps(y, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), f = _mm512_sub_ps(y, k);
    __m512 p = _mm512_set1_ps(power[0]);
    for (int i = 1; i < 7; i++) p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(power[i]));
    __mmask16 kept = _mm512_cmp_ps_mask(y, _mm512_set1_ps(LEAST), _CMP_GE_OQ);
    return _mm512_maskz_scalef_ps(kept, p, k);
}

#define NAME "avx512"
#define NAMED(f) f##_avx512_stripe
#define PACK nb_pack_lanes
#define UNPACK nb_unpack_lanes
#define TARGET __attribute__((target("avx512f")))
#define VECTOR __m512
#define WIDTH 16
#define ROWS 12
#define SPREAD(x) _mm512_set1_ps(x)
#define LOAD(p) _mm512_loadu_ps(p)
#define STORE(p, v) _mm512_storeu_ps(p, v)
#define ADD(a, b) _mm512_add_ps(a, b)
#define SUBTRACT(a, b) _mm512_sub_ps(a, b)
#define MULTIPLY(a, b) _mm512_mul_ps(a, b)
#define FUSED(a, b, c) _mm512_fmadd_ps(a, b, c)
#define LARGER(a, b) _mm512_max_ps(a, b)
#define POWER(y) power_avx512(y)
#include "layers/softmax_simd_template.h"

#endif

/* Without SIMD, and for scalars of double precision. */
static void pack_plain(int lanes, int d, int count, const nb_scalar *from, nb_scalar *to)
{
    for (int i = 0; i < lanes; i++)
        for (int l = 0; l < d; l++) to[l * lanes + i] = i < count ? from[(size_t)i * (size_t)d + (size_t)l] : 0;
}

static void unpack_plain(int lanes, int d, int count, const nb_scalar *from, const nb_scalar *factor, nb_scalar *to)
{
    for (int i = 0; i < count; i++)
        for (int l = 0; l < d; l++) to[(size_t)i * (size_t)d + (size_t)l] = factor[i] * from[l * lanes + i];
}

static inline nb_scalar power_plain(nb_scalar y)
{
    return y >= (nb_scalar)LEAST ? (nb_scalar)exp2((double)y) : 0;
}

#define NAME "plain"
#define NAMED(f) f##_plain_stripe
#define PACK pack_plain
#define UNPACK unpack_plain
#define TARGET
#define VECTOR nb_scalar
#define WIDTH 1
#define ROWS 6
#define SPREAD(x) (x)
#define LOAD(p) (*(p))
#define STORE(p, v) (*(p) = (v))
#define ADD(a, b) ((a) + (b))
#define SUBTRACT(a, b) ((a) - (b))
#define MULTIPLY(a, b) ((a) * (b))
#define FUSED(a, b, c) ((a) * (b) + (c))
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define POWER(y) power_plain(y)
#include "layers/softmax_simd_template.h"

const nb_softmax_simd *nb_softmax_simd_at(int index)
{
#if defined __x86_64__ && !defined NB_DOUBLE_SCALAR
    if (nb_cpu_has_avx512() && index-- == 0) return &stripe_avx512_stripe;
    if (nb_cpu_has_avx2() && index-- == 0) return &stripe_avx2_stripe;
#endif
    return index == 0 ? &stripe_plain_stripe : NULL;
}

const nb_softmax_simd *nb_softmax_simd_best(void)
{
    const nb_softmax_simd *widest = nb_softmax_simd_at(0);
    return widest == &stripe_plain_stripe ? NULL : widest;
}
