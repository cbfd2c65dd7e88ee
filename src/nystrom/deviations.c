/* SPDX-License-Identifier: GPL-3.0-or-later */
/* deviations.c - a group of products with Q_F at a time. */
#include "nystrom/deviations.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"

#include <math.h>

enum { TOGETHER = 8 }; /* row sums that are computed at once: always so many, and so each the same bits */

nb_status nb_deviations_init(nb_deviations *r, int m, int most, nb_ctx *ctx)
{
    size_t whole = ((size_t)most + TOGETHER - 1) / TOGETHER * TOGETHER;
    r->count = 0;
    NB_NEED(r->weights, nb_alloc_reals(ctx, (size_t)m, whole));
    NB_NEED(r->sums, nb_alloc_raw(ctx, (size_t)NB_STRIPE * TOGETHER));
    NB_NEED(r->of, nb_alloc(ctx, (size_t)most, sizeof *r->of));
    return NB_OK;
}

void nb_deviations_add(nb_deviations *r, const nb_projection *p, const double *c, nb_measures *of)
{
    double *weights = r->weights + r->count * p->m;
    nb_gemv(NB_PLAIN, p->m, p->m, 1, c, p->m, p->ones, 0, weights);
    if (nb_all_finite((size_t)p->m, weights)) r->of[r->count++] = of;
}

void nb_deviations_end(nb_deviations *r, const nb_projection *p)
{
    for (int first = 0; first < p->n; first += NB_STRIPE) {
        int rows = p->n - first < NB_STRIPE ? p->n - first : NB_STRIPE;
        const double *q_f = p->q_f + (size_t)first * (size_t)p->m;
        for (int k = 0; k < r->count; k++) {
            if (k % TOGETHER == 0)
                nb_gemm(NB_TRANSPOSED, NB_PLAIN, rows, TOGETHER, p->m, 1, q_f, p->m, r->weights + k * p->m, p->m, 0,
                        r->sums, rows);
            double *deviation = &r->of[k]->rowsum_deviation;
            *deviation = fmax(*deviation,
                              nb_largest_distance((size_t)rows, r->sums + k % TOGETHER * rows, 1)); /* NaN at first */
        }
    }
    r->count = 0;
}
