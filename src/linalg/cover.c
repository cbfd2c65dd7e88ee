/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cover.c - the distance of each point to the nearest chosen one, kept up to date. */
#include "linalg/cover.h"

#include "base/random.h"
#include "linalg/panel_products.h"
#include "linalg/vector.h"
#include "linalg/work.h"

#include <string.h>

nb_status nb_cover_init(nb_cover *c, int d, int n, const double *x, nb_ctx *ctx)
{
    *c = (nb_cover){.n = n, .d = d, .x = x};
    NB_NEED(c->nearest, nb_alloc_reals(ctx, (size_t)n, 1));
    NB_NEED(c->owner, nb_alloc(ctx, (size_t)n, sizeof *c->owner));
    NB_NEED(c->chosen, nb_alloc(ctx, (size_t)n, sizeof *c->chosen));
    NB_NEED(c->weighted, nb_alloc_reals(ctx, (size_t)n, 1));
    NB_NEED(c->lower, nb_alloc(ctx, (size_t)n + NB_PANEL, sizeof *c->lower));
    NB_TRY(ctx, nb_bounded_init(&c->points, d, n, x, ctx));
    NB_TRY(ctx, nb_bounding_init(&c->newest, &c->points, 1, false, ctx));
    return NB_OK;
}

void nb_cover_clear(nb_cover *c)
{
    c->count = 0;
    memset(c->nearest, 0, (size_t)c->n * sizeof *c->nearest);
    memset(c->owner, 0, (size_t)c->n * sizeof *c->owner);
    memset(c->chosen, 0, (size_t)c->n * sizeof *c->chosen);
}

static double distance_to(const nb_cover *c, int i, int point)
{
    size_t d = (size_t)c->d;
    return nb_squared_distance(d, c->x + (size_t)i * d, c->x + (size_t)point * d);
}

static void add_another(nb_cover *c, int point)
{
    double unit = c->points.scale * c->points.scale;
    nb_bounding_set(&c->newest, 0, c->x + (size_t)point * (size_t)c->d);
    nb_bounding_column(&c->newest, 0, c->lower);
    for (int i = 0; i < c->n; i++) {
        if (c->newest.rest[i] + (double)c->lower[i] > unit * c->nearest[i]) continue;
        double distance = distance_to(c, i, point);
        if (distance >= c->nearest[i]) continue;
        c->nearest[i] = distance;
        c->owner[i] = c->count;
    }
}

void nb_cover_add(nb_cover *c, int point)
{
    if (c->count == 0) {
        nb_count_multiplications((double)c->n * c->d);
        for (int i = 0; i < c->n; i++) c->nearest[i] = distance_to(c, i, point);
    } else {
        add_another(c, point);
    }
    c->chosen[point] = true;
    c->count++;
}

int nb_cover_farthest(const nb_cover *c)
{
    int farthest = -1;
    for (int i = 0; i < c->n; i++)
        if (!c->chosen[i] && (farthest < 0 || c->nearest[i] > c->nearest[farthest])) farthest = i;
    return farthest;
}

int nb_cover_draw(const nb_cover *c, gsl_rng *rng)
{
    bool apart = nb_largest((size_t)c->n, c->nearest) > 0;
    if (c->weights) {
        nb_count_multiplications(c->n);
        for (int i = 0; i < c->n; i++) c->weighted[i] = c->chosen[i] ? 0 : c->weights[i] * (apart ? c->nearest[i] : 1);
        return nb_draw(rng, c->n, c->weighted);
    }
    if (apart) return nb_draw(rng, c->n, c->nearest); /* chosen ones weigh 0 */
    int left = (int)gsl_rng_uniform_int(rng, (unsigned long)(c->n - c->count)), i = 0;
    while (c->chosen[i] || left-- > 0) i++; /* the one that is not chosen and has so many before it */
    return i;
}
