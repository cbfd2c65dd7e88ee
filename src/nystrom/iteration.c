/* SPDX-License-Identifier: GPL-3.0-or-later */
/* iteration.c - Horner's rule on matrices, in double or single precision.
 *
 * With X_0 = A'/c every iterate has A's singular vectors, and y = s x of each
 * singular value s of A goes its own way y <- y p(y) from y_0 = s^2 / c. So what
 * converges is known from the largest y_0. */
#include "nystrom/iteration.h"

#include "base/clock.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "nystrom/factors_record.h"

#include <float.h>
#include <math.h>
#include <string.h>

const char *const nb_start_names[] = {
    [NB_START_PAPER] = "paper", [NB_START_EXACT] = "exact", [NB_START_WORST] = "worst",
    [NB_START_GIVEN] = "given", [NB_START_BATCH] = "batch", NULL};

struct nb_iterate { /* the last iterate of one sequence */
    const nb_iteration *iteration;
    int start;
    double scale;
    bool single;
    double *x, time_s;
    int steps; /* that were made; -1: none is there yet */
    double y;  /* of which `halved` steps make 1/2 */
    int halved;
    struct nb_iterate *next;
};

/* Returns the slope at y of the map y -> y p(y) that a step is on each singular value, and its value. */
static double map_slope(const nb_iteration *iteration, double y, double *value)
{
    double base = iteration->of_residual ? 1 - y : y, sum = 0, slope = 0;
    for (int k = iteration->terms - 1; k >= 0; k--) {
        slope = slope * base + sum;
        sum = sum * base + iteration->coefficients[k];
    }
    *value = y * sum;
    return sum + (iteration->of_residual ? -1 : 1) * y * slope;
}

static double divisor(nb_factors *f, const nb_iterating *how)
{
    double one, infinity;
    nb_factors_norms(f, &one, &infinity);
    switch ((nb_iteration_start)how->start) {
    case NB_START_PAPER: return one * infinity;
    case NB_START_EXACT: return one;
    case NB_START_WORST: return f->m;
    case NB_START_BATCH: return fmax(one, f->batch_one);
    case NB_START_GIVEN: break;
    }
    return how->scale;
}

/* Finds whether all s^2 / c are within the region, else why not, in the same words for all rows; norms settle it
 * without an SVD if they can. */
static nb_status converges(nb_factors *f, double c, double region, bool *yes, nb_ctx *ctx)
{
    const nb_factors_spectrum *s;
    double one, infinity;
    nb_factors_norms(f, &one, &infinity);
    *yes = one * infinity < region * c || c == 0;
    if (*yes) return NB_OK;
    NB_TRY(ctx, nb_factors_svd(f, &s, ctx));
    *yes = s->values[0] * s->values[0] < region * c;
    if (!*yes)
        NB_NEED(
            f->notes.diverged,
            nb_format(
                f->ctx,
                "X_0 lies outside of the region of convergence: the largest singular value of A X_0 is not below %g",
                region));
    return NB_OK;
}

/* Shared by both precisions: m, the iteration, and memory. */
typedef struct {
    int m;
    const nb_iteration *iteration;
    const double *a;
    double *y, *p, *q; /* m x m */
} room;

/* x <- x p(A x); y = A x or I - A x, p by Horner's rule. */
static void do_step(const room *r, double *x)
{
    int m = r->m, last = r->iteration->terms - 1;
    size_t square = (size_t)m * (size_t)m;
    const double *c = r->iteration->coefficients;
    double *p = r->p, *q = r->q, sign = r->iteration->of_residual ? -1 : 1;
    nb_gemm(NB_PLAIN, NB_PLAIN, m, m, m, sign, r->a, m, x, m, 0, r->y, m);
    for (int i = 0; i < m && r->iteration->of_residual; i++) r->y[i + i * m] += 1;
    /* p = c_last y + c_last-1 I, then p <- y p + c_k I */
    for (size_t i = 0; i < square; i++) p[i] = c[last] * r->y[i];
    for (int i = 0; i < m; i++) p[i + i * m] += c[last - 1];
    for (int k = last - 2; k >= 0; k--) {
        nb_gemm(NB_PLAIN, NB_PLAIN, m, m, m, 1, r->y, m, p, m, 0, q, m);
        for (int i = 0; i < m; i++) q[i + i * m] += c[k];
        double *swap = p;
        p = q;
        q = swap;
    }
    memcpy(q, x, square * sizeof *q);
    nb_gemm(NB_PLAIN, NB_PLAIN, m, m, m, 1, q, m, p, m, 0, x, m);
}

