/* SPDX-License-Identifier: GPL-3.0-or-later */
/* softmax_simd_template.h - the functions of softmax_simd.h for one width of SIMD; softmax_simd.c includes it for each,
 * with
 *     NAMED(f)       the function's name        TARGET       its attribute
 *     VECTOR         of WIDTH scalars           ROWS         of a product that are summed at a time
 *     PACK, UNPACK   what packs and unpacks, with the number of lanes first
 *     SPREAD(x), LOAD(p), STORE(p, v), ADD(a, b), SUBTRACT(a, b), MULTIPLY(a, b), LARGER(a, b)
 *     FUSED(a, b, c) a b + c
 *     POWER(y)       2^y, or 0 below 2^-126
 * A stripe is two vectors wide. */

enum { NAMED(lanes) = 2 * WIDTH };

/* `rows` rows of out (rows x lanes) <- out, or 0, + sum over i = 0 ... count - 1 of x[i] y[i * step + row * stride]:
 * x (count x lanes) is shared by the rows. */
TARGET static inline __attribute__((always_inline)) void NAMED(rows)(int rows, int count, const nb_scalar *x,
                                                                     const nb_scalar *y, int step, int stride, bool add,
                                                                     nb_scalar *out)
{
    VECTOR a[ROWS], b[ROWS];
    UNROLLED for (int r = 0; r < rows; r++)
    {
        a[r] = add ? LOAD(out + r * NAMED(lanes)) : SPREAD(0);
        b[r] = add ? LOAD(out + r * NAMED(lanes) + WIDTH) : SPREAD(0);
    }
    for (int i = 0; i < count; i++) {
        VECTOR left = LOAD(x + i * NAMED(lanes)), right = LOAD(x + i * NAMED(lanes) + WIDTH);
        UNROLLED for (int r = 0; r < rows; r++)
        {
            VECTOR factor = SPREAD(y[(size_t)i * (size_t)step + (size_t)r * (size_t)stride]);
            a[r] = FUSED(factor, left, a[r]);
            b[r] = FUSED(factor, right, b[r]);
        }
    }
    UNROLLED for (int r = 0; r < rows; r++)
    {
        STORE(out + r * NAMED(lanes), a[r]);
        STORE(out + r * NAMED(lanes) + WIDTH, b[r]);
    }
}

/* All rows: ROWS at a time, then four, two and one. */
TARGET static inline __attribute__((always_inline)) void NAMED(all)(int all, int count, const nb_scalar *x,
                                                                    const nb_scalar *y, int step, int stride, bool add,
                                                                    nb_scalar *out)
{
    int row = 0;
    for (; row + ROWS <= all; row += ROWS)
        NAMED(rows)(ROWS, count, x, y + (size_t)row * (size_t)stride, step, stride, add, out + row * NAMED(lanes));
    for (; row + 4 <= all; row += 4)
        NAMED(rows)(4, count, x, y + (size_t)row * (size_t)stride, step, stride, add, out + row * NAMED(lanes));
    for (; row + 2 <= all; row += 2)
        NAMED(rows)(2, count, x, y + (size_t)row * (size_t)stride, step, stride, add, out + row * NAMED(lanes));
    for (; row < all; row++)
        NAMED(rows)(1, count, x, y + (size_t)row * (size_t)stride, step, stride, add, out + row * NAMED(lanes));
}

TARGET static void NAMED(dots)(int d, int keys, const nb_scalar *q, const nb_scalar *k, nb_scalar *t)
{
    NAMED(all)(keys, d, q, k, 1, d, false, t);
}

TARGET static void NAMED(values)(int dv, int keys, const nb_scalar *t, const nb_scalar *v, bool add, nb_scalar *out)
{
    if (add)
        NAMED(all)(dv, keys, t, v, dv, 1, true, out);
    else
        NAMED(all)(dv, keys, t, v, dv, 1, false, out);
}

