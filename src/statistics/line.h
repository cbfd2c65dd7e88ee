/* SPDX-License-Identifier: GPL-3.0-or-later */
/* line.h - fits a straight line through points by least squares. */
#ifndef NB_LINE_H
#define NB_LINE_H

typedef struct {
    int count;        /* points */
    double slope, se; /* NaN if undetermined: slope needs 2 different x, se 3 points */
    double low, high; /* t interval of the slope at the confidence asked for, with count - 2 degrees of freedom */
} nb_line;

/* Fits y against x: slope sum (x - mean x) y / sum (x - mean x)^2. On logarithms it is the exponent of a power law. */
nb_line nb_line_fit(int count, const double *x, const double *y, double confidence);

/* Returns where two lines meet, from (x, a0) to (next_x, a1) and from (x, b0) to (next_x, b1): a value from x to
 * next_x; NaN if they do not cross there. An end where both are equal counts as a crossing. */
double nb_line_crossing(double x, double next_x, double a0, double a1, double b0, double b1);

#endif