typedef struct {
    int m;
    const nb_iteration *iteration;
    float *a, *x, *y, *p, *q; /* m x m */
} room_single;

/* do_step in single precision. */
static void step_single(const room_single *r)
{
    int m = r->m, last = r->iteration->terms - 1;
    size_t square = (size_t)m * (size_t)m;
    const double *c = r->iteration->coefficients;
    float *p = r->p, *q = r->q, sign = r->iteration->of_residual ? -1 : 1;
    nb_gemm_single(NB_PLAIN, NB_PLAIN, m, m, m, sign, r->a, m, r->x, m, 0, r->y, m);
    for (int i = 0; i < m && r->iteration->of_residual; i++) r->y[i + i * m] += 1;
    for (size_t i = 0; i < square; i++) p[i] = (float)c[last] * r->y[i];
    for (int i = 0; i < m; i++) p[i + i * m] += (float)c[last - 1];
    for (int k = last - 2; k >= 0; k--) {
        nb_gemm_single(NB_PLAIN, NB_PLAIN, m, m, m, 1, r->y, m, p, m, 0, q, m);
        for (int i = 0; i < m; i++) q[i + i * m] += (float)c[k];
        float *swap = p;
        p = q;
        q = swap;
    }
    memcpy(q, r->x, square * sizeof *q);
    nb_gemm_single(NB_PLAIN, NB_PLAIN, m, m, m, 1, q, m, p, m, 0, r->x, m);
}

/* x <- A' / c. */
static void start_from_transpose(const nb_factors *f, double c, double *x)
{
    nb_transpose(f->m, f->m, f->a, x);
    for (int i = 0; i < f->m * f->m && c > 0; i++) x[i] /= c;
}

/* Returns the relative change |x - before| / |x|; `before` <- x. */
static double relative_change(size_t count, const double *x, double *before)
{
    for (size_t i = 0; i < count; i++) before[i] = x[i] - before[i];
    double distance = nb_frobenius(count, before), size = nb_frobenius(count, x);
    memcpy(before, x, count * sizeof *x);
    return size > 0 ? distance / size : 0;
}

/* `steps` more steps from x, less where the tolerance ends them: `made`. */
static nb_status run_double(const nb_factors *f, const nb_iteration *iteration, int steps, double tolerance, double *x,
                            int *made, nb_ctx *ctx)
{
    size_t square = (size_t)f->m * (size_t)f->m;
    room r = {.m = f->m, .iteration = iteration, .a = f->a};
    double *before;
    NB_NEED(r.y, nb_alloc_raw(ctx, 4 * square));
    r.p = r.y + square;
    r.q = r.p + square;
    before = r.q + square;
    if (tolerance > 0) memcpy(before, x, square * sizeof *x);
    for (*made = 0; *made < steps;) {
        do_step(&r, x);
        ++*made;
        if (tolerance > 0 && relative_change(square, x, before) <= tolerance) break;
    }
    return NB_OK;
}

/* x holds numbers of single precision before and after. */
static nb_status run_single(const nb_factors *f, const nb_iteration *iteration, int steps, double tolerance, double *x,
                            int *made, nb_ctx *ctx)
{
    size_t square = (size_t)f->m * (size_t)f->m;
    room_single r = {.m = f->m, .iteration = iteration};
    double *before;
    NB_NEED(before, nb_alloc_raw(ctx, square));
    NB_NEED(r.a, nb_alloc(ctx, 5 * square, sizeof *r.a));
    r.x = r.a + square;
    r.y = r.x + square;
    r.p = r.y + square;
    r.q = r.p + square;
    nb_to_single(square, f->a, r.a);
    nb_to_single(square, x, r.x);
    if (tolerance > 0) memcpy(before, x, square * sizeof *x);
    for (*made = 0; *made < steps;) {
        step_single(&r);
        ++*made;
        nb_to_double(square, r.x, x);
        if (tolerance > 0 && relative_change(square, x, before) <= tolerance) break;
    }
    nb_to_double(square, r.x, x);
    return NB_OK;
}

