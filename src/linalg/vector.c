/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vector.c - `omp simd` loops; exp and log vectorised by glibc's libmvec. */
#include "linalg/vector.h"

#include "linalg/cpu.h"

#include <math.h>

#define WIDTHS NB_WIDTHS

#ifdef NB_CLONED
/* libmvec has them for each width; the C library declares so only under -ffast-math. */
__attribute__((simd("notinbranch"))) extern double exp(double);
__attribute__((simd("notinbranch"))) extern double log(double);
#endif

const char *nb_vector_width(void)
{
#ifdef NB_CLONED
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f")) return "avx512";
    if (__builtin_cpu_supports("avx2")) return "avx2";
#endif
    return "baseline";
}

WIDTHS double nb_largest(size_t count, const double *x)
{
    double largest = x[0];
#pragma omp simd reduction(max : largest)
    for (size_t j = 1; j < count; j++) largest = x[j] > largest ? x[j] : largest;
    return largest;
}

size_t nb_largest_index(size_t count, const double *x)
{
    double largest = nb_largest(count, x);
    size_t at = 0;
    while (at + 1 < count && !(x[at] >= largest)) at++;
    return at;
}

WIDTHS double nb_largest_distance(size_t count, const double *x, double centre)
{
    double largest = 0;
#pragma omp simd reduction(max : largest)
    for (size_t j = 0; j < count; j++) {
        double distance = fabs(x[j] - centre);
        largest = distance > largest ? distance : largest;
    }
    return largest;
}

WIDTHS bool nb_all_finite(size_t count, const double *x)
{
    double sum = 0; /* of zeros, or NaN */
#pragma omp simd reduction(+ : sum)
    for (size_t j = 0; j < count; j++) sum += x[j] - x[j];
    return sum == 0;
}

WIDTHS double nb_exp_sum(size_t count, double *x, double shift)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t j = 0; j < count; j++) {
        x[j] = exp(x[j] - shift);
        sum += x[j];
    }
    return sum;
}

WIDTHS double nb_sum(size_t count, const double *x)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t j = 0; j < count; j++) sum += x[j];
    return sum;
}

WIDTHS double nb_dot(size_t count, const double *x, const double *y)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t j = 0; j < count; j++) sum += x[j] * y[j];
    return sum;
}

WIDTHS double nb_squared_distance(size_t count, const double *x, const double *y)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t j = 0; j < count; j++) sum += (x[j] - y[j]) * (x[j] - y[j]);
    return sum;
}

WIDTHS void nb_add(size_t count, const double *x, double *y)
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) y[j] += x[j];
}

WIDTHS void nb_add_scaled(size_t count, double factor, const double *x, double *y)
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) y[j] += factor * x[j];
}

WIDTHS void nb_add_to_groups(size_t d, size_t n, const double *x, const int *group, const bool *wanted, double *sums)
{
    for (size_t i = 0; i < n; i++, x += d) {
        double *sum = sums + (size_t)group[i] * d;
        if (!wanted[group[i]]) continue;
#pragma omp simd
        for (size_t l = 0; l < d; l++) sum[l] += x[l];
    }
}

WIDTHS void nb_scale(size_t count, double factor, double *x)
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) x[j] *= factor;
}

WIDTHS double nb_sum_of_squares(size_t count, const double *x)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t j = 0; j < count; j++) sum += x[j] * x[j];
    return sum;
}

WIDTHS void nb_row_sums(size_t count, const double *x, double centre, double *totals, double *sum, double *squares,
                        double *distances)
{
    double s = 0, s2 = 0, d2 = 0;
#pragma omp simd reduction(+ : s, s2, d2)
    for (size_t j = 0; j < count; j++) {
        totals[j] += x[j];
        s += x[j];
        s2 += x[j] * x[j];
        d2 += (x[j] - centre) * (x[j] - centre);
    }
    *sum = s;
    *squares = s2;
    *distances = d2;
}

WIDTHS double nb_entropy(size_t count, const double *p)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t j = 0; j < count; j++) {
        double positive = 0.5 * (p[j] + fabs(p[j])); /* exactly; a comparison would not be vectorised */
        sum -= positive * log(positive + 1e-9);
    }
    return sum;
}

WIDTHS void nb_negatives(size_t count, const double *x, double limit, double *number, double *mass)
{
    double found = 0, sum = 0;
#pragma omp simd reduction(+ : found, sum)
    for (size_t j = 0; j < count; j++) {
        found += x[j] < limit ? 1.0 : 0.0;
        sum += x[j] < limit ? -x[j] : 0.0;
    }
    *number = found;
    *mass = sum;
}

WIDTHS double nb_centred(size_t count, const double *x, const double *mean, double scale, float *y)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t l = 0; l < count; l++) {
        double value = x[l] - mean[l];
        y[l] = (float)(scale * value);
        sum += value * value;
    }
    return sum;
}

WIDTHS void nb_to_single(size_t count, const double *x, float *out)
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) out[j] = (float)x[j];
}

WIDTHS void nb_to_double(size_t count, const float *x, double *out)
{
#pragma omp simd
    for (size_t j = 0; j < count; j++) out[j] = (double)x[j];
}
