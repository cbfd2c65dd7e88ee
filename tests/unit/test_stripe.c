/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The products and powers of a stripe (layers/softmax_simd.h), of each width that this CPU can run, against plain
 * loops in double precision. Sums of d products of numbers up to 1 in size: rounding stays below d eps. */
#include "testing.h"

#include "layers/softmax_simd.h"

#include <string.h>

enum { LANES = 32, MOST = 70 };

static float number(int i)
{
    return (float)sin(2.385 * i + 0.7);
}

/* Whole groups of rows, what is left of them, and one. */
static const int sizes[] = {1, 2, 3, 5, 6, 7, 12, 13, 17, 64, MOST};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void check_products(const nb_softmax_simd *s, int d, int keys)
{
    static float q[MOST * LANES], k[MOST * MOST], t[(MOST + 1) * LANES], out[(MOST + 1) * LANES];
    for (int i = 0; i < d * s->lanes; i++) q[i] = number(i);
    for (int i = 0; i < d * keys; i++) k[i] = number(3 * i + 1);
    for (int i = 0; i < LANES; i++) t[keys * s->lanes + i] = out[d * s->lanes + i] = 77;
    s->dots(d, keys, q, k, t);
    for (int j = 0; j < keys; j++)
        for (int i = 0; i < s->lanes; i++) {
            double sum = 0;
            for (int l = 0; l < d; l++) sum += (double)q[l * s->lanes + i] * (double)k[j * d + l];
            assert_close((double)t[j * s->lanes + i], sum, 1e-6 * d);
        }
    for (int add = 0; add < 2; add++) {
        s->values(d, keys, t, k, add, out);
        for (int l = 0; l < d; l++)
            for (int i = 0; i < s->lanes; i++) {
                double sum = 0;
                for (int j = 0; j < keys; j++) sum += (double)t[j * s->lanes + i] * (double)k[j * d + l];
                assert_close((double)out[l * s->lanes + i], (add ? 2 : 1) * sum, 1e-6 * d * keys * 2);
            }
    }
    for (int i = 0; i < LANES; i++) assert_true(t[keys * s->lanes + i] == 77 && out[d * s->lanes + i] == 77);
}

static void test_products(void **state)
{
    (void)state;
    for (int i = 0; nb_softmax_simd_at(i); i++)
        for (int a = 0; a < SIZES; a++)
            for (int b = 0; b < SIZES; b++) check_products(nb_softmax_simd_at(i), sizes[a], sizes[b]);
}

/* The polynomial, its rounding and that of the exponent's product: 4 eps. The entry that is the shift gives exactly 1,
 * one far below it and -infinity exactly 0, also where the shift is -infinity. */
static void test_powers(void **state)
{
    enum { KEYS = 50 };
    (void)state;
    for (int w = 0; nb_softmax_simd_at(w); w++) {
        const nb_softmax_simd *s = nb_softmax_simd_at(w);
        float t[KEYS * LANES], x[KEYS * LANES], shift[LANES], sum[LANES];
        for (int i = 0; i < s->lanes; i++) {
            shift[i] = -INFINITY;
            sum[i] = 0.5F;
        }
        for (int i = 0; i < KEYS * s->lanes; i++) t[i] = x[i] = 300 * number(i);
        t[0] = x[0] = -INFINITY;
        for (int j = 0; j < KEYS; j++) t[j * s->lanes + 1] = -INFINITY; /* a query that sees nothing */
        s->raise(KEYS, 0.3F, t, shift);
        s->powers(KEYS, 0.3F, shift, t, sum);
        for (int i = 0; i < s->lanes; i++) {
            double total = 0.5, largest = -INFINITY;
            bool one = false;
            for (int j = 0; j < KEYS && i != 1; j++) largest = fmax(largest, (double)(0.3F * x[j * s->lanes + i]));
            assert_true((double)shift[i] == largest);
            for (int j = 0; j < KEYS; j++) {
                float power = t[j * s->lanes + i];
                double want = i == 1 ? 0 : exp2((double)(0.3F * x[j * s->lanes + i] - shift[i]));
                if (want < 1.17e-38) assert_true(power == 0);
                assert_close((double)power, want, 4 * (double)FLT_EPSILON * want + 1.2e-38);
                one = one || power == 1;
                total += (double)power;
            }
            assert_true(one || i == 1);
            assert_close((double)sum[i], total, KEYS * (double)FLT_EPSILON * total);
        }
    }
}

