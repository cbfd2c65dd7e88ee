/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernel_ridge.c - see kernel_ridge.h */
#include "linalg/kernel_ridge.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

static const double tie = 1e-6; /* relative, between sums of squares */
static const double least_unit = 1e-8;
static const double share_floor = 1e-6, most_correction = 2;

void nb_reweigh(int m, int k, const double *bias, double *f, double *near)
{
    enum { AT_ONCE = 256 };
    double largest = nb_largest((size_t)m, bias), factors[AT_ONCE];
    /* Entries times e^bias and `near` both have e^-largest besides, which the division cancels */
    for (int first = 0, count; first < m; first += count) {
        count = m - first < AT_ONCE ? m - first : AT_ONCE;
        for (int c = 0; c < count; c++) factors[c] = exp(bias[first + c] - largest);
        for (size_t i = 0; i < (size_t)k; i++)
            for (int c = 0; c < count; c++) f[i * (size_t)m + (size_t)(first + c)] *= factors[c];
    }
    for (size_t i = 0; i < (size_t)k; i++) {
        double beside = near ? near[i] * exp(-largest) : 0, sum = nb_sum((size_t)m, f + i * (size_t)m) + beside;
        nb_scale((size_t)m, 1 / sum, f + i * (size_t)m);
        if (near) near[i] = beside / sum;
    }
}

void nb_correct_bias(int m, const double *share, const double *mean, double *bias)
{
    for (int c = 0; c < m; c++) {
        double change = log((share[c] + share_floor / m) / (mean[c] + share_floor / m));
        bias[c] += fmax(-most_correction, fmin(change, most_correction));
    }
}

/* M^-1, M^-1 T, and what rows that are left out are off, squared. */
static nb_status regress(int k, const double *gram, const double *w, double penalty, int columns, const double *t,
                         double *inverse, double *dual, double *error, nb_ctx *ctx)
{
    size_t size = (size_t)k;
    memcpy(inverse, gram, size * size * sizeof *inverse);
    for (size_t i = 0; i < size; i++) inverse[i * size + i] += penalty / w[i];
    NB_TRY(ctx, nb_invert_positive(k, inverse, ctx));
    nb_gemm(NB_PLAIN, NB_PLAIN, k, columns, k, 1, inverse, k, t, k, 0, dual, k);
    *error = 0;
    for (size_t l = 0; l < (size_t)columns; l++)
        for (size_t i = 0; i < size; i++) *error += w[i] * pow(dual[l * size + i] / inverse[i * size + i], 2);
    return NB_OK;
}

nb_status nb_kernel_ridge(int k, const double *gram, const double *w, int columns, const double *t, int count,
                          const double *penalties, double *inverse, double *dual, double *left_out, nb_ctx *ctx)
{
    size_t size = (size_t)k, square = size * size, all = size * (size_t)columns;
    double unit = 0, least = INFINITY, error, *inverted, *solved;
    NB_NEED(inverted, nb_alloc_raw(ctx, square));
    NB_NEED(solved, nb_alloc_raw(ctx, all));
    for (size_t i = 0; i < size; i++) unit += w[i] * gram[i * size + i] / k;
    if (unit < least_unit) unit = least_unit; /* hardly anything is left to regress on */
    for (int i = 0; i < count; i++) {
        NB_TRY(ctx, regress(k, gram, w, unit * penalties[i], columns, t, inverted, solved, &error, ctx));
        bool less = nb_is_less(error, tie, &least);
        if (i > 0 && !less) continue;
        if (left_out) *left_out = error;
        memcpy(inverse, inverted, square * sizeof *inverse);
        memcpy(dual, solved, all * sizeof *dual);
    }
    return NB_OK;
}
