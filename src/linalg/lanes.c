/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lanes.c - squares of 8 x 8 are transposed in registers, with vectors of gcc's and clang's. */
#include "linalg/lanes.h"

#include "linalg/cpu.h"

#include <stddef.h>

#define INLINE static inline __attribute__((always_inline))

enum { SIDE = 8 };
typedef float row __attribute__((vector_size(SIDE * 4), aligned(4), may_alias));

#if defined __clang__ || __GNUC__ >= 12
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else /* an older gcc's */
typedef int places __attribute__((vector_size(SIDE * 4)));
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (places){__VA_ARGS__})
#endif

/* Rows become columns. */
INLINE void transpose(row x[SIDE])
{
    row a[SIDE], b[SIDE];
    for (int i = 0; i < SIDE; i += 2) {
        a[i] = SHUFFLE(x[i], x[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        a[i + 1] = SHUFFLE(x[i], x[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (int i = 0; i < SIDE; i += 4)
        for (int j = 0; j < 2; j++) {
            b[i + 2 * j] = SHUFFLE(a[i + j], a[i + j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            b[i + 2 * j + 1] = SHUFFLE(a[i + j], a[i + j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (int i = 0; i < 4; i++) {
        x[i] = SHUFFLE(b[i], b[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        x[i + 4] = SHUFFLE(b[i], b[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

/* Squares, then what is left. */
NB_WIDTHS void nb_pack_lanes(int lanes, int d, int count, const float *from, float *to)
{
    int whole = count / SIDE * SIDE;
    for (int i = 0; i < whole; i += SIDE)
        for (int l = 0; l + SIDE <= d; l += SIDE) {
            row x[SIDE];
            for (int j = 0; j < SIDE; j++) x[j] = *(const row *)(from + (size_t)(i + j) * (size_t)d + l);
            transpose(x);
            for (int j = 0; j < SIDE; j++) *(row *)(to + (l + j) * lanes + i) = x[j];
        }
    for (int i = 0; i < lanes; i++)
        for (int l = i < whole ? d / SIDE * SIDE : 0; l < d; l++)
            to[l * lanes + i] = i < count ? from[(size_t)i * (size_t)d + (size_t)l] : 0;
}

NB_WIDTHS void nb_unpack_lanes(int lanes, int d, int count, const float *from, const float *factor, float *to)
{
    int whole = count / SIDE * SIDE;
    for (int i = 0; i < whole; i += SIDE)
        for (int l = 0; l + SIDE <= d; l += SIDE) {
            row x[SIDE], f = *(const row *)(factor + i);
            for (int j = 0; j < SIDE; j++) x[j] = f * *(const row *)(from + (l + j) * lanes + i);
            transpose(x);
            for (int j = 0; j < SIDE; j++) *(row *)(to + (size_t)(i + j) * (size_t)d + l) = x[j];
        }
    for (int i = 0; i < count; i++)
        for (int l = i < whole ? d / SIDE * SIDE : 0; l < d; l++)
            to[(size_t)i * (size_t)d + (size_t)l] = factor[i] * from[l * lanes + i];
}