/* Inverts one step of the scalar iteration: returns the z < y with z p(z) = y. */
static double step_back(const nb_iteration *iteration, double y)
{
    double z = 0, step;
    do {
        double at, slope = map_slope(iteration, z, &at);
        step = (y - at) / slope;
        z += step;
    } while (step > DBL_EPSILON * z);
    return z;
}

/* The iterate that is kept of this sequence, a new one at X_0 if it has none or is too far on. */
static nb_status kept(nb_factors *f, const nb_iteration *iteration, const nb_iterating *how, double c,
                      struct nb_iterate **out)
{
    size_t square = (size_t)f->m * (size_t)f->m;
    struct nb_iterate *one = f->iterates;
    while (one &&
           !(one->iteration == iteration && one->start == how->start && one->scale == c && one->single == how->single))
        one = one->next;
    if (!one) {
        NB_NEED(one, nb_alloc(f->ctx, 1, sizeof *one));
        *one = (struct nb_iterate){
            .iteration = iteration, .start = how->start, .scale = c, .single = how->single, .steps = -1};
        NB_NEED(one->x, nb_alloc_reals(f->ctx, square, 1));
        one->next = f->iterates;
        f->iterates = one;
    }
    *out = one;
    if (one->steps >= 0 && one->steps <= how->steps) return NB_OK;
    start_from_transpose(f, c, one->x);
    one->steps = one->halved = 0;
    one->y = 0.5;
    one->time_s = 0;
    return NB_OK;
}

/* The cut-off; its time does not count as X's. */
static nb_status note_cutoff(nb_factors *f, struct nb_iterate *one, nb_ctx *ctx)
{
    static const double least = 1e-300;
    const nb_factors_spectrum *s;
    double start_s = nb_clock_s(), reused_s = f->reused_s;
    if (f->unremarked) return NB_OK;
    for (; one->halved < one->steps && one->y > least; one->halved++) one->y = step_back(one->iteration, one->y);
    NB_TRY(ctx, nb_factors_svd(f, &s, ctx));
    f->notes.cutoff = sqrt(one->scale * one->y) / s->values[0];
    f->reused_s = reused_s - (nb_clock_s() - start_s);
    return NB_OK;
}

nb_status nb_iterate(nb_factors *factors, const nb_iteration *iteration, const nb_iterating *how, double *x,
                     nb_ctx *ctx)
{
    size_t square = (size_t)factors->m * (size_t)factors->m;
    double start_s = nb_clock_s(), c = divisor(factors, how);
    struct nb_iterate own = {.iteration = iteration, .scale = c, .y = 0.5, .x = x}, *one = &own;
    bool good = true;
    int made;
    NB_TRY(ctx, nb_require_finite(factors->m, factors->m, factors->a, ctx));
    factors->notes = (nb_notes){.cutoff = NAN, .residual_limit = INFINITY};
    factors->notes.rounding.iterated = how->steps > 0;
    if (how->single)
        nb_factors_note_epsilon(factors, iteration->terms * (double)FLT_EPSILON); /* of the products of a step */
    if (how->steps > 0) {
        factors->notes.residual_limit =
            2 * sqrt(factors->m) * fmax(1, iteration->region - 1); /* twice what |1 - y| allows */
        NB_TRY(ctx, converges(factors, c, iteration->region, &good, ctx));
    }
    if (!good) {
        for (size_t i = 0; i < square; i++) x[i] = NAN;
        return NB_OK;
    }
    if (how->tolerance > 0)
        start_from_transpose(factors, c, x);
    else
        NB_TRY(ctx, kept(factors, iteration, how, c, &one));
    factors->reused_s += one->time_s;
    NB_TRY(ctx, (how->single ? run_single : run_double)(factors, iteration, how->steps - one->steps, how->tolerance,
                                                        one->x, &made, ctx));
    one->steps += made;
    one->time_s += nb_clock_s() - start_s;
    if (one != &own) memcpy(x, one->x, square * sizeof *x);
    return how->uncut ? NB_OK : note_cutoff(factors, one, ctx);
}
