/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tall_qr_template.h - the functions of tall_qr.h for one width of SIMD; tall_qr.c includes it for each, with
 *     NAMED(f)         the function's name
 *     TARGET           its attribute
 *     VECTOR           of WIDTH doubles
 *     ROWS             that are divided at a time
 *     SUMS             rows of the Gram matrix that are summed at a time, of 3 vectors each
 *     SPREAD(x), LOAD(p), STORE(p, v)
 *     FUSED(a, b, c)   a b + c
 *     LESS(a, b, c)    c - a b */

enum { NAMED(vectors) = BLOCK / WIDTH };

/* Adds to SUMS rows of g (from column j of the tile), `count` vectors from column c on, those of tile' tile. */
TARGET static inline __attribute__((always_inline)) void NAMED(sums)(int count, size_t width, const double *tile,
                                                                     size_t j, size_t c, double *g)
{
    VECTOR sums[SUMS][3], row[3];
    UNROLLED for (int r = 0; r < SUMS; r++) UNROLLED for (int k = 0; k < count; k++) sums[r][k] =
        LOAD(g + (j + (size_t)r) * width + c + (size_t)k * WIDTH);
    for (size_t t = 0; t < TILE; t++) {
        const double *at = tile + t * width;
        UNROLLED for (int k = 0; k < count; k++) row[k] = LOAD(at + c + (size_t)k * WIDTH);
        UNROLLED for (int r = 0; r < SUMS; r++)
        {
            VECTOR factor = SPREAD(at[j + (size_t)r]);
            UNROLLED for (int k = 0; k < count; k++) sums[r][k] = FUSED(factor, row[k], sums[r][k]);
        }
    }
    UNROLLED for (int r = 0; r < SUMS; r++) UNROLLED for (int k = 0; k < count; k++)
        STORE(g + (j + (size_t)r) * width + c + (size_t)k * WIDTH, sums[r][k]);
}

TARGET static void NAMED(gram)(int n, int m, const double *a, double *g, double *scratch)
{
    size_t width = padded(m), columns = (size_t)m;
    double *tile = scratch, *sums = scratch + TILE * width;
    memset(sums, 0, width * width * sizeof *sums);
    for (int first = 0; first < n; first += TILE) {
        const double *rows = a + (size_t)first * columns;
        if (!is_tile(n - first, m)) {
            fill_tile(n - first, columns, rows, tile);
            rows = tile;
        }
        for (size_t j = 0; j < width; j += SUMS)
            for (size_t c = j / WIDTH * WIDTH; c < width;) {
                size_t count = (width - c) / WIDTH;
                if (count >= 3)
                    NAMED(sums)(3, width, rows, j, c, sums);
                else if (count == 2)
                    NAMED(sums)(2, width, rows, j, c, sums);
                else
                    NAMED(sums)(1, width, rows, j, c, sums);
                c += (count < 3 ? count : 3) * WIDTH;
            }
    }
    for (size_t i = 0; i < columns; i++)
        for (size_t j = i; j < columns; j++) g[i + j * columns] = sums[i * width + j];
}

/* Subtracts the share of column j of these ROWS rows, which is final, from the later columns of its block. */
#define TAKE_OUT(j) \
    do { \
        UNROLLED for (int k = 0; k < NAMED(vectors); k++) row[k] = LOAD(u + (c + (j)) * width + c + k * WIDTH); \
        UNROLLED for (int r = 0; r < ROWS; r++) \
        { \
            VECTOR factor = SPREAD(x[r][(j) / WIDTH][(j) % WIDTH]); \
            UNROLLED for (int k = 0; k < NAMED(vectors); k++) x[r][k] = LESS(factor, row[k], x[r][k]); \
        } \
    } while (0)

/* Solves for columns c ... c + BLOCK - 1 of ROWS rows, after those before; `inverse` holds D^-1 for these columns. */
TARGET static inline __attribute__((always_inline)) void NAMED(solve)(size_t width, size_t c, const double *u,
                                                                      const double *inverse, double *rows)
{
    VECTOR x[ROWS][NAMED(vectors)], row[NAMED(vectors)];
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int k = 0; k < NAMED(vectors); k++) x[r][k] =
        LOAD(inverse + k * WIDTH) * LOAD(rows + (size_t)r * width + c + k * WIDTH);
    for (size_t i = 0; i < c; i++) {
        UNROLLED for (int k = 0; k < NAMED(vectors); k++) row[k] = LOAD(u + i * width + c + k * WIDTH);
        UNROLLED for (int r = 0; r < ROWS; r++)
        {
            VECTOR factor = SPREAD(rows[(size_t)r * width + i]);
            UNROLLED for (int k = 0; k < NAMED(vectors); k++) x[r][k] = LESS(factor, row[k], x[r][k]);
        }
    }
    TAKE_OUT(0);
    TAKE_OUT(1);
    TAKE_OUT(2);
    TAKE_OUT(3);
    TAKE_OUT(4);
    TAKE_OUT(5);
    TAKE_OUT(6);
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int k = 0; k < NAMED(vectors); k++)
        STORE(rows + (size_t)r * width + c + k * WIDTH, x[r][k]);
}

#undef TAKE_OUT

TARGET static void NAMED(divide)(int n, int m, double *a, const double *r, double *scratch)
{
    size_t width = padded(m), columns = (size_t)m;
    double *tile = scratch, *u = scratch + TILE * width, *inverse = u + width * width;
    unit_triangle(columns, r, u, inverse);
    for (int first = 0; first < n; first += TILE) {
        double *at = a + (size_t)first * columns, *rows = is_tile(n - first, m) ? at : tile;
        if (rows == tile) fill_tile(n - first, columns, at, tile);
        for (size_t c = 0; c < width; c += BLOCK)
            for (size_t t = 0; t < TILE; t += ROWS) NAMED(solve)(width, c, u, inverse + c, rows + t * width);
        if (rows == tile) empty_tile(n - first, columns, tile, at);
    }
}

static const nb_tall NAMED(functions) = {NAMED(gram), NAMED(divide)};

#undef NAMED
#undef TARGET
#undef VECTOR
#undef WIDTH
#undef ROWS
#undef SUMS
#undef SPREAD
#undef LOAD
#undef STORE
#undef FUSED
#undef LESS
