/* SPDX-License-Identifier: GPL-3.0-or-later */
/* vector.h - the loops over contiguous memory that take most time besides matrix products. They are compiled for
 * several widths of SIMD, and the widest that the CPU has is chosen at start. Sums may differ in their last bits
 * between widths, so the manifest records the width. */
#ifndef NB_VECTOR_H
#define NB_VECTOR_H

#include <stdbool.h>
#include <stddef.h>

/* "avx512", "avx2", or "baseline". */
const char *nb_vector_width(void);

double nb_largest(size_t count, const double *x);                         /* count >= 1, no NaN */
double nb_largest_distance(size_t count, const double *x, double centre); /* max |x[j] - centre|, no NaN; 0 for none */
size_t nb_largest_index(size_t count, const double *x);                   /* the first among equals */

/* x[j] <- exp(x[j] - shift); returns their sum. Relative error of an entry below 4 eps (glibc's libmvec; its libm if
 * there is none). */
double nb_exp_sum(size_t count, double *x, double shift);

bool nb_all_finite(size_t count, const double *x);
double nb_sum(size_t count, const double *x);
double nb_dot(size_t count, const double *x, const double *y);
double nb_squared_distance(size_t count, const double *x, const double *y);
void nb_add(size_t count, const double *x, double *y);                       /* y <- y + x */
void nb_add_scaled(size_t count, double factor, const double *x, double *y); /* y <- y + factor x */
/* Adds to `sums` (d for each group) the columns of x (d x n) whose group has `wanted` set. */
void nb_add_to_groups(size_t d, size_t n, const double *x, const int *group, const bool *wanted, double *sums);
void nb_scale(size_t count, double factor, double *x);

/* Returns the sum of x^2 without guarding against overflow: for entries of moderate size. */
double nb_sum_of_squares(size_t count, const double *x);

/* Adds x to `totals` entry by entry; sets *sum, *squares and *distances (the sum of squares of x - centre). */
void nb_row_sums(size_t count, const double *x, double centre, double *totals, double *sum, double *squares,
                 double *distances);

/* -sum p ln(p + 1e-9) over the entries p > 0. */
double nb_entropy(size_t count, const double *p);

/* Counts the entries below limit <= 0, and sums their absolute values. */
void nb_negatives(size_t count, const double *x, double limit, double *number, double *mass);

/* y[l] <- scale (x[l] - mean[l]); returns the sum of the squares of x[l] - mean[l]. */
double nb_centred(size_t count, const double *x, const double *mean, double scale, float *y);

void nb_to_single(size_t count, const double *x, float *out);
void nb_to_double(size_t count, const float *x, double *out);

#endif
