/* SPDX-License-Identifier: GPL-3.0-or-later */
/* speed.c - see speed.h */
#include "run/speed.h"

#include "base/clock.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"

#include <math.h>

enum { ORDER = 384, TRIES = 20 };         /* of the product */
static const double MACHINE_S = 0.5;      /* after which the product is not tried again */
static const double REFERENCE_S = 4.9e-3; /* what the reference machine takes for it */

/* The product, and an exponential of each of its entries: as in a pass. */
static void once(double *a, double *b, double *c)
{
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, ORDER, ORDER, ORDER, 1e-3, a, ORDER, b, ORDER, 0, c, ORDER);
    for (size_t j = 0; j < ORDER; j++) a[j] = fmin(1, nb_exp_sum(ORDER, c + j * ORDER, 0));
}

nb_status nb_calibrate_machine(double *machine, nb_ctx *ctx)
{
    size_t square = (size_t)ORDER * ORDER;
    double *a, least = INFINITY, begun_s = nb_clock_s();
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(a, nb_alloc_reals(ctx, square, 3));
    for (size_t i = 0; i < 2 * square; i++) a[i] = 1e-3 * (double)(i % 997);
    for (int i = 0; i < TRIES && (i < 2 || nb_clock_s() - begun_s < MACHINE_S); i++) {
        double start_s = nb_work_s();
        once(a, a + square, a + 2 * square);
        least = fmin(least, nb_work_s() - start_s);
    }
    nb_ctx_release(ctx, mark);
    *machine = least / REFERENCE_S;
    return NB_OK;
}
