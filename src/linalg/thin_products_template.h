/* SPDX-License-Identifier: GPL-3.0-or-later */
/* thin_products_template.h - the products of thin_products.h for one width of SIMD; thin_products.c includes it for
 * each, with
 *     NAMED(f)       the function's name        TARGET       its attribute
 *     VECTOR         of WIDTH doubles           ROWS         of a product that are summed at a time
 *     SPREAD(x), LOAD(p), STORE(p, v)
 *     FUSED(a, b, c) a b + c */

enum { NAMED(vectors) = NB_THIN / WIDTH };

/* `rows` rows of out (NB_THIN columns, b apart) <- out, or 0, + sum over i = 0 ... count - 1 of
 * s[row * stride + i * step] x[i], x with rows of b. */
TARGET static inline __attribute__((always_inline)) void NAMED(rows)(int rows, int count, const double *s,
                                                                     size_t stride, size_t step, const double *x,
                                                                     size_t b, bool add, double *out)
{
    VECTOR sums[ROWS][NAMED(vectors)], row[NAMED(vectors)];
    UNROLLED for (int r = 0; r < rows; r++) UNROLLED for (int k = 0; k < NAMED(vectors); k++) sums[r][k] =
        add ? LOAD(out + (size_t)r * b + k * WIDTH) : SPREAD(0);
    for (int i = 0; i < count; i++) {
        UNROLLED for (int k = 0; k < NAMED(vectors); k++) row[k] = LOAD(x + (size_t)i * b + k * WIDTH);
        UNROLLED for (int r = 0; r < rows; r++)
        {
            VECTOR factor = SPREAD(s[(size_t)r * stride + (size_t)i * step]);
            UNROLLED for (int k = 0; k < NAMED(vectors); k++) sums[r][k] = FUSED(factor, row[k], sums[r][k]);
        }
    }
    UNROLLED for (int r = 0; r < rows; r++) UNROLLED for (int k = 0; k < NAMED(vectors); k++)
        STORE(out + (size_t)r * b + k * WIDTH, sums[r][k]);
}

/* Computes all columns of `all` <= ROWS rows; for most the compiler knows the number of rows. */
TARGET static inline __attribute__((always_inline)) void NAMED(columns)(int all, int count, const double *s,
                                                                        size_t stride, size_t step, const double *x,
                                                                        int b, bool add, double *out)
{
    for (int c = 0; c < b; c += NB_THIN) {
        if (all == ROWS) {
            NAMED(rows)(ROWS, count, s, stride, step, x + c, (size_t)b, add, out + c);
            continue;
        }
        for (int r = 0; r < all; r++) {
            double *to = out + (size_t)r * (size_t)b + c;
            NAMED(rows)(1, count, s + (size_t)r * stride, 0, step, x + c, (size_t)b, add, to);
        }
    }
}

/* z (rows x b) <- S v, or z + S v if `add`, for so many columns of S. */
TARGET static void NAMED(product)(int rows, int columns, const double *s, size_t ld, int b, const double *v, bool add,
                                  double *z)
{
    for (int r = 0; r < rows; r += ROWS) {
        int all = rows - r < ROWS ? rows - r : ROWS;
        NAMED(columns)(all, columns, s + (size_t)r * ld, ld, 1, v, b, add, z + (size_t)r * (size_t)b);
    }
}

/* w <- w + S' z */
TARGET static void NAMED(transposed)(int rows, int columns, const double *s, size_t ld, int b, const double *z,
                                     double *w)
{
    for (int j = 0; j < columns; j += ROWS) {
        int all = columns - j < ROWS ? columns - j : ROWS;
        NAMED(columns)(all, rows, s + j, 1, ld, z, b, true, w + (size_t)j * (size_t)b);
    }
}

TARGET static void NAMED(products)(int rows, int columns, const double *s, int ld, int b, const double *v, double *z,
                                   double *w)
{
    size_t apart = (size_t)ld, width = (size_t)b;
    int near = 1 + NEAR / b;
    for (int i = 0; i < rows; i += TOGETHER) { /* rows that are still in a cache for the second product */
        int some = rows - i < TOGETHER ? rows - i : TOGETHER;
        const double *at = s + (size_t)i * apart;
        double *out = z + (size_t)i * width;
        for (int j = 0; j < columns; j += near) {
            int count = columns - j < near ? columns - j : near;
            NAMED(product)(some, count, at + j, apart, b, v + (size_t)j * width, j > 0, out);
        }
        NAMED(transposed)(some, columns, at, apart, b, out, w);
    }
}

#undef NAMED
#undef TARGET
#undef VECTOR
#undef WIDTH
#undef ROWS
#undef SPREAD
#undef LOAD
#undef STORE
#undef FUSED
