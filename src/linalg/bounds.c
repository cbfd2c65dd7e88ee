/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bounds.c - points less their mean in single precision, a panel of them beside each other. */
#include "linalg/bounds.h"

#include "linalg/lanes.h"
#include "linalg/panel_products.h"
#include "linalg/vector.h"
#include "linalg/work.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* So that squares stay in range. */
static double scale_of(size_t count, const double *x)
{
    double largest = nb_largest_distance(count, x, 0);
    int exponent;
    if (!(largest > 1e-140 && largest < 1e140)) return 0;
    frexp(largest, &exponent);
    return ldexp(1, -exponent);
}

static void round_points(nb_bounded *b)
{
    size_t d = (size_t)b->d, n = (size_t)b->n;
    for (size_t first = 0; first < n; first += NB_PANEL) {
        size_t count = n - first < NB_PANEL ? n - first : NB_PANEL;
        for (size_t i = 0; i < count; i++)
            b->squares[first + i] = nb_centred(d, b->x + (first + i) * d, b->mean, b->scale, b->panel + i * d);
        nb_pack_lanes(NB_PANEL, b->d, (int)count, b->panel, b->panels + first * d);
    }
}

nb_status nb_bounded_init(nb_bounded *b, int d, int n, const double *x, nb_ctx *ctx)
{
    size_t length = (size_t)d, count = (size_t)n, panels = (count + NB_PANEL - 1) / NB_PANEL;
    double roundings = (d + 16.0) * FLT_EPSILON / 2;
    *b = (nb_bounded){.d = d, .n = n, .x = x, .error = roundings / (1 - roundings)};
    NB_NEED(b->mean, nb_alloc_reals(ctx, length, 1));
    NB_NEED(b->squares, nb_alloc_reals(ctx, count, 1));
    NB_NEED(b->panels, nb_alloc_unset(ctx, panels * NB_PANEL * length, sizeof *b->panels));
    NB_NEED(b->panel, nb_alloc_unset(ctx, NB_PANEL * length, sizeof *b->panel));
    nb_count_multiplications((double)n * d);
    for (size_t i = 0; i < count; i++) nb_add(length, x + i * length, b->mean);
    nb_scale(length, 1 / (double)n, b->mean);
    b->scale = roundings < 0.1 ? scale_of(length * count, x) : 0;
    round_points(b);
    return NB_OK;
}

void nb_bounded_renew(nb_bounded *b, int n)
{
    b->n = n;
    nb_count_multiplications((double)n * b->d);
    round_points(b);
}

static const double largest_square = 1e20; /* of scaled points and centres: beyond it products may overflow */

nb_status nb_bounding_init(nb_bounding *c, const nb_bounded *points, int m, bool cosine, nb_ctx *ctx)
{
    size_t d = (size_t)points->d, n = (size_t)points->n;
    *c = (nb_bounding){.points = points, .cosine = cosine};
    NB_NEED(c->z, nb_alloc(ctx, d * (size_t)m, sizeof *c->z));
    NB_NEED(c->offset, nb_alloc(ctx, (size_t)m, sizeof *c->offset));
    NB_NEED(c->centre_error, nb_alloc(ctx, (size_t)m, sizeof *c->centre_error));
    NB_NEED(c->point_error, nb_alloc_unset(ctx, n, sizeof *c->point_error));
    NB_NEED(c->rest, nb_alloc_raw(ctx, n));
    nb_bounding_renew(c);
    return NB_OK;
}

void nb_bounding_renew(nb_bounding *c)
{
    const nb_bounded *p = c->points;
    double unit = p->scale * p->scale;
    for (int i = 0; i < p->n; i++) {
        /* |x - c|^2 is 2 - 2 x'c to rounding if both are unit vectors, and 1 less if x is 0 */
        double whole = unit * p->squares[i], error = p->error * whole + p->d * (double)FLT_MIN;
        if (c->cosine) {
            error += unit * 8 * (p->d + 4) * DBL_EPSILON;
            if (nb_sum_of_squares((size_t)p->d, p->x + (size_t)i * (size_t)p->d) < 0.5) whole += unit;
        }
        /* Left open is a point far away from those that gave mean and scale */
        c->rest[i] = whole < largest_square ? whole - error : -INFINITY;
        c->point_error[i] = (float)(2 * error);
    }
}

/* Left open are a centre far away from the points, beyond the range of single precision, and a zero one of unit
 * vectors. */
void nb_bounding_set(nb_bounding *c, int j, const double *centre)
{
    const nb_bounded *p = c->points;
    size_t d = (size_t)p->d;
    float *out = c->z + (size_t)j * d;
    double square = 0;
    nb_count_multiplications(p->d);
    for (size_t l = 0; l < d; l++) {
        double z = p->scale * (centre[l] - p->mean[l]);
        out[l] = (float)(-2 * z);
        square += z * z;
    }
    c->offset[j] = (float)(square - p->error * square);
    c->centre_error[j] = (float)(2 * p->error * square);
    if (square < largest_square && !(c->cosine && nb_sum_of_squares(d, centre) < 0.5)) return;
    memset(out, 0, d * sizeof *out);
    c->offset[j] = -1e30f;
    c->centre_error[j] = INFINITY;
}

void nb_bounding_column(const nb_bounding *c, int j, float *lower)
{
    const nb_bounded *p = c->points;
    size_t d = (size_t)p->d;
    nb_count_multiplications((double)p->n * p->d);
    for (size_t i = 0; i < (size_t)p->n; i += NB_PANEL) {
        nb_panel_products(d, p->panels + i * d, 1, &(int){0}, c->z + (size_t)j * d, lower + i);
        for (size_t lane = 0; lane < NB_PANEL; lane++) lower[i + lane] += c->offset[j];
    }
}