/* There and back, whole squares of 8 and what is left; what is behind stays. */
static void test_packing(void **state)
{
    static const int dimensions[] = {1, 7, 8, 9, 15, 16, 17, 64};
    (void)state;
    for (int w = 0; nb_softmax_simd_at(w); w++)
        for (size_t a = 0; a < sizeof dimensions / sizeof *dimensions; a++) {
            const nb_softmax_simd *s = nb_softmax_simd_at(w);
            const int d = dimensions[a], counts[] = {1, 7, 8, 9, s->lanes - 1, s->lanes};
            for (size_t b = 0; b < sizeof counts / sizeof *counts; b++) {
                int count = counts[b];
                if (count > s->lanes) continue;
                float x[64 * LANES], packed[65 * LANES], back[65 * LANES], factor[LANES];
                for (int i = 0; i < d * count; i++) x[i] = number(i);
                for (int i = 0; i < LANES; i++) factor[i] = number(5 * i);
                for (int i = 0; i < 65 * LANES; i++) packed[i] = back[i] = 77;
                s->pack(d, count, x, packed);
                for (int l = 0; l < d; l++)
                    for (int i = 0; i < s->lanes; i++)
                        assert_true(packed[l * s->lanes + i] == (i < count ? x[i * d + l] : 0));
                s->unpack(d, count, packed, factor, back);
                for (int i = 0; i < d * count; i++) assert_true(back[i] == factor[i / d] * x[i]);
                for (int i = 0; i < LANES; i++)
                    assert_true(packed[d * s->lanes + i] == 77 && back[d * count + i] == 77);
            }
        }
}

static void test_scale(void **state)
{
    (void)state;
    for (int w = 0; nb_softmax_simd_at(w); w++) {
        const nb_softmax_simd *s = nb_softmax_simd_at(w);
        float out[5 * LANES], factor[LANES];
        for (int i = 0; i < s->lanes; i++) factor[i] = number(i);
        for (int i = 0; i < 5 * s->lanes; i++) out[i] = number(7 * i);
        s->scale(5, factor, out);
        for (int i = 0; i < 5 * s->lanes; i++) assert_true(out[i] == number(7 * i) * factor[i % s->lanes]);
    }
}

/* Rows of a bias that are further apart than the stripe is wide; bits as without SIMD. */
static void test_add(void **state)
{
    enum { KEYS = 5, STRIDE = LANES + 3 };
    (void)state;
    for (int w = 0; nb_softmax_simd_at(w); w++) {
        const nb_softmax_simd *s = nb_softmax_simd_at(w);
        float t[(KEYS + 1) * LANES], bias[KEYS * STRIDE];
        for (int i = 0; i < (KEYS + 1) * LANES; i++) t[i] = number(i);
        for (int i = 0; i < KEYS * STRIDE; i++) bias[i] = number(3 * i);
        bias[STRIDE] = -INFINITY;
        s->add(KEYS, 0.7F, bias, STRIDE, t);
        for (int i = 0; i < (KEYS + 1) * s->lanes; i++) {
            int key = i / s->lanes, lane = i % s->lanes;
            float product = key < KEYS ? 0.7F * bias[key * STRIDE + lane] : 0;
            assert_true(t[i] == number(i) + product);
        }
    }
}

/* A CPU that has AVX2 and FMA has a stripe, and the first is the widest. */
static void test_which(void **state)
{
    (void)state;
#if defined __x86_64__
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    assert_true(!avx2 || nb_softmax_simd_best());
    assert_true(!__builtin_cpu_supports("avx512f") || strcmp(nb_softmax_simd_best()->name, "avx512") == 0);
#endif
    for (int i = 0; nb_softmax_simd_at(i); i++) assert_true(nb_softmax_simd_at(i)->lanes <= LANES);
    assert_true(nb_softmax_simd_best() == nb_softmax_simd_at(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_products), test_with_ctx(test_powers),
                                       test_with_ctx(test_add),      test_with_ctx(test_scale),
                                       test_with_ctx(test_packing),  test_with_ctx(test_which)};
    return run_all(tests);
}
