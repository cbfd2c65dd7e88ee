/* SPDX-License-Identifier: GPL-3.0-or-later */
/* positive.c - see positive.h. */
#include "layers/positive.h"

#include "linalg/vector.h"
#include "linalg/work.h"

#include <gsl/gsl_randist.h>
#include <math.h>

static void draw_vector(gsl_rng *rng, int d, double *x)
{
    for (int i = 0; i < d; i++) x[i] = gsl_ran_gaussian_ziggurat(rng, 1);
}

static double norm_of(int d, const double *x)
{
    nb_count_multiplications(d);
    return sqrt(nb_dot((size_t)d, x, x));
}

/* Draws column j of an orthonormal block. */
static void draw_direction(gsl_rng *rng, int d, int j, double *block)
{
    double *x = block + (size_t)j * (size_t)d, norm;
    draw_vector(rng, d, x);
    /* x less its components along the columns before, twice: once leaves what rounding adds */
    nb_count_multiplications(4.0 * d * j);
    for (int c = 0; c < 2 * j; c++) {
        const double *column = block + (size_t)(c % j) * (size_t)d;
        double product = nb_dot((size_t)d, column, x);
        for (int i = 0; i < d; i++) x[i] -= product * column[i];
    }
    norm = norm_of(d, x);
    nb_count_multiplications(d);
    for (int i = 0; i < d; i++) x[i] /= norm;
}

void nb_draw_features(gsl_rng *rng, int d, int r, bool orthogonal, double *room, nb_scalar *w)
{
    for (int l = 0; l < r; l++) {
        nb_scalar *column = w + (size_t)l * (size_t)d;
        double length = 1, *x = room;
        if (orthogonal) {
            draw_vector(rng, d, x = room + (size_t)(l % d) * (size_t)d);
            length = norm_of(d, x);
            draw_direction(rng, d, l % d, room);
            nb_count_multiplications(d);
        } else {
            draw_vector(rng, d, x);
        }
        for (int i = 0; i < d; i++) column[i] = (nb_scalar)(length * x[i]);
    }
}

double nb_draw_features_work(int d, int r, bool orthogonal)
{
    int whole = r / d, rest = r % d; /* blocks, columns of the last */
    if (!orthogonal) return 0;
    return 4.0 * d * r + 2.0 * d * ((double)whole * d * (d - 1) + (double)rest * (rest - 1));
}

void nb_positive_features(int d, int r, const nb_scalar *w, int count, const nb_scalar *x, nb_scalar *out)
{
    double root = sqrt(d);
    nb_scalar_gemm(NB_TRANSPOSED, NB_PLAIN, r, count, d, 1 / sqrt(root), w, d, x, d, 0, out, r);
    nb_count_multiplications((double)count * d);
    for (int i = 0; i < count; i++) {
        const nb_scalar *point = x + (size_t)i * (size_t)d;
        nb_scalar half = (nb_scalar)((double)nb_scalar_dot((size_t)d, point, point) / (2 * root));
        for (int l = 0; l < r; l++) out[(size_t)i * (size_t)r + (size_t)l] -= half;
    }
}