TARGET static void NAMED(add)(int keys, nb_scalar c, const nb_scalar *bias, int stride, nb_scalar *t)
{
    VECTOR factor = SPREAD(c);
    for (int i = 0; i < keys; i++) {
        nb_scalar *at = t + i * NAMED(lanes);
        const nb_scalar *from = bias + (size_t)i * (size_t)stride;
        STORE(at, ADD(LOAD(at), MULTIPLY(factor, LOAD(from))));
        STORE(at + WIDTH, ADD(LOAD(at + WIDTH), MULTIPLY(factor, LOAD(from + WIDTH))));
    }
}

TARGET static void NAMED(raise)(int keys, nb_scalar c, const nb_scalar *t, nb_scalar *largest)
{
    VECTOR a = LOAD(t), b = LOAD(t + WIDTH), factor = SPREAD(c);
    for (int i = 1; i < keys; i++) {
        a = LARGER(a, LOAD(t + i * NAMED(lanes)));
        b = LARGER(b, LOAD(t + i * NAMED(lanes) + WIDTH));
    }
    STORE(largest, LARGER(LOAD(largest), MULTIPLY(factor, a)));
    STORE(largest + WIDTH, LARGER(LOAD(largest + WIDTH), MULTIPLY(factor, b)));
}

/* The product is rounded before the difference, so that the largest entry's is exactly 0. */
TARGET static void NAMED(powers)(int keys, nb_scalar c, const nb_scalar *shift, nb_scalar *t, nb_scalar *sum)
{
    VECTOR a = LOAD(sum), b = LOAD(sum + WIDTH), factor = SPREAD(c), left = LOAD(shift), right = LOAD(shift + WIDTH);
    for (int i = 0; i < keys; i++) {
        nb_scalar *at = t + i * NAMED(lanes);
        VECTOR x = POWER(SUBTRACT(MULTIPLY(factor, LOAD(at)), left));
        VECTOR y = POWER(SUBTRACT(MULTIPLY(factor, LOAD(at + WIDTH)), right));
        STORE(at, x);
        STORE(at + WIDTH, y);
        a = ADD(a, x);
        b = ADD(b, y);
    }
    STORE(sum, a);
    STORE(sum + WIDTH, b);
}

TARGET static void NAMED(scale)(int dv, const nb_scalar *factor, nb_scalar *out)
{
    VECTOR a = LOAD(factor), b = LOAD(factor + WIDTH);
    for (int l = 0; l < dv; l++) {
        STORE(out + l * NAMED(lanes), MULTIPLY(a, LOAD(out + l * NAMED(lanes))));
        STORE(out + l * NAMED(lanes) + WIDTH, MULTIPLY(b, LOAD(out + l * NAMED(lanes) + WIDTH)));
    }
}

TARGET static void NAMED(pack)(int d, int count, const nb_scalar *from, nb_scalar *to)
{
    PACK(NAMED(lanes), d, count, from, to);
}

TARGET static void NAMED(unpack)(int d, int count, const nb_scalar *from, const nb_scalar *factor, nb_scalar *to)
{
    UNPACK(NAMED(lanes), d, count, from, factor, to);
}

static const nb_softmax_simd NAMED(stripe) = {.name = NAME,
                                              .lanes = NAMED(lanes),
                                              .pack = NAMED(pack),
                                              .unpack = NAMED(unpack),
                                              .dots = NAMED(dots),
                                              .add = NAMED(add),
                                              .raise = NAMED(raise),
                                              .powers = NAMED(powers),
                                              .values = NAMED(values),
                                              .scale = NAMED(scale)};

#undef NAME
#undef NAMED
#undef PACK
#undef UNPACK
#undef TARGET
#undef VECTOR
#undef WIDTH
#undef ROWS
#undef SPREAD
#undef LOAD
#undef STORE
#undef ADD
#undef SUBTRACT
#undef MULTIPLY
#undef FUSED
#undef LARGER
#undef POWER
